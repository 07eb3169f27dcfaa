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

#ifndef SHARE_GC_LULL_DRIVE_LULLYOUNGSCHEDULE_HPP
#define SHARE_GC_LULL_DRIVE_LULLYOUNGSCHEDULE_HPP

#include "gc/lull/policy/lullPauseGoal.hpp"
#include "memory/allocation.hpp"

class LullBlockSupply;
class LullCycle;

// When a young pause is due although there is memory: LullPauseGoal says how many bytes may come into use before it.
//
//   each pause       plans the next one: from how many bytes in use on
//   the supply       tells its listener when so many are in use; that wakes the control thread
//   control thread   asks is_due(), and has the pause made
//
// On the way to the pause, whether it comes for this or when memory runs out, it has cards cleaned (LullCleaningPolicy).
//
// Of a far heap what is new must be collected while it is local: then a young pause is due, too.
//
// Without cycles of concurrent marking the next pause may be a global collection, which an early one would not make
// shorter: then nothing is ever due for the goal.
class LullYoungSchedule : public CHeapObj<mtGC> {
private:
  LullBlockSupply* const _supply;
  LullPauseGoal          _goal;
  bool                   _is_kept;          // somebody makes the pauses that are due; written once, before there is a pause
  size_t                 _used_at_pause;    // after the last one; written at safepoints
  volatile size_t        _due_at;           // bytes in use; the same
  LullCycle*             _cycle;            // that cleans cards, or nullptr; written once, with _is_kept
  // With these in use a pass over dirty cards begins; so many have; and a pause comes. Written at safepoints, and by the
  // control thread: if it has not seen the last pause yet, one pass more or less comes before the next.
  volatile size_t        _clean_at;
  volatile uint          _cleanings;
  volatile size_t        _pause_at;

  void plan_cleaning(size_t used, uint cleanings);

public:
  LullYoungSchedule(LullBlockSupply* supply, size_t goal_ms)
    : _supply(supply), _goal(goal_ms), _is_kept(false), _used_at_pause(0), _due_at(SIZE_MAX),
      _cycle(nullptr), _clean_at(SIZE_MAX), _cleanings(0), _pause_at(SIZE_MAX) {}

  // From here on somebody makes the pauses that are due, and this one cleans cards.
  void keep(LullCycle* cycle) {
    assert(!_is_kept, "once");
    _is_kept = true;
    _cycle = cycle;
  }

  // At a safepoint or start-up: the next one, with so much in use now.
  void plan(size_t used);

  // What a young pause has cost that began with so much in use. At a safepoint, before the next one is planned.
  void record_young(jlong pause_ns, jlong mark_ns, size_t seen_bytes, size_t private_bytes, size_t used_before);

  // By the control thread. If not, it is told again when more than planned is in use.
  bool is_due(size_t used);
};

#endif // SHARE_GC_LULL_DRIVE_LULLYOUNGSCHEDULE_HPP
