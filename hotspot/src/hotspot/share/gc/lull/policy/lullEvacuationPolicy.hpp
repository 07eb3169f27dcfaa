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

#ifndef SHARE_GC_LULL_POLICY_LULLEVACUATIONPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLEVACUATIONPOLICY_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/policy/lullHoleUse.hpp"
#include "gc/lull/policy/lullYoungSurvival.hpp"
#include "memory/allocation.hpp"

class LullCardTable;

// What a collection is asked to evacuate.
struct LullEvacuationRequest {
  enum class Goal {
    Normal,       // if fragmentation is above the trigger
    Dense,        // memory is short: if moving would leave so much more free than there is now, and blocks of which more is alive
    Compact       // as much as there is room for: the last sweep's counts are exact
  };

  Goal _goal;
  bool _slide;    // after the sweep, all slides together: nothing is to be evacuated before

  static LullEvacuationRequest normal()  { return {Goal::Normal, false}; }
  static LullEvacuationRequest dense()   { return {Goal::Dense, false}; }
  static LullEvacuationRequest compact() { return {Goal::Compact, false}; }
  static LullEvacuationRequest slide()   { return {Goal::Compact, true}; }

  bool is_compact() const { return _goal == Goal::Compact; }
};

// Decides which blocks a collection evacuates, and logs why. As in Immix these are the blocks of which least was alive
// at the last collection, as many as there is room for. Unlike Immix it counts live words, not lines: a line with one
// live object in it is not full.
//
// An object for which there is no room stays, and its whole block with it. Objects are met in no order, so a little too
// much selected ruins nearly all blocks. What was allocated in a block since the last collection is not in its count.
// So the policy learns by which factor its estimates are too low, and how much of the room in holes fits.
class LullEvacuationPolicy : public CHeapObj<mtGC> {
public:
  // Of the heap's blocks, in percent, that only a collection may copy into. A larger reserve repairs more fragmentation
  // at once, a smaller one leaves more memory to the application.
  static const uint ReservePercent = 5;

private:
  // Young blocks of one kind: new ones, or those of survivors.
  struct YoungBlocks {
    size_t _candidates;       // of the running or the last young collection,
    size_t _selected;         // of them selected,
    size_t _selected_lines;   // which have so many lines in use

    LullYoungSurvival::Seen seen(size_t live_words) const { return {_selected_lines, live_words}; }
  };

  LullBlockTable* const  _blocks;
  LullBlockSupply* const _supply;

  size_t                 _estimated_lines;    // of the running or the last evacuation; 0: none, or no estimate
  double                 _correction;         // of estimates, at least 1.0
  LullHoleUse            _hole_use;
  bool                   _bounded_by_room;    // the running or the last evacuation
  size_t                 _block_lines;        // free before it in blocks,
  size_t                 _hole_lines;         // and in holes of blocks that stay

  LullYoungSurvival      _survival;
  YoungBlocks            _new_blocks;
  YoungBlocks            _survivor_blocks;
  size_t                 _lines_in_place;     // of young blocks that could be copied, if none is; else 0

  bool may_move(LullBlockIndex index) const;
  bool may_be_emptied(LullBlockIndex index) const;
  uint lines_to_copy(LullBlockIndex index) const;
  size_t wasted_lines(size_t* committed) const;
  size_t copied_lines(size_t estimated_lines) const;
  static uint max_live_lines(LullEvacuationRequest::Goal goal);
  bool select_sparse(uint max_live_lines, bool keep_reserve);
  bool select_all();
  size_t fragmentation_percent(LullEvacuationRequest::Goal goal) const;
  bool select_by(const LullEvacuationRequest& request);
  uint young_lines(LullBlockIndex index, const LullCardTable* cards) const;
  uint used_young_lines(LullBlockIndex index, uint lines) const;
  void leave_young(const LullCardTable* cards);

  // What a young collection selects from.
  struct YoungRoom {
    double _room;      // lines for copies
    double _needed;    // of them, by what is selected
    bool   _ages;      // copies of what is new stay young
  };
  void select_young_block(LullBlockIndex index, uint lines, YoungRoom* room);

public:
  LullEvacuationPolicy(LullBlockTable* blocks, LullBlockSupply* supply);

  // Would evacuation gain more than LullFragmentationTriggerPercent of the heap, if threads gave their blocks away,
  // and let go of what they pin? They do the one before a compaction. As of the last collection.
  bool needs_reserve() const;

  // Marks the blocks to evacuate; returns whether there are any. Safepoint only.
  bool select(const LullEvacuationRequest& request);

  // The evacuation is done: so many words of the evacuated blocks have been copied, and so many left where they are. Before the
  // supply is rebuilt.
  void record(size_t copied_words, size_t left_words);

  // Will the next young collection let what it copies for the first time stay young?
  bool must_age() const { return _survival.must_age(); }

  // The same of a young collection: what is young in blocks in which there is something young. First blocks in which
  // nothing is old, for they get free; others while what is free then is more than what their copies take. Of all as
  // many as there is room for if as much of each is alive as at the last ones. What is in new ones survives, and what
  // survivors' blocks have is old enough to be old. Where most has lived on none is: LullYoungSurvival.
  // So many lines are promised to others, whose objects the collection moves, too.
  bool select_young(const LullCardTable* cards, bool ages, size_t promised_lines);

  // So many words were alive of what was selected; or of all that was young in blocks without an owner, when they have
  // been swept: that counts if nothing was to be copied.
  void record_young(size_t live_words_in_new_blocks, size_t live_survivor_words);
  void record_young_in_place(size_t live_words);
};

#endif // SHARE_GC_LULL_POLICY_LULLEVACUATIONPOLICY_HPP
