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

#ifndef SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_INLINE_HPP
#define SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_INLINE_HPP

#include "gc/lull/collect/lullSlidingPlan.hpp"

#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "oops/oop.inline.hpp"

inline HeapWord* LullSlidingPlan::new_address(LullBlockIndex index, size_t words) const {
  const Destination& to = _destinations[untype(index)];
  return words < to._split ? to._first + words :
         words < to._live ? to._second + (words - to._split) : to._straddler;
}

inline HeapWord* LullSlidingPlan::new_address(HeapWord* obj) const {
  const LullBlockIndex index = LullGeometry::block_of(obj);
  if (!moves(index)) {
    return obj;
  }
  const LullLineIndex line = LullGeometry::line_of(obj);
  size_t words = _live_before[untype(line)];
  for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(line), obj); addr < obj; ) {
    const size_t size = cast_to_oop(addr)->size();
    words += size;
    addr = _mark_bitmap->get_next_marked_addr(addr + size, obj);
  }
  return new_address(index, words);
}

#endif // SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_INLINE_HPP
