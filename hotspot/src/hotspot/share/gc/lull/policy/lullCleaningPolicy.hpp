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

#ifndef SHARE_GC_LULL_POLICY_LULLCLEANINGPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLCLEANINGPOLICY_HPP

#include "utilities/globalDefinitions.hpp"

// When dirty cards are cleaned beside the program (LullCardCleaner).
//
// A pass goes half of the way to the next pause, the next one half of the rest, and so on: each card that a program
// dirties once is cleaned once, and what it dirties after the last pass is left to the pause. A pass looks at touched
// stretches. Where few are touched the pause has done with them in no time.
//
// A pause that is due for another reason than memory may fall between: one for references comes while a program drops
// half of a cache. It can wait, and has passes first, until few stretches are touched, or it has waited enough.
//
// A program may write to the same objects all the time, or what it stores may be young: then cards stay dirty, and a
// pass is in vain. After one that leaves most of them dirty some intervals between pauses have none, twice as many each
// time.
//
// Pure. The object is of the thread that cleans, and of pauses, in which that stands still.
class LullCleaningPolicy {
private:
  static const size_t LeastRoom = 2 * M;    // to the pause: it comes at once
  static const uint   MostSkipped = 16;
  static const uint   MostPassesFirst = 3;
  static const jlong  LongestWait = NANOSECS_PER_SEC;

  uint _skipped;      // intervals, after the last vain pass; 0: the last one was none
  uint _to_skip;      // with the rest of this one

public:
  static const uint   MostPasses = 3;               // in an interval: an eighth of the way is left
  static const size_t LeastStretches = 1024;        // 32 MB of blocks, some milliseconds of a pause

  LullCleaningPolicy() : _skipped(0), _to_skip(0) {}

  // How much is to be in use when the next pass begins, with so much in use now, a pause expected when it is pause_at,
  // and so many passes begun since the last pause. SIZE_MAX: there is none.
  static size_t next_at(size_t used, size_t pause_at, uint passes) {
    return passes >= MostPasses || pause_at < LeastRoom || used > pause_at - LeastRoom ? SIZE_MAX :
           used + (pause_at - used) / 2;
  }

  static bool is_worth(size_t touched_stretches) { return touched_stretches >= LeastStretches; }

  // A pause that can wait, and might have come then, has had so many passes first. May it have another one now?
  static jlong latest(jlong due_ns)                            { return due_ns + LongestWait; }
  static bool may_wait(uint passes, jlong due_ns, jlong now_ns) { return passes < MostPassesFirst && now_ns < latest(due_ns); }

  // A pause has ended.
  void begin_interval() { _to_skip -= MIN2(_to_skip, 1u); }

  bool may_clean() const { return _to_skip == 0; }

  // A pass has taken so many dirty cards, and so many of them are dirty again.
  void record(size_t taken, size_t kept) {
    assert(kept <= taken, "%zu of %zu", kept, taken);
    const bool is_vain = kept > taken / 2;
    _skipped = is_vain ? MIN2(MAX2(2 * _skipped, 1u), MostSkipped) : 0;
    _to_skip = is_vain ? 1 + _skipped : 0;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLCLEANINGPOLICY_HPP
