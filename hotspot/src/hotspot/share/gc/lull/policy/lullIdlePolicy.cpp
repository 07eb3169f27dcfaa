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

#include "gc/lull/policy/lullIdlePolicy.hpp"

// Than that share of the capacity, within QuietLooks intervals.
bool LullIdlePolicy::has_allocated_less(size_t share) const {
  if (_number <= QuietLooks) {
    return false;
  }
  const size_t allocated = before(0)._allocated - before(QuietLooks)._allocated;
  return allocated <= before(0)._capacity / share;
}

// Of the looks so far, if there were fewer.
bool LullIdlePolicy::is_at_work() const {
  const uint looks = MIN2(_number, QuietLooks);
  uint at_work = 0;
  for (uint i = 0; i < looks; i++) {
    at_work += before(i)._threads_at_work > 0 ? 1 : 0;
  }
  return at_work > looks / 2;
}

// Not again and again for what such a program allocates in a while.
bool LullIdlePolicy::has_grown(const Look& now, size_t share) const {
  const size_t least = MAX2((size_t)LeastGain, now._capacity / share);
  return now._used >= (_used_after == 0 ? least : _used_after + least);
}

// What was alive then may be dead now. What that costs, whatever lives, gets rare: each wait is twice as long.
bool LullIdlePolicy::may_gain(const Look& now, size_t share) const {
  return has_grown(now, share) ||
         (_looks_since_try >= _patience && now._used >= MAX2((size_t)LeastGain, now._capacity / share));
}

bool LullIdlePolicy::wants_collection(const Look& now) const {
  return (has_allocated_less(QuietShare) && may_gain(now, QuietShare)) ||
         (has_allocated_less(LittleShare) && may_gain(now, LittleGainShare));
}

bool LullIdlePolicy::wants_to_slide(const Look& now) const {
  const size_t least = MAX2((size_t)LeastGain, now._capacity / SparseShare);
  const size_t surplus = now._capacity - MIN2(now._min_capacity, now._capacity);
  return !is_at_work() && (_may_slide || has_allocated_less(LittleShare)) && surplus >= least &&
         (_is_stuck || holes(now) >= _holes_left + least) &&
         SlideFactor * now._expected_global_ns <= LongestPause;
}

// In all looks of the window.
size_t LullIdlePolicy::unused() const {
  if (_number < Window) {
    return 0;
  }
  size_t least = SIZE_MAX;
  for (const Look& look : _looks) {
    least = MIN2(least, look._free);
  }
  return least - least / KeptShare;
}

LullIdlePolicy::Action LullIdlePolicy::collection(const Look& now) const {
  const bool is_long = _looks_since >= LongQuietLooks;
  if (is_at_work()) {
    return now._has_cycles ? Action::BeginCycle :
           is_long && now._expected_global_ns <= LongestPause ? Action::CollectGlobal : Action::CollectYoung;
  }
  const jlong longest = is_long ? LongestPauseAfterLong : LongestPause;
  return now._expected_global_ns <= longest ? Action::CollectGlobal : Action::CollectYoung;
}

LullIdlePolicy::Decision LullIdlePolicy::look(const Look& now) {
  _looks[_number % Window] = now;
  _number++;
  _looks_since++;
  _looks_since_try++;
  _used_after = MIN2(_used_after, now._used);
  if (_number == 2 * Window) {
    _number = Window;            // the ring goes on in the same places
  }
  if (_number > QuietLooks && !has_allocated_less(QuietShare)) {
    _patience = LongQuietLooks;
  }
  const bool was_asked = _is_asked;
  _is_asked = false;
  const bool slides = wants_to_slide(now);
  _may_slide = false;
  if (slides) {
    return {Action::Slide, 0};
  }
  if (wants_collection(now) && !was_asked) {
    _is_asked = true;
    _has_grown = has_grown(now, QuietShare);
    return {collection(now), 0};
  }
  const size_t surplus = now._capacity - MIN2(now._min_capacity, now._capacity);
  const size_t bytes = MIN2(unused(), surplus);
  if (bytes > 0 && bytes >= now._capacity / LeastStepShare) {
    return {Action::GiveBack, bytes};
  }
  return {Action::None, 0};
}

// One of what is young does not tell what a global one would find: that waits on.
void LullIdlePolicy::record_collection(size_t used, bool global) {
  _patience = _has_grown ? LongQuietLooks : MIN2(2 * _patience, MostPatience);
  begin_again(used, global);
}

void LullIdlePolicy::begin_again(size_t used, bool global) {
  _used_after = used;
  _looks_since_try = 0;
  _is_asked = false;
  _looks_since = global ? 0 : _looks_since;
  _number = 0;
  _may_slide = global;
}

// It looks at the whole heap, but has swept nothing yet.
void LullIdlePolicy::record_cycle_begun(size_t used) {
  record_collection(used, true);
  _may_slide = false;
}

void LullIdlePolicy::record_slide(const Look& left) {
  begin_again(left._used, true);
  _may_slide = false;
  _holes_left = holes(left);
  _is_slid = true;
  _is_stuck = false;
}

// As if it had not been there before either.
void LullIdlePolicy::record_given_back(size_t asked, size_t bytes) {
  _is_stuck = bytes < asked / 2 && !_is_slid;
  _is_slid = _is_slid && bytes < asked / 2;
  for (Look& look : _looks) {
    look._free -= MIN2(look._free, bytes);
  }
}
