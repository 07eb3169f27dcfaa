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

// Links: gc/lull/heap/lullGeometry.cpp
// Links: gc/lull/policy/lullIdlePolicy.cpp

#include "gc/lull/policy/lullIdlePolicy.hpp"
#include "unittest.hpp"

class LullIdlePolicyTest : public ::testing::Test {
protected:
  typedef LullIdlePolicy::Action Action;

  LullIdlePolicy       _policy;
  LullIdlePolicy::Look _look;

  LullIdlePolicyTest()
    : _policy(), _look{0, 100 * M /* used */, 300 * M /* free */, 400 * M, 16 * M, NANOSECS_PER_SEC / 100,
                       0 /* threads at work */, true} {}

  // One more look, so many bytes later.
  LullIdlePolicy::Decision look(size_t allocated) {
    _look._allocated += allocated;
    return _policy.look(_look);
  }

  // The action after so many looks at which nothing else was done.
  void expect_after(int looks, size_t allocated, Action action) {
    for (int i = 1; i < looks; i++) {
      ASSERT_EQ(look(allocated)._action, Action::None) << "look " << i;
    }
    EXPECT_EQ(look(allocated)._action, action);
  }
};

TEST_F(LullIdlePolicyTest, a_quiet_program_is_collected_once) {
  expect_after(7, 100 * K, Action::CollectGlobal);
  _look._used = 20 * M;
  _look._free = 10 * M;
  _look._capacity = 33 * M;
  _policy.record_collection(_look._used, true);
  for (int i = 0; i < 50; i++) {
    ASSERT_NE(look(0)._action, Action::CollectGlobal);
  }
  _look._used = 30 * M;    // what it does now and then adds up
  EXPECT_EQ(look(0)._action, Action::CollectGlobal);
}

// Nothing is allocated, but what was alive may be dead: once in five minutes.
TEST_F(LullIdlePolicyTest, a_quiet_program_is_looked_at_again_after_a_long_time) {
  expect_after(7, 0, Action::CollectGlobal);
  _look._min_capacity = _look._capacity;    // nothing is given back
  _policy.record_collection(_look._used, true);
  for (int i = 1; i < 60; i++) {
    ASSERT_EQ(look(0)._action, Action::None) << i;
  }
  EXPECT_EQ(look(0)._action, Action::CollectGlobal);
}

// A heap that lives is not gone through each five minutes for days.
TEST_F(LullIdlePolicyTest, and_then_after_twice_that_until_something_is_allocated) {
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::CollectGlobal);
  for (int looks : {60, 120, 240, 480, 960, 1920, 3840, 3840}) {
    _policy.record_collection(_look._used, true);
    expect_after(looks, 0, Action::CollectGlobal);
  }
  _policy.record_collection(_look._used, true);
  _look._used += 50 * M;
  expect_after(7, 0, Action::CollectGlobal);
  _policy.record_collection(_look._used, true);
  expect_after(60, 0, Action::CollectGlobal);
}

// What it was before says nothing.
TEST_F(LullIdlePolicyTest, one_that_was_at_work_is_looked_at_as_soon_as_at_first) {
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::CollectGlobal);
  for (int looks : {60, 120, 240}) {
    _policy.record_collection(_look._used, true);
    expect_after(looks, 0, Action::CollectGlobal);
  }
  _policy.record_collection(_look._used, true);
  for (int i = 0; i < 30; i++) {
    ASSERT_EQ(look(50 * M)._action, Action::None) << i;    // its own collections keep what is in use
  }
  expect_after(30, 0, Action::CollectGlobal);
}

TEST_F(LullIdlePolicyTest, a_busy_one_is_not) {
  _look._used = 390 * M;
  _look._free = 0;
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(look(20 * M)._action, Action::None);
  }
}

// What was alive at the peak is dead, and what is allocated since would fill the heap in minutes.
TEST_F(LullIdlePolicyTest, one_that_does_little_after_a_peak_is_collected_once) {
  _look._used = 250 * M;
  _look._free = 100 * M;
  expect_after(7, 10 * M, Action::CollectGlobal);
  _look._used = 50 * M;
  _look._free = 300 * M;
  _look._min_capacity = _look._capacity;    // nothing is given back
  _policy.record_collection(_look._used, true);
  for (int i = 0; i < 50; i++) {
    _look._used = MIN2(_look._used + 10 * M, 240 * M);
    ASSERT_EQ(look(10 * M)._action, Action::None) << i;
  }
  _look._used = 251 * M;
  EXPECT_EQ(look(10 * M)._action, Action::CollectGlobal);
}

TEST_F(LullIdlePolicyTest, what_lies_in_all_blocks_slides_after_it) {
  _look._used = 350 * M;
  _look._free = 0;
  expect_after(7, 0, Action::CollectGlobal);
  _look._used = 30 * M;
  _look._free = 80 * M;
  _policy.record_collection(_look._used, true);
  EXPECT_EQ(look(0)._action, Action::Slide);
  _policy.record_slide(_look);    // in vain
  for (int i = 0; i < 11; i++) {
    ASSERT_EQ(look(0)._action, Action::None) << i;
  }
}

// Whoever has collected.
TEST_F(LullIdlePolicyTest, holes_of_a_program_that_does_little_slide) {
  _look._used = 30 * M;
  _look._free = 80 * M;
  expect_after(7, 10 * M, Action::Slide);
  _look._capacity = 120 * M;
  _look._free = 85 * M;
  _policy.record_slide(_look);
  for (int i = 0; i < 11; i++) {
    ASSERT_EQ(look(M)._action, Action::None) << i;
  }
}

// What is free is in blocks, but none of it is in one piece with enough of its neighbours.
TEST_F(LullIdlePolicyTest, all_slides_once_if_what_is_unused_cannot_go_back) {
  expect_after(12, 10 * M, Action::GiveBack);
  _policy.record_given_back(225 * M, 10 * M);
  EXPECT_EQ(look(10 * M)._action, Action::Slide);
  _policy.record_slide(_look);
  expect_after(12, 10 * M, Action::GiveBack);
  _policy.record_given_back(225 * M, 10 * M);    // something stays where it is
  for (int i = 0; i < 30; i++) {
    ASSERT_NE(look(10 * M)._action, Action::Slide) << i;
  }
}

TEST_F(LullIdlePolicyTest, nothing_slides_in_a_heap_that_cannot_shrink) {
  _look._used = 30 * M;
  _look._free = 80 * M;
  _look._min_capacity = 350 * M;
  for (int i = 0; i < 11; i++) {
    ASSERT_EQ(look(10 * M)._action, Action::None) << i;
  }
}

TEST_F(LullIdlePolicyTest, nothing_slides_where_most_is_free_in_blocks) {
  _look._used = 350 * M;
  _look._free = 0;
  expect_after(7, 0, Action::CollectGlobal);
  _look._used = 30 * M;
  _look._free = 280 * M;
  _policy.record_collection(_look._used, true);
  EXPECT_EQ(look(0)._action, Action::None);
}

TEST_F(LullIdlePolicyTest, one_that_does_more_is_not) {
  _look._used = 350 * M;
  _look._free = 0;
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(look(17 * M)._action, Action::None);
  }
}

TEST_F(LullIdlePolicyTest, a_large_heap_is_not_stopped_for_long_unless_it_is_quiet_for_long) {
  _look._expected_global_ns = NANOSECS_PER_SEC;
  _look._free = 0;
  expect_after(7, 0, Action::CollectYoung);
  _policy.record_collection(_look._used, false);
  expect_after(60, 0, Action::CollectGlobal);
}

TEST_F(LullIdlePolicyTest, what_is_never_used_goes_back_by_and_by) {
  expect_after(12, 10 * M, Action::GiveBack);
  _policy.record_given_back(225 * M, 200 * M);
  _look._free = 100 * M;
  _look._capacity = 200 * M;
  const LullIdlePolicy::Decision next = look(10 * M);    // the rest needs no other minute
  EXPECT_EQ(next._action, Action::GiveBack);
  EXPECT_EQ(next._bytes, 75 * M);
}

TEST_F(LullIdlePolicyTest, what_was_used_in_between_stays) {
  for (int i = 0; i < 100; i++) {
    _look._free = i % 10 == 0 ? 0 : 300 * M;
    ASSERT_EQ(look(20 * M)._action, Action::None);
  }
}

TEST_F(LullIdlePolicyTest, the_heap_is_not_made_smaller_than_asked_for) {
  _look._min_capacity = 350 * M;
  for (int i = 1; i < 12; i++) {
    ASSERT_EQ(look(10 * M)._action, Action::None);
  }
  EXPECT_EQ(look(10 * M)._bytes, 50 * M);
  _policy.record_given_back(0, 0);
  _look._min_capacity = _look._capacity;
  for (int i = 0; i < 30; i++) {
    ASSERT_EQ(look(10 * M)._action, Action::None);
  }
}

// It computes, or lacks processors, and then a pause takes many times as long as is expected.
TEST_F(LullIdlePolicyTest, one_whose_threads_are_at_work_is_not_stopped_for_the_whole_heap) {
  _look._threads_at_work = 2;
  expect_after(7, 100 * K, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  _look._used = 20 * M;          // of 400: what the sweep leaves could slide
  _look._free = 100 * M;
  _look._min_capacity = 64 * M;
  for (int i = 1; i < 12; i++) {
    ASSERT_EQ(look(100 * K)._action, Action::None) << i;
  }
  EXPECT_EQ(look(100 * K)._action, Action::GiveBack);
}

TEST_F(LullIdlePolicyTest, it_is_again_when_they_wait) {
  _look._threads_at_work = 1;
  for (int i = 0; i < 4; i++) {
    ASSERT_EQ(look(100 * K)._action, Action::None) << i;
  }
  _look._threads_at_work = 0;
  expect_after(3, 100 * K, Action::CollectGlobal);    // in three of the last six it had waited
}

// A health check that happens to run at a look.
TEST_F(LullIdlePolicyTest, a_thread_now_and_then_makes_no_program_busy) {
  for (int i = 1; i < 7; i++) {
    _look._threads_at_work = i % 2;
    ASSERT_EQ(look(100 * K)._action, Action::None) << i;
  }
  EXPECT_EQ(look(100 * K)._action, Action::CollectGlobal);
}

// What lived when it marked may be dead.
TEST_F(LullIdlePolicyTest, a_long_time_brings_another_cycle) {
  _look._threads_at_work = 1;
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  expect_after(60, 0, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  expect_after(120, 0, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  _look._used += 50 * M;
  expect_after(7, 0, Action::BeginCycle);
}

// One that marks already finds little. Meanwhile what is free goes back.
TEST_F(LullIdlePolicyTest, a_cycle_that_was_not_begun_is_asked_for_again) {
  _look._threads_at_work = 1;
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::BeginCycle);
  EXPECT_EQ(look(0)._action, Action::None);
  EXPECT_EQ(look(0)._action, Action::BeginCycle);
  _look._min_capacity = 64 * M;
  _look._free = 200 * M;
  for (int i = 0; i < 20; i++) {
    const Action action = look(0)._action;
    ASSERT_EQ(action == Action::BeginCycle, i % 2 == 1) << i;
    if (action == Action::GiveBack) {
      return;
    }
  }
  FAIL() << "nothing goes back";
}

// However long it has waited.
TEST_F(LullIdlePolicyTest, so_is_one_after_a_long_time) {
  _look._threads_at_work = 1;
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  expect_after(60, 0, Action::BeginCycle);
  expect_after(2, 0, Action::BeginCycle);
  expect_after(2, 0, Action::BeginCycle);
  _policy.record_cycle_begun(_look._used);
  expect_after(120, 0, Action::BeginCycle);
}

TEST_F(LullIdlePolicyTest, without_cycles_threads_at_work_are_stopped_for_what_is_young) {
  _look._threads_at_work = 1;
  _look._has_cycles = false;
  _look._min_capacity = _look._capacity;
  expect_after(7, 0, Action::CollectYoung);
  _policy.record_collection(_look._used, false);
  _look._expected_global_ns = NANOSECS_PER_SEC / 4;
  expect_after(60, 0, Action::CollectYoung);
  _policy.record_collection(_look._used, false);
  expect_after(120, 0, Action::CollectYoung);
  _policy.record_collection(_look._used, false);
  _look._expected_global_ns = NANOSECS_PER_SEC / 10;
  expect_after(240, 0, Action::CollectGlobal);
}
