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

#include "gc/lull/policy/lullSparsePolicy.hpp"
#include "unittest.hpp"

class LullSparsePolicyTest : public ::testing::Test {
protected:
  static const size_t Line = LullGeometry::WordsPerLine;

  // What is taken of blocks with so many live words, all without holes.
  template <size_t N>
  static size_t words_taken(LullSparsePolicy* policy, const size_t (&live_words)[N], bool (&taken)[N]) {
    for (size_t i = 0; i < N; i++) {
      policy->add(live_words[i], 0);
    }
    policy->decide();
    size_t words = 0;
    for (size_t i = 0; i < N; i++) {
      taken[i] = policy->takes(live_words[i], 0);
      words += taken[i] ? live_words[i] : 0;
    }
    return words;
  }
};

TEST_F(LullSparsePolicyTest, a_quarter_of_a_block_is_sparse) {
  EXPECT_FALSE(LullSparsePolicy::is_sparse(0));
  EXPECT_TRUE(LullSparsePolicy::is_sparse(1));
  EXPECT_TRUE(LullSparsePolicy::is_sparse(LullGeometry::WordsPerBlock / 4));
  EXPECT_FALSE(LullSparsePolicy::is_sparse(LullGeometry::WordsPerBlock / 4 + 1));
}

TEST_F(LullSparsePolicyTest, takes_the_emptiest_first) {
  LullSparsePolicy policy({10 * Line, 0});
  bool taken[5];
  EXPECT_EQ(words_taken(&policy, {20 * Line, 4 * Line, 30 * Line, 1 * Line, 2 * Line}, taken), 7 * Line);
  EXPECT_FALSE(taken[0]);
  EXPECT_TRUE(taken[1]);
  EXPECT_FALSE(taken[2]);
  EXPECT_TRUE(taken[3]);
  EXPECT_TRUE(taken[4]);
}

TEST_F(LullSparsePolicyTest, takes_some_of_those_that_do_not_fit_all) {
  LullSparsePolicy policy({10 * Line, 0});
  bool taken[4];
  EXPECT_EQ(words_taken(&policy, {4 * Line, 4 * Line, 1, 4 * Line}, taken), 8 * Line + 1);
  EXPECT_TRUE(taken[0]);
  EXPECT_TRUE(taken[1]);
  EXPECT_TRUE(taken[2]);
  EXPECT_FALSE(taken[3]);
}

TEST_F(LullSparsePolicyTest, takes_all_where_there_is_room) {
  LullSparsePolicy policy({LullGeometry::WordsPerBlock, 0});
  bool taken[3];
  EXPECT_EQ(words_taken(&policy, {32 * Line, 31 * Line + 1, 1}, taken), 63 * Line + 2);
}

TEST_F(LullSparsePolicyTest, mutators_keep_most_of_what_is_free) {
  LullSparsePolicy policy({LullGeometry::WordsPerBlock, 100});
  policy.add(1, 60);
  policy.add(1, 40);
  policy.add(2, 1);
  policy.add(40, 0);
  policy.decide();
  EXPECT_TRUE(policy.takes(1, 60));
  EXPECT_TRUE(policy.takes(1, 40));
  EXPECT_FALSE(policy.takes(2, 1));
  EXPECT_FALSE(policy.takes(40, 0));    // a fuller one is not taken where an emptier one was left
}

TEST_F(LullSparsePolicyTest, bounds_grow_with_the_heap_up_to_what_a_pause_may_copy) {
  EXPECT_EQ(LullSparsePolicy::Bounds::of(16 * M, 800)._words, 256 * K / HeapWordSize);
  EXPECT_EQ(LullSparsePolicy::Bounds::of(32 * M, 800)._words, 512 * K / HeapWordSize);
  EXPECT_EQ(LullSparsePolicy::Bounds::of(64 * M, 800)._words, M / HeapWordSize);
  EXPECT_EQ(LullSparsePolicy::Bounds::of(16 * G, 800)._words, M / HeapWordSize);
  EXPECT_EQ(LullSparsePolicy::Bounds::of(16 * G, 800)._free_lines, 100u);
}

TEST_F(LullSparsePolicyTest, few_blocks_are_not_worth_it) {
  EXPECT_FALSE(LullSparsePolicy::is_worth(15));
  EXPECT_TRUE(LullSparsePolicy::is_worth(16));
}

TEST_F(LullSparsePolicyTest, what_many_refer_to_is_left_for_some_choices) {
  EXPECT_EQ(LullSparsePolicy::most_notes(100), 114u);
  EXPECT_FALSE(LullSparsePolicy::forgets_popular(1));
  EXPECT_TRUE(LullSparsePolicy::forgets_popular(16));
}
