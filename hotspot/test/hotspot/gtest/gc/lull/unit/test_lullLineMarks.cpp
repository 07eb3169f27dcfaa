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

// Links: gc/lull/lullGeometry.cpp gc/lull/lullLineMarks.cpp

#include "gc/lull/lullLineMarks.hpp"
#include "unittest.hpp"

#include <random>
#include <vector>

// Four blocks at an address that is never touched; the marks are real.
class LullLineMarksTest : public ::testing::Test {
protected:
  static const size_t Blocks = 4;

  char* const       _saved;
  std::vector<char> _storage;
  LullLineMarks     _marks;

  LullLineMarksTest()
    : _saved(LullGeometry::heap_base()),
      _storage(LullLineMarks::storage_bytes(Blocks * LullGeometry::BlockSize)),
      _marks(_storage.data()) {
    LullGeometry::initialize((char*)0x700000000);
  }
  ~LullLineMarksTest() {
    LullGeometry::initialize(_saved);
  }

  static HeapWord* word(size_t index) { return (HeapWord*)LullGeometry::heap_base() + index; }
  bool is_marked(uint32_t line) const { return _marks.is_marked(to_line_index(line)); }
};

TEST_F(LullLineMarksTest, storage_is_a_byte_a_line) {
  EXPECT_EQ(_storage.size(), Blocks * 128);
}

TEST_F(LullLineMarksTest, exactly_the_extent_is_marked) {
  _marks.mark(word(31), 1);      // the last word of line 0
  EXPECT_TRUE(is_marked(0));
  EXPECT_FALSE(is_marked(1));

  _marks.mark(word(63), 2);      // the last word of line 1, the first of line 2
  EXPECT_TRUE(is_marked(1));
  EXPECT_TRUE(is_marked(2));
  EXPECT_FALSE(is_marked(3));

  _marks.mark(word(4 * 32), 32); // exactly line 4
  EXPECT_FALSE(is_marked(3));
  EXPECT_TRUE(is_marked(4));
  EXPECT_FALSE(is_marked(5));
}

TEST_F(LullLineMarksTest, clearing_is_by_block) {
  _marks.mark(word(0), 2 * LullGeometry::WordsPerBlock);
  _marks.clear(to_block_index(0));
  EXPECT_FALSE(is_marked(0));
  EXPECT_FALSE(is_marked(127));
  EXPECT_TRUE(is_marked(128));
  EXPECT_TRUE(is_marked(255));
  EXPECT_FALSE(is_marked(256));
}

TEST_F(LullLineMarksTest, unmarked_lines_are_the_complement) {
  std::mt19937 random(42);
  for (int round = 0; round < 500; round++) {
    for (size_t block = 0; block < Blocks; block++) {
      _marks.clear(to_block_index(block));
    }
    const int objects = random() % 40;
    std::vector<bool> live(Blocks * 128);
    for (int i = 0; i < objects; i++) {
      const size_t start = random() % (Blocks * LullGeometry::WordsPerBlock - 200);
      const size_t words = 1 + random() % 200;
      _marks.mark(word(start), words);
      for (size_t w = start; w < start + words; w++) {
        live[w / 32] = true;
      }
    }
    for (size_t block = 0; block < Blocks; block++) {
      LullLineSet unmarked;
      _marks.unmarked_lines(to_block_index(block), &unmarked);
      for (uint line = 0; line < 128; line++) {
        ASSERT_EQ(unmarked.contains(line), !live[block * 128 + line])
          << "round " << round << " block " << block << " line " << line;
      }
    }
  }
}
