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

#ifndef SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_HPP
#define SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_HPP

#include "gc/lull/collect/lullSlidingCursor.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

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
// The live words of a block go to one place; or to two, if a block was full after some of them. So a block must tell
// only which places these are, and how many words the first one takes. Objects lie in one block, but for arrays of 2 to
// 320 KB, large objects among them. These go on in the next block, and so become straddlers. What lies across the end
// of its block already has a place of its own. Other large objects move as whole blocks.
//
//   block    | A A A A A b . | C C C C C C C | C c . . . . . |     two large arrays, with b and c
//   becomes  | A A A A A b C | C C C C C C C C c . . . . . . |
//
// For every object that moves
//
//   new address <= old address            so that in order of addresses none is overwritten
//                                         before it has moved
//
// for a block needs one new block at most: all that is alive in it fits into that. A straddler never goes across more
// than it did before: it was in one span, and what goes to that span's start from before it, too.
//
// What stays, stays with all that is tied to it by straddlers: in its span.
//
// At a safepoint, when allocators are empty and all marks are exact. Valid while all objects are
// where they were and have their headers.

class LullSlidingPlan : public StackObj {
  friend class LullCountLiveTask;

private:
  struct Destination {
    HeapWord* _first;          // of the live words before _split
    HeapWord* _second;         // of those from _split on
    HeapWord* _straddler;      // of the object that lies across the end of the block
    uint16_t  _split;
    uint16_t  _live;           // words, without the straddler's
    bool      _stays;
    bool      _moves;          // or what is known of it is to be written anew
    bool      _packs;          // a large object that is in blocks of lines from now on
  };

  LullBlockTable* const       _blocks;
  const LullMarkBitMap* const _mark_bitmap;
  const uint32_t              _limit;
  uint16_t* const             _live_before;    // by line: live words of objects that start in its block, and before it
  Destination* const          _destinations;   // by block; of a large object that of its head

  LullSlidingCursor           _cursor;

  // Sets _live_before of its lines.
  void count_live(LullBlockIndex index);

  // What is alive in a block of lines.
  struct Live {
    size_t    _words;          // of objects that begin and end there,
    HeapWord* _first;          // from the first
    HeapWord* _end;            // to the end of the last one
    HeapWord* _straddler;      // that begins there; nullptr: none
  };

  bool must_stay(LullBlockIndex index) const;
  void find_what_stays();
  Live live_in(LullBlockIndex index) const;
  size_t words_that_fit(LullBlockIndex index, size_t live, size_t room, HeapWord** next) const;
  void place_inside(LullBlockIndex index, size_t live);
  bool place_lines(LullBlockIndex index);
  bool place_large(LullBlockIndex index, uint32_t blocks);

public:
  LullSlidingPlan(LullBlockTable* blocks, const LullMarkBitMap* mark_bitmap);
  ~LullSlidingPlan();

  // False: nothing would move, or there is no memory for the plan.
  bool make(WorkerThreads* workers);

  bool moves(LullBlockIndex index) const { return _destinations[untype(index)]._moves; }

  // Does this large object become one in blocks of lines?
  bool packs(LullBlockIndex head) const { return _destinations[untype(head)]._packs; }

  // May this object, where it is now, lie across borders of blocks after a slide?
  static bool may_straddle(oop obj);

  // Bytes of blocks behind the ends of large objects that would be free if these slid. Safepoint only.
  static size_t slack_of_large(const LullBlockTable* blocks);

  // Of the start of a live object.
  inline HeapWord* new_address(HeapWord* obj) const;

  // Of so many live words from the start of the block on.
  inline HeapWord* new_address(LullBlockIndex index, size_t words) const;
};

#endif // SHARE_GC_LULL_COLLECT_LULLSLIDINGPLAN_HPP
