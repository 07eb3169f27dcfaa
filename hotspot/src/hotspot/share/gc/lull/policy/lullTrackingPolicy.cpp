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

#include "gc/lull/policy/lullTrackingPolicy.hpp"

#include <math.h>

LullTrackingPolicy::LullTrackingPolicy()
  : _state(State::Tracking),
    _wants_suspension(false),
    _window(),
    _window_begun(false),
    _doubtful_windows(0),
    _tries_tracking(false),
    _cost_before(0),
    _cost_tried(0),
    _sum(0),
    _sum_of_squares(0),
    _comparisons(0),
    _decided_cost(0),
    _costly_windows(0),
    _wait(FirstWait),
    _next_trial(0),
    _last_ratio(0),
    _suspends(false) {}

const char* LullTrackingPolicy::to_string(State state) {
  switch (state) {
    case State::Tracking:  return "tracking";
    case State::Trial:     return "on trial";
    case State::Suspended: return "suspended";
  }
  return "";
}

void LullTrackingPolicy::begin_window(jlong now) {
  _window = Interval();
  _window._end = now;
  _window_begun = true;
}

void LullTrackingPolicy::add(const Interval& interval) {
  assert(interval._allocated_public <= interval._allocated, "in public mode %zu of %zu bytes", interval._allocated_public,
         interval._allocated);
  _window._mutators         += interval._mutators;
  _window._collection       += interval._collection;
  _window._allocated        += interval._allocated;
  _window._allocated_public += interval._allocated_public;
  _window._published        += interval._published;
  _window._freed            += interval._freed;
}

bool LullTrackingPolicy::is_window_complete(jlong now) const {
  assert(_window_begun, "there is no window");
  return now - _window._end >= WindowTime && _window._allocated >= WindowBytes;
}

bool LullTrackingPolicy::is_doubtful() const {
  return _window._freed < FreedPerPublished * _window._published || _window._allocated_public > _window._allocated / 2;
}

double LullTrackingPolicy::cost(const Interval& window) {
  assert(window._allocated > 0, "the cost of no byte");
  return (double)(window._mutators + window._collection) / (double)window._allocated;
}

// Has an earlier trial decided what this comparison says?
bool LullTrackingPolicy::is_as_decided(double logarithm) const {
  return _last_ratio > 0 && _suspends == (logarithm < 0);
}

// What the window that has ended has cost, if that is known: it is the first one of this trial then, else the next is. The next is with
// tracking in any case: that is what is tried after windows without it, and what a trial that knows nothing begins with.
void LullTrackingPolicy::begin_trial(double cost) {
  assert(_state != State::Trial, "one trial at a time");
  _tries_tracking = _state == State::Suspended;
  _state = State::Trial;
  _doubtful_windows = 0;
  _wants_suspension = false;
  _cost_before = cost;
  _cost_tried = 0;
  _sum = 0;
  _sum_of_squares = 0;
  _comparisons = 0;
}

// Windows come in turn.
void LullTrackingPolicy::continue_trial(double cost, jlong now) {
  assert(_state == State::Trial, "%s", to_string(_state));
  const bool was_tried = _wants_suspension != _tries_tracking;
  _wants_suspension = !_wants_suspension;
  if (was_tried) {
    _cost_tried = cost;
    return;
  }
  const double before = _cost_before;
  const double tried = _cost_tried;
  _cost_before = cost;
  _cost_tried = 0;
  if (before == 0 || tried == 0 || cost == 0) {
    return;
  }
  const double ratio = tried / ((before + cost) / 2);
  const double difference = _tries_tracking ? -log(ratio) : log(ratio);
  _sum += difference;
  _sum_of_squares += difference * difference;
  _comparisons++;
  if (_comparisons == 1 && is_as_decided(difference)) {
    decide(_suspends, now);
  } else if (_comparisons >= FewestComparisons) {
    const double mean = _sum / _comparisons;
    const double variance = MAX2(_sum_of_squares / _comparisons - mean * mean, 0.0) * _comparisons / (_comparisons - 1);
    const bool stands_out = mean * mean > StandardErrors * StandardErrors * variance / _comparisons;
    if (stands_out || _comparisons == MostComparisons) {
      decide(stands_out && mean < 0, now);
    }
  }
}

void LullTrackingPolicy::decide(bool suspends, jlong now) {
  assert(_state == State::Trial && _comparisons > 0, "decides by %u comparisons, %s", _comparisons, to_string(_state));
  const bool is_same = _last_ratio > 0 && suspends == _suspends;
  _wait = is_same ? MIN2(_wait * 2, MostWait) : FirstWait;
  _next_trial = now + _wait;
  _last_ratio = exp(_sum / _comparisons);
  _suspends = suspends;
  _wants_suspension = suspends;
  _state = _wants_suspension ? State::Suspended : State::Tracking;
  _decided_cost = 0;
  _costly_windows = 0;
}

void LullTrackingPolicy::look_at_decision(double cost, jlong now) {
  assert(_state == State::Suspended, "%s", to_string(_state));
  if (_decided_cost > 0 && cost > _decided_cost * OtherProgram) {
    _costly_windows++;
  } else {
    _costly_windows = 0;
    _decided_cost = _decided_cost == 0 ? cost : _decided_cost + (cost - _decided_cost) * NewWeight;
  }
  const jlong decided = _next_trial - _wait;
  const bool is_other_program = _costly_windows >= 2 && now >= decided + ShortestWait;
  if (is_other_program) {
    _wait = FirstWait / 2;    // the same decision again is the first one on this program
  }
  if (now >= _next_trial || is_other_program) {
    begin_trial(cost);
  }
}

void LullTrackingPolicy::record(const Interval& interval, bool is_suspended) {
  // The first interval of a state is partly of the state before, and at the VM's start nobody knows since when it lasts.
  if (!_window_begun || is_suspended != _wants_suspension) {
    begin_window(interval._end);
    return;
  }
  add(interval);
  if (!is_window_complete(interval._end) || (_state == State::Tracking && interval._by_references)) {
    return;
  }
  switch (_state) {
    case State::Tracking:
      _doubtful_windows = is_doubtful() ? _doubtful_windows + 1 : 0;
      if (_doubtful_windows >= DoubtfulWindows && interval._end >= _next_trial) {
        begin_trial(0);
      }
      break;
    case State::Trial:
      continue_trial(cost(_window), interval._end);
      break;
    case State::Suspended:
      look_at_decision(cost(_window), interval._end);
      break;
  }
  begin_window(interval._end);
}
