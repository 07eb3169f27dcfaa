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

#ifndef SHARE_GC_LULL_LULLSLIDINGPLAN_HPP
#define SHARE_GC_LULL_LULLSLIDINGPLAN_HPP

#include "gc/lull/lullGeometry.hpp"
#include "memory/allocation.hpp"

class LullBlockTable;
class LullMarkBitMap;
class WorkerThreads;

// Where a sliding compaction moves each object. No header is written and nothing is kept for
// an object: the new address of one is worked out from the marks of its line, as in the
// Compressor (Kermany and Petrank, PLDI 2006).
//
//   line     | A | B   | . | C | D |     live words before: 0
//   line     | . . | E | F   | . . |     |A| + |B| + |C| + |D|
//
// The live words of a block go to one place, or to two if a block was full after some of
// them: an object is in one block. All that a block must tell is so which places these are, and of how many
// words the first is. A large object moves as a whole.
//
// For every object that moves
//
//   new address <= old address            so that in order of addresses none is overwritten
//                                         before it has moved
//
// for a block needs one new block at most: all that is alive in it fits into that.
//
// At a safepoint, when allocators are empty and all marks are exact. Valid while all objects are
// where they were and have their headers.

class LullSlidingPlan : public StackObj {
  friend class LullCountLiveTask;

private:
  struct Destination {
    HeapWord* _first;          // of the live words before _split; nullptr: nothing in the block moves
    HeapWord* _second;         // of those from _split on
    uint32_t  _split;
  };

  LullBlockTable* const       _blocks;
  const LullMarkBitMap* const _mark_bitmap;
  const uint32_t              _limit;
  uint16_t* const             _live_before;    // by line: live words of objects that start in its block, and before it
  Destination* const          _destinations;   // by block; of a large object that of its head

  uint32_t                    _next;           // the first block that nothing has been moved to yet; only what stays is in between
  HeapWord*                   _top;            // in the block that is being filled
  HeapWord*                   _end;

  // Sets _live_before of its lines.
  void count_live(LullBlockIndex index);

  bool stays(LullBlockIndex index) const;
  size_t live_words(LullBlockIndex index, HeapWord** end) const;
  size_t words_that_fit(LullBlockIndex index, size_t room) const;
  bool place_lines(LullBlockIndex index);
  bool place_large(LullBlockIndex index, uint32_t blocks);

public:
  LullSlidingPlan(LullBlockTable* blocks, const LullMarkBitMap* mark_bitmap);
  ~LullSlidingPlan();

  // False: nothing would move, or there is no memory for the plan.
  bool make(WorkerThreads* workers);

  bool moves(LullBlockIndex index) const { return _destinations[untype(index)]._first != nullptr; }

  // Of the start of a live object.
  inline HeapWord* new_address(HeapWord* obj) const;

  // Of so many live words from the start of the block on.
  inline HeapWord* new_address(LullBlockIndex index, size_t words) const;
};

#endif // SHARE_GC_LULL_LULLSLIDINGPLAN_HPP
