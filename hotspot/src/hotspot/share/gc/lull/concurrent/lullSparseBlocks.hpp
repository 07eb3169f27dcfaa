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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLSPARSEBLOCKS_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLSPARSEBLOCKS_HPP

#include "gc/lull/concurrent/lullSparseNotes.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.hpp"
#include "runtime/atomic.hpp"
#include "utilities/growableArray.hpp"

class LullBlockSupply;
class LullCardTable;
class LullMarkBitMap;
class LullMemory;

// Old blocks in which little lives, which a cycle of concurrent marking empties.
//
//   first pause    choose(): they leave the stacks, and are Full with all that is free as slack. Nothing is allocated
//                  there, so nothing young is there
//   marking        who visits a field that refers to one notes the line of the field (LullSparseNotes): markers, and
//                  workers in what they trace, which is old then or may become old
//   remark         leaves them as they are: neither swept nor to be swept. Their marks are those of the cycle
//   moving pause   the next young one. begin_move(): cards of noted lines are dirty, and what is in sparse blocks is
//                  young again. So the young collection visits all references to it, and copies it; class loaders and
//                  code are visited all. What finds no room, or is pinned, stays where it is. end_move()
//
// Invariant Recorded: before the moving pause a reference to a sparse block is in a root, in code, of a class loader, in
// something young or in a sparse block; or an old object has it, and is on a dirty card or a noted line. What an old
// object refers to was found when the cycle visited its fields. What was stored later has made its card dirty (R).
//
// A line that is noted says nothing wrong if it is free since, or is used by others: only a clean card becomes dirty,
// that is, one of a line with old objects; and dirty cards may be in vain.
//
// A global collection comes first: forget(). It needs no more, for it marks and sweeps all.
//
// The kind of a block is written in pauses, but that a marker may say that too many refer to it: it is not sparse from
// then on, and what was noted is in vain.
class LullSparseBlocks : public CHeapObj<mtGC> {
public:
  enum class State {
    None,
    Chosen,   // a cycle marks, and notes
    Left      // it has ended: the next young pause moves
  };

private:
  enum Kind : uint8_t { Other, Sparse, Popular };

  LullMemory* const       _memory;
  LullBlockTable* const   _blocks;
  LullBlockSupply* const  _supply;
  volatile uint8_t* const _kinds;        // by block
  volatile uint16_t* const _notes_left;  // by block: lines that may still be noted. Threads may lose a count
  GrowableArrayCHeap<uint32_t, mtGC>         _chosen;    // in order
  GrowableArrayCHeap<LullSparseNotes*, mtGC> _notes;     // of all threads; made at start-up
  State                   _state;
  size_t                  _choices;
  size_t                  _noted;        // lines whose cards became dirty, in the moving pause

  bool may_be_emptied(LullBlockIndex index) const;
  bool takes_any(LullBlockIndex index) const;
  uint free_lines(LullBlockIndex index) const;
  void find(GrowableArrayCHeap<uint32_t, mtGC>* candidates) const;
  void select(const GrowableArrayCHeap<uint32_t, mtGC>& candidates);
  void take();
  void set_on(bool value);
  void forget_popular();
  void make_young(LullBlockIndex index, bool moves);
  bool is_line_in_use(LullLineIndex line) const;
  void dirty_noted();

public:
  LullSparseBlocks(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply);

  // For one more thread. At start-up.
  LullSparseNotes* new_notes();

  bool is_sparse(LullBlockIndex index) const { return _kinds[untype(index)] == Sparse; }
  bool is_chosen() const { return _state == State::Chosen; }
  bool is_left() const   { return _state == State::Left; }

  // Is this part left out (LullBreakInvariant)?
  static bool is_left_out(LullSparseNotes::By by);
  static bool are_classes_left_out();

  // By who has noted a reference to it.
  void count_note(LullBlockIndex index);
  bool covers(const void* place) const { return _blocks->covers(place); }

  // ---- Of pauses, one thread

  // The first pause of a cycle begins. Nothing is chosen where the heap is dense.
  void choose(bool is_fragmented);

  // The remark has ended, and has left them.
  void end_cycle();

  // A global collection comes.
  void forget();

  // Lines that the copies will fill, about.
  size_t lines_to_copy() const;

  // The moving pause: now what is there is young. Returns whether it is to be copied.
  bool begin_move();
  void end_move(size_t moved_words);

  // Calls f(LullLineIndex) for each line that was noted; for some more than once.
  template <typename Function>
  void noted_do(Function f) const {
    for (int i = 0; i < _notes.length(); i++) {
      for (int j = 0; j < _notes.at(i)->lines().length(); j++) {
        f(to_line_index(_notes.at(i)->lines().at(j)));
      }
    }
  }
};

inline void LullSparseNotes::note(const void* place, oop obj, By by) {
  if (_is_on && _sparse->is_sparse(LullGeometry::block_of(cast_from_oop<void*>(obj))) &&
      !LullSparseBlocks::is_left_out(by)) {
    add(place, obj);
  }
}

#endif // SHARE_GC_LULL_CONCURRENT_LULLSPARSEBLOCKS_HPP
