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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETPOLICY_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETPOLICY_HPP

#include "gc/budget/heapBudgetWindow.hpp"
#include "utilities/globalDefinitions.hpp"

// How much of a service's memory should be heap, and how much page cache: by the processor time that mutators lose to
// collections, and that they lose waiting for I/O. Decides only; who has a heap acts. The idea is FlexHeap's.
//
// Time is cut into intervals, which a collection ends, or a timer when there is none. Intervals make up a window, which has several
// collections, or is so long, or has lost so much to I/O, that one more or less makes no difference.
//
// Whether that is much is judged by what was lost in a second. Whether it is more than before is judged by what was lost for each
// unit of work: threads that wait for a disk nearly all the time lose as much in a second when they have become twice as fast.
//
//   Stable      the size is what it should be, as far as is known. Once in a while a step is tried, where there is enough to win
//   WaitGrow    the heap has grown: the effect is waited for, then measured
//   WaitShrink  the heap has shrunk: the page cache is waited for until it may have filled what it got, then measured
//
// A step that made the total smaller is repeated. If the total has become larger, the cost that grew most is acted upon, which
// takes back a step that was wrong, and follows a program that has changed. What changed less than the noise is no change. A
// direction that did not help is not tried again for a while that doubles each time, until the program changes, or until it helps; but not if
// the other one has helped before, for both cannot.
//
// This class is used inside the VM, and by a controller outside: it knows neither clocks nor heaps, and includes no more than
// HotSpot's basic types.

struct HeapBudgetDecision {
  enum Action { Hold, Grow, Shrink };
  enum State { Stable, WaitGrow, WaitShrink };
  enum Reason {
    Measuring,        // the window is not full, or the effect is waited for
    Cheap,            // neither costs enough to be worth a step
    Settled,          // there is nothing to try now
    Try,              // a step is tried, against the larger cost
    Repeat,           // the last step helped: one more
    CostGrew,         // the total has grown: against what grew
    NotFollowed,      // the heap did not go where it should
    Neutral,          // the last step changed nothing that can be measured
    NoRoom,           // the step is right, but there is no room for it
    OverLimit,        // the heap is larger than what the memory limit leaves
    CollectionsOnly,  // collections take most of the time: room at once
    NoSensor,         // nothing is known of I/O
    SlowStorage       // reads take much longer than before: no sign that more cache would help
  };

  Action   action;
  State    state;       // after the decision
  Reason   reason;
  size_t   target;      // the capacity that the heap should have
  double   collection;  // processors that collections took from mutators, in the last window
  double   stalled;     // mutators stalled on I/O at a time, in the last window
  uint64_t wait;        // nanoseconds until the effect of a step can be there

  static const char* name(Action action);
  static const char* name(State state);
  static const char* name(Reason reason);
};

// Defaults are right for services; tests change them. Shares are of 1.
struct HeapBudgetSettings {
  uint32_t processors;            // of the machine or its container
  uint64_t window;                // a window is at least that long: 2 s
  uint64_t longest_window;        // and not longer while it waits for collections: 10 s
  uint64_t longest_judgement;     // nor, after a step, while its effect does not stand out from the noise: 20 s
  uint32_t window_collections;    // that a window should have: 4
  double   noise;                 // what one collection more or less may make in a window, as a share of what is lost: 0.05
  double   difference;            // a smaller change of the total, as a share, is none, however well it is known: 0.015
  double   precision;             // a window after a step need not be known better than to this share: 0.03
  double   negligible;            // lost per second and processor, in seconds, that is not worth a step: 0.02
  double   change;                // a cost that changed by more than this share of the total is another program's: 0.3
  double   collections_only;      // time in pauses, or of processors that collections take, that is an emergency, as a share: 0.5
  uint64_t longest_follow;        // until the heap has followed a step at least by half, from when on its effect is waited for: 10 s
  uint64_t shortest_wait;         // for the effect of a step: 1 s
  uint64_t longest_wait;          // 60 s
  uint64_t first_rest;            // a direction that did not help is left alone for so long at first: 30 s
  uint64_t longest_rest;          // and at last: 30 min
  uint32_t lost_samples;          // intervals in a row after which a sensor that says nothing is lost: 3
  uint32_t undecided_steps;       // in a row, each of which has probably helped, are judged together: 2
  size_t   least_step;            // smaller steps are not made: 8 MB

  explicit HeapBudgetSettings(uint32_t processors);
};

class HeapBudgetPolicy {
private:
  typedef HeapBudgetDecision::Action Action;
  typedef HeapBudgetDecision::State  State;
  typedef HeapBudgetDecision::Reason Reason;

  typedef HeapBudgetCosts            Costs;

  // A direction that did not help rests; each time for longer. If it was wrong, its next step is smaller; if nothing could be told,
  // larger.
  struct Direction {
    uint64_t rest_until;
    uint64_t rest;
    double   scale;
  };

  HeapBudgetSettings _settings;
  State     _state;
  HeapBudgetWindow _window;
  HeapBudgetWindow _recent;      // the last part of the window, of two seconds at most: what has just begun shows here first
  uint64_t  _last;               // end of the last interval
  uint64_t  _wait_until;         // a transition lasts until then; 0 when it is over
  uint64_t  _wait;               // its length, once the heap has followed the step
  uint64_t  _follow_until;       // from then on the heap is not waited for
  double    _one_collection;     // what each took from mutators at most in the last interval that had any, in nanoseconds; 0 before
  Costs     _reference;          // before the last step, or since the state is Stable
  bool      _has_reference;
  Costs     _judged;             // at the size to which the last step led back, when it was left
  bool      _has_judged;
  bool      _taking_back;        // the last step led back to a size that was better
  uint32_t  _changed;            // windows in a row that differed from the reference
  uint32_t  _unknown;            // intervals in a row of which stalls are not known
  uint32_t  _undecided;          // steps before the last one that are judged together with it
  uint32_t  _slow;               // windows in a row with slow reads
  size_t    _size_before;        // what is compared with: before the last step, and those that are judged together with it
  size_t    _step_from;          // before the last step
  size_t    _target;
  size_t    _cliff;              // collections took all time at this capacity
  bool      _sensed;             // stalls have been known once
  double    _read_rate;          // bytes per second, decaying
  double    _ns_per_byte;        // stalled per byte read, decaying; 0 before there was any
  Action    _helped;             // the last step that did; Hold: none since the program is what it is
  Direction _grow;
  Direction _shrink;

  static size_t ceiling(const HeapBudgetSample& sample);
  static size_t needed(const HeapBudgetSample& sample);
  size_t floor(const HeapBudgetSample& sample) const;
  const Costs& lost() const  { return _window.lost_per_second(); }
  const Costs& costs() const { return _window.costs(); }
  double noise(const Costs& a, const Costs& b) const;
  double negligible() const;           // lost per second
  double negligible_by_work(const HeapBudgetWindow& window) const;   // lost for each unit of work
  double change(const HeapBudgetWindow& window, const Costs& before) const;

  bool is_over_limit(const HeapBudgetSample& sample, size_t* target) const;
  bool has_sensor_changed(const HeapBudgetSample& sample);
  bool is_in_transition(const HeapBudgetSample& sample, uint64_t last);
  bool window_is_full(const HeapBudgetSample& sample);
  bool stands_out() const;
  bool only_collections(const HeapBudgetWindow& window) const;
  bool only_collections() const { return only_collections(_window); }
  bool contradicts_step(const HeapBudgetWindow& window) const;
  bool cut_window(const HeapBudgetSample& sample);
  bool has_followed(const HeapBudgetSample& sample) const;
  bool no_cache_can_make_up() const;
  bool reads_are_slow();
  void forget();
  void rest(Direction* direction, uint64_t now);
  Direction* direction_of(Action action) { return action == HeapBudgetDecision::Grow ? &_grow : &_shrink; }

  HeapBudgetDecision decide(const HeapBudgetSample& sample);
  HeapBudgetDecision decide_stable(const HeapBudgetSample& sample);
  HeapBudgetDecision decide_after_step(const HeapBudgetSample& sample);
  HeapBudgetDecision begin_anew(const HeapBudgetSample& sample);
  HeapBudgetDecision try_step(const HeapBudgetSample& sample);
  // A step that is judged with the last one has the same reference as that.
  HeapBudgetDecision step(const HeapBudgetSample& sample, Action action, Reason reason, double demand, bool with_last = false);
  HeapBudgetDecision move_to(const HeapBudgetSample& sample, size_t target, Reason reason, bool with_last = false);
  HeapBudgetDecision hold(Reason reason) const;
  HeapBudgetDecision settle(Reason reason);

public:
  explicit HeapBudgetPolicy(const HeapBudgetSettings& settings);

  // An interval has ended. The decision's target is for the heap to follow at once, as far as it can; what it did is in the next
  // sample's capacity.
  HeapBudgetDecision interval(const HeapBudgetSample& sample);

  // The share of what there is to give that a step takes, from how one-sided the costs are (0 to 1): in proportion, but for the
  // extremes.
  static double step_share(double demand);
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETPOLICY_HPP
