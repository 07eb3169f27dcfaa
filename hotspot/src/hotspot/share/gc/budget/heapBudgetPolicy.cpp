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

static const double NanosPerSecond = 1e9;

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
    longest_follow(10000000000),
    shortest_wait(1000000000),
    longest_wait(60000000000),
    first_rest(30000000000),
    longest_rest(1800000000000),
    lost_samples(3),
    undecided_steps(2),
    least_step(8 * 1024 * 1024) {}

HeapBudgetPolicy::HeapBudgetPolicy(const HeapBudgetSettings& settings) :
    _settings(settings),
    _state(HeapBudgetDecision::Stable),
    _window(settings.processors),
    _recent(settings.processors),
    _last(0),
    _wait_until(0),
    _wait(0),
    _follow_until(0),
    _one_collection(0.0),
    _reference(),
    _has_reference(false),
    _judged(),
    _has_judged(false),
    _taking_back(false),
    _changed(0),
    _unknown(0),
    _undecided(0),
    _slow(0),
    _size_before(0),
    _step_from(0),
    _target(0),
    _cliff(0),
    _sensed(false),
    _read_rate(0.0),
    _ns_per_byte(0.0),
    _helped(HeapBudgetDecision::Hold),
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

// Live data, what the collector needs, and a tenth on top.
size_t HeapBudgetPolicy::needed(const HeapBudgetSample& sample) {
  return MIN2(MAX2(sample.live + MAX2(sample.reserve, sample.live / 10), sample.least), sample.most);
}

// The same above where collections once took all the time.
size_t HeapBudgetPolicy::floor(const HeapBudgetSample& sample) const {
  return MIN2(MAX2(needed(sample), _cliff), sample.most);
}

double HeapBudgetPolicy::negligible() const {
  return _settings.negligible * _settings.processors;
}

double HeapBudgetPolicy::negligible_by_work(const HeapBudgetWindow& window) const {
  return negligible() / window.work();
}

// What a cost must have changed by since then, to be another program's.
double HeapBudgetPolicy::change(const HeapBudgetWindow& window, const Costs& before) const {
  return MAX2(_settings.change * MAX2(window.costs().total(), before.total()), negligible_by_work(window));
}

// What two measurements of the same may differ by.
double HeapBudgetPolicy::noise(const Costs& a, const Costs& b) const {
  const double errors = 2.0 * sqrt(a.error * a.error + b.error * b.error);
  return MAX3(_settings.difference * MAX2(a.total(), b.total()), negligible_by_work(_window) / 4, errors);
}

bool HeapBudgetPolicy::window_is_full(const HeapBudgetSample& sample) {
  const uint64_t length = _window.length();
  if (length < _settings.window) {
    return false;
  }
  if (_window.sum().collections < _settings.window_collections && length < _settings.longest_window) {
    // Where they are rare, a window may have one more or less by chance. Is that within the noise of what is lost?
    // Before there was any, as if each byte that lives took a nanosecond.
    const double one = _one_collection > 0.0 ? _one_collection : (double)sample.live * _settings.processors;
    if (one > _settings.noise * (double)_window.lost()) {
      return false;
    }
  }
  if (_state == HeapBudgetDecision::Stable || !_has_reference || length >= _settings.longest_judgement) {
    return true;
  }
  _window.measure();
  return only_collections() || stands_out();
}

// Of a window after a step: is it clear whether that has changed anything that matters?
bool HeapBudgetPolicy::stands_out() const {
  const double error = 2.0 * sqrt(costs().error * costs().error + _reference.error * _reference.error);
  const double matters = _settings.precision * MAX2(costs().total(), _reference.total());
  // How well the time before the step is known, no longer window changes.
  const bool is_known_better = 2.0 * costs().error <= _reference.error;
  return is_known_better || error <= matters || fabs(costs().total() - _reference.total()) > error;
}

// An emergency. (By the processors that they take: with many threads that wait for a disk, short pauses lose much.)
bool HeapBudgetPolicy::only_collections(const HeapBudgetWindow& window) const {
  return window.paused() > _settings.collections_only || window.collecting() > _settings.collections_only * _settings.processors;
}

// Of a window after a step: both costs have changed by much, and against what a step of its direction can do. The program is another one.
bool HeapBudgetPolicy::contradicts_step(const HeapBudgetWindow& window) const {
  if (_state == HeapBudgetDecision::Stable || !_has_reference || !window.sum().stalled_known) {
    return false;
  }
  const double collection_grew = window.costs().collection - _reference.collection;
  const double stalled_grew = window.costs().stalled - _reference.stalled;
  const double threshold = change(window, _reference);
  return _state == HeapBudgetDecision::WaitGrow ? collection_grew > threshold && -stalled_grew > threshold
                                                : stalled_grew > threshold && -collection_grew > threshold;
}

// A window after a step may be long, and while it is measured the program may become another one. It is not waited for until that is as long
// as what was before. (Seen: 13 s of 684 collections each, in a window of 20 s.)
bool HeapBudgetPolicy::cut_window(const HeapBudgetSample& sample) {
  if (_recent.length() < _settings.window) {
    return false;
  }
  _recent.measure();
  const bool cut = _recent.length() < _window.length() && (only_collections(_recent) || contradicts_step(_recent));
  if (cut) {
    _window.shorten_to(_recent);
  }
  _recent.restart_within(_window, sample.now);
  return cut;
}

// Of the last step: by half at least?
bool HeapBudgetPolicy::has_followed(const HeapBudgetSample& sample) const {
  const bool grown = _target > _step_from;
  const size_t asked = grown ? _target - _step_from : _step_from - _target;
  const bool moved_so = grown ? sample.capacity > _step_from : sample.capacity < _step_from;
  const size_t moved = !moved_so ? 0 : grown ? sample.capacity - _step_from : _step_from - sample.capacity;
  return moved >= asked / 2;
}

// Of a window while the page cache fills.
bool HeapBudgetPolicy::no_cache_can_make_up() const {
  return _state == HeapBudgetDecision::WaitShrink && _has_reference &&
         costs().collection - _reference.total() > MAX2(noise(costs(), _reference), negligible_by_work(_window));
}

// More cache makes reads fewer, not faster: stalls that last much longer for each byte, or that read nothing, are the storage's.
bool HeapBudgetPolicy::reads_are_slow() {
  if (!_window.sum().read_known || lost().stalled < negligible()) {
    _slow = 0;
    return false;
  }
  if (_window.sum().read_bytes == 0) {
    return true;
  }
  const double ns_per_byte = (double)_window.sum().stalled / (double)_window.sum().read_bytes;
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
  _helped = HeapBudgetDecision::Hold;
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
  decision.collection = lost().collection;
  decision.stalled = lost().stalled;
  decision.wait = 0;
  return decision;
}

// The size is as it should be: from here on, changes are the program's.
HeapBudgetDecision HeapBudgetPolicy::settle(Reason reason) {
  _state = HeapBudgetDecision::Stable;
  _reference = costs();
  _has_reference = true;
  _taking_back = false;
  _changed = 0;
  return hold(reason);
}

HeapBudgetDecision HeapBudgetPolicy::move_to(const HeapBudgetSample& sample, size_t target, Reason reason, bool with_last) {
  const bool grow = target > sample.capacity;
  _target = target;
  _step_from = sample.capacity;
  if (with_last) {
    // What was before the last step stays what is compared with.
    _undecided++;
  } else {
    _undecided = 0;
    _size_before = sample.capacity;
    if (_state != HeapBudgetDecision::Stable || !_has_reference) {
      // Else it is the mean of several windows.
      _reference = costs();
      _has_reference = true;
    }
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
  _wait = bounded;
  _follow_until = sample.now + _settings.longest_follow;
  HeapBudgetDecision decision = hold(reason);
  decision.action = grow ? HeapBudgetDecision::Grow : HeapBudgetDecision::Shrink;
  decision.wait = bounded;
  return decision;
}

HeapBudgetDecision HeapBudgetPolicy::step(const HeapBudgetSample& sample, Action action, Reason reason, double demand, bool with_last) {
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
  return move_to(sample, grow ? sample.capacity + bytes : sample.capacity - bytes, reason, with_last);
}

// The program is another one: what it costs now is what steps are judged by.
HeapBudgetDecision HeapBudgetPolicy::begin_anew(const HeapBudgetSample& sample) {
  forget();
  settle(HeapBudgetDecision::Measuring);
  return try_step(sample);
}

// Against the larger cost; if that cannot be, against the smaller.
HeapBudgetDecision HeapBudgetPolicy::try_step(const HeapBudgetSample& sample) {
  if (lost().total() < negligible()) {
    return hold(HeapBudgetDecision::Cheap);
  }
  const bool stalls_first = costs().stalled > costs().collection;
  for (int i = 0; i < 2; i++) {
    const Action action = (i == 0) == stalls_first ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
    const double cost = action == HeapBudgetDecision::Shrink ? lost().stalled : lost().collection;
    const size_t budget_bound = action == HeapBudgetDecision::Shrink ? floor(sample) : ceiling(sample);
    const bool room = action == HeapBudgetDecision::Shrink ? sample.capacity >= budget_bound + _settings.least_step
                                                           : sample.capacity + _settings.least_step <= budget_bound;
    if (room && cost >= negligible() && sample.now >= direction_of(action)->rest_until) {
      return step(sample, action, HeapBudgetDecision::Try, cost / lost().total());
    }
  }
  return hold(HeapBudgetDecision::Settled);
}

HeapBudgetDecision HeapBudgetPolicy::decide_stable(const HeapBudgetSample& sample) {
  if (!_has_reference) {
    // The beginning; or the sensor is back after a time of which nothing is known.
    return begin_anew(sample);
  }
  const double collection_grew = costs().collection - _reference.collection;
  const double stalled_grew = costs().stalled - _reference.stalled;
  const double threshold = change(_window, _reference);
  if (fabs(collection_grew) > threshold || fabs(stalled_grew) > threshold) {
    // Once may be chance; but not if the program reads no more, and collections cost much.
    const bool is_unmistakable = -stalled_grew > 3 * threshold && lost().collection >= 5 * negligible();
    if (++_changed < 2 && !is_unmistakable) {
      return hold(HeapBudgetDecision::Measuring);
    }
    const double grew = MAX2(collection_grew, stalled_grew);
    if (grew <= threshold) {
      return begin_anew(sample);
    }
    forget();
    const Action action = stalled_grew > collection_grew ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
    _reference = costs();
    return step(sample, action, HeapBudgetDecision::CostGrew, MIN2(grew / costs().total(), 1.0));
  }
  _changed = 0;
  // Slow drift is followed.
  _reference.collection = (_reference.collection * 7 + costs().collection) / 8;
  _reference.stalled    = (_reference.stalled * 7 + costs().stalled) / 8;
  _reference.error      = sqrt(_reference.error * _reference.error * 49 + costs().error * costs().error) / 8;
  return try_step(sample);
}

HeapBudgetDecision HeapBudgetPolicy::decide_after_step(const HeapBudgetSample& sample) {
  const Action last = _state == HeapBudgetDecision::WaitGrow ? HeapBudgetDecision::Grow : HeapBudgetDecision::Shrink;
  const Action back = last == HeapBudgetDecision::Grow ? HeapBudgetDecision::Shrink : HeapBudgetDecision::Grow;
  if (_taking_back) {
    // This size has been judged before. If it costs much more than then, the program is another one.
    const double threshold = change(_window, _judged);
    if (_has_judged && costs().total() - _judged.total() > threshold) {
      return begin_anew(sample);
    }
    return settle(HeapBudgetDecision::Settled);
  }
  if (contradicts_step(_window)) {
    return begin_anew(sample);
  }
  if (!has_followed(sample)) {
    // Whatever has changed, the step has not done it.
    rest(direction_of(last), sample.now);
    return settle(HeapBudgetDecision::NotFollowed);
  }
  const double grew = costs().total() - _reference.total();
  const double threshold = noise(costs(), _reference);
  if (grew < -threshold) {
    if (lost().total() < negligible()) {
      return settle(HeapBudgetDecision::Cheap);
    }
    Direction* const direction = direction_of(last);
    if (_helped != back) {
      direction->rest = _settings.first_rest;
      direction->scale = MIN2(direction->scale * 2, 1.0);
    }
    // Else the way back has helped before, and what is told apart here is weather: the size that both lead to is as good as can be known.
    _helped = last;
    const double cost = last == HeapBudgetDecision::Grow ? costs().collection : costs().stalled;
    return step(sample, last, HeapBudgetDecision::Repeat, cost / costs().total());
  }
  if (grew > threshold) {
    const double collection_grew = costs().collection - _reference.collection;
    const double stalled_grew = costs().stalled - _reference.stalled;
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
    // The step was in this direction already, so it has not done that. If it is much, the program has changed meanwhile.
    const double most = MAX2(collection_grew, stalled_grew);
    if (most > change(_window, _reference)) {
      forget();
      return step(sample, action, HeapBudgetDecision::CostGrew, MIN2(most / costs().total(), 1.0));
    }
  }
  Direction* const direction = direction_of(last);
  const bool has_rested = direction->rest != _settings.first_rest;
  if (grew < -threshold / 2 && !has_rested && _undecided < _settings.undecided_steps && lost().total() >= negligible()) {
    // It probably helped. One more, and both are judged by what was before them.
    const double cost = last == HeapBudgetDecision::Grow ? costs().collection : costs().stalled;
    return step(sample, last, HeapBudgetDecision::Repeat, cost / costs().total(), true /* with_last */);
  }
  // It may have been too small a step to tell: the next one in this direction is of a share twice as large, not half.
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
  if (!_window.sum().stalled_known) {
    _has_reference = false;
    _state = HeapBudgetDecision::Stable;
    return hold(HeapBudgetDecision::NoSensor);
  }
  if (reads_are_slow()) {
    return hold(HeapBudgetDecision::SlowStorage);
  }
  return _state == HeapBudgetDecision::Stable ? decide_stable(sample) : decide_after_step(sample);
}

// Is the heap above what it may take, and where should it go then? However much time collections then take: a program
// that is above its limit is killed.
bool HeapBudgetPolicy::is_over_limit(const HeapBudgetSample& sample, size_t* target) const {
  // What is uncommitted soon is not to be asked for twice; but nothing can be put there before it is.
  const size_t available = sample.available + sample.released;
  if (sample.capacity <= available || _target <= available) {
    return false;
  }
  *target = MAX2(available, MIN2(needed(sample), sample.capacity));
  // Less than a step is what the heap's granules leave; and what is under way need not be asked for again.
  const size_t least = MAX2(_settings.least_step, sample.capacity / 256);
  const bool is_under_way = _state == HeapBudgetDecision::WaitShrink && _taking_back && *target + least > _target;
  return *target + least <= sample.capacity && !is_under_way;
}

// Has the sensor just begun, or is it late? Then nothing is known of the window so far.
bool HeapBudgetPolicy::has_sensor_changed(const HeapBudgetSample& sample) {
  if (!_sensed && sample.stalled_known) {
    // A sensor begins after the program. Of a window that began before, nothing would be known.
    _sensed = true;
    if (!_window.sum().stalled_known) {
      return true;
    }
  }
  _unknown = sample.stalled_known ? 0 : _unknown + 1;
  // Late, perhaps, as others are while collections have all processors.
  return _sensed && _unknown > 0 && _unknown < _settings.lost_samples;
}

// Does the heap still go to where it was sent? A window that began before the end of that begins anew.
bool HeapBudgetPolicy::is_in_transition(const HeapBudgetSample& sample, uint64_t last) {
  if (_wait_until != 0 && sample.now < _follow_until && !has_followed(sample)) {
    _wait_until = sample.now + _wait;
  }
  const bool waits = sample.now < _wait_until;
  if (!waits && _window.begin() < _wait_until) {
    // The transition is over.
    _wait_until = 0;
    _window.restart(last);
  }
  return waits;
}

HeapBudgetDecision HeapBudgetPolicy::interval(const HeapBudgetSample& sample) {
  const uint64_t last = _last;
  _last = sample.now;
  if (!_window.has_begun()) {
    // What was before is not known.
    _target = sample.capacity;
    _window.restart(sample.now);
    return hold(HeapBudgetDecision::Measuring);
  }
  if (_state == HeapBudgetDecision::Stable) {
    // The collector may have moved by itself.
    _target = sample.capacity;
  }
  size_t target;
  if (is_over_limit(sample, &target)) {
    forget();
    _taking_back = true;
    _has_judged = false;
    _window.restart(sample.now);
    return move_to(sample, target, HeapBudgetDecision::OverLimit);
  }
  if (sample.collections > 0) {
    const uint64_t concurrent = MIN2(sample.concurrent, sample.waiting);
    _one_collection = (double)(sample.pause * _settings.processors + concurrent) / sample.collections;
  }
  if (has_sensor_changed(sample)) {
    _window.restart(sample.now);
    return hold(HeapBudgetDecision::Measuring);
  }
  const bool waits = is_in_transition(sample, last);
  if (_recent.begin() < _window.begin()) {
    _recent.restart_within(_window, _window.begin());
  }
  _window.add(sample);
  _recent.add(sample);
  if (!cut_window(sample) && !window_is_full(sample)) {
    return hold(HeapBudgetDecision::Measuring);
  }
  _window.measure();
  // A transition says nothing, unless collections take more time than there is to win.
  if (waits && !only_collections() && !no_cache_can_make_up()) {
    _window.restart(sample.now);
    return hold(HeapBudgetDecision::Measuring);
  }
  _wait_until = 0;
  if (!_window.finish()) {
    _has_reference = false;
    _state = HeapBudgetDecision::Stable;
  }
  if (_window.sum().read_known) {
    const double rate = (double)_window.sum().read_bytes * NanosPerSecond / (double)_window.length();
    _read_rate = _read_rate == 0.0 ? rate : (_read_rate + rate) / 2;
  }
  const HeapBudgetDecision decision = decide(sample);
  _window.restart(sample.now);
  return decision;
}
