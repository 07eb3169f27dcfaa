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

#include "gc/lull/lullTrackingPolicy.hpp"

#include <math.h>

LullTrackingPolicy::LullTrackingPolicy()
  : _state(State::Tracking),
    _wants_suspension(false),
    _window(),
    _window_begun(false),
    _doubtful_windows(0),
    _cost_before(0),
    _cost_without(0),
    _sum(0),
    _sum_of_squares(0),
    _comparisons(0),
    _decided_cost(0),
    _costly_windows(0),
    _wait(FirstWait),
    _next_trial(0),
    _last_ratio(0) {}

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
  _window._mutators         += interval._mutators;
  _window._collection       += interval._collection;
  _window._allocated        += interval._allocated;
  _window._allocated_public += interval._allocated_public;
  _window._published        += interval._published;
  _window._freed            += interval._freed;
}

bool LullTrackingPolicy::is_window_complete(jlong now) const {
  return now - _window._end >= WindowTime && _window._allocated >= WindowBytes;
}

bool LullTrackingPolicy::is_doubtful() const {
  return _window._freed < FreedPerPublished * _window._published || _window._allocated_public > _window._allocated / 2;
}

double LullTrackingPolicy::cost(const Interval& window) {
  return (double)(window._mutators + window._collection) / (double)window._allocated;
}

void LullTrackingPolicy::begin_trial() {
  _state = State::Trial;
  _doubtful_windows = 0;
  _wants_suspension = false;
  _cost_before = 0;
  _cost_without = 0;
  _sum = 0;
  _sum_of_squares = 0;
  _comparisons = 0;
}

// Windows come in turn: the one that has ended was with tracking if none without it waits to be compared.
void LullTrackingPolicy::continue_trial(double cost, jlong now) {
  if (_wants_suspension) {
    _cost_without = cost;
    _wants_suspension = false;
    return;
  }
  if (_cost_without > 0 && _cost_before > 0 && cost > 0) {
    const double difference = log(_cost_without / ((_cost_before + cost) / 2));
    _sum += difference;
    _sum_of_squares += difference * difference;
    _comparisons++;
  }
  _cost_before = cost;
  _cost_without = 0;
  _wants_suspension = true;
  if (_comparisons >= FewestComparisons) {
    const double mean = _sum / _comparisons;
    const double variance = MAX2(_sum_of_squares / _comparisons - mean * mean, 0.0) * _comparisons / (_comparisons - 1);
    if (mean * mean > StandardErrors * StandardErrors * variance / _comparisons || _comparisons == MostComparisons) {
      decide(now);
    }
  }
}

void LullTrackingPolicy::decide(jlong now) {
  const double ratio = exp(_sum / _comparisons);
  const bool suspends = ratio < 1.0;
  const bool is_as_before = _last_ratio > 0 && (_last_ratio < 1.0) == suspends;
  _wait = is_as_before ? MIN2(_wait * 2, MostWait) : FirstWait;
  _next_trial = now + _wait;
  _last_ratio = ratio;
  _state = suspends ? State::Suspended : State::Tracking;
  _wants_suspension = suspends;
  _decided_cost = 0;
  _costly_windows = 0;
}

void LullTrackingPolicy::look_at_decision(double cost, jlong now) {
  if (_decided_cost > 0 && cost > _decided_cost * OtherProgram) {
    _costly_windows++;
  } else {
    _costly_windows = 0;
    _decided_cost = _decided_cost == 0 ? cost : _decided_cost + (cost - _decided_cost) * NewWeight;
  }
  if (now >= _next_trial || _costly_windows >= 2) {
    if (_costly_windows >= 2) {
      _last_ratio = 0;    // of another program
    }
    begin_trial();
  }
}

void LullTrackingPolicy::record(const Interval& interval, bool is_suspended) {
  // The first interval of a state is partly of the state before, and at the VM's start nobody knows since when it lasts.
  if (!_window_begun || is_suspended != _wants_suspension) {
    begin_window(interval._end);
    return;
  }
  add(interval);
  if (!is_window_complete(interval._end)) {
    return;
  }
  switch (_state) {
    case State::Tracking:
      _doubtful_windows = is_doubtful() ? _doubtful_windows + 1 : 0;
      if (_doubtful_windows >= DoubtfulWindows && interval._end >= _next_trial) {
        begin_trial();
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
