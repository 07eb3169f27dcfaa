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

#ifndef SHARE_GC_LULL_ALLOC_LULLSURVIVORALLOCATOR_HPP
#define SHARE_GC_LULL_ALLOC_LULLSURVIVORALLOCATOR_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.hpp"

class LullBlockSupply;

// Memory for the survivors of a young collection, for one worker: whole free blocks, in which nothing else
// is: so the sweep makes all of the block young again, and the next young collection frees it.
class LullSurvivorAllocator {
private:
  // Where more of the block is left, it is kept for smaller objects.
  static const size_t MaxLostWords = LullGeometry::WordsPerBlock / 8;

  LullBlockSupply* const _supply;
  LullBlockTable* const  _blocks;
  HeapWord*              _top;
  HeapWord*              _end;

public:
  LullSurvivorAllocator(LullBlockSupply* supply, LullBlockTable* table)
    : _supply(supply), _blocks(table), _top(nullptr), _end(nullptr) {}

  // A collection starts. What is left of the last block of the one before stays unused until the block is evacuated.
  void reset() { _top = _end = nullptr; }

  // Memory for a copy of at most a block; nullptr if no block is free, or if it is too large for what is left of the one in
  // use and a new one would lose too much: the copy is old then.
  HeapWord* allocate(size_t words);

  // Takes back the latest allocate(), if that was where this is, and nothing was allocated since.
  void undo(HeapWord* start, size_t words) {
    if (start + words == _top) {
      _top = start;
    }
  }
};

#endif // SHARE_GC_LULL_ALLOC_LULLSURVIVORALLOCATOR_HPP
