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
#include "gc/lull/alloc/lullSurvivorAllocator.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "unittest.hpp"

// A heap of eight blocks that has no memory, four of them committed.
class LullSurvivorAllocatorTest : public ::testing::Test {
protected:
  static const size_t Words = LullGeometry::WordsPerBlock;

  LullBlockTable        _table;
  LullBlockSupply       _supply;
  LullSurvivorAllocator _allocator;

  LullSurvivorAllocatorTest()
    : _table(8 * LullGeometry::BlockSize), _supply(&_table), _allocator(&_supply, &_table) {
    _supply.add_committed(0, 4);
  }

  LullBlockIndex block_of(HeapWord* addr) { return LullGeometry::block_of(addr); }
};

TEST_VM_F(LullSurvivorAllocatorTest, copies_lie_one_after_the_other_in_blocks_of_survivors) {
  HeapWord* const first = _allocator.allocate(6);
  ASSERT_EQ(first, LullGeometry::start_of(block_of(first)));
  EXPECT_EQ(_allocator.allocate(10), first + 6);
  EXPECT_TRUE(_table.has_survivors(block_of(first)));
  EXPECT_TRUE(_table.has_young(block_of(first)));
  EXPECT_TRUE(_table.owner(block_of(first)) == LullBlockTable::NoOwner);
  EXPECT_EQ(_supply.free_blocks(), 3u);
}

TEST_VM_F(LullSurvivorAllocatorTest, only_the_last_copy_is_undone) {
  HeapWord* const first = _allocator.allocate(6);
  HeapWord* const second = _allocator.allocate(6);
  _allocator.undo(first, 6);
  EXPECT_EQ(_allocator.allocate(6), second + 6);
  _allocator.undo(second + 6, 6);
  EXPECT_EQ(_allocator.allocate(4), second + 6);
}

// What does not fit a block of which more than an eighth is left becomes old; smaller objects still fit.
TEST_VM_F(LullSurvivorAllocatorTest, little_of_a_block_is_lost) {
  HeapWord* const first = _allocator.allocate(Words / 2);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(_allocator.allocate(Words / 4), first + Words / 2);
  EXPECT_EQ(_allocator.allocate(Words / 2), nullptr);
  EXPECT_EQ(_supply.free_blocks(), 3u);
  EXPECT_EQ(_allocator.allocate(Words / 8), first + Words / 2 + Words / 4);
  HeapWord* const next = _allocator.allocate(Words / 2);
  ASSERT_NE(next, nullptr);
  EXPECT_NE(block_of(next), block_of(first));
  EXPECT_EQ(next, LullGeometry::start_of(block_of(next)));
}

TEST_VM_F(LullSurvivorAllocatorTest, no_block_is_free) {
  for (int i = 0; i < 4; i++) {
    ASSERT_NE(_allocator.allocate(Words), nullptr) << i;
  }
  EXPECT_EQ(_allocator.allocate(1), nullptr);
  EXPECT_EQ(_supply.free_blocks(), 0u);
}

TEST_VM_F(LullSurvivorAllocatorTest, the_next_collection_begins_a_block_of_its_own) {
  HeapWord* const first = _allocator.allocate(6);
  _allocator.reset();
  HeapWord* const second = _allocator.allocate(6);
  EXPECT_NE(block_of(first), block_of(second));
}
