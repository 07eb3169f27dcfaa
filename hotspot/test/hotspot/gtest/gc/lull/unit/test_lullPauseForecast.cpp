/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 */

#include "gc/lull/stat/lullPauseForecast.hpp"
#include "unittest.hpp"

using Pause = LullPauseForecast::Pause;
static const double Live = 100e6;

TEST(LullPauseForecastTest, what_is_alive_stays_so) {
  LullPauseForecast forecast;
  forecast.begin(Pause::Global, 150e6);
  forecast.end_tracing(Pause::Global, Live, Live);
  forecast.end(Pause::Global, Live, Live, 100e6, 50e6);      // tracing takes a nanosecond for a byte, and the rest half as long
  EXPECT_EQ(forecast.rest(Pause::Global), Live / 2);
  for (int i = 0; i < 10; i++) {
    const double work = forecast.begin(Pause::Global, Live + 50e6);
    if (i > 5) {
      EXPECT_NEAR(work, Live * 3 / 2, 1e6);         // nothing of what is new has lived
    }
    forecast.end_tracing(Pause::Global, Live, Live);
    forecast.end(Pause::Global, Live, Live, 100e6, 50e6);
  }
}

TEST(LullPauseForecastTest, a_part_of_what_is_new_is_alive) {
  LullPauseForecast forecast;
  double live = Live;
  forecast.begin(Pause::Global, live);
  forecast.end_tracing(Pause::Global, live, live);
  forecast.end(Pause::Global, live, live, 1, 0);
  for (int i = 0; i < 10; i++) {
    const double used = live + 40e6;
    const double work = forecast.begin(Pause::Global, used);
    live += 10e6;
    if (i > 5) {
      EXPECT_NEAR(work, live, 1e6);
    }
    forecast.end_tracing(Pause::Global, live, live);
    forecast.end(Pause::Global, live, live, 1, 0);
  }
}

TEST(LullPauseForecastTest, young_ones_trace_what_is_new_and_make_it_old) {
  LullPauseForecast forecast;
  forecast.begin(Pause::Global, Live);
  forecast.end_tracing(Pause::Global, Live, Live);
  forecast.end(Pause::Global, Live, Live, 1, 0);
  double used = Live;
  for (int i = 0; i < 10; i++) {
    const double work = forecast.begin(Pause::Young, used + 20e6);
    if (i > 7) {
      EXPECT_NEAR(work, 1e6, 1e4);
    }
    forecast.end_tracing(Pause::Young, 1e6, 0.5e6);
    used += 1e6;
    forecast.end(Pause::Young, used, 1e6, 1, 0);
  }
  // All ten of them have left half a megabyte each.
  EXPECT_NEAR(forecast.begin(Pause::Global, used), Live + 5e6, 1);
}

TEST(LullPauseForecastTest, less_in_use_than_before_is_nothing_allocated) {
  LullPauseForecast forecast;
  forecast.begin(Pause::Global, Live);
  forecast.end_tracing(Pause::Global, Live, Live);
  forecast.end(Pause::Global, Live, Live, 0, 0);
  EXPECT_EQ(forecast.begin(Pause::Global, Live / 2), Live);
}

TEST(LullPauseForecastTest, no_more_is_alive_of_what_is_new_than_all) {
  LullPauseForecast forecast;
  for (int i = 0; i < 20; i++) {
    forecast.begin(Pause::Young, (i + 1) * 1e6);
    forecast.end_tracing(Pause::Young, 30e6, 0);           // a megabyte is new, and thirty are traced: private ones are each time
    forecast.end(Pause::Young, (i + 1) * 1e6, 30e6, 1, 0);
  }
  EXPECT_NEAR(forecast.begin(Pause::Young, 21e6), 1e6, 10);
}

TEST(LullPauseForecastTest, kinds_have_their_own_rest) {
  LullPauseForecast forecast;
  forecast.begin(Pause::Global, Live);
  forecast.end_tracing(Pause::Global, Live, Live);
  forecast.end(Pause::Global, Live, Live, 100e6, 50e6);
  forecast.begin(Pause::Young, Live);
  forecast.end_tracing(Pause::Young, 1e6, 0);
  forecast.end(Pause::Young, Live, 1e6, 1e6, 3e6);
  EXPECT_EQ(forecast.rest(Pause::Global), Live / 2);
  EXPECT_EQ(forecast.rest(Pause::Young), 3e6);
}

// Young pauses trace a twentieth of what is new, with a third of that for the rest. Every fifth pause is a remark, which
// looks at references for ten times as long.
TEST(LullPauseForecastTest, a_remark_is_no_young_pause) {
  LullPauseForecast forecast;
  const double used = Live;
  forecast.begin(Pause::Young, used);
  forecast.end_tracing(Pause::Young, 1e6, 0);
  forecast.end(Pause::Young, used, 1e6, 3e6, 1e6);
  EXPECT_EQ(forecast.rest(Pause::Remark), forecast.rest(Pause::Young)) << "before the first one";
  for (int i = 0; i < 50; i++) {
    const Pause pause = i % 5 == 4 ? Pause::Remark : Pause::Young;
    const double rest = pause == Pause::Remark ? 10e6 : 1e6 / 3;
    const double work = forecast.begin(pause, used + 20e6);
    if (i >= 40) {
      EXPECT_NEAR(work, 1e6 + rest, 1e5);
    }
    forecast.end_tracing(pause, 1e6, 0);
    forecast.end(pause, used, 1e6, 1, rest / 1e6);
  }
}

// Before the first pause: of what is new half is alive for a global one, a tenth for the others, and nothing is known of the rest.
TEST(LullPauseForecastTest, each_kind_has_a_guess_of_its_own) {
  const LullPauseForecast forecast;
  EXPECT_EQ(forecast.expected(Pause::Global, Live), Live / 2);
  EXPECT_NEAR(forecast.expected(Pause::Young, Live), Live / 10, 1);
  EXPECT_NEAR(forecast.expected(Pause::Remark, Live), Live / 10, 1);
  for (Pause pause : { Pause::Young, Pause::Remark, Pause::Global }) {
    EXPECT_EQ(forecast.rest(pause), 0);
  }
}

// What one kind has met changes no other: but a remark that was none yet is taken for a young one.
TEST(LullPauseForecastTest, what_a_kind_meets_is_its_own) {
  for (Pause met : { Pause::Young, Pause::Remark, Pause::Global }) {
    LullPauseForecast forecast;
    forecast.begin(met, Live);
    forecast.end_tracing(met, Live / 4, 0);
    forecast.end(met, 0, Live / 4, 1, 2);
    for (Pause other : { Pause::Young, Pause::Remark, Pause::Global }) {
      const double guess = other == Pause::Global ? 0.5 : 0.1;
      const bool   is_like_young = met == Pause::Young && other == Pause::Remark;
      const double share = other == met ? (guess + 0.25) / 2 : guess;
      const double rest = other == met || is_like_young ? Live / 2 : 0;
      EXPECT_EQ(forecast.rest(other), rest);
      EXPECT_NEAR(forecast.expected(other, Live), share * Live + rest, 1);
    }
  }
}

TEST(LullPauseForecastTest, one_pause_that_does_more_counts_little) {
  LullPauseForecast forecast;
  for (int i = 0; i < 2; i++) {
    forecast.begin(Pause::Global, Live);
    forecast.end_tracing(Pause::Global, Live, Live);
    forecast.end(Pause::Global, Live, Live, 100e6, i == 0 ? 10e6 : 10000e6);
  }
  EXPECT_EQ(forecast.rest(Pause::Global), 15e6);
}

// Each time as much becomes old as is alive, and half of that dies.
TEST(LullPauseForecastTest, what_becomes_old_and_dies_is_expected_but_not_likely) {
  LullPauseForecast forecast;
  double used = Live;
  for (int i = 0; i < 10; i++) {
    EXPECT_LE(forecast.likely_global(used), forecast.expected(Pause::Global, used));
    forecast.begin(Pause::Global, used);
    forecast.end_tracing(Pause::Global, Live, Live);
    forecast.end(Pause::Global, Live, Live, 1, 0);
    forecast.begin(Pause::Young, Live + Live);
    forecast.end_tracing(Pause::Young, Live, Live);
    used = 2 * Live;
    forecast.end(Pause::Young, used, Live, 1, 0);
  }
  EXPECT_NEAR(forecast.expected(Pause::Global, used), 2 * Live, 1e6);
  EXPECT_NEAR(forecast.likely_global(used), Live, 1e6);
}

TEST(LullPauseForecastTest, never_more_is_likely_than_expected) {
  LullPauseForecast forecast;
  double live = Live;
  for (int i = 0; i < 5; i++) {
    forecast.begin(Pause::Global, live);
    live *= 2;
    forecast.end_tracing(Pause::Global, live, live);
    forecast.end(Pause::Global, live, live, 1, 0);
    EXPECT_EQ(forecast.likely_global(live), forecast.expected(Pause::Global, live));
  }
}

// A pause during which others had the processors is no reason to have no more of them.
TEST(LullPauseForecastTest, one_long_global_pause_counts_a_quarter_a_short_one_half) {
  LullPauseForecast forecast;
  EXPECT_EQ(forecast.likely_global_ns(Live), forecast.likely_global(Live)) << "a nanosecond for each byte, as a guess";
  forecast.begin(Pause::Global, Live);
  forecast.end_tracing(Pause::Global, Live, Live);
  forecast.end(Pause::Global, Live, Live, 1, 0);
  forecast.record_global_pace(100e6, Live);
  EXPECT_NEAR(forecast.likely_global_ns(Live), 100e6, 1e5);
  forecast.record_global_pace(300e6, Live);
  EXPECT_NEAR(forecast.likely_global_ns(Live), 150e6, 1e5);
  forecast.record_global_pace(100e6, Live);
  EXPECT_NEAR(forecast.likely_global_ns(Live), 125e6, 1e5);
  for (int i = 0; i < 20; i++) {
    forecast.record_global_pace(300e6, Live);
  }
  EXPECT_NEAR(forecast.likely_global_ns(Live), 300e6, 2e6) << "but where all are long, they are";
}
