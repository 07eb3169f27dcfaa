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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLFARMARKER_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLFARMARKER_HPP

#include "gc/lull/heap/lullFarPager.hpp"
#include "memory/allocation.hpp"
#include "runtime/atomic.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/growableArray.hpp"

class LullBlockTable;
class LullCycle;
class LullMemory;

// Has memory servers mark the old objects of a far heap: a cycle whose markers are where the pages are, so that
// nothing is fetched to be marked. Of a cycle (LullCycle) it is the first part of Marking:
//
//   1  the first pause of the cycle has marked what roots and what is young refer to: the first roots
//   2  old       the servers get a bit for each object that is old and has no mark. They look at nothing else: young
//                and private objects move, and the page of what becomes old later was perhaps never sent
//   3  clean     pages that are dirty here go to the servers, and stay. So what they have of each object with such a
//                bit is what it was at the first pause, or became later
//   4  trace     servers mark, and ask for layouts of classes. They list what is not theirs to look at: References,
//                stack chunks, and mirrors whose length another server has. That is counted here, and the first two
//                are looked at here. What pauses mark meanwhile is a root, too
//   5  merge     the servers are done, and nothing waits here. Their marks are added to those of the cycle
//
// Then markers trace what is left, as in any cycle, and the remark ends it. It meets few objects that have no mark.
//
// Why that finds all: as marking beside the program does (Black), but for one thing. Until the merge is over nobody
// here knows what servers have marked. So each old object on a dirty card is looked at again, marked or not: what was
// stored there since the servers had its page is marked here. What is not old when the servers are told has no bit,
// and is looked at in the pause in which it becomes old. While servers mark, cards are cleaned in pauses only.
//
// An object that is marked here, and has no bit, is looked at here: its page may never have been sent.
//
// What goes wrong before the merge costs time: markers do it all. In the merge the cycle is given up by the next
// pause, for some of what has a mark then was never looked at by anybody who knows it.
//
// Class loaders and code are roots of such a cycle: it unloads nothing.
class LullFarMarker : public CHeapObj<mtGC> {
public:
  enum class Phase : uint {
    Off,       // markers trace, if anybody does
    Marking,   // servers do
    Failed     // in the merge: the next pause gives the cycle up
  };

  // What the thread of the cycle can: calls by it alone, while it has not joined.
  struct Caller {
    bool (*_should_stop)();
    void (*_run_markers)();                         // that do what pauses have left
    void (*_pass_breakpoint)(const char* name);     // tests stop it there
  };

private:
  LullCycle* const           _cycle;
  LullMemory* const          _memory;
  LullBlockTable* const      _blocks;
  volatile Phase             _phase;      // set in pauses, and by the thread of the cycle, which has joined then
  uint                       _left_out;   // cycles that servers do not mark any more, since one has failed; in pauses
  uint                       _failures;   // in a row; by the thread of the cycle
  // The thread of the cycle writes what follows.
  GrowableArrayCHeap<uint64_t, mtGC> _roots;    // for servers, those that have them first
  int                        _sent;       // of them
  const char*                _refused;    // why it has failed by what a server says, or for no fault of theirs
  bool                       _takes_all;  // each object that is marked is one for the servers
  const Caller*              _caller;
  uint64_t*                  _old;        // what they were told: a bit for each word of the heap
  size_t                     _old_words;
  size_t                     _begun;      // the cycle's number

  const LullFarTracer* tracer() const;
  bool is_current() const;
  bool drain();
  bool send_roots();
  size_t copy_old(size_t granule, uint64_t* words, uint8_t* wanted) const;
  uint8_t is_wanted(size_t block) const;
  int64_t clean(const uint8_t* wanted, size_t blocks);
  bool send_old();
  bool teach(const uint32_t* classes, size_t count);
  bool look_at(const uint64_t* objects, size_t count);
  bool look_at_listed(bool* any);
  bool trace();
  bool is_committed(size_t block) const;
  bool merge();
  void add_marks(uint64_t first, const uint64_t* words, size_t count);
  void add_lines(uint64_t first, const uint64_t* words, size_t count);
  void add_live(uint64_t first, const uint64_t* words, size_t count);
  void free_old();
  void tell(bool merged, bool is_harmed) const;
  void end(bool merged, bool is_harmed, bool is_stopped);

  static void visit_marks(void* marker, uint64_t first, const uint64_t* words, size_t count);
  static void visit_lines(void* marker, uint64_t first, const uint64_t* words, size_t count);
  static void visit_live(void* marker, uint64_t first, const uint64_t* words, size_t count);

public:
  LullFarMarker(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks);

  Phase phase() const      { return Atomic::load(&_phase); }

  // Does nobody here know what is marked?
  bool is_on() const       { return phase() != Phase::Off; }
  bool has_failed() const  { return phase() == Phase::Failed; }

  // The first pause of a cycle: servers mark in it, if they can.
  void begin();

  // A pause has given the cycle up.
  void stop();

  // By the thread of the cycle, which has not joined: until the servers have marked all, or the cycle is over, or it
  // is to stop. What is left is for markers.
  void mark(const Caller* caller);

  // By a marker that has an object as a new task, while servers mark: is it theirs? Else it is to be looked at here.
  bool is_for_servers(oop obj) const;
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLFARMARKER_HPP
