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

#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/unit/lullTestHeapBase.hpp"
#include "unittest.hpp"

#include <random>
#include <set>
#include <vector>

// Four blocks; the table is real.
class LullCardTableTest : public ::testing::Test {
protected:
  static const size_t Blocks = 4;
  static const size_t Words  = Blocks * LullGeometry::WordsPerBlock;

  const LullTestHeapBase _heap_base;
  std::vector<uint64_t>  _storage;
  std::vector<uint64_t>  _stretches;
  LullCardTable          _cards;

  LullCardTableTest()
    : _storage(LullCardTable::storage_bytes(Blocks * LullGeometry::BlockSize) / sizeof(uint64_t)),
      _stretches(LullCardTable::stretches_bytes(Blocks * LullGeometry::BlockSize) / sizeof(uint64_t) + 1),
      _cards((char*)_storage.data(), (char*)_stretches.data()) {}

  static HeapWord* word(size_t index) { return (HeapWord*)LullGeometry::heap_base() + index; }

  std::set<uint32_t> dirty_lines(size_t first_block, size_t blocks) const {
    std::set<uint32_t> lines;
    _cards.dirty_lines_do(to_block_index(first_block), blocks, [&](LullLineIndex line) { lines.insert(untype(line)); });
    return lines;
  }

  std::set<uint32_t> touched() const {
    std::set<uint32_t> blocks;
    _cards.touched_do(0, Blocks, [&](LullBlockIndex index) { blocks.insert(untype(index)); });
    return blocks;
  }
};

TEST_F(LullCardTableTest, storage_is_a_byte_a_line) {
  EXPECT_EQ(_storage.size() * sizeof(uint64_t), Blocks * 128);
}

TEST_F(LullCardTableTest, fresh_memory_has_nothing_old_and_stays_so) {
  for (size_t index = 0; index < Words; index += 5) {
    _cards.dirty(word(index));
    EXPECT_FALSE(_cards.has_old(LullGeometry::line_of(word(index))));
  }
  EXPECT_FALSE(_cards.is_any_dirty(word(0), word(Words - 1)));
  EXPECT_TRUE(dirty_lines(0, Blocks).empty());
}

// Of the lines with old objects, those that were dirtied.
TEST_F(LullCardTableTest, as_a_set_of_lines) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; round++) {
    std::set<uint32_t> old;
    for (uint32_t block = 0; block < Blocks; block++) {
      LullLineSet without_old;
      for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
        if (random() % 4 == 0) {
          without_old.add(line);
        } else {
          old.insert(block * LullGeometry::LinesPerBlock + line);
        }
      }
      _cards.set_lines(to_block_index(block), without_old, LullCardTable::Remembered::Forget);
      LullLineSet found;
      _cards.lines_without_old(to_block_index(block), &found);
      for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
        EXPECT_EQ(found.contains(line), without_old.contains(line));
      }
    }
    std::set<uint32_t> model;
    const size_t count = random() % 40;
    for (size_t i = 0; i < count; i++) {
      const size_t index = random() % Words;
      const uint32_t line = (uint32_t)(index / LullGeometry::WordsPerLine);
      _cards.dirty(word(index));
      if (old.count(line) == 1) {
        model.insert(line);
      }
    }
    EXPECT_EQ(dirty_lines(0, Blocks), model);
    for (uint32_t line = 0; line < Blocks * LullGeometry::LinesPerBlock; line++) {
      EXPECT_EQ(_cards.is_dirty(to_line_index(line)), model.count(line) == 1) << line;
      EXPECT_EQ(_cards.has_old(to_line_index(line)), old.count(line) == 1) << line;
    }
    for (size_t i = 0; i < 50; i++) {
      const size_t first = random() % Words;
      const size_t last = first + random() % (Words - first);
      const auto found = model.lower_bound((uint32_t)(first / LullGeometry::WordsPerLine));
      const bool expected = found != model.end() && *found <= last / LullGeometry::WordsPerLine;
      EXPECT_EQ(_cards.is_any_dirty(word(first), word(last)), expected) << first << " " << last;
    }
    // Two blocks become clean, the others stay, and what is old stays so.
    const size_t cleaned = random() % (Blocks - 1);
    _cards.clean(to_block_index(cleaned), 2);
    for (auto it = model.begin(); it != model.end(); ) {
      it = *it / 128 == cleaned || *it / 128 == cleaned + 1 ? model.erase(it) : ++it;
    }
    EXPECT_EQ(dirty_lines(0, Blocks), model);
    for (uint32_t line = 0; line < Blocks * LullGeometry::LinesPerBlock; line++) {
      EXPECT_EQ(_cards.has_old(to_line_index(line)), old.count(line) == 1) << line;
    }
    _cards.clean(to_block_index(0), Blocks);
    EXPECT_TRUE(dirty_lines(0, Blocks).empty());
  }
}

TEST_F(LullCardTableTest, a_block_takes_its_cards_along) {
  LullLineSet without_old;
  without_old.add(3);
  without_old.add(127);
  _cards.set_lines(to_block_index(2), without_old, LullCardTable::Remembered::Forget);
  _cards.set_old(to_block_index(1), 1, LullCardTable::Remembered::Forget);
  _cards.move_block(to_block_index(2), to_block_index(1));
  for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
    EXPECT_EQ(_cards.has_old(to_line_index(LullGeometry::LinesPerBlock + line)), line != 3 && line != 127) << line;
    EXPECT_FALSE(_cards.has_old(to_line_index(2 * LullGeometry::LinesPerBlock + line))) << line;
  }
}

// Whatever was on the lines before: the sweep knows what is old.
TEST_F(LullCardTableTest, what_refers_to_survivors_is_dirty_where_something_is_old) {
  std::mt19937 random(43);
  for (int round = 0; round < 100; round++) {
    // Before the collection: some lines with old objects, none dirty.
    for (uint32_t block = 0; block < Blocks; block++) {
      LullLineSet without_old;
      for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
        if (random() % 2 == 0) {
          without_old.add(line);
        }
      }
      _cards.set_lines(to_block_index(block), without_old, LullCardTable::Remembered::Forget);
    }
    // It remembers some fields, some more than once. The sweep still finds what was old, ...
    std::set<uint32_t> before;
    for (uint32_t line = 0; line < Blocks * LullGeometry::LinesPerBlock; line++) {
      if (_cards.has_old(to_line_index(line))) {
        before.insert(line);
      }
    }
    std::set<uint32_t> remembered;
    for (int i = 0; i < 100; i++) {
      const size_t index = random() % Words;
      _cards.remember_survivor(word(index));
      remembered.insert((uint32_t)(index / LullGeometry::WordsPerLine));
    }
    for (uint32_t block = 0; block < Blocks; block++) {
      LullLineSet found;
      _cards.lines_without_old(to_block_index(block), &found);
      for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
        EXPECT_EQ(found.contains(line), before.count(block * LullGeometry::LinesPerBlock + line) == 0) << line;
      }
    }
    // ... and says what is now: of blocks 0 and 1 by lines, of block 2 all, of block 3 nothing.
    std::set<uint32_t> old;
    for (uint32_t block = 0; block < 2; block++) {
      LullLineSet without_old;
      for (uint line = 0; line < LullGeometry::LinesPerBlock; line++) {
        if (random() % 2 == 0) {
          without_old.add(line);
        } else {
          old.insert(block * LullGeometry::LinesPerBlock + line);
        }
      }
      _cards.set_lines(to_block_index(block), without_old, LullCardTable::Remembered::Keep);
    }
    for (uint32_t line = 2 * LullGeometry::LinesPerBlock; line < 3 * LullGeometry::LinesPerBlock; line++) {
      old.insert(line);
    }
    _cards.set_old(to_block_index(2), 1, LullCardTable::Remembered::Keep);
    _cards.set_no_old(to_block_index(3), 1);
    for (uint32_t line = 0; line < Blocks * LullGeometry::LinesPerBlock; line++) {
      EXPECT_EQ(_cards.has_old(to_line_index(line)), old.count(line) == 1) << line;
      EXPECT_EQ(_cards.is_dirty(to_line_index(line)), old.count(line) == 1 && remembered.count(line) == 1) << line;
    }
    // A global collection forgets it.
    _cards.set_old(to_block_index(0), Blocks, LullCardTable::Remembered::Forget);
    EXPECT_TRUE(dirty_lines(0, Blocks).empty());
  }
}

// As compiled code does.
TEST_F(LullCardTableTest, the_biased_base_finds_the_card) {
  _cards.set_old(to_block_index(0), Blocks, LullCardTable::Remembered::Forget);
  for (size_t index = 0; index < Words; index += 17) {
    const uint8_t* const card = (const uint8_t*)(_cards.biased_base() + (intptr_t)((size_t)word(index) >> LullGeometry::LogLineSize));
    EXPECT_EQ(*card, (uint8_t)LullCardTable::Clean);
    _cards.dirty(word(index));
    EXPECT_EQ(*card, (uint8_t)LullCardTable::Dirty);
    _cards.clean(LullGeometry::block_of(word(index)), 1);
  }
}

// Who looks at those alone misses no dirty card.
TEST_F(LullCardTableTest, the_stretch_of_what_is_dirtied_or_remembered_is_touched) {
  for (size_t block = 0; block < Blocks; block++) {
    _cards.set_old(to_block_index(block), 1, LullCardTable::Remembered::Forget);
  }
  EXPECT_TRUE(touched().empty());
  const size_t per_block = LullGeometry::WordsPerBlock;
  _cards.dirty(word(per_block - 1));
  EXPECT_EQ(touched(), (std::set<uint32_t>{0}));
  _cards.remember_survivor(word(3 * per_block));
  EXPECT_EQ(touched(), (std::set<uint32_t>{0, 3}));
  EXPECT_TRUE(_cards.is_touched(to_block_index(3)));
  EXPECT_FALSE(_cards.is_touched(to_block_index(2)));
  EXPECT_TRUE(_cards.is_any_touched(0, 3));
  EXPECT_FALSE(_cards.is_any_touched(1, 3));
  EXPECT_FALSE(_cards.is_any_touched(2, 2));
  // Over a border.
  _cards.dirty_all(word(2 * per_block - 1), word(2 * per_block));
  EXPECT_EQ(touched(), (std::set<uint32_t>{0, 1, 2, 3}));
  _cards.forget_touched(2);
  EXPECT_EQ(touched(), (std::set<uint32_t>{2, 3}));
}

// A line of new objects is no reason to look.
TEST_F(LullCardTableTest, a_store_where_nothing_is_old_touches_nothing) {
  _cards.dirty(word(17));
  EXPECT_TRUE(touched().empty());
}

// As LullCardCleaner takes them. A mutator may write to what was taken.
TEST_F(LullCardTableTest, what_is_taken_can_be_dirtied_again) {
  _cards.set_old(to_block_index(0), Blocks, LullCardTable::Remembered::Forget);
  const size_t per_line = LullGeometry::WordsPerLine;
  EXPECT_FALSE(_cards.has_dirty(to_block_index(0)));
  for (size_t line : {0, 7, 8, 127}) {
    _cards.dirty(word(line * per_line));
  }
  EXPECT_TRUE(_cards.has_dirty(to_block_index(0)));
  EXPECT_FALSE(_cards.has_dirty(to_block_index(1)));
  _cards.dirty_lines_do(to_block_index(0), 1, [&](LullLineIndex line) { _cards.clean_line(line); });
  _cards.untouch(to_block_index(0));
  EXPECT_FALSE(_cards.has_dirty(to_block_index(0)));
  EXPECT_TRUE(touched().empty());
  EXPECT_TRUE(_cards.has_old(to_line_index(7)));
  _cards.dirty(word(127 * per_line));
  EXPECT_TRUE(_cards.has_dirty(to_block_index(0)));
  EXPECT_EQ(dirty_lines(0, Blocks), (std::set<uint32_t>{127}));
  EXPECT_EQ(touched(), (std::set<uint32_t>{0}));
}
