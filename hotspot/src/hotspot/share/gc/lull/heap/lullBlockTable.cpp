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

#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/mutex.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/thread.hpp"

// Fresh anonymous memory is zero: every block starts Uncommitted, empty, unpinned, and stays where it is.
LullBlockTable::LullBlockTable(size_t reserved_bytes)
  : _blocks(MmapArrayAllocator<LullBlock>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _fates(MmapArrayAllocator<LullFate>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _live_words(MmapArrayAllocator<uint16_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _young_live_words(MmapArrayAllocator<uint16_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _owners(MmapArrayAllocator<Owner>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _young(MmapArrayAllocator<Young>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _marked(MmapArrayAllocator<bool>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _straddlers(MmapArrayAllocator<uint16_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _straddler_words(MmapArrayAllocator<uint16_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _wasted(MmapArrayAllocator<uint8_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _unswept(MmapArrayAllocator<uint8_t>::allocate(reserved_bytes / LullGeometry::BlockSize, mtGC)),
    _all_wasted(0),
    _count((uint32_t)(reserved_bytes / LullGeometry::BlockSize)),
    _limit(0),
    _supply_lock(nullptr) {
  STATIC_ASSERT((int)LullBlockState::Uncommitted == 0 && (int)LullFate::Stay == 0 && (int)Young::None == 0);
}

// Many blocks may be swept at once, most of which have wasted nothing before and waste nothing.
void LullBlockTable::set_wasted(LullBlockIndex index, uint lines) {
  add_wasted(change_wasted(index, lines));
}

ssize_t LullBlockTable::change_wasted(LullBlockIndex index, uint lines) {
  STATIC_ASSERT(LullGeometry::LinesPerBlock <= UINT8_MAX);
  assert(lines <= LullGeometry::LinesPerBlock, "%u lines of block %u", lines, untype(index));
  const uint before = _wasted[untype(index)];
  if (lines != before) {
    _wasted[untype(index)] = (uint8_t)lines;
  }
  return (ssize_t)lines - (ssize_t)before;
}

void LullBlockTable::add_wasted(ssize_t lines) {
  if (lines != 0) {
    Atomic::add(&_all_wasted, (size_t)lines, memory_order_relaxed);
  }
}

LullBlockIndex LullBlockTable::large_head_of(LullBlockIndex index) const {
  const LullBlock* const block = at(index);
  return block->state() == LullBlockState::LargeTail ? to_block_index(block->large_head()) : index;
}

// ---- States

void LullBlockTable::make_free(LullBlockIndex index, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Free, by);
  at(index)->set_free();
}

void LullBlockTable::make_owned(LullBlockIndex index, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Owned, by);
  at(index)->set_state(LullBlockState::Owned);
}

void LullBlockTable::make_recyclable(LullBlockIndex index, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Recyclable, by);
  at(index)->set_recyclable();
}

void LullBlockTable::make_full(LullBlockIndex index, uint slack_lines, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Full, by);
  at(index)->set_full(slack_lines);
}

void LullBlockTable::make_large(LullBlockIndex head, uint32_t blocks, LullBlockRight by) {
  assert_may_become(head, LullBlockState::LargeHead, by);
  at(head)->set_large_head(blocks);
  for (uint32_t i = untype(head) + 1; i < untype(head) + blocks; i++) {
    assert_may_become(to_block_index(i), LullBlockState::LargeTail, by);
    at(to_block_index(i))->set_large_tail(untype(head));
  }
}

void LullBlockTable::make_archive(LullBlockIndex index, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Archive, by);
  at(index)->set_state(LullBlockState::Archive);
}

void LullBlockTable::make_uncommitted(LullBlockIndex index, LullBlockRight by) {
  assert_may_become(index, LullBlockState::Uncommitted, by);
  at(index)->set_state(LullBlockState::Uncommitted);
}

void LullBlockTable::move_large(LullBlockIndex from, LullBlockIndex to, uint32_t blocks) {
  assert(at(from)->large_blocks() == blocks && to < from, "block %u to %u", untype(from), untype(to));
  assert_may_become(to, LullBlockState::LargeHead, LullBlockRight::Slide);
  assert_may_become(from, LullBlockState::Free, LullBlockRight::Slide);
  at(to)->move_from(at(from));
  for (uint32_t i = 1; i < blocks; i++) {
    make_free(to_block_index(untype(from) + i), LullBlockRight::Slide);
    assert_may_become(to_block_index(untype(to) + i), LullBlockState::LargeTail, LullBlockRight::Slide);
    at(to_block_index(untype(to) + i))->set_large_tail(untype(to));
  }
}

#ifdef ASSERT

// What can be seen of the right. Of a taker and an owner nobody else knows the block.
static bool has_right(LullBlockRight by, const Mutex* supply_lock) {
  switch (by) {
    case LullBlockRight::Supply:
      return supply_lock == nullptr || supply_lock->owned_by_self();
    case LullBlockRight::Taker:
    case LullBlockRight::Owner:
    case LullBlockRight::LaterSweep:
      return true;
    case LullBlockRight::Sweep:
      return SafepointSynchronize::is_at_safepoint() &&
             (Thread::current()->is_Worker_thread() || Thread::current()->is_VM_thread());
    case LullBlockRight::Slide:
    case LullBlockRight::Resize:
      return SafepointSynchronize::is_at_safepoint() && Thread::current()->is_VM_thread();
  }
  return false;
}

void LullBlockTable::assert_may_become(LullBlockIndex index, LullBlockState to, LullBlockRight by) const {
  const LullBlockState from = at(index)->state();
  assert(LullBlockTransitions::permits(from, to, by), "block %u: %s may not make it %s, it is %s",
         untype(index), to_string(by), to_string(to), to_string(from));
  assert(has_right(by, _supply_lock), "block %u: %s becomes %s, and this thread is not %s",
         untype(index), to_string(from), to_string(to), to_string(by));
  assert(owner(index) == NoOwner, "B: block %u becomes %s, and thread %u owns it",
         untype(index), to_string(to), owner(index));
}

void LullBlockTable::assert_may_own(LullBlockIndex index, Owner to, Owner by) const {
  assert(LullBlockTransitions::permits_owner(owner(index), to, by, SafepointSynchronize::is_at_safepoint()),
         "B: block %u of thread %u may not be made %u's by %u", untype(index), owner(index), to, by);
}

#endif // ASSERT
