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

#ifndef SHARE_GC_LULL_COLLECT_LULLSLIDINGCOMPACTION_HPP
#define SHARE_GC_LULL_COLLECT_LULLSLIDINGCOMPACTION_HPP

#include "gc/lull/collect/lullSlidingPlan.hpp"
#include "memory/allocation.hpp"

class LullBlockTable;
class LullMemory;
class WorkerThreads;

// The last resort: what is alive slides to low addresses, in its order. Evacuation needs room for its copies, leaves
// blocks that are nearly full, and does not move large objects. Sliding needs no room. All that is free between two
// blocks that stay ends up in one run.
//
//     before   L L . b . . P L L L c .          L  large object
//     after    L L B . . . P L L L c .          b, c, B  block with some, with nearly no free words; full
//                                               P  pinned, Archive or Uncommitted: stays
//                                               .  free
//
// Large arrays of up to 320 KB then share blocks with others. They, and arrays of 2 KB and more, lie across borders of
// blocks, so no end of a block is lost to them. They stay so until they die, or a global collection copies them into a
// hole.
//
//   plan      where does each object go?        LullSlidingPlan
//   update    every reference: roots, weak roots, code, and the fields of all live objects
//   move      in order of addresses: no object is overwritten before it has moved
//
// In return it takes a second pass over the heap, and one thread moves.
//
// It runs at a safepoint, after the sweep. Allocators are empty, no block has an owner, all marks are exact, and no
// reference is to a dead object. At its end marks, words of the public map and live words are right. The caller then
// sweeps blocks once more for their free lines, and rebuilds the supply. Used once.

class LullSlidingCompaction : public StackObj {
private:
  LullMemory* const     _memory;
  LullBlockTable* const _blocks;
  WorkerThreads* const  _workers;
  LullSlidingPlan       _plan;
  uint32_t              _emptied;        // blocks before this one whose objects move: what was known of them is dropped
  size_t                _moved_objects;
  size_t                _moved_words;

  void empty_up_to(uint32_t end);
  void take_over(HeapWord* obj, size_t words);
  void move_object(HeapWord* from, HeapWord* to, size_t words);
  void move_lines(LullBlockIndex index);
  void pack_large(LullBlockIndex from, uint32_t blocks);
  void move_large(LullBlockIndex from, uint32_t blocks);
  void update();
  void move();
  DEBUG_ONLY(void zap_free_blocks() const;)

public:
  LullSlidingCompaction(LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers);

  // False: nothing has moved.
  bool compact();

  size_t moved_objects() const { return _moved_objects; }
  size_t moved_words() const { return _moved_words; }
};

#endif // SHARE_GC_LULL_COLLECT_LULLSLIDINGCOMPACTION_HPP
