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

#include "gc/lull/policy/lullCleaningPolicy.hpp"
#include "unittest.hpp"

TEST(LullCleaningPolicyTest, each_pass_goes_half_of_the_way_to_the_pause) {
  const size_t pause_at = 1000 * M;
  size_t used = 200 * M;
  uint passes = 0;
  for (size_t at; (at = LullCleaningPolicy::next_at(used, pause_at, passes)) != SIZE_MAX; passes++) {
    EXPECT_EQ(at - used, pause_at - at);
    used = at;
  }
  EXPECT_EQ(passes, (uint)LullCleaningPolicy::MostPasses);
  EXPECT_EQ(used, 900 * M);
}

TEST(LullCleaningPolicyTest, none_begins_just_before_a_pause_or_behind_it) {
  EXPECT_EQ(LullCleaningPolicy::next_at(99 * M, 100 * M, 0), SIZE_MAX);
  EXPECT_EQ(LullCleaningPolicy::next_at(100 * M, 100 * M, 0), SIZE_MAX);
  EXPECT_EQ(LullCleaningPolicy::next_at(101 * M, 100 * M, 0), SIZE_MAX);
  EXPECT_EQ(LullCleaningPolicy::next_at(0, 0, 0), SIZE_MAX);
  EXPECT_EQ(LullCleaningPolicy::next_at(96 * M, 100 * M, 0), 98 * M);
}

TEST(LullCleaningPolicyTest, few_stretches_are_left_to_the_pause) {
  EXPECT_FALSE(LullCleaningPolicy::is_worth(0));
  EXPECT_FALSE(LullCleaningPolicy::is_worth(LullCleaningPolicy::LeastStretches - 1));
  EXPECT_TRUE(LullCleaningPolicy::is_worth(LullCleaningPolicy::LeastStretches));
}

TEST(LullCleaningPolicyTest, a_pause_that_can_wait_has_three_passes_first_within_a_second) {
  const jlong due = 5 * (jlong)NANOSECS_PER_SEC;
  EXPECT_TRUE(LullCleaningPolicy::may_wait(0, due, due));
  EXPECT_TRUE(LullCleaningPolicy::may_wait(2, due, due + NANOSECS_PER_SEC - 1));
  EXPECT_FALSE(LullCleaningPolicy::may_wait(3, due, due));
  EXPECT_FALSE(LullCleaningPolicy::may_wait(0, due, due + NANOSECS_PER_SEC));
  EXPECT_EQ(LullCleaningPolicy::latest(due), due + NANOSECS_PER_SEC);
}

// Pauses until it may clean again.
static uint intervals_without(LullCleaningPolicy* policy) {
  uint pauses = 0;
  while (!policy->may_clean()) {
    policy->begin_interval();
    pauses++;
  }
  return pauses;
}

TEST(LullCleaningPolicyTest, passes_in_vain_come_ever_more_rarely) {
  LullCleaningPolicy policy;
  EXPECT_TRUE(policy.may_clean());
  for (uint skipped : {1, 2, 4, 8, 16, 16, 16}) {
    policy.record(1000, 501);
    EXPECT_EQ(intervals_without(&policy), 1 + skipped);
  }
  policy.record(1000, 500);
  EXPECT_TRUE(policy.may_clean());
  policy.record(1000, 1000);
  EXPECT_EQ(intervals_without(&policy), 2u);
}

TEST(LullCleaningPolicyTest, a_pass_that_finds_nothing_is_not_in_vain) {
  LullCleaningPolicy policy;
  policy.record(0, 0);
  EXPECT_TRUE(policy.may_clean());
}
