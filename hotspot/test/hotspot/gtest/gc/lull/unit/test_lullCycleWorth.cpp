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

#include "gc/lull/policy/lullCycleWorth.hpp"
#include "unittest.hpp"

static const jlong Millisecond = NANOSECS_PER_MILLISEC;
static const jlong Global = 60 * Millisecond;

TEST(LullCycleWorthTest, short_global_pauses_are_better) {
  const LullCycleWorth worth;
  EXPECT_FALSE(worth.is_better(0));
  EXPECT_FALSE(worth.is_better(10 * Millisecond));
  EXPECT_TRUE(worth.is_better(10 * Millisecond + 1));
}

TEST(LullCycleWorthTest, remarks_as_long_as_global_pauses_are_in_vain) {
  LullCycleWorth worth;
  worth.record_remark(50 * Millisecond, Global);
  EXPECT_TRUE(worth.is_better(Global)) << "one may have been an accident";
  worth.record_remark(50 * Millisecond, Global);
  EXPECT_FALSE(worth.is_better(Global));
}

TEST(LullCycleWorthTest, a_good_remark_makes_up_for_a_poor_one) {
  LullCycleWorth worth;
  for (int i = 0; i < 10; i++) {
    worth.record_remark(50 * Millisecond, Global);
    worth.record_remark(40 * Millisecond, Global);
    EXPECT_TRUE(worth.is_better(Global));
  }
}

// A pause of a second is not a way to learn something.
TEST(LullCycleWorthTest, long_global_pauses_are_never_better) {
  LullCycleWorth worth;
  for (int i = 0; i < 10; i++) {
    worth.record_remark(1000 * Millisecond, 1000 * Millisecond);
  }
  EXPECT_TRUE(worth.is_better(100 * Millisecond + 1));
  EXPECT_FALSE(worth.is_better(100 * Millisecond));
}

static int globals_until_next_cycle(LullCycleWorth* worth) {
  int count = 0;
  for (; !worth->is_better(Global) && count < 1000; count++) {
    worth->record_global();
  }
  return count;
}

TEST(LullCycleWorthTest, it_is_tried_again_after_global_pauses_more_of_them_each_time) {
  LullCycleWorth worth;
  worth.record_remark(50 * Millisecond, Global);
  int last = 2;
  for (int i = 0; i < 5; i++) {
    worth.record_remark(50 * Millisecond, Global);
    const int count = globals_until_next_cycle(&worth);
    EXPECT_EQ(count, 2 * last);
    last = count;
  }
  worth.record_remark(50 * Millisecond, Global);
  EXPECT_EQ(globals_until_next_cycle(&worth), last) << "at most";
  worth.record_remark(Millisecond, Global);
  worth.record_remark(50 * Millisecond, Global);
  EXPECT_TRUE(worth.is_better(Global));
}

TEST(LullCycleWorthTest, cycles_that_cost_more_for_what_they_free_are_in_vain) {
  LullCycleWorth worth;
  worth.record_period(true, 2.0);
  worth.record_period(true, 2.0);
  EXPECT_TRUE(worth.is_better(Global)) << "nothing is known of global collections";
  worth.record_period(false, 1.0);
  worth.record_period(true, 2.0);
  EXPECT_TRUE(worth.is_better(Global)) << "one may have been an accident";
  worth.record_period(true, 2.0);
  EXPECT_FALSE(worth.is_better(Global));
  EXPECT_EQ(worth.left_out(), 4u);
}

// Cycles that cost twice as much are no price for pauses of less than twice the length.
TEST(LullCycleWorthTest, the_more_cycles_cost_the_longer_global_pauses_may_be) {
  for (const double cost : {1.5, 2.0, 2.5, 10.0}) {
    LullCycleWorth worth;
    worth.record_period(false, 1.0);
    worth.record_period(true, cost);
    worth.record_period(true, cost);
    const jlong longest = (jlong)(MIN2(cost, 2.5) * 100) * Millisecond;
    EXPECT_FALSE(worth.is_better(longest)) << cost;
    EXPECT_TRUE(worth.is_better(longest + Millisecond)) << cost;
  }
}

// Where remarks are long, and cycles cost no more, a long global pause is no better.
TEST(LullCycleWorthTest, cycles_that_cost_less_do_not_make_global_pauses_longer) {
  LullCycleWorth worth;
  worth.record_period(false, 1.0);
  worth.record_period(true, 0.5);
  worth.record_remark(100 * Millisecond, 100 * Millisecond);
  worth.record_remark(100 * Millisecond, 100 * Millisecond);
  EXPECT_FALSE(worth.is_better(100 * Millisecond));
  EXPECT_TRUE(worth.is_better(101 * Millisecond));
}

// A quarter more is the price of short pauses.
TEST(LullCycleWorthTest, cycles_may_cost_a_quarter_more) {
  LullCycleWorth worth;
  for (int i = 0; i < 10; i++) {
    worth.record_period(false, 1.0);
    worth.record_period(true, 1.25);
    EXPECT_TRUE(worth.is_better(Global));
  }
}

TEST(LullCycleWorthTest, a_cycle_shows_again_what_it_costs_ever_more_rarely) {
  LullCycleWorth worth;
  worth.record_period(false, 1.0);
  worth.record_period(true, 2.0);
  for (uint left_out = 4; left_out <= 64; left_out *= 2) {
    worth.record_period(true, 2.0);
    for (uint i = 0; i < left_out; i++) {
      EXPECT_FALSE(worth.is_better(Global));
      worth.record_global();
    }
    EXPECT_TRUE(worth.is_better(Global));
  }
  worth.record_period(true, 0.8);
  EXPECT_FALSE(worth.is_better(Global)) << "it may have been an accident";
  for (uint i = 0; i < 64; i++) {
    worth.record_global();
  }
  worth.record_period(true, 0.8);
  EXPECT_TRUE(worth.is_better(Global)) << "what was long ago counts less";
}

// A good remark does not make up for what young collections cost.
TEST(LullCycleWorthTest, short_remarks_may_be_dear) {
  LullCycleWorth worth;
  worth.record_period(false, 1.0);
  worth.record_remark(Millisecond, Global);
  worth.record_period(true, 2.0);
  worth.record_remark(Millisecond, Global);
  worth.record_period(true, 2.0);
  EXPECT_FALSE(worth.is_better(Global));
}
