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


#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "unittest.hpp"

// A millisecond and a megabyte at a time.
class LullYoungPolicyTest : public ::testing::Test {
protected:
  LullYoungPolicy _policy;

  void global(size_t ms, size_t megabytes) { _policy.record_global((jlong)ms * NANOSECS_PER_MILLISEC, megabytes * M); }
  void young(size_t ms, size_t megabytes)  { _policy.record_young((jlong)ms * NANOSECS_PER_MILLISEC, megabytes * M); }
  void early(size_t ms, size_t megabytes)  { _policy.record_early((jlong)ms * NANOSECS_PER_MILLISEC, megabytes * M); }
};

TEST_VM_F(LullYoungPolicyTest, the_first_collection_is_global) {
  EXPECT_FALSE(_policy.wants_young());
  global(40, 80);
  EXPECT_TRUE(_policy.wants_young());
}

// Each young collection frees less than the one before, until it costs more for a byte than the cycle has: 40 ms for
// 80 MB, then 10 ms for 60, 30 and 10.
TEST_VM_F(LullYoungPolicyTest, young_collections_end_when_one_makes_the_mean_worse) {
  global(40, 80);
  young(10, 60);    // 0.17 ms a MB, the cycle has 0.36
  EXPECT_TRUE(_policy.wants_young());
  young(10, 30);    // 0.33, 0.35
  EXPECT_TRUE(_policy.wants_young());
  young(10, 10);    // 1.0, 0.39
  EXPECT_FALSE(_policy.wants_young());
  global(40, 80);
  EXPECT_TRUE(_policy.wants_young());
}

// The processor was somebody else's, or the machine's.
TEST_VM_F(LullYoungPolicyTest, one_that_was_disturbed_does_not_end_the_cycle) {
  global(25, 27);
  for (int i = 0; i < 10; i++) {
    young(3, 27);
  }
  young(10, 27);    // 0.37 ms a MB, the cycle has 0.2
  EXPECT_TRUE(_policy.wants_young());
  // But if all take longer, it is what they take.
  for (int i = 0; i < 3; i++) {
    young(20, 27);
  }
  EXPECT_FALSE(_policy.wants_young());
}

TEST_VM_F(LullYoungPolicyTest, cycles_have_none_where_the_first_is_in_vain_and_it_is_tried_again) {
  size_t skipped = 0;
  for (size_t expected : {1, 3, 7, 15, 31, 31}) {
    global(40, 80);
    for (skipped = 0; !_policy.wants_young(); skipped++) {
      ASSERT_LT(skipped, 100u);
      global(40, 80);
    }
    young(40, 1);
    EXPECT_FALSE(_policy.wants_young());
    global(40, 80);
    for (skipped = 0; !_policy.wants_young(); skipped++) {
      ASSERT_LT(skipped, 100u);
      global(40, 80);
    }
    EXPECT_EQ(skipped, expected);
  }
}

TEST_VM_F(LullYoungPolicyTest, one_that_pays_ends_the_waiting) {
  global(40, 80);
  young(40, 1);
  global(40, 80);
  EXPECT_FALSE(_policy.wants_young());
  global(40, 80);
  EXPECT_TRUE(_policy.wants_young());
  young(10, 70);
  EXPECT_TRUE(_policy.wants_young());
  global(40, 80);
  EXPECT_TRUE(_policy.wants_young());
}

TEST_VM_F(LullYoungPolicyTest, a_collection_that_frees_nothing_is_the_last) {
  global(40, 80);
  young(0, 0);      // and that took no time by the clock
  EXPECT_FALSE(_policy.wants_young());
}

// The heap is full, and threads have all of it.
TEST_VM_F(LullYoungPolicyTest, that_is_so_where_the_global_one_has_freed_nothing_either) {
  global(40, 0);
  EXPECT_TRUE(_policy.wants_young());
  young(10, 0);
  EXPECT_FALSE(_policy.wants_young());
}

// Early ones have freed most; what memory lacks for in the end frees the rest.
TEST_VM_F(LullYoungPolicyTest, what_came_early_counts_with_the_next_one) {
  global(40, 80);
  early(10, 60);
  early(10, 60);
  young(10, 2);     // by itself 5 ms a MB, the cycle has 0.5
  EXPECT_TRUE(_policy.wants_young());
  young(10, 2);     // and by itself, for nothing came early
  EXPECT_FALSE(_policy.wants_young());
}

// Without lack of memory nothing is decided; and a global one begins anew.
TEST_VM_F(LullYoungPolicyTest, early_ones_in_vain_are_no_reason_for_a_global_one) {
  global(40, 80);
  for (int i = 0; i < 100; i++) {
    early(40, 0);
  }
  EXPECT_TRUE(_policy.wants_young());
  global(40, 80);
  young(10, 60);
  EXPECT_TRUE(_policy.wants_young());
}

// A remark has freed 10 MB, and the sweep after it 30 more: without them the young one would pay.
TEST_VM_F(LullYoungPolicyTest, what_a_later_sweep_frees_is_of_the_cycle) {
  global(40, 10);
  EXPECT_EQ(_policy.ns_per_byte(), 0) << "no young one since";
  _policy.correct_freed(30 * M);
  young(10, 8);     // 1.25 ms a MB, the cycle has 1.04; without the sweep it would have 2.8
  EXPECT_FALSE(_policy.wants_young());
  EXPECT_NEAR(_policy.ns_per_byte(), 50.0 * NANOSECS_PER_MILLISEC / (48.0 * M), 0.001);
}

// Less got free than was expected.
TEST_VM_F(LullYoungPolicyTest, what_a_later_sweep_does_not_free_is_taken_back) {
  global(10, 20);
  young(10, 10);
  _policy.correct_freed(-100 * (ssize_t)M);
  EXPECT_GT(_policy.ns_per_byte(), 0) << "nothing was freed, and that is no division by zero";
}
