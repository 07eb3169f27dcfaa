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
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "runtime/atomic.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/vmOperations.hpp"
#include "runtime/vmThread.hpp"
#include "unittest.hpp"

#include <random>
#include <vector>

// A heap of 256 blocks that has no memory: the supply hands out numbers.
class LullBlockSupplyTest : public ::testing::Test {
protected:
  static const uint32_t Blocks = 256;

  LullBlockTable  _table;
  LullBlockSupply _supply;

  LullBlockSupplyTest() : _table(Blocks * LullGeometry::BlockSize), _supply(&_table) {}

  LullBlock* block(uint32_t i) { return _table.at(to_block_index(i)); }

  template <typename Function>
  void at_safepoint(Function function) {
    class Operation : public VM_GTestExecuteAtSafepoint {
    private:
      Function& _function;
    public:
      explicit Operation(Function& function) : _function(function) {}
      void doit() override { _function(); }
    } operation(function);
    ThreadInVMfromNative to_vm(JavaThread::current());
    VMThread::execute(&operation);
  }

  uint32_t longest_free_run() {
    uint32_t blocks = 0;
    at_safepoint([&] { blocks = _supply.longest_free_run(); });
    return blocks;
  }

  // As the sweep leaves a block: lines from first_free on are free.
  void make_recyclable(uint32_t i, uint first_free) {
    block(i)->free_lines().clear_all();
    block(i)->free_lines().add_range(first_free, LullGeometry::LinesPerBlock - first_free);
    _table.make_recyclable(to_block_index(i), LullBlockRight::Owner);
  }

  // All blocks that there are, so many, half of each free; the reserve has so many blocks' worth of their lines.
  void half_free(uint32_t blocks, uint32_t reserve) {
    _supply.add_committed(0, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
      LullBlockIndex index;
      ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
      make_recyclable(untype(index), LullGeometry::LinesPerBlock / 2);
    }
    at_safepoint([&] {
      _supply.rebuild();
      _supply.set_reserve(reserve, true);
    });
    EXPECT_EQ(_supply.recyclable_reserve(), 2 * reserve);
    verify();
  }

  void verify() {
    const char* const error = _supply.verify();
    ASSERT_EQ(error, nullptr) << error;
  }
};

// The public map has what was there before: who takes a block to put objects into must not find them public.
TEST_VM_F(LullBlockSupplyTest, a_block_that_is_taken_has_no_words) {
  std::vector<uint32_t> words(Blocks * LullGeometry::LinesPerBlock, ~0u);
  LullPublicMap map((char*)words.data());
  LullBlockSupply supply(&_table, &map);
  supply.add_committed(0, Blocks);
  LullBlockIndex index;
  ASSERT_TRUE(supply.take_block(LullReserveUse::Keep, &index));
  for (uint32_t i = 0; i < words.size(); i++) {
    EXPECT_EQ(words[i], i / LullGeometry::LinesPerBlock == untype(index) ? 0u : ~0u) << "line " << i;
  }
  LullLineSet unused;
  map.unused_lines(index, &unused);
  EXPECT_EQ(unused.count(), (uint)LullGeometry::LinesPerBlock);
}

// Free lines of recyclable blocks, from what is accounted.
TEST_VM_F(LullBlockSupplyTest, counts_recyclable_lines) {
  half_free(6, 1);
  _supply.add_committed(6, 4);
  size_t lines = 0;
  at_safepoint([&] { lines = _supply.recyclable_lines(10 * LullGeometry::BlockSize); });
  EXPECT_EQ(lines, 6u * LullGeometry::LinesPerBlock / 2);
}

TEST_VM_F(LullBlockSupplyTest, nothing_is_free_at_first) {
  LullBlockIndex index;
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Allow, &index));
  EXPECT_FALSE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
  EXPECT_EQ(longest_free_run(), 0u);
  verify();
}

// As if there was nothing: for mutators, and not where a collection allocates.
TEST_VM_F(LullBlockSupplyTest, mutators_get_nothing_beyond_the_use_limit) {
  half_free(8, 0);
  _supply.add_committed(8, 8);
  const size_t used = _supply.used_bytes();
  at_safepoint([&] { _supply.set_use_limit(used + 2 * LullGeometry::BlockSize); });
  LullBlockIndex index;
  ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  EXPECT_FALSE(_supply.take_large(2, LullReserveUse::Keep, &index));
  ASSERT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
  EXPECT_FALSE(_supply.take_recyclable(1, LullReserveUse::Keep, &index)) << "it could be a block's worth";
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &index));
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Allow, &index));
  bool taken = false;
  at_safepoint([&] {
    taken = _supply.take_large(2, LullReserveUse::Keep, &index) && _supply.take_recyclable(1, LullReserveUse::Keep, &index);
  });
  EXPECT_TRUE(taken);
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &index));
  at_safepoint([&] { _supply.set_use_limit(SIZE_MAX); });
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  EXPECT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
}

TEST_VM_F(LullBlockSupplyTest, committed_neighbours_are_joined) {
  _supply.add_committed(32, 32);
  _supply.add_committed(96, 32);
  EXPECT_EQ(longest_free_run(), 32u);
  verify();
  _supply.add_committed(64, 32);    // closes the gap
  EXPECT_EQ(longest_free_run(), 96u);
  EXPECT_EQ(_supply.free_blocks(), 96u);
  verify();
}

TEST_VM_F(LullBlockSupplyTest, a_large_object_is_a_head_and_tails) {
  _supply.add_committed(0, 16);
  LullBlockIndex head;
  ASSERT_TRUE(_supply.take_large(5, LullReserveUse::Keep, &head));
  EXPECT_EQ(block(untype(head))->state(), LullBlockState::LargeHead);
  EXPECT_EQ(block(untype(head))->large_blocks(), 5u);
  for (uint32_t i = untype(head) + 1; i < untype(head) + 5; i++) {
    EXPECT_EQ(block(i)->state(), LullBlockState::LargeTail);
    EXPECT_EQ(_table.large_head_of(to_block_index(i)), head);
  }
  EXPECT_EQ(_supply.used_bytes(), 5 * LullGeometry::BlockSize);
  EXPECT_FALSE(_supply.take_large(12, LullReserveUse::Keep, &head));
  EXPECT_TRUE(_supply.take_large(11, LullReserveUse::Keep, &head));
  EXPECT_EQ(_supply.free_blocks(), 0u);
  verify();
}

TEST_VM_F(LullBlockSupplyTest, the_reserve_is_kept_unless_allowed) {
  _supply.add_committed(0, 4);
  at_safepoint([&] { _supply.set_reserve(3, false); });
  LullBlockIndex index;
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &index));
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Allow, &index));
  EXPECT_FALSE(_supply.take_large(3, LullReserveUse::Allow, &index));
  EXPECT_TRUE(_supply.take_large(2, LullReserveUse::Allow, &index));
  verify();
}

TEST_VM_F(LullBlockSupplyTest, what_a_thread_gives_back_is_handed_out_again) {
  _supply.add_committed(0, 2);
  LullBlockIndex index;
  ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  LullLineSet lines;
  lines.add_range(10, 20);
  _supply.give_back(index, lines);
  EXPECT_EQ(block(untype(index))->state(), LullBlockState::Recyclable);
  EXPECT_EQ(_supply.used_bytes(), LullGeometry::BlockSize - 20 * LullGeometry::LineSize);

  LullBlockIndex again;
  ASSERT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &again));
  EXPECT_EQ(again, index);
  EXPECT_EQ(block(untype(again))->free_lines().count(), 20u);
  EXPECT_EQ(_supply.used_bytes(), size_t(LullGeometry::BlockSize));
  EXPECT_FALSE(_supply.take_recyclable(1, LullReserveUse::Keep, &again));
}

TEST_VM_F(LullBlockSupplyTest, a_block_given_back_empty_is_free_and_one_without_holes_is_full) {
  _supply.add_committed(0, 3);
  LullBlockIndex blocks[3];
  for (LullBlockIndex& index : blocks) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  }
  LullLineSet all;
  all.set_all();
  _supply.give_back(blocks[0], all);
  _supply.give_back(blocks[1], LullLineSet());
  EXPECT_EQ(_table.at(blocks[0])->state(), LullBlockState::Free);
  EXPECT_TRUE(_table.at(blocks[0])->free_lines().is_empty());
  EXPECT_EQ(_table.at(blocks[1])->state(), LullBlockState::Full);
  EXPECT_EQ(_supply.free_blocks(), 1u);
  EXPECT_EQ(_supply.used_bytes(), 2 * LullGeometry::BlockSize);
  verify();

  // It is joined with what is free beside it.
  _supply.give_back(blocks[2], all);
  EXPECT_EQ(_supply.free_blocks(), 2u);
  verify();
}

TEST_VM_F(LullBlockSupplyTest, a_large_object_given_back_is_one_run_again) {
  _supply.add_committed(0, 16);
  LullBlockIndex first, second;
  ASSERT_TRUE(_supply.take_large(5, LullReserveUse::Keep, &first));
  ASSERT_TRUE(_supply.take_large(3, LullReserveUse::Keep, &second));
  _supply.give_back_large(first);
  for (uint32_t i = untype(first); i < untype(first) + 5; i++) {
    EXPECT_TRUE(block(i)->is_free());
  }
  EXPECT_EQ(_supply.free_blocks(), 13u);
  EXPECT_EQ(_supply.used_bytes(), 3 * LullGeometry::BlockSize);
  verify();
  _supply.give_back_large(second);
  EXPECT_EQ(longest_free_run(), 16u);
  EXPECT_EQ(_supply.used_bytes(), 0u);
  verify();
}

// Where free blocks are too few, the reserve holds the blocks with the most free lines.
TEST_VM_F(LullBlockSupplyTest, the_reserve_takes_the_emptiest_recyclable_blocks) {
  _supply.add_committed(0, 8);
  LullBlockIndex index;
  for (uint32_t i = 0; i < 7; i++) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  }
  const uint first_free[] = {100, 20, 120, 64, 30, 127, 40};
  uint32_t free_block = 0;
  for (uint32_t i = 0, used = 0; i < 8; i++) {
    if (block(i)->is_free()) {
      free_block = i;
    } else {
      make_recyclable(i, first_free[used++]);
    }
  }
  at_safepoint([&] {
    _supply.rebuild();
    _supply.set_reserve(3, true);   // the free block, and holes of two blocks
  });
  EXPECT_EQ(_supply.reserve_blocks(), 1u);
  EXPECT_EQ(_supply.recyclable_reserve(), 3u);  // 108 + 98 + 88 lines: the first two are too few
  verify();

  // Mutators get the others, those with the longest hole first, and nothing else.
  std::vector<uint> got;
  while (_supply.take_recyclable(1, LullReserveUse::Keep, &index)) {
    EXPECT_FALSE(_table.at(index)->is_in_reserve());
    got.push_back(LullGeometry::LinesPerBlock - _table.at(index)->free_lines().count());
  }
  EXPECT_EQ(got, (std::vector<uint>{64, 100, 120, 127}));
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &index));

  // A collection gets the rest.
  got.clear();
  while (_supply.take_recyclable(1, LullReserveUse::Allow, &index)) {
    got.push_back(LullGeometry::LinesPerBlock - _table.at(index)->free_lines().count());
  }
  EXPECT_EQ(got, (std::vector<uint>{20, 30, 40}));
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Allow, &index));
  EXPECT_EQ(index, to_block_index(free_block));
  verify();
}

// A block that was in the reserve, and that a collection has then emptied, is the mutators' when it comes back with holes.
TEST_VM_F(LullBlockSupplyTest, the_reserve_forgets_blocks_that_became_free) {
  half_free(4, 2);
  at_safepoint([&] {
    for (uint32_t i = 0; i < 4; i++) {
      block(i)->free_lines().clear_all();
      _table.make_free(to_block_index(i), LullBlockRight::Sweep);
    }
    _supply.rebuild();
  });
  LullLineSet lines;
  lines.add_range(10, 20);
  LullBlockIndex index;
  for (uint32_t i = 0; i < 4; i++) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
    _supply.give_back(index, lines);
    EXPECT_FALSE(_table.at(index)->is_in_reserve());
  }
  verify();
  for (uint32_t i = 0; i < 4; i++) {
    EXPECT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
  }
}

// The heap shrinks from high addresses down: what lies there is used last.
TEST_VM_F(LullBlockSupplyTest, blocks_at_low_addresses_come_first) {
  half_free(8, 2);
  LullBlockIndex index;
  uint32_t taken = 0;
  for (uint32_t last = 0; _supply.take_recyclable(1, LullReserveUse::Keep, &index); taken++) {
    EXPECT_TRUE(taken == 0 || untype(index) > last) << untype(index) << " after " << last;
    last = untype(index);
  }
  EXPECT_EQ(taken, 4u);
}

// Threads take what there is and give it back: blocks change class, become full, or free and joined with their neighbours. At the end the supply
// has all that is not full, and has counted right.
TEST_VM_F(LullBlockSupplyTest, threads_take_and_give_back) {
  class Threads : public TestRunnable {
  private:
    LullBlockSupply* const _supply;
    LullBlockTable* const  _table;

    void give_back(LullBlockIndex index, std::mt19937& random) {
      LullLineSet lines;
      const uint kind = random() % 512;
      if (kind == 1) {
        // Not one line is free.
      } else if (kind < 170) {
        lines.set_all();
      } else {
        const uint first = random() % (LullGeometry::LinesPerBlock - 2);
        lines.add_range(first, LullGeometry::LinesPerBlock - first);
      }
      _table->at(index)->free_lines().clear_all();
      _supply->give_back(index, lines);
    }

  public:
    volatile int _seeds;
    volatile int _errors;
    volatile int _takes;

    Threads(LullBlockSupply* supply, LullBlockTable* table) : _supply(supply), _table(table), _seeds(0), _errors(0), _takes(0) {}

    void runUnitTest() const override { const_cast<Threads*>(this)->run(); }

    void run() {
      std::mt19937 random(Atomic::add(&_seeds, 1));
      std::vector<LullBlockIndex> mine;
      for (int round = 0; round < 200; round++) {
        LullBlockIndex index;
        const uint lines = 1 + random() % LullGeometry::LinesPerBlock;
        bool taken = false;
        switch (random() % 4) {
          case 0: taken = _supply->take_block(LullReserveUse::Keep, &index); break;
          case 1: taken = _supply->take_recyclable(lines, LullReserveUse::Keep, &index); break;
          case 2: taken = _supply->take_recyclable_with_hole(lines, LullReserveUse::Keep, &index); break;
          default:
            if (_supply->take_large(2, LullReserveUse::Keep, &index)) {
              _supply->give_back_large(index);
            }
            break;
        }
        if (taken) {
          Atomic::inc(&_takes);
          if (_table->at(index)->state() != LullBlockState::Owned) {
            Atomic::inc(&_errors);
          }
          mine.push_back(index);
        }
        if (mine.size() == 8) {
          while (!mine.empty()) {
            give_back(mine.back(), random);
            mine.pop_back();
          }
        }
      }
      for (LullBlockIndex index : mine) {
        give_back(index, random);
      }
    }
  } threads(&_supply, &_table);
  _supply.add_committed(0, Blocks);
  ConcurrentTestRunner runner(&threads, 4, 500);
  runner.run();
  EXPECT_EQ(threads._errors, 0);
  EXPECT_GT(threads._takes, 1000);
  verify();
  size_t used = 0;
  for (uint32_t i = 0; i < Blocks; i++) {
    switch (block(i)->state()) {
      case LullBlockState::Free:
        break;
      case LullBlockState::Full:
        used += LullGeometry::BlockSize;
        break;
      case LullBlockState::Recyclable:
        used += LullGeometry::BlockSize - block(i)->free_lines().count() * LullGeometry::LineSize;
        break;
      default:
        ADD_FAILURE() << "block " << i << " is " << to_string(block(i)->state());
        break;
    }
  }
  EXPECT_EQ(_supply.used_bytes(), used);
}

// A hole of a length is found in one look where the class of the length's blocks says so, and by a search at a safepoint.
TEST_VM_F(LullBlockSupplyTest, a_hole_that_is_long_enough_is_found) {
  _supply.add_committed(0, 4);
  LullBlockIndex index;
  for (uint32_t i = 0; i < 4; i++) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  }
  const uint free_lines[] = {12, 21, 47, 90};
  for (uint32_t i = 0; i < 4; i++) {
    make_recyclable(i, LullGeometry::LinesPerBlock - free_lines[i]);
  }
  at_safepoint([&] { _supply.rebuild(); });
  verify();

  EXPECT_FALSE(_supply.take_recyclable(96, LullReserveUse::Keep, &index));
  EXPECT_FALSE(_supply.take_recyclable_with_hole(91, LullReserveUse::Keep, &index));
  // The shortest one of a class that is long enough.
  ASSERT_TRUE(_supply.take_recyclable_with_hole(16, LullReserveUse::Keep, &index));
  EXPECT_EQ(_table.at(index)->free_lines().count(), 21u);
  EXPECT_EQ(block(untype(index))->state(), LullBlockState::Owned);
  // 41 is in the class from 40 on, of which not each block has 41.
  ASSERT_TRUE(_supply.take_recyclable_with_hole(41, LullReserveUse::Keep, &index));
  EXPECT_EQ(_table.at(index)->free_lines().count(), 90u);
  EXPECT_FALSE(_supply.take_recyclable_with_hole(41, LullReserveUse::Keep, &index));
  bool found = true;
  at_safepoint([&] { found = _supply.take_recyclable_with_hole_at_safepoint(48, LullReserveUse::Keep, &index); });
  EXPECT_FALSE(found);
  at_safepoint([&] { found = _supply.take_recyclable_with_hole_at_safepoint(41, LullReserveUse::Keep, &index); });
  ASSERT_TRUE(found);
  EXPECT_EQ(_table.at(index)->free_lines().count(), 47u);
  // The longest that is left.
  ASSERT_TRUE(_supply.take_recyclable(8, LullReserveUse::Keep, &index));
  EXPECT_EQ(_table.at(index)->free_lines().count(), 12u);
  EXPECT_FALSE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
  verify();
}

// What a cycle has left to be swept is swept by who takes it, after what is swept already, and before the reserve.
TEST_VM_F(LullBlockSupplyTest, what_is_to_be_swept_is_swept_when_it_is_taken) {
  class Sweeper : public LullLeftSweeper {
  public:
    LullBlockTable* const       _table;
    std::vector<LullBlockIndex> _swept;

    explicit Sweeper(LullBlockTable* table) : _table(table), _swept() {}

    void sweep_taken(LullBlockIndex index) override {
      _table->set_swept(index);
      _table->at(index)->free_lines().add_range(0, LullGeometry::LinesPerBlock);
      _swept.push_back(index);
    }
  } sweeper(&_table);
  _supply.set_left_sweeper(&sweeper);
  half_free(4, 0);
  const size_t used = _supply.used_bytes();
  at_safepoint([&] {
    _supply.set_recyclable_unswept();
    for (uint32_t i = 0; i < 4; i++) {
      _table.set_unswept(to_block_index(i));
    }
  });
  verify();
  _supply.add_unswept_garbage(LullGeometry::BlockSize);
  EXPECT_EQ(_supply.used_bytes(), used - LullGeometry::BlockSize);
  LullBlockIndex index;
  ASSERT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &index));
  ASSERT_EQ(sweeper._swept.size(), 1u);
  EXPECT_EQ(sweeper._swept[0], index);
  EXPECT_EQ(_table.at(index)->free_lines().count(), (uint)LullGeometry::LinesPerBlock);
  // One that is given back is swept, and comes first.
  LullLineSet lines;
  lines.add_range(10, 20);
  _supply.give_back_swept(index, lines);
  verify();
  LullBlockIndex again;
  ASSERT_TRUE(_supply.take_recyclable(1, LullReserveUse::Keep, &again));
  EXPECT_EQ(again, index);
  EXPECT_EQ(sweeper._swept.size(), 1u);
  // Who sweeps them all takes them as they are.
  uint unswept = 0;
  while (_supply.take_unswept(&index)) {
    unswept++;
    EXPECT_TRUE(_table.is_unswept(index));
    _table.set_swept(index);
    LullLineSet all;
    all.set_all();
    _supply.give_back_swept(index, all);
  }
  EXPECT_EQ(unswept, 3u);
  EXPECT_EQ(sweeper._swept.size(), 1u);
  EXPECT_EQ(_supply.free_blocks(), 3u);
  EXPECT_FALSE(_supply.take_recyclable(1, LullReserveUse::Allow, &index));
  verify();
}

// A reserve that could not be filled in the pause is filled first.
TEST_VM_F(LullBlockSupplyTest, what_is_swept_later_fills_the_reserve) {
  _supply.add_committed(0, 6);
  LullBlockIndex index[6];
  for (uint32_t i = 0; i < 6; i++) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index[i]));
  }
  at_safepoint([&] { _supply.set_reserve(2, false); });
  LullLineSet all;
  all.set_all();
  LullBlockIndex taken;
  for (uint32_t i = 0; i < 2; i++) {
    _supply.give_back_swept(index[i], all);
    EXPECT_EQ(_supply.reserve_blocks(), i + 1);
    EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &taken));
  }
  _supply.give_back_swept(index[2], all);
  EXPECT_EQ(_supply.reserve_blocks(), 2u);
  EXPECT_TRUE(_supply.take_block(LullReserveUse::Keep, &taken));
  EXPECT_FALSE(_supply.take_block(LullReserveUse::Keep, &taken));
  verify();
}

// Takes runs of random lengths until nothing is left: they never overlap, and what the
// supply says is free is what nobody has.
TEST_VM_F(LullBlockSupplyTest, random_runs_do_not_overlap) {
  std::mt19937 random(7);
  _supply.add_committed(0, Blocks);
  std::vector<bool> taken(Blocks);
  uint32_t count = 0;
  for (;;) {
    const uint32_t length = 1 + random() % 9;
    LullBlockIndex head;
    if (!_supply.take_large(length, LullReserveUse::Keep, &head)) {
      EXPECT_LT(longest_free_run(), length);
      break;
    }
    for (uint32_t i = untype(head); i < untype(head) + length; i++) {
      ASSERT_FALSE(taken[i]) << "block " << i;
      taken[i] = true;
    }
    count += length;
    ASSERT_EQ(_supply.free_blocks(), Blocks - count);
    ASSERT_EQ(_supply.used_bytes(), count * LullGeometry::BlockSize);
    verify();
  }
}
