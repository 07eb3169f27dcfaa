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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETWINDOW_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETWINDOW_HPP

#include "utilities/globalDefinitions.hpp"

// What there was in an interval. Times in nanoseconds, sizes in bytes.
struct HeapBudgetSample {
  uint64_t now;             // at its end, of any clock that only goes forward
  uint64_t pause;           // mutators were stopped
  uint64_t concurrent;      // processor time of concurrent collection
  uint64_t waiting;         // mutators were ready to run without a processor, summed up
  uint64_t running;         // processor time of mutators
  uint64_t stalled;         // mutators were stalled on I/O, summed up
  uint64_t read_bytes;      // read from devices
  uint64_t allocated;       // by mutators, in bytes
  uint32_t collections;     // that ended the interval, or were in it
  bool     stalled_known;   // false: the sensor is lost, or there was none
  bool     read_known;      // false: read_bytes is not measured
  bool     allocated_known; // false: allocated is not measured
  size_t   capacity;        // of the heap, now
  size_t   live;            // in use after the last collection
  size_t   reserve;         // what the collector needs beyond: G1's eden target, Lull's copy reserve
  size_t   least;           // bounds for the capacity: -Xms
  size_t   most;            //   -Xmx
  size_t   available;       //   what the memory limit leaves for the heap: the limit without other memory and the least cache
  size_t   released;        // of other memory, what the heap has given up lately: it may be in use until it is uncommitted
};

// What was lost for each second that there was, or for each unit of work.
struct HeapBudgetCosts {
  double collection;
  double stalled;
  double error;             // standard error of the total
  double total() const { return collection + stalled; }
};

// A window: what was lost and done in successive intervals, and how well that is known. Lost are
//
//   collection = pauses * (min(active mutators, processors) + mutators that were stalled on I/O at a time)
//                + concurrent collection while mutators waited for a processor
//   I/O        = the time that mutators were stalled on I/O, summed up
//
// Work is told by what mutators allocate, as a request allocates the same whatever the heap and the cache are. Their processor time is
// what it is told by where they allocate next to nothing, or that is not known: it is noisier, and has in it what the system does for
// each read that the cache has not spared.
//
// How well costs are known is learned from how much parts of a window differ, and from the windows before.
class HeapBudgetWindow {
private:
  // What was lost, in seconds, while so much work was done, of parts of a window that are not shorter than half a second: how
  // far parts are from the window's own ratio of the two is its noise.
  struct Parts {
    uint64_t begin;           // of the part under way
    uint64_t lost_before;     // of the window, when that began
    uint64_t work_before;
    uint32_t count;
    double   seconds;
    double   lost;
    double   work;
    double   lost_lost;       // sums of products, each divided by the part's length
    double   lost_work;
    double   work_work;
  };

  uint32_t         _processors;
  uint64_t         _begin;         // 0 before the first
  uint64_t         _end;           // of the last interval in it
  HeapBudgetSample _sum;
  Parts            _parts;
  double           _variance;      // of what is lost in a second by the work of a second, relative to its square, decaying; 0 before
  double           _variance_parts; // of windows before by which that is known, ten at most
  bool             _by_allocation; // work is told by that
  double           _work;          // per second: in GB allocated, or seconds on a processor
  double           _paused;
  double           _collecting;
  HeapBudgetCosts  _lost;
  HeapBudgetCosts  _costs;

  double seconds() const;
  uint64_t work_so_far() const { return _by_allocation ? _sum.allocated : _sum.running; }
  uint64_t pause() const;
  double unpaused() const;
  double stopped_processors() const;
  double stopped() const;
  void add_part();
  double variance() const;

public:
  explicit HeapBudgetWindow(uint32_t processors);

  bool has_begun() const                { return _begin != 0; }
  uint64_t begin() const                { return _begin; }
  uint64_t length() const               { return _end - _begin; }
  const HeapBudgetSample& sum() const   { return _sum; }

  // The next one.
  void restart(uint64_t at);
  void add(const HeapBudgetSample& sample);

  // This is to be the last part of another window, from then on.
  void restart_within(const HeapBudgetWindow& whole, uint64_t at);
  // The time before its last part does not count any more. What was learned of the noise stays.
  void shorten_to(const HeapBudgetWindow& last_part);

  // So far, in nanoseconds.
  uint64_t stalled() const;
  uint64_t lost() const;

  // What the accessors below tell is of the time of the last call.
  void measure();

  // The window is over and measured: chooses how work is told from now on, and learns from the window how noisy costs are. Returns
  // false if costs of before cannot be compared with those of now.
  bool finish();

  double work() const                   { return _work; }
  double paused() const                 { return _paused; }   // share of the time
  double collecting() const             { return _collecting; } // processors that collections took from mutators that would have run
  const HeapBudgetCosts& lost_per_second() const { return _lost; }   // its error is not measured
  const HeapBudgetCosts& costs() const  { return _costs; }    // for each unit of work
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETWINDOW_HPP
