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

#include "gc/lull/policy/lullUseLimit.hpp"
#include "unittest.hpp"

static const size_t Max = 500 * M;

TEST(LullUseLimitTest, is_below_what_breakers_refuse_at) {
  const LullUseLimit limit;
  EXPECT_FALSE(limit.yields());
  EXPECT_LT(limit.bytes(Max), Max / 10 * 9);
  EXPECT_GT(limit.bytes(Max), Max / 100 * 89);
}

TEST(LullUseLimitTest, yields_where_much_is_alive) {
  LullUseLimit limit;
  limit.record_global(390 * M, Max, false);
  EXPECT_FALSE(limit.yields());
  limit.record_global(410 * M, Max, false);
  EXPECT_TRUE(limit.yields());
  EXPECT_EQ(limit.bytes(Max), SIZE_MAX);
}

TEST(LullUseLimitTest, returns_a_little_below) {
  LullUseLimit limit;
  limit.record_global(410 * M, Max, false);
  limit.record_global(390 * M, Max, false);
  EXPECT_TRUE(limit.yields()) << "a heap around it does not change with each collection";
  limit.record_global(370 * M, Max, false);
  EXPECT_FALSE(limit.yields());
  limit.record_global(390 * M, Max, false);
  EXPECT_FALSE(limit.yields());
}

TEST(LullUseLimitTest, yields_earlier_where_collections_are_costly) {
  LullUseLimit limit;
  limit.record_global(360 * M, Max, true);
  EXPECT_TRUE(limit.yields());
  limit.record_global(360 * M, Max, false);
  EXPECT_FALSE(limit.yields());
  limit.record_global(340 * M, Max, true);
  EXPECT_FALSE(limit.yields());
}

// What is over it after all was done is alive: no allocation after it is to collect again.
TEST(LullUseLimitTest, yields_to_a_large_object) {
  LullUseLimit limit;
  limit.record_global(300 * M, Max, false);
  limit.record_allocation(440 * M, Max);
  EXPECT_FALSE(limit.yields());
  limit.record_allocation(460 * M, Max);
  EXPECT_TRUE(limit.yields());
  limit.record_allocation(300 * M, Max);
  EXPECT_TRUE(limit.yields()) << "until the next collection";
  limit.record_global(300 * M, Max, false);
  EXPECT_FALSE(limit.yields());
}

// Old garbage: the next one finds it, before use comes near to the limit again and again.
TEST(LullUseLimitTest, a_young_collection_that_leaves_much_is_followed_by_a_global_one) {
  LullUseLimit limit;
  limit.record_young(400 * M, Max);
  EXPECT_FALSE(limit.young_left_much());
  limit.record_young(430 * M, Max);
  EXPECT_TRUE(limit.young_left_much());
  EXPECT_FALSE(limit.yields());
  limit.record_global(300 * M, Max, false);
  EXPECT_FALSE(limit.young_left_much());
  limit.record_global(450 * M, Max, false);
  limit.record_young(460 * M, Max);
  EXPECT_FALSE(limit.young_left_much()) << "there is no limit";
}
