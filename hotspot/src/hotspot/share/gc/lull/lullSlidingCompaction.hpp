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

#ifndef SHARE_GC_LULL_LULLSLIDINGCOMPACTION_HPP
#define SHARE_GC_LULL_LULLSLIDINGCOMPACTION_HPP

#include "gc/lull/lullGeometry.hpp"
#include "memory/allocation.hpp"

class LullBlockTable;
class LullMemory;
class WorkerThreads;

// The last resort for a large object: enough blocks are free, but not in one run, and
// other large objects, which evacuation does not move, are between them.
//
// After the sweep, units slide to low addresses: a block with lines, or all the blocks of
// a large object. What is inside of a unit keeps its place in it, so that the new address
// of an object is its old one less what its block moves: one number for each block.
//
//     before   L L . B . . P L L L . B          P  pinned, Archive or Uncommitted: stays
//     after    L L B . . . P L L L B .          .  free
//
//   plan      how far does each unit move?
//   update    every reference: roots, weak roots, code, and the fields of all live objects
//   move      from low to high addresses, so that no unit is overwritten before it has moved
//
// Unlike evacuation this takes a second pass over the heap. In return it needs no room,
// and all that is free between two units that stay ends up in one run.
//
// At a safepoint, when allocators are empty, all marks are exact and no reference is to
// what is dead. The caller rebuilds the supply. Used once.

class LullSlidingCompaction : public StackObj {
private:
  LullMemory* const     _memory;
  LullBlockTable* const _blocks;
  WorkerThreads* const  _workers;

  uint32_t* const       _distances;    // by block: blocks by which it moves down
  const uint32_t        _limit;

  bool stays(LullBlockIndex index) const;
  void move_marks(LullBlockIndex from, LullBlockIndex to);
  void move_unit(uint32_t start, uint32_t blocks);

public:
  LullSlidingCompaction(LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers);
  ~LullSlidingCompaction();

  // The blocks that move; 0: nothing to do, or no memory for the plan.
  uint32_t plan();
  void update();
  void move();
};

#endif // SHARE_GC_LULL_LULLSLIDINGCOMPACTION_HPP
