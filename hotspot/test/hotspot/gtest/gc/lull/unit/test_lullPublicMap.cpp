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

// Links: gc/lull/heap/lullGeometry.cpp gc/lull/heap/lullPublicMap.cpp

#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/unit/lullTestHeapBase.hpp"
#include "unittest.hpp"

#include <random>
#include <vector>

// Four blocks; the map is real.
class LullPublicMapTest : public ::testing::Test {
protected:
  static const size_t Blocks = 4;
  static const size_t Words  = Blocks * LullGeometry::WordsPerBlock;

  const LullTestHeapBase _heap_base;
  std::vector<uint32_t>  _storage;
  LullPublicMap          _map;

  LullPublicMapTest()
    : _storage(LullPublicMap::storage_bytes(Blocks * LullGeometry::BlockSize) / sizeof(uint32_t)),
      _map((char*)_storage.data()) {}

  static HeapWord* word(size_t index) { return (HeapWord*)LullGeometry::heap_base() + index; }
  bool is_in_use(uint32_t line) const { return _map.is_in_use(to_line_index(line)); }
};

TEST_F(LullPublicMapTest, storage_is_a_word_a_line) {
  EXPECT_EQ(_storage.size(), Blocks * 128);
}

TEST_F(LullPublicMapTest, exactly_the_extent_is_public) {
  std::mt19937 random(42);
  for (int round = 0; round < 300; round++) {
    _map.set_blocks(to_block_index(0), Blocks, false);
    std::vector<bool> is_public(Words);
    const int objects = 1 + random() % 30;
    for (int i = 0; i < objects; i++) {
      const size_t words = 1 + random() % (i == 0 ? 5000 : 70);
      const size_t start = random() % (Words - words + 1);
      // Independently of the map: is it public as a whole?
      bool all = true;
      for (size_t w = start; w < start + words; w++) {
        all = all && is_public[w];
      }
      ASSERT_EQ(_map.is_extent_public(word(start), words), all) << "round " << round << " " << start << " " << words;
      _map.publish(word(start), words);
      ASSERT_TRUE(_map.is_extent_public(word(start), words)) << "round " << round << " " << start << " " << words;
      for (size_t w = start; w < start + words; w++) {
        is_public[w] = true;
      }
    }
    for (size_t w = 0; w < Words; w++) {
      ASSERT_EQ(_map.is_public(word(w)), is_public[w]) << "round " << round << " word " << w;
      // Any address inside of the word answers for it.
      ASSERT_EQ(_map.is_public((char*)word(w) + 7), is_public[w]) << "round " << round << " word " << w;
    }
  }
}

TEST_F(LullPublicMapTest, marking_is_by_lines) {
  _map.mark_lines(word(31), 1);      // the last word of line 0
  EXPECT_TRUE(is_in_use(0));
  EXPECT_TRUE(_map.is_public(word(0)));
  EXPECT_FALSE(is_in_use(1));

  _map.mark_lines(word(63), 2);      // the last word of line 1, the first of line 2
  EXPECT_TRUE(is_in_use(1));
  EXPECT_TRUE(is_in_use(2));
  EXPECT_FALSE(is_in_use(3));

  _map.mark_lines(word(4 * 32), 32); // exactly line 4
  EXPECT_FALSE(is_in_use(3));
  EXPECT_TRUE(is_in_use(4));
  EXPECT_FALSE(is_in_use(5));
}

TEST_F(LullPublicMapTest, setting_is_by_lines_and_blocks) {
  _map.set_blocks(to_block_index(0), 2, true);
  _map.set_lines(to_line_index(5), 3, false);
  EXPECT_TRUE(is_in_use(4));
  EXPECT_FALSE(is_in_use(5));
  EXPECT_FALSE(is_in_use(7));
  EXPECT_TRUE(is_in_use(8));
  _map.set_blocks(to_block_index(0), 1, false);
  EXPECT_FALSE(is_in_use(127));
  EXPECT_TRUE(is_in_use(128));
  EXPECT_TRUE(is_in_use(255));
  EXPECT_FALSE(is_in_use(256));
}

TEST_F(LullPublicMapTest, words_move_with_their_block) {
  _map.publish(word(3 * LullGeometry::WordsPerBlock + 40), 100);
  _map.set_blocks(to_block_index(1), 1, true);    // what was there is overwritten
  _map.move_block(to_block_index(3), to_block_index(1));
  for (size_t w = 0; w < Words; w++) {
    const size_t in_block = w % LullGeometry::WordsPerBlock;
    const bool expected = w / LullGeometry::WordsPerBlock == 1 && in_block >= 40 && in_block < 140;
    ASSERT_EQ(_map.is_public(word(w)), expected) << "word " << w;
  }
}

TEST_F(LullPublicMapTest, unused_lines_are_the_complement) {
  std::mt19937 random(42);
  for (int round = 0; round < 500; round++) {
    _map.set_blocks(to_block_index(0), Blocks, false);
    const int objects = random() % 40;
    std::vector<bool> used(Blocks * 128);
    for (int i = 0; i < objects; i++) {
      const size_t start = random() % (Words - 200);
      const size_t words = 1 + random() % 200;
      if (i % 2 == 0) {
        _map.mark_lines(word(start), words);
      } else {
        _map.publish(word(start), words);
      }
      for (size_t w = start; w < start + words; w++) {
        used[w / 32] = true;
      }
    }
    for (size_t block = 0; block < Blocks; block++) {
      LullLineSet unused;
      _map.unused_lines(to_block_index(block), &unused);
      for (uint line = 0; line < 128; line++) {
        ASSERT_EQ(unused.contains(line), !used[block * 128 + line])
          << "round " << round << " block " << block << " line " << line;
      }
    }
  }
}

// The arithmetic of compiled code.
TEST_F(LullPublicMapTest, biased_base_finds_the_word) {
  std::mt19937 random(42);
  for (int round = 0; round < 1000; round++) {
    const size_t w = random() % Words;
    const intptr_t address = _map.biased_base() + (intptr_t)(((size_t)word(w) >> 8) * 4);
    ASSERT_EQ(address, (intptr_t)&_storage[w / 32]) << "word " << w;
  }
}
