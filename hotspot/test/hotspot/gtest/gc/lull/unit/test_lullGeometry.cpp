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

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/unit/lullTestHeapBase.hpp"
#include "unittest.hpp"

#include <vector>

class LullGeometryTest : public ::testing::Test {
protected:
  const LullTestHeapBase _heap_base;

  static char* at(size_t offset) { return LullGeometry::heap_base() + offset; }
};

TEST_F(LullGeometryTest, block_and_line_of_address) {
  EXPECT_EQ(untype(LullGeometry::block_of(at(0))), 0u);
  EXPECT_EQ(untype(LullGeometry::block_of(at(32 * 1024 - 1))), 0u);
  EXPECT_EQ(untype(LullGeometry::block_of(at(32 * 1024))), 1u);
  EXPECT_EQ(untype(LullGeometry::line_of(at(255))), 0u);
  EXPECT_EQ(untype(LullGeometry::line_of(at(256))), 1u);
  EXPECT_EQ(untype(LullGeometry::line_of(at(32 * 1024))), 128u);
}

TEST_F(LullGeometryTest, every_line_of_a_block_is_in_it) {
  const LullBlockIndex block = to_block_index(12345);
  const uint32_t first = untype(LullGeometry::first_line(block));
  for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
    const LullLineIndex index = to_line_index(first + line);
    EXPECT_EQ(LullGeometry::block_of(index), block);
    EXPECT_EQ(LullGeometry::line_in_block(index), line);
    EXPECT_EQ(LullGeometry::line_of(LullGeometry::start_of(index)), index);
    EXPECT_EQ(LullGeometry::block_of(LullGeometry::start_of(index)), block);
  }
  EXPECT_EQ((char*)LullGeometry::start_of(block), at(size_t(12345) * 32 * 1024));
}

TEST_F(LullGeometryTest, the_largest_heap_has_32_bit_line_indexes) {
  char* const last = at(LullGeometry::MaxHeapSize - 1);
  EXPECT_EQ(untype(LullGeometry::line_of(last)), UINT32_MAX);
  EXPECT_EQ((char*)LullGeometry::start_of(LullGeometry::line_of(last)), last - 255);
}

TEST_F(LullGeometryTest, sizes_round_up) {
  EXPECT_EQ(LullGeometry::lines_for(1), 1u);
  EXPECT_EQ(LullGeometry::lines_for(32), 1u);
  EXPECT_EQ(LullGeometry::lines_for(33), 2u);
  EXPECT_EQ(LullGeometry::lines_for(LullGeometry::WordsPerBlock), 128u);
  EXPECT_EQ(LullGeometry::blocks_for(1), 1u);
  EXPECT_EQ(LullGeometry::blocks_for(4096), 1u);
  EXPECT_EQ(LullGeometry::blocks_for(4097), 2u);
}

TEST_F(LullGeometryTest, parts_of_an_object_lie_in_a_block_each) {
  HeapWord* const start = LullGeometry::end_of(to_block_index(6)) - 10;
  const size_t words = 10 + 4096 + 7;
  std::vector<uint32_t> blocks;
  size_t sum = 0;
  LullGeometry::parts_do(start, words, [&](LullBlockIndex block, HeapWord* part, size_t part_words) {
    EXPECT_EQ(part, start + sum);
    EXPECT_EQ(LullGeometry::block_of(part), block);
    EXPECT_FALSE(LullGeometry::leaves_block(part, part_words));
    blocks.push_back(untype(block));
    sum += part_words;
  });
  EXPECT_EQ(sum, words);
  EXPECT_EQ(blocks, (std::vector<uint32_t>{6, 7, 8}));
}

TEST_F(LullGeometryTest, borders_of_blocks_and_spans) {
  HeapWord* const end = LullGeometry::end_of(to_block_index(63));
  EXPECT_FALSE(LullGeometry::leaves_block(end - 4096, 4096));
  EXPECT_TRUE(LullGeometry::leaves_block(end - 4096, 4097));
  EXPECT_FALSE(LullGeometry::leaves_span(end - 5000, 5000));
  EXPECT_TRUE(LullGeometry::leaves_span(end - 5000, 5001));
  // A straddler keeps to less than a span, with room for others.
  EXPECT_LE(4 * LullGeometry::MaxStraddlerWords, LullGeometry::WordsPerBlock << LullGeometry::LogBlocksPerSpan);
}
