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

#ifndef SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_INLINE_HPP
#define SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_INLINE_HPP

#include "gc/lull/heap/lullBlockTable.hpp"

#include "runtime/atomic.hpp"

inline bool LullBlockTable::is_evacuated(oop obj) const {
  return is_evacuated(LullGeometry::block_of(cast_from_oop<void*>(obj)));
}

inline void LullBlockTable::add_live(LullBlockIndex index, size_t words) {
  uint16_t* const live = &_live_words[untype(index)];
  const size_t sum = Atomic::load(live) + words;
  // Objects of the archive lie across blocks.
  assert(sum <= LullGeometry::WordsPerBlock || !at(index)->has_lines(), "block %u: %zu words are alive, which are more than it has", untype(index), sum);
  Atomic::store(live, (uint16_t)sum);
}

#endif // SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_INLINE_HPP
