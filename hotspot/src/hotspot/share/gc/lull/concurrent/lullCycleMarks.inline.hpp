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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_INLINE_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_INLINE_HPP

#include "gc/lull/concurrent/lullCycleMarks.hpp"

#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/shared/markBitMap.inline.hpp"

inline bool LullCycleMarks::is_old(oop obj) const   { return _old->is_marked(obj); }
inline bool LullCycleMarks::is_alive(oop obj) const { return _alive->is_marked(obj); }
inline bool LullCycleMarks::par_mark(oop obj)       { return _alive->par_mark(obj); }

inline void LullCycleMarks::prefetch(oop obj) const {
  _old->prefetch(obj);
  _alive->prefetch(obj);
}

inline void LullCycleMarks::note(oop obj, size_t words) {
  HeapWord* const start = cast_from_oop<HeapWord*>(obj);
  const LullBlockIndex block = LullGeometry::block_of(start);
  if (!_blocks->at(block)->has_lines()) {
    _marked[untype(block)] = true;    // of a large object, or of the archive, nothing but the mark is looked at
  } else if (LullGeometry::leaves_block(start, words)) {
    note_straddler(start, words);
  } else {
    note_part(block, start, words);
  }
}

inline void LullCycleMarks::mark_new(HeapWord* obj, size_t words) {
  assert(!_alive->is_marked(obj), PTR_FORMAT " has a mark of the cycle", p2i(obj));
  _alive->mark(obj);
  note_part(LullGeometry::block_of(obj), obj, words);
}

#endif // SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_INLINE_HPP
