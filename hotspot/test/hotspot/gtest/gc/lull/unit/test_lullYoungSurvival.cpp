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
#include "gc/lull/policy/lullYoungSurvival.hpp"
#include "unittest.hpp"

class LullYoungSurvivalTest : public ::testing::Test {
protected:
  static LullYoungSurvival::Seen seen(size_t kilobytes, double share) {
    const size_t lines = kilobytes * K / LullGeometry::LineSize;
    return {lines, (size_t)((double)(lines * LullGeometry::WordsPerLine) * share)};
  }

  LullYoungSurvival _survival;

  LullYoungSurvivalTest() : _survival(50, true) {}

  // As many collections as told, each of 8 MB of which such a share is alive: copies, or not, as the policy says.
  uint collect(uint count, double share) {
    uint copied = 0;
    for (uint i = 0; i < count; i++) {
      const bool copies = _survival.copies();
      copied += copies ? 1 : 0;
      _survival.begin_collection();
      if (copies) {
        _survival.record_copied(seen(8 * K, share), seen(0, 0));
      } else {
        _survival.record_in_place(seen(8 * K, share));
      }
    }
    return copied;
  }
};

TEST_F(LullYoungSurvivalTest, the_first_collection_copies) {
  EXPECT_TRUE(_survival.copies());
  EXPECT_TRUE(_survival.must_age());
  EXPECT_LT(_survival.of_new(), 0.2);
}

TEST_F(LullYoungSurvivalTest, where_little_survives_all_copy) {
  EXPECT_EQ(collect(100, 0.02), 100u);
  EXPECT_NEAR(_survival.of_new(), 0.02, 0.001);
}

TEST_F(LullYoungSurvivalTest, a_cache_that_is_filled_is_copied_once) {
  EXPECT_EQ(collect(100, 0.97), 1u);
  EXPECT_FALSE(_survival.must_age());    // there are no copies that could
}

TEST_F(LullYoungSurvivalTest, half_is_the_border) {
  EXPECT_EQ(collect(20, 0.49), 20u);
  EXPECT_EQ(collect(20, 0.51), 1u);
}

TEST_F(LullYoungSurvivalTest, copies_are_back_soon_where_the_share_falls) {
  collect(20, 1.0);
  EXPECT_FALSE(_survival.copies());
  const uint in_place = 10 - collect(10, 0.1);
  EXPECT_GE(in_place, 1u);
  EXPECT_LE(in_place, 3u);
}

TEST_F(LullYoungSurvivalTest, one_collection_with_little_garbage_among_others_costs_few_without_copies) {
  uint copied = 0;
  for (int i = 0; i < 10; i++) {
    copied += collect(1, 0.9);
    copied += collect(9, 0.05);
  }
  EXPECT_GE(copied, 70u);
}

TEST_F(LullYoungSurvivalTest, what_is_young_right_after_another_pause_says_nothing) {
  collect(5, 0.1);
  _survival.record_copied(seen(200, 1.0), seen(0, 0));
  EXPECT_TRUE(_survival.copies());
  EXPECT_EQ(collect(5, 0.1), 5u);
}

// But where nothing else comes, it does.
TEST_F(LullYoungSurvivalTest, small_collections_are_summed_up) {
  for (int i = 0; i < 8; i++) {
    _survival.record_copied(seen(200, 1.0), seen(0, 0));
  }
  EXPECT_FALSE(_survival.copies());
}

TEST_F(LullYoungSurvivalTest, nothing_selected_says_nothing) {
  const double before = _survival.of_new();
  _survival.record_copied(seen(0, 0), seen(0, 0));
  EXPECT_EQ(_survival.of_new(), before);
  EXPECT_TRUE(_survival.must_age());
}

TEST_F(LullYoungSurvivalTest, more_alive_than_lines_is_all) {
  _survival.record_copied({10000, 20000 * LullGeometry::WordsPerLine}, seen(0, 0));
  EXPECT_EQ(_survival.of_new(), 1.0);
}

TEST_F(LullYoungSurvivalTest, survivors_that_live_on_are_old_at_once_but_for_two_of_many) {
  uint aged = 0;
  bool survivors = false;
  for (int i = 0; i < 180; i++) {
    const bool ages = _survival.must_age();
    aged += ages ? 1 : 0;
    _survival.begin_collection();
    _survival.record_copied(seen(8 * K, 0.1), survivors ? seen(K, 0.9) : seen(0, 0));
    survivors = ages;
  }
  EXPECT_GE(aged, 18u);
  EXPECT_LE(aged, 26u);
}

// A pause that follows another one at once finds all of its survivors alive. They die later.
TEST_F(LullYoungSurvivalTest, survivors_of_the_pause_just_before_say_nothing) {
  for (int i = 0; i < 40; i++) {
    EXPECT_TRUE(_survival.must_age()) << i;
    _survival.begin_collection();
    _survival.record_copied(seen(8 * K, 0.1), seen(K, 0.2));
    EXPECT_TRUE(_survival.must_age()) << i;
    _survival.begin_collection();
    _survival.record_copied(seen(0, 0), seen(K, 1.0));
    _survival.begin_collection();
    _survival.record_copied(seen(64, 1.0), seen(K, 1.0));
  }
}

// But where no collection finds more, they do.
TEST_F(LullYoungSurvivalTest, survivors_of_small_collections_count_in_the_end) {
  int collections = 0;
  while (_survival.must_age() && collections < 100) {
    _survival.begin_collection();
    _survival.record_copied(seen(200, 0.1), seen(200, 1.0));
    collections++;
  }
  EXPECT_GE(collections, 1);
  EXPECT_LE(collections, 20);
}

TEST_F(LullYoungSurvivalTest, survivors_that_die_age_always) {
  for (int i = 0; i < 40; i++) {
    EXPECT_TRUE(_survival.must_age());
    _survival.begin_collection();
    _survival.record_copied(seen(8 * K, 0.1), seen(K, 0.2));
  }
}

TEST_F(LullYoungSurvivalTest, the_share_is_an_option) {
  LullYoungSurvival never(0, true);
  EXPECT_FALSE(never.copies());
  EXPECT_FALSE(never.must_age());
  LullYoungSurvival always(100, true);
  always.record_copied(seen(8 * K, 1.0), seen(0, 0));
  EXPECT_TRUE(always.copies());
  LullYoungSurvival old_at_once(100, false);
  EXPECT_FALSE(old_at_once.must_age());
}
