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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullSweptBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/vmOperations.hpp"
#include "runtime/vmThread.hpp"
#include "unittest.hpp"

#include <algorithm>
#include <random>
#include <vector>

// A heap of 512 blocks that has no memory, swept by two workers in turn, as a young sweep does it.
class LullSweptBlocksTest : public ::testing::Test {
protected:
  static const uint32_t Blocks = 512;
  static const uint32_t BlocksPerClaim = 32;

  LullBlockTable  _table;
  LullBlockSupply _supply;
  std::mt19937    _random;

  LullSweptBlocksTest() : _table(Blocks * LullGeometry::BlockSize), _supply(&_table), _random(51) {
    _supply.add_committed(0, Blocks);
  }

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

  // Mutators take blocks with holes, free ones and large objects, and give some back.
  void mutate() {
    for (int i = 0; i < 200; i++) {
      LullBlockIndex index;
      const uint32_t what = _random() % 8;
      if (what < 3 ? _supply.take_block(LullReserveUse::Keep, &index)
                   : what < 6 && _supply.take_recyclable(1, LullReserveUse::Keep, &index)) {
        _table.at(index)->free_lines().clear_all();
        _table.set_young(index);
        if (_random() % 6 == 0) {
          LullLineSet lines;
          lines.add_range(_random() % 64, 1 + _random() % 64);
          _supply.give_back(index, lines);
        }
      } else if (what == 6 && _supply.take_large(1 + _random() % 5, LullReserveUse::Keep, &index)) {
        _table.set_young(index);
        const size_t most = _table.at(index)->large_blocks() * LullGeometry::WordsPerBlock;
        _table.at(index)->set_large_words(most - _random() % 2000);
        _supply.add_slack(_table.at(index)->slack_lines());
      }
    }
  }

  void sweep_young(LullBlockIndex index, LullSweptBlocks* swept) {
    LullBlock* const block = _table.at(index);
    const ssize_t slack = (ssize_t)block->slack_lines();
    const bool is_large = block->state() == LullBlockState::LargeHead;
    const uint32_t blocks = is_large ? block->large_blocks() : 1;
    if (block->is_recyclable()) {
      swept->take_off(index);
    }
    _table.clear_young(index);
    const uint32_t what = _random() % 4;
    block->free_lines().clear_all();
    if (what < 2) {
      _table.make_owned(index, LullBlockRight::Sweep);
      swept->add_free(index, blocks);
    } else if (is_large) {
      // it lives
    } else if (what == 2) {
      _table.make_owned(index, LullBlockRight::Sweep);
      block->free_lines().add_range(_random() % 64, 1 + _random() % 64);
      swept->add_recyclable(index);
    } else {
      _table.make_full(index, _random() % 100, LullBlockRight::Sweep);
    }
    swept->add_slack((ssize_t)block->slack_lines() - slack);
  }

  void collect() {
    LullSweptBlocks first(&_supply);
    LullSweptBlocks second(&_supply);
    for (uint32_t start = 0; start < Blocks; start += BlocksPerClaim) {
      LullSweptBlocks* const swept = _random() % 2 == 0 ? &first : &second;
      _table.young_do(start, start + BlocksPerClaim, [&](LullBlockIndex index) {
        if (!_table.at(index)->is_free()) {
          sweep_young(index, swept);
        }
      });
    }
    first.flush();
    second.flush();
    LullSweptBlocks* const swept[] = {&first, &second};
    LullSweptBlocks::finish(&_supply, swept, 2);
  }
};

// What a sweep of the young blocks leaves is what building the lists anew from all blocks would.
TEST_VM_F(LullSweptBlocksTest, lists_are_as_if_they_were_built_anew) {
  for (int round = 0; round < 60; round++) {
    mutate();
    const char* error = nullptr;
    size_t used[2];
    size_t slack[2];
    uint32_t free_blocks[2];
    uint32_t longest[2];
    at_safepoint([&] {
      collect();
      error = _supply.verify();
      for (int i = 0; i < 2; i++) {
        used[i] = _supply.used_bytes();
        slack[i] = _supply.slack_bytes();
        free_blocks[i] = _supply.free_blocks();
        longest[i] = _supply.longest_free_run();
        _supply.rebuild();
      }
    });
    ASSERT_EQ(error, nullptr) << error << ", round " << round;
    EXPECT_EQ(used[0], used[1]) << "round " << round;
    EXPECT_EQ(slack[0], slack[1]) << "round " << round;
    EXPECT_EQ(free_blocks[0], free_blocks[1]) << "round " << round;
    EXPECT_EQ(longest[0], longest[1]) << "round " << round;
  }
}

// Whoever copies does not copy into what is evacuated.
TEST_VM_F(LullSweptBlocksTest, what_is_evacuated_is_not_handed_out) {
  LullBlockIndex blocks[4];
  LullLineSet lines;
  lines.add_range(10, 40);
  for (LullBlockIndex& index : blocks) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
    _supply.give_back(index, lines);
  }
  _table.set_fate(blocks[1], LullFate::Move);
  _table.set_fate(blocks[3], LullFate::Age);
  std::vector<uint32_t> got;
  LullBlockIndex index;
  while (_supply.take_recyclable(1, LullReserveUse::Allow, &index)) {
    got.push_back(untype(index));
  }
  EXPECT_EQ(got, (std::vector<uint32_t>{untype(blocks[2]), untype(blocks[0])}));
  EXPECT_EQ(block(untype(blocks[3]))->state(), LullBlockState::Owned) << "the sweep comes to it";
  EXPECT_EQ(_supply.used_bytes(), 4 * LullGeometry::BlockSize);
}

// So the heap's end gets free, by which it shrinks. Those with the longest hole come first: here all have the same.
TEST_VM_F(LullSweptBlocksTest, what_has_holes_is_handed_out_from_low_addresses_up) {
  LullLineSet lines;
  lines.add_range(10, 40);
  std::vector<LullBlockIndex> blocks(60);
  for (LullBlockIndex& index : blocks) {
    ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
  }
  std::vector<uint32_t> expected;
  for (int round = 0; round < 3; round++) {
    LullSweptBlocks swept(&_supply);
    for (size_t i = round; i < blocks.size(); i += 3) {
      _table.at(blocks[i])->free_lines() = lines;
      swept.add_recyclable(blocks[i]);
      expected.push_back(untype(blocks[i]));
    }
    LullSweptBlocks* const all[] = {&swept};
    at_safepoint([&] { LullSweptBlocks::finish(&_supply, all, 1); });
  }
  const char* const error = _supply.verify();
  ASSERT_EQ(error, nullptr) << error;
  std::sort(expected.begin(), expected.end());
  std::vector<uint32_t> got;
  LullBlockIndex index;
  while (_supply.take_recyclable(1, LullReserveUse::Keep, &index)) {
    got.push_back(untype(index));
  }
  EXPECT_EQ(got, expected);
}
