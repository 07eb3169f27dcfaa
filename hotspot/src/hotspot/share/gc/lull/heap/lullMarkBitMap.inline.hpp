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

#ifndef SHARE_GC_LULL_HEAP_LULLMARKBITMAP_INLINE_HPP
#define SHARE_GC_LULL_HEAP_LULLMARKBITMAP_INLINE_HPP

#include "gc/lull/heap/lullMarkBitMap.hpp"

#include "gc/shared/markBitMap.inline.hpp"
#include "runtime/prefetch.inline.hpp"
#include "utilities/bitMap.inline.hpp"

inline void LullMarkBitMap::initialize(MemRegion heap, MemRegion storage) {
  _storage = reinterpret_cast<const char*>(storage.start());
  MarkBitMap::initialize(heap, storage);
}

inline void LullMarkBitMap::swap(LullMarkBitMap* other) {
  assert(_covered.equals(other->_covered), "of the same memory");
  ::swap(_bm, other->_bm);
  ::swap(_storage, other->_storage);
}

inline HeapWord* LullMarkBitMap::get_last_marked_addr(const HeapWord* start, HeapWord* end) const {
  return offset_to_addr(_bm.find_last_set_bit(addr_to_offset(start), addr_to_offset(end)));
}

inline uint64_t LullMarkBitMap::word_at(size_t index) const {
  STATIC_ASSERT(BitsPerWord == 64 && sizeof(BitMap::bm_word_t) == sizeof(uint64_t));
  assert(_shifter == 0, "a bit is for a word");
  return reinterpret_cast<const uint64_t*>(_storage)[index];
}

inline void LullMarkBitMap::add_to_word(size_t index, uint64_t marks) {
  assert(_shifter == 0, "a bit is for a word");
  reinterpret_cast<uint64_t*>(const_cast<char*>(_storage))[index] |= marks;
}

inline void LullMarkBitMap::prefetch(oop obj) const {
  Prefetch::read(_storage, (intx)(addr_to_offset(cast_from_oop<HeapWord*>(obj)) >> LogBitsPerByte));
}

#endif // SHARE_GC_LULL_HEAP_LULLMARKBITMAP_INLINE_HPP
