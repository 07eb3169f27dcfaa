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

#include "gc/budget/heapBudgetPolicy.hpp"

#include <math.h>
#include <string.h>

static const double NanosPerSecond = 1e9;

// Mutators that run for less than this share of a processor do nothing that costs could be compared by.
static const double LeastRunning = 0.01;

// GB per second: those that allocate less are not to be compared by that.
static const double LeastAllocated = 0.002;

// Parts of a window by which its noise is told: shorter ones would have single collections in them, or none.
static const uint64_t ShortestPart = 500000000;

const char* HeapBudgetDecision::name(Action action) {
  switch (action) {
    case Hold:   return "hold";
    case Grow:   return "grow";
    case Shrink: return "shrink";
  }
  return "?";
}

const char* HeapBudgetDecision::name(State state) {
  switch (state) {
    case Stable:     return "stable";
    case WaitGrow:   return "wait-grow";
    case WaitShrink: return "wait-shrink";
  }
  return "?";
}

const char* HeapBudgetDecision::name(Reason reason) {
  switch (reason) {
    case Measuring:       return "measuring";
    case Cheap:           return "both costs are small";
    case Settled:         return "nothing to try now";
    case Try:             return "a try against the larger cost";
    case Repeat:          return "the last step helped";
    case CostGrew:        return "against the cost that grew";
    case NotFollowed:     return "the heap did not follow";
    case Neutral:         return "the last step changed nothing";
    case NoRoom:          return "no room for a step";
    case OverLimit:       return "the memory limit leaves less";
    case CollectionsOnly: return "collections take most of the time";
    case NoSensor:        return "I/O is not known";
    case SlowStorage:     return "reads have become slow";
  }
  return "?";
}

HeapBudgetSettings::HeapBudgetSettings(uint32_t processors) :
    processors(processors),
    window(2000000000),
    longest_window(10000000000),
    longest_judgement(20000000000),
    window_collections(4),
    noise(0.05),
    difference(0.015),
    precision(0.03),
    negligible(0.02),
    change(0.3),
    collections_only(0.5),
    shortest_wait(1000000000),
    longest_wait(60000000000),
    first_rest(30000000000),
    longest_rest(1800000000000),
    least_step(8 * 1024 * 1024) {}

HeapBudgetPolicy::HeapBudgetPolicy(const HeapBudgetSettings& settings) :
    _settings(settings),
    _state(HeapBudgetDecision::Stable),
    _begin(0),
    _last(0),
    _wait_until(0),
    _sum(),
    _parts(),
    _variance(0.0),
    _lost(),
    _stopped(0.0),
    _one_collection(0.0),
    _running(0.0),
    _work(0.0),
    _by_allocation(false),
    _costs(),
    _reference(),
    _has_reference(false),
    _judged(),
    _has_judged(false),
    _taking_back(false),
    _changed(0),
    _slow(0),
    _size_before(0),
    _target(0),
    _cliff(0),
    _sensed(false),
    _read_rate(0.0),
    _ns_per_byte(0.0),
    _grow(),
    _shrink() {
  forget();
}

double HeapBudgetPolicy::step_share(double demand) {
  // A sigmoid between 0 and 1 at its inflection of 0.5, with the steepness of JDK 26's for G1; half of what there is at most.
  const double at = 1.0 / (1.0 + exp(-6.0 * (demand - 0.5)));
  return 0.5 * at;
}

size_t HeapBudgetPolicy::ceiling(const HeapBudgetSample& sample) {
  return MIN2(sample.most, sample.available);
}

// Live data, what the collector needs, and a tenth on top, above where collections once took all the time.
size_t HeapBudgetPolicy::floor(const HeapBudgetSample& sample) const {
  const size_t needed = sample.live + MAX2(sample.reserve, sample.live / 10);
  return MIN2(MAX3(needed, sample.least, _cliff), sample.most);
}

double HeapBudgetPolicy::negligible() const {
  return _settings.negligible * _settings.processors;
}

// What two measurements of the same may differ by.
double HeapBudgetPolicy::noise(const Costs& a, const Costs& b) const {
  const double errors = 2.0 * sqrt(a.error * a.error + b.error * b.error);
  return MAX3(_settings.difference * MAX2(a.total(), b.total()), negligible() / 4 / _work, errors);
}

void HeapBudgetPolicy::restart_window(uint64_t at) {
  memset(&_sum, 0, sizeof(_sum));
  _sum.stalled_known = true;
  _sum.read_known = true;
  _sum.allocated_known = true;
  _begin = at;
  memset(&_parts, 0, sizeof(_parts));
  _parts.begin = at;
}

void HeapBudgetPolicy::add(const HeapBudgetSample& sample) {
  _sum.pause         += sample.pause;
  _sum.concurrent    += MIN2(sample.concurrent, sample.waiting);
  _sum.waiting       += sample.waiting;
  _sum.running       += sample.running;
  _sum.stalled       += sample.stalled;
  _sum.read_bytes    += sample.read_bytes;
  _sum.collections   += sample.collections;
  _sum.stalled_known &= sample.stalled_known;
  _sum.allocated     += sample.allocated;
  _sum.read_known    &= sample.read_known;
  _sum.allocated_known &= sample.allocated_known;
  add_part(sample.now);
}

// In nanoseconds, of the window so far.
uint64_t HeapBudgetPolicy::lost(uint64_t length) const {
  return (uint64_t)stopped(length) + _sum.concurrent + stalled();
}

void HeapBudgetPolicy::add_part(uint64_t now) {
  const uint64_t length = now - _parts.begin;
  if (length < ShortestPart) {
    return;
  }
  const uint64_t lost_so_far = lost(now - _begin);
  const double seconds = (double)length / NanosPerSecond;
  // What counts as lost may become less when more is known of the window.
  const double lost = lost_so_far > _parts.lost_before ? (double)(lost_so_far - _parts.lost_before) / NanosPerSecond : 0.0;
  const uint64_t work_so_far = _by_allocation ? _sum.allocated : _sum.running;
  const double work = (double)(work_so_far - _parts.work_before) / NanosPerSecond;
  _parts.begin = now;
  _parts.lost_before = lost_so_far;
  _parts.work_before = work_so_far;
  _parts.count++;
  _parts.seconds   += seconds;
  _parts.lost      += lost;
  _parts.work      += work;
  _parts.lost_lost += lost * lost / seconds;
  _parts.lost_work += lost * work / seconds;
  _parts.work_work += work * work / seconds;
}

// What counts of the window's stalls. Against waiting for writes, no cache helps. (If nothing runs and nothing is read, the
// storage hangs.)
uint64_t HeapBudgetPolicy::stalled() const {
  const bool only_writes = _sum.read_known && _sum.read_bytes == 0 && _running > LeastRunning;
  return only_writes ? 0 : _sum.stalled;
}

// What the window's pauses took from mutators that would have run, or have waited for I/O, had they not been stopped, in nanoseconds.
// (Without the latter, a program that waits for its disk nearly all the time would seem to lose little by being stopped: but what
// it is stopped for, its disk does nothing.)
double HeapBudgetPolicy::stopped(uint64_t length) const {
  const double unpaused = MAX2((double)length - (double)_sum.pause, 1.0);
  const double active = (double)(_sum.running + _sum.waiting) / unpaused;
  return (double)_sum.pause * (MIN2(MAX2(active, 1.0), (double)_settings.processors) + (double)stalled() / unpaused);
}

bool HeapBudgetPolicy::window_is_full(const HeapBudgetSample& sample) {
  const uint64_t length = sample.now - _begin;
  if (length < _settings.window) {
    return false;
  }
  if (_sum.collections < _settings.window_collections && length < _settings.longest_window) {
    // Where they are rare, a window may have one more or less by chance. Is that within the noise of what is lost?
    // Before there was any, as if each byte that lives took a nanosecond.
    const double one = _one_collection > 0.0 ? _one_collection : (double)sample.live * _settings.processors;
    if (one > _settings.noise * (double)lost(length)) {
      return false;
    }
  }
  if (_state == HeapBudgetDecision::Stable || !_has_reference || length >= _settings.longest_judgement) {
    return true;
  }
  measure(sample);
  return only_collections() || stands_out();
}

// Of a window after a step: is it clear whether that has changed anything that matters?
bool HeapBudgetPolicy::stands_out() const {
  const double error = 2.0 * sqrt(_costs.error * _costs.error + _reference.error * _reference.error);
  const double matters = _settings.precision * MAX2(_costs.total(), _reference.total());
  return error <= matters || fabs(_costs.total() - _reference.total()) > error;
}

// An emergency.
bool HeapBudgetPolicy::only_collections() const {
  return _stopped > _settings.collections_only || _lost.collection > _settings.collections_only * _settings.processors;
}

// Of a window while the page cache fills.
bool HeapBudgetPolicy::no_cache_can_make_up() const {
  return _state == HeapBudgetDecision::WaitShrink && _has_reference &&
         _costs.collection - _reference.total() > MAX2(noise(_costs, _reference), negligible() / _work);
}

// Of the window and those before.
double HeapBudgetPolicy::variance() const {
  if (_parts.count < 2 || _parts.lost <= 0.0 || _parts.work <= 0.0) {
    return _variance;
  }
  const double ratio = _parts.lost / _parts.work;
  const double squares = _parts.lost_lost - 2.0 * ratio * _parts.lost_work + ratio * ratio * _parts.work_work;
  const double expected = ratio * _parts.work / _parts.seconds;   // in a second
  const double now = MAX2(squares, 0.0) / (_parts.count - 1) / (expected * expected);
  // A window is worth as much as there are parts in it; what was before, as much as ten.
  return _variance == 0.0 ? now : (_variance * 10 + now * (_parts.count - 1)) / (10 + _parts.count - 1);
}

void HeapBudgetPolicy::measure(const HeapBudgetSample& sample) {
  const uint64_t nanos = sample.now - _begin;
  const double length = (double)nanos;
  const double collections = stopped(nanos) + (double)_sum.concurrent;
  _running = (double)_sum.running / length;
  _work = _by_allocation ? MAX2((double)_sum.allocated / length, LeastAllocated) : MAX2(_running, LeastRunning);
  _lost.collection = collections / length;
  _lost.stalled = (double)stalled() / length;
  _stopped = (double)_sum.pause / length;
  _costs.collection = _lost.collection / _work;
  _costs.stalled = _lost.stalled / _work;
  const double seconds = length / NanosPerSecond;
  _costs.error = _costs.total() * sqrt(variance() / seconds);
}

// More cache makes reads fewer, not faster: stalls that last much longer for each byte, or that read nothing, are the storage's.
bool HeapBudgetPolicy::reads_are_slow() {
  if (!_sum.read_known || _lost.stalled < negligible()) {
    _slow = 0;
    return false;
  }
  if (_sum.read_bytes == 0) {
    return true;
  }
  const double ns_per_byte = (double)_sum.stalled / (double)_sum.read_bytes;
  if (_ns_per_byte > 0.0 && ns_per_byte > 4 * _ns_per_byte && ++_slow <= 3) {
    return true;
  }
  // Slow for long is how it is.
  _ns_per_byte = _ns_per_byte == 0.0 || _slow > 3 ? ns_per_byte : (_ns_per_byte * 3 + ns_per_byte) / 4;
  _slow = 0;
  return false;
}

// The program is another one: what was learned does not hold.
void HeapBudgetPolicy::forget() {
  _grow.rest_until = 0;
  _grow.rest = _settings.first_rest;
  _grow.scale = 1.0;
  _shrink = _grow;
  _cliff = 0;
}

void HeapBudgetPolicy::rest(Direction* direction, uint64_t now) {
  direction->rest_until = now + direction->rest;
  direction->rest = MIN2(direction->rest * 2, _settings.longest_rest);
  direction->scale = MAX2(direction->scale / 2, 0.125);
}

HeapBudgetDecision HeapBudgetPolicy::hold(Reason reason) const {
  HeapBudgetDecision decision;
  decision.action = HeapBudgetDecision::Hold;
  decision.state = _state;
  decision.reason = reason;
  decision.target = _target;
  decision.collection = _lost.collection;
  decision.stalled = _lost.stalled;
  decision.wait = 0;
  return decision;
}

// The size is as it should be: from here on, changes are the program's.
HeapBudgetDecision HeapBudgetPolicy::settle(Reason reason) {
  _state = HeapBudgetDecision::Stable;
  _reference = _costs;
  _has_reference = true;
  _taking_back = false;
  _changed = 0;
  return hold(reason);
}

HeapBudgetDecision HeapBudgetPolicy::move_to(const HeapBudgetSample& sample, size_t target, Reason reason) {
  const bool grow = target > sample.capacity;
  _size_before = sample.capacity;
  _target = target;
  if (_state != HeapBudgetDecision::Stable || !_has_reference) {
    // Else it is the mean of several windows.
    _reference = _costs;
    _has_reference = true;
  }
  _changed = 0;
  _state = grow ? HeapBudgetDecision::WaitGrow : HeapBudgetDecision::WaitShrink;
  double wait = 0.0;
  if (!grow && _read_rate > 0.0) {
    // Until reads at their present rate may have filled what the cache gets.
    wait = (double)(sample.capacity - target) / _read_rate * NanosPerSecond;
  }
  // The comparison is of doubles: a rate near zero gives more than fits into 64 bits.
  const uint64_t bounded = wait >= (double)_settings.longest_wait ? _settings.longest_wait : MAX2((uint64_t)wait, _settings.shortest_wait);
  _wait_until = sample.now + bounded;
  HeapBudgetDecision decision = hold(reason);
  decision.action = grow ? HeapBudgetDecision::Grow : HeapBudgetDecision::Shrink;
  decision.wait = bounded;
  return decision;
}

HeapBudgetDecision HeapBudgetPolicy::step(const HeapBudgetSample& sample, Action action, Reason reason, double demand) {
  const bool grow = action == HeapBudgetDecision::Grow;
  const size_t bound = grow ? ceiling(sample) : floor(sample);
  const bool room = grow ? bound > sample.capacity : bound < sample.capacity;
  const size_t budget = !room ? 0 : grow ? bound - sample.capacity : sample.capacity - bound;
  if (budget < _settings.least_step) {
    return settle(HeapBudgetDecision::NoRoom);
  }
  const double share = step_share(demand) * direction_of(action)->scale;
  const size_t bytes = MIN2(MAX2((size_t)((double)budget * share), _settings.least_step), budget);
  _taking_back = false;
  return move_to(sample, grow ? sample.capacity + bytes : sample.capacity - bytes, reason);
}

// Against the larger cost; if that cannot be, against the smaller.
HeapBudgetDecision HeapBudgetPolicy::try_step(const HeapBudgetSample& sample) {
  if (_lost.total() < negligible()) {
    return hold(HeapBudgetDecision::Cheap);
  }
  const bool stalls_first = _costs.stalled > _costs.collection;
  for (int i = 0; i < 2; i++) {
    const Action action = (i == 0) == stalls_first ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
    const double cost = action == HeapBudgetDecision::Shrink ? _lost.stalled : _lost.collection;
    const size_t budget_bound = action == HeapBudgetDecision::Shrink ? floor(sample) : ceiling(sample);
    const bool room = action == HeapBudgetDecision::Shrink ? sample.capacity >= budget_bound + _settings.least_step
                                                           : sample.capacity + _settings.least_step <= budget_bound;
    if (room && cost >= negligible() && sample.now >= direction_of(action)->rest_until) {
      return step(sample, action, HeapBudgetDecision::Try, cost / _lost.total());
    }
  }
  return hold(HeapBudgetDecision::Settled);
}

HeapBudgetDecision HeapBudgetPolicy::decide_stable(const HeapBudgetSample& sample) {
  if (!_has_reference) {
    // The beginning; or the sensor is back after a time of which nothing is known.
    forget();
    settle(HeapBudgetDecision::Measuring);
    return try_step(sample);
  }
  const double collection_grew = _costs.collection - _reference.collection;
  const double stalled_grew = _costs.stalled - _reference.stalled;
  const double threshold = MAX2(_settings.change * MAX2(_costs.total(), _reference.total()), negligible() / _work);
  if (fabs(collection_grew) > threshold || fabs(stalled_grew) > threshold) {
    // Once may be chance.
    if (++_changed < 2) {
      return hold(HeapBudgetDecision::Measuring);
    }
    forget();
    const double grew = MAX2(collection_grew, stalled_grew);
    if (grew > threshold) {
      const Action action = stalled_grew > collection_grew ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
      _reference = _costs;
      return step(sample, action, HeapBudgetDecision::CostGrew, MIN2(grew / _costs.total(), 1.0));
    }
    settle(HeapBudgetDecision::Measuring);
    return try_step(sample);
  }
  _changed = 0;
  // Slow drift is followed.
  _reference.collection = (_reference.collection * 7 + _costs.collection) / 8;
  _reference.stalled    = (_reference.stalled * 7 + _costs.stalled) / 8;
  _reference.error      = sqrt(_reference.error * _reference.error * 49 + _costs.error * _costs.error) / 8;
  return try_step(sample);
}

HeapBudgetDecision HeapBudgetPolicy::decide_after_step(const HeapBudgetSample& sample) {
  const Action last = _state == HeapBudgetDecision::WaitGrow ? HeapBudgetDecision::Grow : HeapBudgetDecision::Shrink;
  const Action back = last == HeapBudgetDecision::Grow ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
  if (_taking_back) {
    // This size has been judged before. If it costs much more than then, the program is another one.
    const double threshold = MAX2(_settings.change * MAX2(_costs.total(), _judged.total()), negligible() / _work);
    if (_has_judged && _costs.total() - _judged.total() > threshold) {
      forget();
      settle(HeapBudgetDecision::Measuring);
      return try_step(sample);
    }
    return settle(HeapBudgetDecision::Settled);
  }
  const size_t asked = last == HeapBudgetDecision::Grow ? _target - _size_before : _size_before - _target;
  const bool moved_so = last == HeapBudgetDecision::Grow ? sample.capacity > _size_before : sample.capacity < _size_before;
  const size_t moved = !moved_so ? 0 : last == HeapBudgetDecision::Grow ? sample.capacity - _size_before : _size_before - sample.capacity;
  if (moved < asked / 2) {
    // Whatever has changed, the step has not done it.
    rest(direction_of(last), sample.now);
    return settle(HeapBudgetDecision::NotFollowed);
  }
  const double grew = _costs.total() - _reference.total();
  const double threshold = noise(_costs, _reference);
  if (grew < -threshold) {
    if (_lost.total() < negligible()) {
      return settle(HeapBudgetDecision::Cheap);
    }
    Direction* const direction = direction_of(last);
    direction->rest = _settings.first_rest;
    direction->scale = MIN2(direction->scale * 2, 1.0);
    const double cost = last == HeapBudgetDecision::Grow ? _costs.collection : _costs.stalled;
    return step(sample, last, HeapBudgetDecision::Repeat, cost / _costs.total());
  }
  if (grew > threshold) {
    const double collection_grew = _costs.collection - _reference.collection;
    const double stalled_grew = _costs.stalled - _reference.stalled;
    const Action action = stalled_grew > collection_grew ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
    if (action == back) {
      rest(direction_of(last), sample.now);
      const size_t target = clamp(_size_before, MIN2(floor(sample), ceiling(sample)), ceiling(sample));
      if (target == sample.capacity) {
        return settle(HeapBudgetDecision::NoRoom);
      }
      _taking_back = true;
      _judged = _reference;
      _has_judged = true;
      return move_to(sample, target, HeapBudgetDecision::CostGrew);
    }
    // The step was in this direction already: the program has changed meanwhile.
    forget();
    return step(sample, action, HeapBudgetDecision::CostGrew, MIN2(MAX2(collection_grew, stalled_grew) / _costs.total(), 1.0));
  }
  // It may have been too small a step to tell: the next one in this direction is twice as large, not half.
  Direction* const direction = direction_of(last);
  const double scale = direction->scale;
  rest(direction, sample.now);
  direction->scale = MIN2(scale * 2, 1.0);
  return settle(HeapBudgetDecision::Neutral);
}

HeapBudgetDecision HeapBudgetPolicy::decide(const HeapBudgetSample& sample) {
  if (only_collections()) {
    const size_t cliff = MAX2(_cliff, sample.capacity + sample.capacity / 10);
    forget();
    _cliff = cliff;
    rest(&_shrink, sample.now);
    const size_t target = MIN2(MAX2(sample.capacity + sample.capacity / 4, _cliff), ceiling(sample));
    if (target >= sample.capacity + _settings.least_step) {
      _taking_back = false;
      return move_to(sample, target, HeapBudgetDecision::CollectionsOnly);
    }
    return settle(HeapBudgetDecision::NoRoom);
  }
  if (!_sum.stalled_known) {
    _has_reference = false;
    _state = HeapBudgetDecision::Stable;
    return hold(HeapBudgetDecision::NoSensor);
  }
  if (reads_are_slow()) {
    return hold(HeapBudgetDecision::SlowStorage);
  }
  return _state == HeapBudgetDecision::Stable ? decide_stable(sample) : decide_after_step(sample);
}

HeapBudgetDecision HeapBudgetPolicy::interval(const HeapBudgetSample& sample) {
  const uint64_t last = _last;
  _last = sample.now;
  if (_begin == 0) {
    // What was before is not known.
    _target = sample.capacity;
    restart_window(sample.now);
    return hold(HeapBudgetDecision::Measuring);
  }
  if (_state == HeapBudgetDecision::Stable) {
    // The collector may have moved by itself.
    _target = sample.capacity;
  }
  if (sample.capacity > sample.available && _target > sample.available) {
    const size_t target = MAX2(sample.available, MIN2(floor(sample), sample.capacity));
    if (target < sample.capacity) {
      forget();
      _taking_back = true;
      _has_judged = false;
      restart_window(sample.now);
      return move_to(sample, target, HeapBudgetDecision::OverLimit);
    }
  }
  if (sample.collections > 0) {
    const uint64_t concurrent = MIN2(sample.concurrent, sample.waiting);
    _one_collection = (double)(sample.pause * _settings.processors + concurrent) / sample.collections;
  }
  if (!_sensed && sample.stalled_known) {
    // A sensor begins after the program. Of a window that began before, nothing would be known.
    _sensed = true;
    if (!_sum.stalled_known) {
      restart_window(sample.now);
      return hold(HeapBudgetDecision::Measuring);
    }
  }
  const bool waits = sample.now < _wait_until;
  if (!waits && _begin < _wait_until) {
    // The transition is over.
    _wait_until = 0;
    restart_window(last);
  }
  add(sample);
  if (!window_is_full(sample)) {
    return hold(HeapBudgetDecision::Measuring);
  }
  measure(sample);
  // A transition says nothing, unless collections take more time than there is to win.
  if (waits && !only_collections() && !no_cache_can_make_up()) {
    restart_window(sample.now);
    return hold(HeapBudgetDecision::Measuring);
  }
  _wait_until = 0;
  const bool by_allocation = _sum.allocated_known && (double)_sum.allocated / (double)(sample.now - _begin) >= (_by_allocation ? 1 : 2) * LeastAllocated;
  if (by_allocation != _by_allocation) {
    // What was measured by the other cannot be compared.
    _by_allocation = by_allocation;
    _variance = 0.0;
    _has_reference = false;
    _state = HeapBudgetDecision::Stable;
    measure(sample);
  } else {
    _variance = variance();
  }
  if (_sum.read_known) {
    const double rate = (double)_sum.read_bytes * NanosPerSecond / (double)(sample.now - _begin);
    _read_rate = _read_rate == 0.0 ? rate : (_read_rate + rate) / 2;
  }
  const HeapBudgetDecision decision = decide(sample);
  restart_window(sample.now);
  return decision;
}
