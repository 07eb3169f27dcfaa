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


// Links: gc/lull/policy/lullReferencePolicy.cpp

#include "gc/lull/policy/lullReferencePolicy.hpp"
#include "unittest.hpp"

class LullReferencePolicyTest : public ::testing::Test {
protected:
  static const size_t Capacity = 40 * M;
  static const jlong Millisecond = NANOSECS_PER_SEC / 1000;

  LullReferencePolicy _policy;

  LullReferencePolicyTest() : _policy(1 /* percent */, 0) {}

  bool is_due(size_t garbage, size_t references, jlong elapsed_ns = Millisecond) const {
    return _policy.is_due({garbage, references, elapsed_ns}, Capacity);
  }
};

TEST_F(LullReferencePolicyTest, garbage_alone_asks_for_no_pause) {
  EXPECT_FALSE(is_due(100 * Capacity, 0));
}

TEST_F(LullReferencePolicyTest, one_reference_waits_for_a_quarter_of_a_small_heap) {
  EXPECT_FALSE(is_due(Capacity / 4 - 1, 1));
  EXPECT_TRUE(is_due(Capacity / 4, 1));
  EXPECT_EQ(_policy.garbage_due(Capacity), Capacity / 4);
}

TEST_F(LullReferencePolicyTest, in_a_large_heap_for_as_much_as_g1_allocates_at_first) {
  EXPECT_EQ(_policy.garbage_due(64 * M), 12 * M);
  EXPECT_EQ(_policy.garbage_due(4 * G), 12 * M);
  for (size_t capacity = M; capacity < 64 * G; capacity *= 2) {
    EXPECT_LE(_policy.garbage_due(capacity), _policy.garbage_due(2 * capacity));
  }
}

TEST_F(LullReferencePolicyTest, many_references_need_no_garbage) {
  EXPECT_FALSE(is_due(0, _policy.references_due() - 1));
  EXPECT_TRUE(is_due(0, _policy.references_due()));
}

TEST_F(LullReferencePolicyTest, what_nobody_has_counted_is_processed_in_the_end) {
  EXPECT_FALSE(is_due(4 * Capacity, 0, 9 * NANOSECS_PER_SEC));
  EXPECT_FALSE(is_due(4 * Capacity - 1, 0, 10 * NANOSECS_PER_SEC));
  EXPECT_TRUE(is_due(4 * Capacity, 0, 10 * NANOSECS_PER_SEC));
}

TEST_F(LullReferencePolicyTest, memory_outside_needs_neither_garbage_nor_many) {
  EXPECT_TRUE(_policy.is_due({0, 0, Millisecond, 64 * M, 100 * M}, Capacity));    // threads tell of few references late
  EXPECT_FALSE(_policy.is_due({0, 1, Millisecond, 64 * M - 1, 100 * M}, Capacity));
  EXPECT_FALSE(_policy.is_due({0, 1, Millisecond, G - 1, 5 * G - 1}, Capacity));
  EXPECT_TRUE(_policy.is_due({0, 1, Millisecond, G, 5 * G}, Capacity));     // a quarter of what was there
}

TEST_F(LullReferencePolicyTest, pauses_in_vain_become_rarer_and_one_that_pays_ends_that) {
  size_t due = _policy.garbage_due(Capacity);
  for (int i = 0; i < 3; i++) {
    _policy.record_pause(0, 0, false);
    EXPECT_EQ(_policy.garbage_due(Capacity), 2 * due);
    due *= 2;
  }
  _policy.record_pause(0, 0, false);
  EXPECT_EQ(_policy.garbage_due(Capacity), due);   // not for ever
  EXPECT_EQ(_policy.references_due(), 512u);       // and many are many
  _policy.record_pause(0, 1, false);
  EXPECT_LT(_policy.garbage_due(Capacity), due);
  _policy.record_pause(0, 8, false);
  EXPECT_EQ(_policy.garbage_due(Capacity), Capacity / 4);
}

// Pauses of 2 ms that are always due take one percent of the time.
TEST_F(LullReferencePolicyTest, credit_bounds_the_share_of_time) {
  jlong now = 0;
  jlong paused = 0;
  while (now < 100 * (jlong)NANOSECS_PER_SEC) {
    const jlong wait = _policy.wait_ns(now, false);
    if (wait > 0) {
      now += wait;
      continue;
    }
    _policy.record_pause(2 * Millisecond, 0, false);
    paused += 2 * Millisecond;
    now += 2 * Millisecond;
  }
  EXPECT_LE(paused, 1100 * Millisecond);    // and a tenth of a second that was there at first
  EXPECT_GE(paused, 1000 * Millisecond);
}

// A thousand references in two milliseconds are worth these.
TEST_F(LullReferencePolicyTest, what_clears_much_pays_for_itself) {
  for (int i = 0; i < 1000; i++) {
    ASSERT_EQ(_policy.wait_ns(0, false), 0);
    _policy.record_pause(2 * Millisecond, 1000, false);
  }
}

TEST_F(LullReferencePolicyTest, no_more_credit_is_saved_than_a_tenth_of_a_second) {
  EXPECT_EQ(_policy.wait_ns(3600 * (jlong)NANOSECS_PER_SEC, false), 0);
  _policy.record_pause(100 * Millisecond, 0, false);
  EXPECT_GT(_policy.wait_ns(3600 * (jlong)NANOSECS_PER_SEC, false), 0);
}

TEST_F(LullReferencePolicyTest, what_the_heap_has_itself_is_never_urgent) {
  EXPECT_FALSE(_policy.is_urgent({100 * Capacity, 1000000, 3600 * (jlong)NANOSECS_PER_SEC}));
}

TEST_F(LullReferencePolicyTest, descriptors_and_threads_are_due_by_themselves) {
  EXPECT_FALSE(_policy.is_due({0, 0, Millisecond, 0, 0, 127, 1024, 255}, Capacity));
  EXPECT_TRUE(_policy.is_due({0, 0, Millisecond, 0, 0, 128, 1024, 0}, Capacity));
  EXPECT_FALSE(_policy.is_due({0, 0, Millisecond, 0, 0, 1000, 1 << 20, 0}, Capacity));    // there are more
  EXPECT_FALSE(_policy.is_due({0, 0, Millisecond, 0, 0, 1000, 0 /* unknown */, 0}, Capacity));
  EXPECT_TRUE(_policy.is_due({0, 0, Millisecond, 0, 0, 0, 1024, 256}, Capacity));
}

TEST_F(LullReferencePolicyTest, who_has_global_pauses_anyway_needs_no_other) {
  _policy.record_other_globals(99 * Millisecond);
  EXPECT_EQ(_policy.wait_ns(0, false), 0);
  _policy.record_other_globals(2 * Millisecond);
  const jlong wait = _policy.wait_ns(0, false);
  EXPECT_GT(wait, 0);
  EXPECT_EQ(_policy.wait_ns(0, true), 0);
  for (int i = 0; i < 10; i++) {
    _policy.record_other_globals(NANOSECS_PER_SEC);
  }
  EXPECT_GT(_policy.wait_ns(0, false), wait);
  EXPECT_LE(_policy.wait_ns(0, false), 6 * (jlong)NANOSECS_PER_SEC);    // and then one may come, whatever others do
}

TEST_F(LullReferencePolicyTest, global_pauses_of_others_forgive_no_debt) {
  _policy.record_pause(500 * Millisecond, 0, false);
  const jlong wait = _policy.wait_ns(0, false);
  _policy.record_other_globals(Millisecond);
  EXPECT_EQ(_policy.wait_ns(0, false), wait);
}

TEST_F(LullReferencePolicyTest, what_is_urgent_has_ten_times_the_share) {
  EXPECT_TRUE(_policy.is_urgent({0, 0, 0, 64 * M, 100 * M}));
  EXPECT_TRUE(_policy.is_urgent({0, 0, 0, 0, 0, 128, 1024, 0}));
  EXPECT_TRUE(_policy.is_urgent({0, 0, 0, 0, 0, 0, 0, 256}));
  _policy.record_pause(200 * Millisecond, 0, false);
  _policy.record_pause(200 * Millisecond, 0, true);
  const jlong wait = _policy.wait_ns(0, false);
  EXPECT_GT(wait, 9 * (jlong)NANOSECS_PER_SEC);
  EXPECT_NEAR((double)_policy.wait_ns(0, true), (double)wait / 10, (double)Millisecond);
}

TEST_F(LullReferencePolicyTest, what_is_urgent_may_use_the_usual_credit_too) {
  _policy.record_pause(500 * Millisecond, 0, true);
  EXPECT_EQ(_policy.wait_ns(0, true), 0);
}

// Nor the other way round.
TEST_F(LullReferencePolicyTest, urgent_pauses_do_not_use_up_the_credit_of_usual_ones) {
  _policy.record_pause(500 * Millisecond, 0, true);
  EXPECT_EQ(_policy.wait_ns(0, false), 0);
}

TEST_F(LullReferencePolicyTest, what_has_become_old_needs_a_look_at_all) {
  const jlong five = 5 * (jlong)NANOSECS_PER_SEC;
  EXPECT_FALSE(LullReferencePolicy::wants_all({8 * Capacity, 0, five}, 0, Capacity));
  EXPECT_TRUE(LullReferencePolicy::wants_all({8 * Capacity, 1, five}, 0, Capacity));
  EXPECT_FALSE(LullReferencePolicy::wants_all({8 * Capacity, 1, five - 1}, 0, Capacity));
  EXPECT_FALSE(LullReferencePolicy::wants_all({8 * Capacity - 1, 1, five}, 1, Capacity));
}

TEST_F(LullReferencePolicyTest, a_global_pause_looks_at_all_only_if_it_is_short) {
  EXPECT_TRUE(LullReferencePolicy::may_be_global(100 * Millisecond));
  EXPECT_FALSE(LullReferencePolicy::may_be_global(101 * Millisecond));
}

// A young pause, which costs less, comes first: it may clear them all.
TEST_F(LullReferencePolicyTest, many_need_a_look_at_all_only_if_a_pause_has_looked_at_them) {
  EXPECT_FALSE(LullReferencePolicy::wants_all({Capacity, 5000, NANOSECS_PER_SEC}, 511, Capacity));
  EXPECT_TRUE(LullReferencePolicy::wants_all({Capacity, 5000, NANOSECS_PER_SEC}, 512, Capacity));
  EXPECT_FALSE(LullReferencePolicy::wants_all({Capacity, 5000, NANOSECS_PER_SEC - 1}, 512, Capacity));
}

TEST_F(LullReferencePolicyTest, without_a_share_there_is_none) {
  LullReferencePolicy never(0, 0);
  EXPECT_EQ(never.garbage_due(Capacity), SIZE_MAX);
  EXPECT_EQ(never.references_due(), SIZE_MAX);
  EXPECT_FALSE(never.is_due({100 * Capacity, 1000000, 3600 * (jlong)NANOSECS_PER_SEC}, Capacity));
}
