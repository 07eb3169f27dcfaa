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

#include "gc/lull/policy/lullNativeGrowth.hpp"
#include "unittest.hpp"

TEST(LullNativeGrowthTest, the_first_look_is_the_mark) {
  LullNativeGrowth growth;
  EXPECT_EQ(growth.look(0, 100 * M, 0), 0u);
  EXPECT_EQ(growth.look(0, 130 * M, 0), 30 * M);
  EXPECT_EQ(growth.look(0, 150 * M, 0), 50 * M);
}

TEST(LullNativeGrowthTest, what_was_allocated_in_the_heap_may_be_the_heaps) {
  LullNativeGrowth growth;
  growth.look(0, 100 * M, 40 * M);
  EXPECT_EQ(growth.look(0, 130 * M, 60 * M), 10 * M);
  EXPECT_EQ(growth.look(0, 140 * M, 100 * M), 0u);
  EXPECT_EQ(growth.look(0, 140 * M, 20 * M), 40 * M);    // less is in use than was
}

TEST(LullNativeGrowthTest, memory_that_went_back_lowers_the_mark) {
  LullNativeGrowth growth;
  growth.look(0, 100 * M, 0);
  EXPECT_EQ(growth.look(0, 60 * M, 0), 0u);
  EXPECT_EQ(growth.look(0, 90 * M, 0), 30 * M);
}

TEST(LullNativeGrowthTest, a_pause_begins_anew_at_the_look_before_it) {
  LullNativeGrowth growth;
  growth.look(0, 100 * M, 0);
  EXPECT_EQ(growth.look(0, 180 * M, 0), 80 * M);
  EXPECT_EQ(growth.look(1, 200 * M, 0), 20 * M);
  EXPECT_EQ(growth.look(1, 210 * M, 0), 30 * M);
  EXPECT_EQ(growth.look(2, 210 * M, 0), 0u);
}

TEST(LullNativeGrowthTest, an_unknown_size_is_no_growth) {
  LullNativeGrowth growth;
  EXPECT_EQ(growth.look(0, 0, 0), 0u);
  EXPECT_EQ(growth.look(0, 0, 10 * M), 0u);
  EXPECT_EQ(growth.look(0, 100 * M, 10 * M), 0u);
  EXPECT_EQ(growth.look(0, 0, 10 * M), 0u);
  EXPECT_EQ(growth.look(0, 100 * M, 10 * M), 0u);
}

TEST(LullCountGrowthTest, counts_from_the_look_before_the_last_pause_or_the_least_since) {
  LullCountGrowth growth;
  EXPECT_EQ(growth.look(0, 100), 0u);    // what the program has at first
  EXPECT_EQ(growth.look(0, 130), 30u);
  EXPECT_EQ(growth.look(0, 90), 0u);
  EXPECT_EQ(growth.look(0, 150), 60u);
  EXPECT_EQ(growth.look(1, 170), 20u);   // since 150
  EXPECT_EQ(growth.look(1, 160), 10u);
}
