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

#include "concurrentTestRunner.inline.hpp"
#include "gc/lull/alloc/lullRecyclableBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "runtime/atomic.hpp"
#include "unittest.hpp"

// A heap of 64 blocks that has no memory. Of block i, the last i + 1 lines are free.
class LullRecyclableBlocksTest : public ::testing::Test {
protected:
  typedef LullRecyclableBlocks::Part Part;

  static const uint32_t Blocks = 64;

  LullBlockTable       _table;
  LullRecyclableBlocks _recyclable;

  LullRecyclableBlocksTest() : _table(Blocks * LullGeometry::BlockSize), _recyclable(&_table) {
    _table.raise_limit(Blocks);
    for (uint32_t i = 0; i < Blocks; i++) {
      _table.make_free(to_block_index(i), LullBlockRight::Supply);
      _table.make_owned(to_block_index(i), LullBlockRight::Supply);
    }
  }

  void give_back(uint32_t i) {
    LullBlock* const block = _table.at(to_block_index(i));
    block->free_lines().clear_all();
    block->free_lines().add_range(LullGeometry::LinesPerBlock - i - 1, i + 1);
    _table.make_recyclable(to_block_index(i), LullBlockRight::Owner);
    _recyclable.give_back(to_block_index(i));
  }

  void own(LullBlockIndex index) {
    _table.make_owned(index, LullBlockRight::Taker);
  }

  void verify() {
    const char* const error = _recyclable.verify();
    ASSERT_EQ(error, nullptr) << error;
  }
};

TEST_VM_F(LullRecyclableBlocksTest, there_is_none_at_first) {
  LullBlockIndex index;
  EXPECT_FALSE(_recyclable.take_longest(Part::Mutators, 0, &index));
  EXPECT_FALSE(_recyclable.take_fit(Part::Mutators, 1, &index));
  EXPECT_FALSE(_recyclable.take_longest(Part::Reserve, 0, &index));
  verify();
}

TEST_VM_F(LullRecyclableBlocksTest, the_longest_comes_first_and_of_a_class_the_last) {
  for (uint32_t i = 0; i < Blocks; i++) {
    give_back(i);
  }
  verify();
  uint before = LullRecyclableBlocks::Classes;
  uint of_class = UINT_MAX;
  for (uint32_t i = 0; i < Blocks; i++) {
    LullBlockIndex index;
    ASSERT_TRUE(_recyclable.take_longest(Part::Mutators, 0, &index));
    const uint longest = _table.at(index)->longest_hole();
    EXPECT_EQ(longest, untype(index) + 1);
    const uint hole_class = longest / LullRecyclableBlocks::LinesPerClass;
    EXPECT_LE(hole_class, before);
    EXPECT_TRUE(hole_class < before || longest < of_class);    // they were given back in ascending order
    before = hole_class;
    of_class = longest;
    own(index);
    verify();
  }
  LullBlockIndex index;
  EXPECT_FALSE(_recyclable.take_longest(Part::Mutators, 0, &index));
}

TEST_VM_F(LullRecyclableBlocksTest, what_is_found_for_a_length_fits) {
  for (uint32_t i = 0; i < Blocks; i++) {
    give_back(i);
  }
  for (uint lines = 1; lines <= Blocks; lines++) {
    LullBlockIndex index;
    if (_recyclable.take_fit(Part::Mutators, lines, &index)) {
      EXPECT_GE(_table.at(index)->longest_hole(), lines);
      EXPECT_LT(_table.at(index)->longest_hole(), lines + 2 * LullRecyclableBlocks::LinesPerClass);
      _recyclable.give_back(index);
    } else {
      EXPECT_GT(lines, Blocks - Blocks % LullRecyclableBlocks::LinesPerClass);
    }
  }
  verify();
}

// Threads take blocks and give them back: nobody has one that another has, and none is lost.
TEST_VM_F(LullRecyclableBlocksTest, threads_take_and_give_back) {
  for (uint32_t i = 0; i < Blocks; i++) {
    give_back(i);
  }
  class Threads : public TestRunnable {
  private:
    LullRecyclableBlocks* const _recyclable;
    LullBlockTable* const       _table;
    volatile int                _taken[Blocks];

    void give_all_back(const LullBlockIndex* mine, int* count) {
      while (*count > 0) {
        const LullBlockIndex index = mine[--*count];
        _table->make_recyclable(index, LullBlockRight::Owner);
        Atomic::store(&_taken[untype(index)], 0);
        _recyclable->give_back(index);
      }
    }

  public:
    volatile int                _errors;
    volatile int                _takes;

    Threads(LullRecyclableBlocks* recyclable, LullBlockTable* table)
      : _recyclable(recyclable), _table(table), _taken(), _errors(0), _takes(0) {}

    void runUnitTest() const override { const_cast<Threads*>(this)->run(); }

    void run() {
      LullBlockIndex mine[8];
      int count = 0;
      for (uint round = 0; round < 64; round++) {
        LullBlockIndex index;
        const bool found = round % 2 == 0 ? _recyclable->take_longest(Part::Mutators, round % 60, &index)
                                          : _recyclable->take_fit(Part::Mutators, round % 60, &index);
        if (found) {
          Atomic::inc(&_takes);
          if (Atomic::cmpxchg(&_taken[untype(index)], 0, 1) != 0) {
            Atomic::inc(&_errors);
          }
          _table->make_owned(index, LullBlockRight::Taker);
          mine[count++] = index;
        }
        if (count == 8 || !found) {
          give_all_back(mine, &count);
        }
      }
      give_all_back(mine, &count);
    }
  } threads(&_recyclable, &_table);
  ConcurrentTestRunner runner(&threads, 4, 500);
  runner.run();
  EXPECT_EQ(threads._errors, 0);
  EXPECT_GT(threads._takes, 1000);
  verify();
  uint32_t left = 0;
  LullBlockIndex index;
  while (_recyclable.take_longest(Part::Mutators, 0, &index)) {
    own(index);
    left++;
  }
  EXPECT_EQ(left, uint32_t(Blocks));
}
