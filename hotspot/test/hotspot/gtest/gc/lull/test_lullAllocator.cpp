/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.
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

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/unit/lullTestHeapBase.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/vmOperations.hpp"
#include "runtime/vmThread.hpp"
#include "unittest.hpp"

#include <vector>

// A mutator's allocator in a heap of 16 blocks that has no memory: it hands out addresses. All objects are public.
class LullAllocatorTest : public ::testing::Test {
protected:
  static const uint32_t Blocks = 16;
  static const uint     Long = 32;      // lines of a long hole
  static const LullBlockTable::Owner Owner = 1;

  LullBlockTable  _table;
  LullBlockSupply _supply;
  LullAllocator   _allocator;

  explicit LullAllocatorTest(LullPublicMap* public_map = nullptr)
    : _table(Blocks * LullGeometry::BlockSize),
      _supply(&_table),
      _allocator(&_supply, &_table, LullReserveUse::Keep, Owner, public_map) {}

  // So many blocks, none of them free: block i has the holes that the function gives it.
  template <typename Function>
  void recyclable(uint32_t blocks, Function holes) {
    _supply.add_committed(0, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
      LullBlockIndex index;
      ASSERT_TRUE(_supply.take_block(LullReserveUse::Keep, &index));
      LullBlock* const block = _table.at(index);
      block->free_lines().clear_all();
      holes(untype(index), block->free_lines());
      _table.make_recyclable(index, LullBlockRight::Owner);
    }
    class Rebuild : public VM_GTestExecuteAtSafepoint {
    private:
      LullBlockSupply* const _supply;
    public:
      explicit Rebuild(LullBlockSupply* supply) : _supply(supply) {}
      void doit() override { _supply->rebuild(); }
    } rebuild(&_supply);
    ThreadInVMfromNative to_vm(JavaThread::current());
    VMThread::execute(&rebuild);
  }

  // 32 holes of two lines, and one of as many as are asked for, 32 at most, at the end.
  static void fragment(LullLineSet& lines, uint last) {
    for (uint line = 0; line < 96; line += 3) {
      lines.add_range(line, 2);
    }
    lines.add_range(LullGeometry::LinesPerBlock - last, last);
  }

  HeapWord* allocate(uint lines) { return _allocator.allocate(lines * LullGeometry::WordsPerLine); }
};

// The short holes of blocks whose long ones are used do not keep a mutator from the long holes of others.
TEST_VM_F(LullAllocatorTest, short_holes_do_not_hide_long_ones) {
  const uint32_t Fragmented = Blocks - 1;
  recyclable(Blocks, [&](uint32_t i, LullLineSet& lines) {
    if (i < Fragmented) {
      fragment(lines, Long);
    } else {
      lines.add_range(10, 100);
    }
  });
  for (uint32_t i = 0; i < Fragmented; i++) {
    ASSERT_NE(allocate(Long), nullptr) << i;
  }
  HeapWord* const object = allocate(100);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(LullGeometry::block_of(object), to_block_index(Fragmented));
  EXPECT_EQ(allocate(Long), nullptr);
}

// When there are no long ones, the short ones are used, but for those that had to make room.
TEST_VM_F(LullAllocatorTest, short_holes_are_used_last) {
  recyclable(4, [&](uint32_t i, LullLineSet& lines) { fragment(lines, Long); });
  size_t words;
  for (uint32_t i = 0; i < 4; i++) {
    ASSERT_NE(_allocator.allocate_tlab(4, &words), nullptr);
    EXPECT_EQ(words, Long * LullGeometry::WordsPerLine) << i;
  }
  uint32_t tlabs = 0;
  while (_allocator.allocate_tlab(4, &words) != nullptr) {
    EXPECT_EQ(words, 2 * LullGeometry::WordsPerLine);
    tlabs++;
  }
  EXPECT_GE(tlabs, 96u);
  EXPECT_LE(tlabs, 128u);
}

// What is left of the hole of an object becomes a buffer when there is nothing else.
TEST_VM_F(LullAllocatorTest, the_rest_of_an_objects_hole_is_a_buffer) {
  recyclable(1, [&](uint32_t i, LullLineSet& lines) { lines.add_range(0, 120); });
  HeapWord* const object = allocate(40);
  ASSERT_NE(object, nullptr);
  size_t words;
  EXPECT_EQ(_allocator.allocate_tlab(4, &words), object + 40 * LullGeometry::WordsPerLine);
  EXPECT_EQ(words, 80 * LullGeometry::WordsPerLine);
  EXPECT_EQ(_allocator.allocate_tlab(4, &words), nullptr);
  EXPECT_EQ(_allocator.allocated(), 120 * LullGeometry::LineSize);
}

// What a thread gives back at its end is what it has not used.
TEST_VM_F(LullAllocatorTest, unused_holes_go_back) {
  recyclable(4, [&](uint32_t i, LullLineSet& lines) { fragment(lines, Long); });
  const size_t before = _supply.used_bytes();
  ASSERT_NE(allocate(20), nullptr);
  ASSERT_NE(allocate(20), nullptr);
  _allocator.release();
  EXPECT_EQ(_supply.used_bytes(), before + 40 * LullGeometry::LineSize);
  const char* const error = _supply.verify();
  EXPECT_EQ(error, nullptr) << error;
}

// Constructed before the allocator that uses it.
struct LullAllocatorTestMap {
  const LullTestHeapBase _heap_base;
  std::vector<uint32_t>  _storage;
  LullPublicMap          _map;

  explicit LullAllocatorTestMap(uint32_t blocks)
    : _storage(LullPublicMap::storage_bytes(blocks * LullGeometry::BlockSize) / sizeof(uint32_t)),
      _map((char*)_storage.data()) {}
};

// An allocator whose blocks have an owner.
class LullOwningAllocatorTest : private LullAllocatorTestMap, public LullAllocatorTest {
protected:
  LullOwningAllocatorTest() : LullAllocatorTestMap(Blocks), LullAllocatorTest(&_map) {}

  uint32_t owned_blocks() const {
    uint32_t owned = 0;
    for (uint32_t i = 0; i < Blocks; i++) {
      owned += _table.owner(to_block_index(i)) == Owner ? 1 : 0;
    }
    return owned;
  }
};

// A thread that ends while its objects are born public leaves no block with its number, neither those that are full nor the last one.
TEST_VM_F(LullOwningAllocatorTest, blocks_have_no_owner_after_its_end) {
  if (LullPublicMap::is_tracking_suspended()) {
    GTEST_SKIP() << "no block has an owner in this VM";
  }
  _supply.add_committed(0, Blocks);
  _allocator.set_born_public(true);
  for (int i = 0; i < 5; i++) {
    ASSERT_NE(allocate(LullGeometry::LinesPerBlock), nullptr) << i;
  }
  ASSERT_NE(allocate(Long), nullptr);
  EXPECT_EQ(owned_blocks(), 6u);
  _allocator.release();
  EXPECT_EQ(owned_blocks(), 0u);
}
