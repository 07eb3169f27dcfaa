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

#include "gc/lull/heap/lullLineSet.hpp"
#include "unittest.hpp"

#include <random>
#include <vector>

// A copy, because test macros take references to their arguments.
static const uint Size = LullLineSet::Size;

TEST(LullLineSet, empty_and_full) {
  LullLineSet set;
  EXPECT_TRUE(set.is_empty());
  EXPECT_EQ(set.count(), 0u);
  EXPECT_EQ(set.longest_run(), 0u);
  EXPECT_EQ(set.next_member(0), Size);
  EXPECT_EQ(set.next_gap(0), 0u);

  set.set_all();
  EXPECT_EQ(set.count(), 128u);
  EXPECT_EQ(set.longest_run(), 128u);
  EXPECT_EQ(set.next_member(127), 127u);
  EXPECT_EQ(set.next_gap(0), Size);

  set.clear_all();
  EXPECT_TRUE(set.is_empty());
}

TEST(LullLineSet, a_run_crosses_the_words) {
  LullLineSet set;
  set.add_range(60, 8);
  EXPECT_EQ(set.count(), 8u);
  EXPECT_EQ(set.longest_run(), 8u);
  EXPECT_EQ(set.next_member(0), 60u);
  EXPECT_EQ(set.next_gap(60), 68u);
  uint runs = 0;
  set.runs_do([&](uint start, uint length) {
    EXPECT_EQ(start, 60u);
    EXPECT_EQ(length, 8u);
    runs++;
  });
  EXPECT_EQ(runs, 1u);
}

TEST(LullLineSet, runs_at_both_ends) {
  LullLineSet set;
  set.add(0);
  set.add(127);
  std::vector<uint> starts;
  set.runs_do([&](uint start, uint length) {
    EXPECT_EQ(length, 1u);
    starts.push_back(start);
  });
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0], 0u);
  EXPECT_EQ(starts[1], 127u);
}

// Against a plain array of flags.
TEST(LullLineSet, random_sets_agree_with_a_model) {
  std::mt19937 random(20250617);
  for (int round = 0; round < 2000; round++) {
    LullLineSet set;
    bool model[Size] = {};
    const uint density = random() % 101;   // the whole set, too
    for (uint i = 0; i < Size; i++) {
      if (random() % 100 < density) {
        set.add(i);
        model[i] = true;
      }
    }
    uint count = 0;
    uint longest = 0;
    uint length = 0;
    for (uint i = 0; i < Size; i++) {
      ASSERT_EQ(set.contains(i), model[i]) << "round " << round << " line " << i;
      count += model[i] ? 1 : 0;
      length = model[i] ? length + 1 : 0;
      longest = MAX2(longest, length);
    }
    ASSERT_EQ(set.count(), count) << "round " << round;
    ASSERT_EQ(set.longest_run(), longest) << "round " << round;
    for (uint i = 1; i <= Size; i++) {
      ASSERT_EQ(set.has_run(i), i <= longest) << "round " << round << " run of " << i;
    }

    // Runs are maximal, in order, and cover exactly the members.
    bool covered[Size] = {};
    uint after_last = 0;
    bool first = true;
    set.runs_do([&](uint start, uint run_length) {
      ASSERT_TRUE(first || start > after_last) << "round " << round;
      first = false;
      for (uint i = start; i < start + run_length; i++) {
        covered[i] = true;
      }
      after_last = start + run_length;
    });
    for (uint i = 0; i < Size; i++) {
      ASSERT_EQ(covered[i], model[i]) << "round " << round << " line " << i;
    }
  }
}

TEST(LullLineSet, removes_the_members_of_another_set) {
  LullLineSet set;
  set.add_range(10, 100);
  LullLineSet other;
  other.add_range(0, 20);
  other.add_range(60, 10);
  set.remove(other);
  EXPECT_EQ(set.count(), 80u);
  EXPECT_FALSE(set.contains(19));
  EXPECT_TRUE(set.contains(20));
  EXPECT_FALSE(set.contains(69));
  EXPECT_TRUE(set.contains(70));
  EXPECT_EQ(set.longest_run(), 40u);
}
