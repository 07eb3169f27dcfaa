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

#include "gc/lull/policy/lullCyclePolicy.hpp"
#include "unittest.hpp"

class LullCyclePolicyTest : public ::testing::Test {
protected:
  LullCyclePolicy::Seen _seen;

  LullCyclePolicyTest() : _seen{110 * M /* used */, 100 * M /* at last */, 0 /* growth */, 200 * M, 50 * NANOSECS_PER_MILLISEC, false} {}
};

TEST_F(LullCyclePolicyTest, begins_when_half_of_what_was_free_is_old) {
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._used = 150 * M;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._used++;
  EXPECT_TRUE(LullCyclePolicy::wants_cycle(_seen));
}

TEST_F(LullCyclePolicyTest, begins_a_young_pause_early_where_each_leaves_much) {
  _seen._growth = 40 * M;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._growth++;
  EXPECT_TRUE(LullCyclePolicy::wants_cycle(_seen));
}

TEST_F(LullCyclePolicyTest, begins_earlier_after_one_that_came_too_late) {
  _seen._was_vain = true;
  _seen._used = 125 * M;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._used++;
  EXPECT_TRUE(LullCyclePolicy::wants_cycle(_seen));
}

TEST_F(LullCyclePolicyTest, a_larger_heap_leaves_more_time) {
  _seen._used = 151 * M;
  _seen._capacity = 400 * M;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
}

TEST_F(LullCyclePolicyTest, a_short_global_pause_needs_no_cycle) {
  _seen._used = 200 * M;
  _seen._expected_global_ns = LullCyclePolicy::ShortPauseNs;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._expected_global_ns = 0;    // none was seen
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
}

// What is left may be more than what is committed now, if the heap has shrunk.
TEST_F(LullCyclePolicyTest, without_room_any_growth_begins_a_cycle) {
  _seen._used_at_last = 300 * M;
  _seen._used = 300 * M;
  EXPECT_FALSE(LullCyclePolicy::wants_cycle(_seen));
  _seen._used++;
  EXPECT_TRUE(LullCyclePolicy::wants_cycle(_seen));
}

TEST_F(LullCyclePolicyTest, a_sixth_is_enough_for_a_young_collection_more) {
  EXPECT_TRUE(LullCyclePolicy::is_enough_left(166 * M, 200 * M));
  EXPECT_FALSE(LullCyclePolicy::is_enough_left(167 * M, 200 * M));
}
