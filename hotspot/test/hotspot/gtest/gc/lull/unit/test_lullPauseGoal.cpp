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

#include "gc/lull/policy/lullPauseGoal.hpp"
#include "unittest.hpp"

class LullPauseGoalTest : public ::testing::Test {
protected:
  static const jlong Millisecond = NANOSECS_PER_SEC / 1000;

  // What a pause takes of 2 ms that are fixed and 2 ns for each byte that is alive.
  static jlong mark_ns(size_t alive) { return 2 * (jlong)alive; }
  static void record(LullPauseGoal* goal, size_t bytes, double share, jlong fixed_ns = 2 * Millisecond) {
    const size_t alive = (size_t)((double)bytes * share);
    goal->record_young(fixed_ns + mark_ns(alive), mark_ns(alive), alive, 0 /* private */, bytes);
  }
  static double next_pause_ms(const LullPauseGoal& goal, double share, double fixed_ms = 2) {
    return fixed_ms + (double)mark_ns((size_t)((double)goal.budget() * share)) / Millisecond;
  }
};

TEST_F(LullPauseGoalTest, before_anything_is_known_all_is_taken_to_be_alive) {
  LullPauseGoal goal(50);
  EXPECT_LE(next_pause_ms(goal, 1.0), 50);
  record(&goal, 10 * M, 0.001);
  EXPECT_GT(goal.budget(), G);    // the first pause tells
}

TEST_F(LullPauseGoalTest, without_a_goal_there_is_no_bound) {
  LullPauseGoal none(0);
  EXPECT_EQ(none.budget(), SIZE_MAX);
  record(&none, 200 * M, 1.0);
  EXPECT_EQ(none.budget(), SIZE_MAX);
}

TEST_F(LullPauseGoalTest, the_next_pause_meets_the_goal_whatever_share_is_alive) {
  for (const double share : {0.01, 0.1, 0.5, 1.0}) {
    LullPauseGoal goal(50);
    record(&goal, 2 * G, share);
    EXPECT_LE(next_pause_ms(goal, share), 50) << share;
    EXPECT_GE(next_pause_ms(goal, share), 25) << share;    // no earlier than need be
  }
}

TEST_F(LullPauseGoalTest, next_to_nothing_alive_says_nothing_of_what_a_byte_costs) {
  LullPauseGoal goal(50);
  const size_t before = goal.budget();
  record(&goal, M - 1, 0.5, 5 * Millisecond);    // roots
  EXPECT_LE(goal.budget(), before);
  EXPECT_GE(goal.budget(), before / 2);
}

TEST_F(LullPauseGoalTest, more_that_survives_counts_at_once_and_less_by_and_by) {
  LullPauseGoal goal(50);
  record(&goal, 200 * M, 0.1);
  const size_t before = goal.budget();
  record(&goal, 200 * M, 1.0);
  EXPECT_LE(goal.budget(), before / 9);
  const size_t least = goal.budget();
  record(&goal, 200 * M, 0.1);
  EXPECT_GT(goal.budget(), least);
  EXPECT_LT(goal.budget(), before / 2);
  for (int i = 0; i < 20; i++) {
    record(&goal, 200 * M, 0.1);
  }
  EXPECT_NEAR((double)goal.budget(), (double)before, (double)before / 10);
}

// 20 MB of private objects are marked in each young pause, however early it comes.
TEST_F(LullPauseGoalTest, what_is_private_still_is_no_reason_for_more_pauses) {
  LullPauseGoal goal(50);
  for (int i = 0; i < 10; i++) {
    goal.record_young(mark_ns(20 * M), mark_ns(20 * M), 20 * M, 20 * M, 4 * M);
  }
  EXPECT_EQ(goal.budget(), SIZE_MAX);
}

// 45 of 50 ms go for what costs the same in any case: ten times as many pauses would be ten times that.
TEST_F(LullPauseGoalTest, a_pause_works_as_long_on_what_is_new_as_on_what_is_fixed) {
  LullPauseGoal goal(50);
  record(&goal, 200 * M, 1.0, 45 * Millisecond);
  EXPECT_NEAR(next_pause_ms(goal, 1.0, 45), 90, 1);
}

TEST_F(LullPauseGoalTest, a_goal_of_a_millisecond_has_a_least_budget) {
  LullPauseGoal goal(1);
  record(&goal, 200 * M, 1.0, 0);
  EXPECT_EQ(goal.budget(), 2 * M);
}

// 30 of the ms in which a pause marks go for roots, thousands of threads. The budget is to follow from what a byte
// costs, for else pauses would come for each few MB, and take as long.
TEST_F(LullPauseGoalTest, roots_are_not_the_cost_of_bytes) {
  LullPauseGoal goal(50);
  const jlong roots = 30 * Millisecond;
  for (int i = 0; i < 40; i++) {
    const size_t bytes = goal.budget();
    goal.record_young(2 * Millisecond + roots + mark_ns(bytes), roots + mark_ns(bytes), bytes, 0, bytes);
  }
  // As long for what is new as for what is fixed.
  EXPECT_NEAR((double)mark_ns(goal.budget()) / Millisecond, 32, 6);
}

// All pauses have marked as much, and take twice as long from now on: it may be bytes.
TEST_F(LullPauseGoalTest, where_pauses_do_not_differ_a_longer_one_counts_for_bytes) {
  LullPauseGoal goal(50);
  for (int i = 0; i < 20; i++) {
    record(&goal, (i % 2 == 0 ? 10 : 20) * M, 1.0);
  }
  for (int i = 0; i < 30; i++) {
    record(&goal, 16 * M, 1.0);
  }
  const size_t before = goal.budget();
  goal.record_young(2 * (2 * Millisecond + mark_ns(16 * M)), 2 * mark_ns(16 * M), 16 * M, 0, 16 * M);
  EXPECT_LE(goal.budget(), before * 2 / 3);
}

// What grows with the bytes, though it is not marking, is part of what a byte costs: references, the sweep.
TEST_F(LullPauseGoalTest, what_grows_with_the_bytes_is_not_fixed) {
  LullPauseGoal goal(50);
  for (int i = 0; i < 40; i++) {
    const size_t bytes = MIN2(goal.budget(), G);
    goal.record_young(mark_ns(bytes) + mark_ns(bytes) / 2, mark_ns(bytes), bytes, 0, bytes);
  }
  EXPECT_LE((double)goal.budget() * 3 / Millisecond, 60);
}

// A program that drops a cache writes to old objects everywhere, and what it allocates dies. Nothing of that is fixed: else
// longer pauses would make the next ones come later, and be longer still.
TEST_F(LullPauseGoalTest, lines_that_were_written_to_grow_until_the_pause) {
  LullPauseGoal goal(50);
  size_t bytes = 200 * M;
  for (int i = 0; i < 20; i++) {
    const size_t written = 3 * bytes / 2;
    goal.record_young(2 * Millisecond + mark_ns(written), mark_ns(written), written, 0, bytes);
    bytes = MIN2(goal.budget(), 200 * M);
  }
  EXPECT_LE(next_pause_ms(goal, 1.5), 50);
  EXPECT_GE(next_pause_ms(goal, 1.5), 25);
}

// What is fixed may be more from now on: it is believed after some pauses.
TEST_F(LullPauseGoalTest, more_that_is_fixed_is_believed_by_and_by) {
  LullPauseGoal goal(50);
  for (int i = 0; i < 10; i++) {
    record(&goal, (i % 2 == 0 ? 10 : 20) * M, 1.0);
  }
  for (int i = 0; i < 20; i++) {
    record(&goal, MIN2(goal.budget(), 200 * M), 1.0, 60 * Millisecond);
  }
  // What does not differ from pause to pause may be bytes in part.
  EXPECT_GE((double)mark_ns(goal.budget()) / Millisecond, 60 / 2);
  EXPECT_LE((double)mark_ns(goal.budget()) / Millisecond, 60 * 1.25);
}

// By chance a pause that has marked little took long.
TEST_F(LullPauseGoalTest, one_pause_that_the_machine_held_up_does_not_make_bytes_free) {
  LullPauseGoal goal(50);
  for (int i = 0; i < 10; i++) {
    record(&goal, (i % 2 == 0 ? 10 : 20) * M, 1.0);
  }
  const size_t before = goal.budget();
  goal.record_young(100 * Millisecond, mark_ns(5 * M), 5 * M, 0, 5 * M);
  EXPECT_LE(next_pause_ms(goal, 1.0), 50);
  for (int i = 0; i < 20; i++) {
    record(&goal, (i % 2 == 0 ? 10 : 20) * M, 1.0);
  }
  EXPECT_NEAR((double)goal.budget(), (double)before, (double)before / 4);
}
