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

#include "gc/lull/observe/lullHeapParts.hpp"
#include "unittest.hpp"

static void check_sums(const LullHeapParts& parts, size_t used, size_t committed) {
  EXPECT_EQ(parts.old_used() + parts.new_used(), used);
  EXPECT_EQ(parts.old_committed() + parts.new_committed(), committed);
  EXPECT_EQ(parts.committed(), committed);
  EXPECT_LE(parts.old_used(), parts.old_committed());
  EXPECT_LE(parts.new_used(), parts.new_committed());
}

TEST(LullHeapPartsTest, what_is_more_than_was_left_is_new) {
  const LullHeapParts parts(70 * M, 30 * M, 100 * M);
  EXPECT_EQ(parts.old_used(), 30 * M);
  EXPECT_EQ(parts.new_used(), 40 * M);
  EXPECT_EQ(parts.old_committed(), 60 * M) << "what is free is the old part's";
  EXPECT_EQ(parts.room_for_new(), 70 * M) << "and new objects are allocated there";
  check_sums(parts, 70 * M, 100 * M);
}

TEST(LullHeapPartsTest, less_is_in_use_than_was_left) {
  const LullHeapParts parts(20 * M, 30 * M, 100 * M);
  EXPECT_EQ(parts.old_used(), 20 * M);
  EXPECT_EQ(parts.new_used(), (size_t)0);
  check_sums(parts, 20 * M, 100 * M);
}

TEST(LullHeapPartsTest, nothing_was_collected_yet) {
  const LullHeapParts parts(20 * M, 0, 100 * M);
  EXPECT_EQ(parts.new_used(), 20 * M);
  EXPECT_EQ(parts.old_committed(), 80 * M);
  check_sums(parts, 20 * M, 100 * M);
}

// The heap has grown since its size was read.
TEST(LullHeapPartsTest, never_is_more_in_use_than_committed) {
  check_sums(LullHeapParts(70 * M, 30 * M, 50 * M), 70 * M, 70 * M);
  check_sums(LullHeapParts(70 * M, 80 * M, 50 * M), 70 * M, 70 * M);
  check_sums(LullHeapParts(0, 80 * M, 0), 0, 0);
}
