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
    _all_wasted(0),
    _count((uint32_t)(reserved_bytes / LullGeometry::BlockSize)),
    _limit(0) {
  STATIC_ASSERT((int)LullBlockState::Uncommitted == 0 && (int)LullFate::Stay == 0 && (int)Young::None == 0);
}

// Many blocks may be swept at once, most of which have wasted nothing before and waste nothing.
void LullBlockTable::set_wasted(LullBlockIndex index, uint lines) {
  STATIC_ASSERT(LullGeometry::LinesPerBlock <= UINT8_MAX);
  const uint before = _wasted[untype(index)];
  if (lines != before) {
    _wasted[untype(index)] = (uint8_t)lines;
    Atomic::add(&_all_wasted, (size_t)lines - (size_t)before, memory_order_relaxed);
  }
}

LullBlockIndex LullBlockTable::large_head_of(LullBlockIndex index) const {
  const LullBlock* const block = at(index);
  return block->state() == LullBlockState::LargeTail ? to_block_index(block->large_head()) : index;
}
