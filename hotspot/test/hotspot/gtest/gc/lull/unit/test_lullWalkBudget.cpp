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

#include "gc/lull/policy/lullWalkBudget.hpp"
#include "unittest.hpp"

static const size_t CompiledFrame = 48;
static const size_t InterpreterFrame = 112;

static LullWalkBudget after(size_t frames, size_t frame_size) {
  LullWalkBudget budget;
  budget.record(frames * frame_size, frames);
  return budget;
}

// 400 frames of a framework, in whatever code: a thread collects as often as without all this.
TEST(LullWalkBudgetTest, usual_stacks_are_free) {
  EXPECT_EQ(LullWalkBudget().bytes_at(400 * InterpreterFrame), 0u);
  EXPECT_EQ(after(400, InterpreterFrame).bytes_at(400 * InterpreterFrame), 0u);
  EXPECT_EQ(after(1000, CompiledFrame).bytes_at(1000 * CompiledFrame), 0u);
}

TEST(LullWalkBudgetTest, each_frame_more_costs_as_much) {
  const LullWalkBudget budget = after(1000 * 1000, CompiledFrame);
  const size_t deep = budget.bytes_at(1000 * 1000 * CompiledFrame);
  EXPECT_NEAR((double)deep, 999e3 * LullWalkBudget::BytesPerFrame, 1e6);
  const size_t half = budget.bytes_at(500 * 1000 * CompiledFrame);
  EXPECT_NEAR((double)half, 499e3 * LullWalkBudget::BytesPerFrame, 1e6);
}

// Walks at any depth visit a bounded number of frames for each byte that was allocated before them.
TEST(LullWalkBudgetTest, frames_for_each_byte_are_bounded) {
  for (size_t frames : {2000, 10000, 100000, 1000000}) {
    const LullWalkBudget budget = after(frames, CompiledFrame);
    EXPECT_LE((frames - LullWalkBudget::UsualFrames) * LullWalkBudget::BytesPerFrame,
              budget.bytes_at(frames * CompiledFrame) + LullWalkBudget::BytesPerFrame);
  }
}

TEST(LullWalkBudgetTest, learns_how_large_frames_are) {
  LullWalkBudget budget;
  const size_t depth = 100000 * InterpreterFrame;
  EXPECT_GT(budget.frames_at(depth), 100000u) << "at first it takes them for small";
  budget.record(depth, 100000);
  EXPECT_NEAR((double)budget.frames_at(depth), 100000, 1);
  budget.record(depth, 200000);
  EXPECT_NEAR((double)budget.frames_at(depth), 200000, 1);
}

// The stack has become shallow: what was learned deep down does not keep the thread from looking.
TEST(LullWalkBudgetTest, follows_the_stack_as_it_is_now) {
  const LullWalkBudget budget = after(1000 * 1000, CompiledFrame);
  EXPECT_EQ(budget.bytes_at(50 * CompiledFrame), 0u);
}

// A few frames next to the stack's end, of natives and stubs, say nothing of a million others.
TEST(LullWalkBudgetTest, a_few_frames_say_nothing) {
  LullWalkBudget budget = after(1000 * 1000, CompiledFrame);
  const size_t before = budget.bytes_at(1000 * 1000 * CompiledFrame);
  budget.record(8000, 5);
  EXPECT_EQ(budget.bytes_at(1000 * 1000 * CompiledFrame), before);
}

TEST(LullWalkBudgetTest, no_frames_are_no_division_by_zero) {
  LullWalkBudget budget;
  budget.record(0, 0);
  budget.record(0, 1000);
  EXPECT_EQ(budget.bytes_at(0), 0u);
}
