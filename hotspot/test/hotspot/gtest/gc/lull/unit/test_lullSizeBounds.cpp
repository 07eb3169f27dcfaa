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

#include "gc/lull/policy/lullSizeBounds.hpp"
#include "unittest.hpp"

static const jlong Ms = 1000 * 1000;

// -Xms16m -Xmx400m, free ratios 40 and 70, collections may take 5 % of the time.
static LullSizeBounds bounds(size_t soft_max = 0) {
  return LullSizeBounds(16 * M, 400 * M, soft_max, 40, 70, 19);
}

// So many collections of so many ms, one each 100 ms, of so many bytes.
static LullCollectionCost cost(uint collections, jlong ms, size_t bytes) {
  LullCollectionCost result;
  for (uint i = 0; i < collections; i++) {
    result.add(100 * Ms, ms * Ms, bytes);
  }
  return result;
}

TEST(LullCollectionCostTest, room_makes_collections_take_their_share) {
  // 10 % of the time with 40 MB between two.
  const LullCollectionCost seen = cost(4, 10, 40 * M);
  EXPECT_NEAR(seen.share(), 0.1, 1e-9);
  const double room = seen.needed_room(19);
  EXPECT_NEAR(room, 40.0 * M * 19 / 9, 1.0);
  // With that room they do: the program runs as long for each byte as before.
  const double ran_ms = 90 * room / (40.0 * M);
  EXPECT_NEAR(10 / (ran_ms + 10), 0.05, 1e-9);
}

TEST(LullCollectionCostTest, room_does_not_depend_on_the_size_in_which_it_was_seen) {
  LullCollectionCost other;
  for (int i = 0; i < 3; i++) {
    other.add((90 * 3 + 10) * Ms, 10 * Ms, 3 * 40 * M);    // three times the room
  }
  EXPECT_NEAR(other.needed_room(19), cost(3, 10, 40 * M).needed_room(19), 1.0);
}

TEST(LullCollectionCostTest, what_was_long_ago_counts_less) {
  LullCollectionCost seen = cost(100, 50, M);
  for (int i = 0; i < 64; i++) {
    seen.add(100 * Ms, 1 * Ms, M);
  }
  EXPECT_LT(seen.share(), 0.02);
  EXPECT_GT(seen.collections(), 4u);
}

TEST(LullCollectionCostTest, nothing_seen_needs_nothing) {
  const LullCollectionCost none;
  EXPECT_EQ(none.share(), 0);
  EXPECT_EQ(none.needed_room(19), 0);
}

TEST(LullCollectionCostTest, all_time_in_collections_is_no_division_by_zero) {
  const LullCollectionCost all = cost(4, 100, M);
  EXPECT_EQ(all.share(), 1);
  EXPECT_GT(all.needed_room(19), 1.0 * G);
}

TEST(LullSizeBoundsTest, free_ratios) {
  EXPECT_EQ(bounds().at_least(60 * M), 100 * M);
  EXPECT_EQ(bounds().at_most(60 * M), 200 * M);
  EXPECT_EQ(bounds().at_most(300 * M), 400 * M);
  const LullSizeBounds all(16 * M, 400 * M, 0, 40, 100, 19);
  EXPECT_EQ(all.at_most(M), 400 * M);
  const LullSizeBounds crossed(16 * M, 400 * M, 0, 60, 40, 19);
  EXPECT_EQ(crossed.at_most(60 * M), crossed.at_least(60 * M));
}

// One costly collection, and the heap has just become empty: no reason to grow.
TEST(LullSizeBoundsTest, costs_let_a_heap_grow_as_far_as_free_ratios_allow) {
  EXPECT_EQ(bounds().grown_for_cost(M, 200 * M, cost(1, 90, 40 * M)), 200 * M);
  EXPECT_EQ(bounds().grown_for_cost(30 * M, 50 * M, cost(1, 90, 40 * M)), 70 * M);     // doubled room
  EXPECT_EQ(bounds().grown_for_cost(15 * M, 40 * M, cost(1, 90, 40 * M)), 50 * M);     // 70 % free
  EXPECT_EQ(bounds().grown_for_cost(30 * M, 50 * M, cost(1, 4, 40 * M)), 50 * M);
}

TEST(LullSizeBoundsTest, enough_costly_collections_let_it_grow_beyond) {
  EXPECT_EQ(bounds().grown_for_cost(M, 20 * M, cost(3, 10, 15 * M)), 20 * M);
  EXPECT_EQ(bounds().grown_for_cost(M, 20 * M, cost(4, 10, 15 * M)), 39 * M);
  EXPECT_EQ(bounds().grown_for_cost(M, 20 * M, cost(4, 4, 15 * M)), 20 * M);
}

TEST(LullSizeBoundsTest, what_may_stay) {
  EXPECT_EQ(bounds().may_stay(30 * M, LullCollectionCost()), 100 * M);
  // 2.5 % of the time: half of the share. It stays as large as it is.
  const LullCollectionCost cheap = cost(4, 2, 100 * M);
  EXPECT_GT(bounds().may_stay(M, cheap), 70 * M);
  EXPECT_LT(bounds().may_stay(M, cheap), 100 * M);
  const LullCollectionCost affordable = cost(4, 4, 100 * M);
  EXPECT_GT(bounds().may_stay(M, affordable), 140 * M);
  // Who shrinks to what may stay needs not grow again.
  EXPECT_LT(affordable.needed_room(19) * 1.9, (double)bounds().may_stay(0, affordable));
  EXPECT_EQ(bounds().may_stay(M, cost(4, 90, 100 * M)), 400 * M);
}

TEST(LullSizeBoundsTest, right_size_of_an_idle_heap_is_by_what_is_alive) {
  EXPECT_EQ(bounds().right_size(60 * M, LullCollectionCost()), 100 * M);
  EXPECT_EQ(bounds().right_size(M, LullCollectionCost()), 16 * M);
  EXPECT_EQ(bounds().right_size(390 * M, LullCollectionCost()), 400 * M);
  // A collection a minute, for some allocation in the background.
  LullCollectionCost idle;
  for (int i = 0; i < 4; i++) {
    idle.add(60 * 1000 * Ms, 20 * Ms, 200 * M);
  }
  EXPECT_EQ(bounds().right_size(60 * M, idle), 100 * M);
}

TEST(LullSizeBoundsTest, right_size_of_a_busy_heap_keeps_collections_cheap) {
  const LullCollectionCost busy = cost(8, 4, 100 * M);
  const size_t size = bounds().right_size(60 * M, busy);
  EXPECT_GE((double)size, 60.0 * M + busy.needed_room(19));
  EXPECT_LT(size, 400 * M);
}

TEST(LullSizeBoundsTest, soft_maximum_yields_to_what_is_alive) {
  EXPECT_EQ(bounds(80 * M).right_size(30 * M, cost(8, 4, 200 * M)), 80 * M);
  EXPECT_EQ(bounds(80 * M).right_size(60 * M, LullCollectionCost()), 100 * M);
  EXPECT_EQ(bounds(800 * M).limit(0), 400 * M);
}

TEST(LullSizeBoundsTest, grows_first_for_a_good_part_of_a_heap_that_is_far_below_its_maximum) {
  // 64 MB of 1 GB: from 2 MB on, up to half of the maximum with it.
  EXPECT_FALSE(LullSizeBounds::grows_first(2 * M - 1, 64 * M, G));
  EXPECT_TRUE(LullSizeBounds::grows_first(2 * M, 64 * M, G));
  EXPECT_TRUE(LullSizeBounds::grows_first(448 * M, 64 * M, G));
  EXPECT_FALSE(LullSizeBounds::grows_first(448 * M + 1, 64 * M, G));
  // A heap that is half of its maximum is no program that starts.
  EXPECT_TRUE(LullSizeBounds::grows_first(16 * M, 496 * M, G));
  EXPECT_FALSE(LullSizeBounds::grows_first(17 * M, 496 * M, G));
  EXPECT_FALSE(LullSizeBounds::grows_first(M, G, G));
  // More than there will ever be.
  EXPECT_FALSE(LullSizeBounds::grows_first(2 * G, 64 * M, G));
}
