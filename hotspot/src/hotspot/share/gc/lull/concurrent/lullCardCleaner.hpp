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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLCARDCLEANER_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCARDCLEANER_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/policy/lullCleaningPolicy.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/atomic.hpp"

class LullBlockTable;
class LullCardTable;
class LullCycleMarks;
class LullMarkBitMap;
class LullMemory;
class LullSparseBlocks;

// Cleans dirty cards while the program runs (LullCleanCards): those on which no old object refers to anything that is
// not old. The next young pause need not look at them. By the thread of the cycle, some thousand cards at a time:
//
//   take        dirty cards become Clean, and their stretches untouched
//   handshake   with all Java threads. R has a card dirtied before the store, and no thread stops in between. So each
//               store that has found its card dirty before it was taken is done now, and seen here; each other store
//               finds the card Clean, and makes it Dirty
//   look        at the old objects on the card. If a field refers to what is not old the card becomes Dirty
//   touch       the stretches of which a card is dirty now
//
// No card has a value of its own meanwhile: barriers write to Clean ones alone. What is taken and not looked at yet is
// known here. At each safepoint it becomes Dirty again (give_up), before anybody relies on R, or something moves. So
// nothing is written after the look that a mutator may have written before it.
//
//   stretches   a mutator that has made a card Dirty may have found its stretch touched, just before that was taken. The
//               handshake makes the card visible, and that step touches the stretch.
//   old         says a mark, or that nothing young is in the block. Both change in pauses, but that blocks get young
//               objects: whoever stores a reference to one has dirtied the card
//   objects     what has a mark is an object, and its class is there. No block is swept meanwhile (LullLaterSweep): so
//               no old object is freed, and no card becomes NoOld
//   kinds       only instances without fields of their own kind, and arrays, are looked at. A card with a Reference, a
//               mirror, a class loader or a stack chunk stays dirty. So does one on which part of a straddler lies
//   cycles      while one marks a dirty card also says that an object is to be looked at again (Black), and with sparse
//               blocks that it may refer to those (Recorded). So the card of an object that has been marked stays dirty if
//               a field refers to what has no mark of the cycle, or to a sparse block. An object that is marked later is
//               looked at then: no marker runs beside. From the end of the cycle until sparse blocks have moved nothing
//               is cleaned
//
// Written by the thread of the cycle while it has joined the suspendible threads, and by the VM thread at the begin of a
// safepoint, when that thread stands still, or waits for its handshake.
class LullCardCleaner : public CHeapObj<mtGC> {
private:
  static const size_t   MostLines     = 16 * K;   // and those of a block: what is given up is written at a safepoint
  static const size_t   MostStretches = 4 * K;
  static const uint32_t KeptDirty     = max_juint;

  // One pass over all stretches.
  struct Pass {
    size_t _stretches;
    size_t _taken;      // cards
    size_t _kept;       // of them, dirty for what was seen on them
    size_t _given_up;   // of them, for a safepoint that came first
    size_t _batches;
  };

  LullCardTable* const        _cards;
  LullBlockTable* const       _blocks;
  const LullMarkBitMap* const _marks;
  const LullCycleMarks* const _cycle_marks;
  const LullSparseBlocks* const _sparse;
  LullCleaningPolicy          _policy;

  // The batch
  bool            _is_taken;
  uint32_t* const _lines;           // with cards that were taken
  size_t          _line_count;
  size_t          _looked_at;       // of them
  uint32_t* const _stretches;       // that were taken
  size_t          _stretch_count;
  oop             _last;            // the object that was looked at last,
  bool            _last_is_clean;   // and what was seen
  bool            _is_marking;      // does a cycle mark? Only a pause changes that, with which the pass ends
  Pass            _pass;

  volatile size_t _asks;            // by any thread
  volatile size_t _taken_up;        // of them, by passes that have begun,
  volatile size_t _answered;        // and that have ended, or would not have paid
  volatile size_t _passes;          // for who looks on
  volatile size_t _all_taken;
  volatile size_t _all_kept;

  bool may_take(LullBlockIndex index) const;
  void take_block(LullBlockIndex index);
  uint32_t take(uint32_t start, uint32_t limit);
  void handshake();
  bool is_clean_array(oop array, size_t start, size_t end) const;
  bool is_clean_object(oop obj) const;
  bool look_at_object(oop obj);
  bool is_clean_line_of_large(LullBlockIndex head, LullLineIndex line);
  bool is_clean_line(LullLineIndex line);
  bool look();
  void end_batch();
  size_t touched() const;
  void run_pass(bool (*may_go_on)());
  void record(jlong ns);

public:
  LullCardCleaner(LullMemory* memory, LullBlockTable* blocks, const LullCycleMarks* cycle_marks,
                  const LullSparseBlocks* sparse);

  static bool is_on();

  // Some thread wants a pass; the cycle's takes it up. Returns the number of the wish.
  size_t ask()                         { return Atomic::add(&_asks, (size_t)1); }
  bool is_asked_for() const            { return Atomic::load(&_asks) != Atomic::load(&_taken_up); }
  bool has_answered(size_t wish) const { return Atomic::load(&_answered) >= wish; }

  // Are so many stretches touched that a pass may pay? By a thread that has joined the suspendible ones.
  bool is_worth() const                { return LullCleaningPolicy::is_worth(touched()); }

  // By the thread of the cycle: one pass, if it pays, as long as that says yes. While a cycle marks its markers stand
  // still.
  void clean(bool (*may_go_on)(), bool is_marking);

  // Was the object marked by the running cycle, and must its card stay dirty for a field that refers to the target?
  inline bool is_black(oop holder) const;
  inline bool needs_dirty(oop target, bool is_black) const;

  // What is taken becomes dirty again. By the VM thread, at the begin of each safepoint.
  void give_up();

  // By pauses.
  void begin_interval() { _policy.begin_interval(); }

  // Counts, for who looks on.
  size_t passes() const  { return Atomic::load(&_passes); }
  size_t taken() const   { return Atomic::load(&_all_taken); }
  size_t kept() const    { return Atomic::load(&_all_kept); }
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLCARDCLEANER_HPP
