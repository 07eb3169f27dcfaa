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

#ifndef SHARE_GC_LULL_POLICY_LULLTRACKINGPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLTRACKINGPOLICY_HPP

#include "utilities/globalDefinitions.hpp"

// Does it pay to know which objects are private, for all threads together? Where requests publish much,
// publication, small holes and barriers cost more than local collections save. How much more depends on the size
// of the heap. So the cost is measured, not modelled: what an allocated byte costs, in pauses and in processor
// time of the threads that allocate, with tracking and while it is suspended.
//
//   Tracking    as long as there is no reason to doubt it: local collections free many bytes for each published
//               one, and threads are in private mode. Where no pause comes for memory there is none: a trial could
//               only bring pauses
//   Trial       alternates windows with tracking and without; the first and the last are of the current mode. A
//               window of the other mode is compared with the two around it, so a program that becomes faster or
//               slower meanwhile favours neither. The trial ends when the mean difference stands out from the
//               spread, or after enough comparisons: then tracking goes on, with which there are fewer pauses. If an
//               earlier trial has decided the same, the first comparison that confirms it ends the trial, which
//               costs one window
//   Suspended   the cheaper mode by the last trial. The next trial comes twice as late each time that the result
//               is the same, and soon if a byte becomes much more expensive
//
// The caller gives time, bytes and processor time; nothing is asked of the VM. Written at safepoints.
class LullTrackingPolicy {
public:
  // Between the ends of two collections.
  struct Interval {
    jlong  _end;                // nanoseconds of any clock
    jlong  _mutators;           // processor time of threads, nanoseconds
    jlong  _collection;         // the pause, times the processors that it has kept from them
    size_t _allocated;          // bytes, by these threads
    size_t _allocated_public;   // of these, by threads in public mode
    size_t _published;          // bytes, by stores
    size_t _freed;              // bytes, by local collections
    bool   _by_references;      // the pause at its end came for references alone: memory was not lacking
  };

  enum class State { Tracking, Trial, Suspended };

private:
  // A window has as many nanoseconds and bytes at least, so that requests of all kinds are in it.
  static const jlong  WindowTime  = 2 * NANOSECS_PER_SEC;
  static const size_t WindowBytes = 16 * M;

  // Fewer bytes freed by local collections for each byte published raise doubt. Where hardly anything is published, as
  // in services that private collection is made for, it is hundreds.
  static const size_t FreedPerPublished = 16;

  // In so many windows in a row: a service that starts publishes what it will keep.
  static const uint DoubtfulWindows = 3;

  // Comparisons in a trial.
  static const uint FewestComparisons = 3;
  static const uint MostComparisons   = 8;

  // The mean is that many of its standard errors from 0.
  static const int StandardErrors = 2;

  // A byte costs that much more in two windows in a row: the program is another one, or has less to do.
  static constexpr double OtherProgram = 1.3;

  // From a decision to a trial for that reason: where it is the load that changes all the time, one window in so many is lost.
  static const jlong ShortestWait = 10 * WindowTime;

  // Of a window, in the average of those before.
  static constexpr double NewWeight = 0.2;

  static const jlong FirstWait = 60 * (jlong)NANOSECS_PER_SEC;
  static const jlong MostWait  = 32 * FirstWait;

  State    _state;
  bool     _wants_suspension;       // until the end of the next collection
  Interval _window;                 // sums; _end: when it began
  bool     _window_begun;
  uint     _doubtful_windows;       // in a row
  bool     _tries_tracking;         // the windows of this trial between two others are with tracking
  double   _cost_before;            // of the last window as it was before this trial, ns for each byte; 0: none
  double   _cost_tried;             // of the window of the other kind after it; 0: none
  double   _sum;                    // of the logarithms of comparisons, cost without tracking to that with it
  double   _sum_of_squares;
  uint     _comparisons;
  double   _decided_cost;           // of windows since the last decision, a decaying average; 0: none
  uint     _costly_windows;         // in a row
  jlong    _wait;                   // from the last decision to _next_trial
  jlong    _next_trial;
  double   _last_ratio;             // what the last trial has found: cost without tracking to that with it; 0: none yet
  bool     _suspends;               // what it has decided

  void begin_window(jlong now);
  void add(const Interval& interval);
  bool is_window_complete(jlong now) const;
  bool is_doubtful() const;
  static double cost(const Interval& window);
  bool is_as_decided(double logarithm) const;
  void begin_trial(double cost);
  void continue_trial(double cost, jlong now);
  void decide(bool suspends, jlong now);
  void look_at_decision(double cost, jlong now);

public:
  LullTrackingPolicy();

  // A collection has ended. The interval is as its mode was; changes of wants_suspension() take effect at the next
  // collection's end, as objects can change sides only there.
  void record(const Interval& interval, bool is_suspended);

  // Should tracking be suspended from the end of the next collection on?
  bool wants_suspension() const { return _wants_suspension; }

  // Are _mutators and _collection of use? They cost a system call for each thread.
  bool wants_costs() const { return _state != State::Tracking; }

  State state() const { return _state; }
  static const char* to_string(State state);

  // Cost for each byte without tracking to that with it, as the last trial has found; 0: there was none.
  double last_ratio() const { return _last_ratio; }
};

#endif // SHARE_GC_LULL_POLICY_LULLTRACKINGPOLICY_HPP
