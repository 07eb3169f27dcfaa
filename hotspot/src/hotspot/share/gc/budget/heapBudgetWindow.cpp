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

#include "gc/budget/heapBudgetWindow.hpp"

#include <math.h>

static const double NanosPerSecond = 1e9;

// Mutators that run for less than this share of a processor do nothing that costs could be compared by.
static const double LeastRunning = 0.01;

// GB per second: those that allocate less are not to be compared by that.
static const double LeastAllocated = 0.002;

// Parts of a window by which its noise is told: shorter ones would have single collections in them, or none.
static const uint64_t ShortestPart = 500000000;

// What all windows before say of the noise is worth as much as that many parts of this one, or as there were.
static const double PartsBefore = 10.0;

HeapBudgetWindow::HeapBudgetWindow(uint32_t processors) :
    _processors(processors),
    _begin(0),
    _end(0),
    _sum(),
    _parts(),
    _variance(0.0),
    _variance_parts(0.0),
    _by_allocation(false),
    _work(0.0),
    _paused(0.0),
    _collecting(0.0),
    _lost(),
    _costs() {}

void HeapBudgetWindow::restart(uint64_t at) {
  _begin = at;
  _end = at;
  _sum = HeapBudgetSample();
  _sum.stalled_known = true;
  _sum.read_known = true;
  _sum.allocated_known = true;
  _parts = Parts();
  _parts.begin = at;
}

void HeapBudgetWindow::restart_within(const HeapBudgetWindow& whole, uint64_t at) {
  _by_allocation = whole._by_allocation;
  restart(at);
}

void HeapBudgetWindow::shorten_to(const HeapBudgetWindow& last_part) {
  _begin = last_part._begin;
  _end = last_part._end;
  _sum = last_part._sum;
  _parts = last_part._parts;
}

void HeapBudgetWindow::add(const HeapBudgetSample& sample) {
  _end = sample.now;
  _sum.pause           += sample.pause;
  _sum.concurrent      += MIN2(sample.concurrent, sample.waiting);
  _sum.waiting         += sample.waiting;
  _sum.running         += sample.running;
  _sum.stalled         += sample.stalled;
  _sum.read_bytes      += sample.read_bytes;
  _sum.allocated       += sample.allocated;
  _sum.collections     += sample.collections;
  _sum.stalled_known   &= sample.stalled_known;
  _sum.read_known      &= sample.read_known;
  _sum.allocated_known &= sample.allocated_known;
  add_part();
}

double HeapBudgetWindow::seconds() const {
  return (double)length() / NanosPerSecond;
}

// What counts of the stalls. Against waiting for writes, no cache helps. (If nothing runs and nothing is read, the storage hangs.)
uint64_t HeapBudgetWindow::stalled() const {
  const bool only_writes = _sum.read_known && _sum.read_bytes == 0 && (double)_sum.running > LeastRunning * (double)length();
  return only_writes ? 0 : _sum.stalled;
}

// A pause counts where it ends, and may have begun before the window.
uint64_t HeapBudgetWindow::pause() const {
  return MIN2(_sum.pause, length());
}

// By less than a tenth of the window, one cannot tell what mutators do while they run.
double HeapBudgetWindow::unpaused() const {
  return MAX3((double)(length() - pause()), (double)length() / 10, 1.0);
}

// What pauses took from mutators that would have run had they not been stopped, in nanoseconds of processors.
double HeapBudgetWindow::stopped_processors() const {
  const double active = (double)(_sum.running + _sum.waiting) / unpaused();
  return (double)pause() * MIN2(MAX2(active, 1.0), (double)_processors);
}

// What pauses took from mutators that would have run, or have waited for I/O. (Without the latter, a program that waits for its disk
// nearly all the time would seem to lose little by being stopped: but what it is stopped for, its disk does nothing.)
double HeapBudgetWindow::stopped() const {
  return stopped_processors() + (double)pause() * (double)stalled() / unpaused();
}

uint64_t HeapBudgetWindow::lost() const {
  return (uint64_t)stopped() + _sum.concurrent + stalled();
}

void HeapBudgetWindow::add_part() {
  if (_end - _parts.begin < ShortestPart) {
    return;
  }
  const double seconds = (double)(_end - _parts.begin) / NanosPerSecond;
  // What counts as lost may become less when more is known of the window.
  const uint64_t lost_now = lost();
  const double part_lost = lost_now > _parts.lost_before ? (double)(lost_now - _parts.lost_before) / NanosPerSecond : 0.0;
  const uint64_t work_now = work_so_far();
  const double part_work = (double)(work_now - _parts.work_before) / NanosPerSecond;
  _parts.begin = _end;
  _parts.lost_before = lost_now;
  _parts.work_before = work_now;
  _parts.count++;
  _parts.seconds   += seconds;
  _parts.lost      += part_lost;
  _parts.work      += part_work;
  _parts.lost_lost += part_lost * part_lost / seconds;
  _parts.lost_work += part_lost * part_work / seconds;
  _parts.work_work += part_work * part_work / seconds;
}

// Of the window and those before: the residuals of a ratio estimate.
double HeapBudgetWindow::variance() const {
  if (_parts.count < 2 || _parts.lost <= 0.0 || _parts.work <= 0.0) {
    return _variance;
  }
  const double ratio = _parts.lost / _parts.work;
  const double squares = _parts.lost_lost - 2.0 * ratio * _parts.lost_work + ratio * ratio * _parts.work_work;
  const double expected = _parts.lost / _parts.seconds;
  const double now = MAX2(squares, 0.0) / (_parts.count - 1) / (expected * expected);
  // A window is worth as much as there are parts in it.
  return (_variance * _variance_parts + now * (_parts.count - 1)) / (_variance_parts + _parts.count - 1);
}

void HeapBudgetWindow::measure() {
  const double nanos = (double)length();
  const double least = _by_allocation ? LeastAllocated : LeastRunning;
  _work = MAX2((double)work_so_far() / nanos, least);
  _paused = (double)pause() / nanos;
  _collecting = (stopped_processors() + (double)_sum.concurrent) / nanos;
  _lost.collection = (stopped() + (double)_sum.concurrent) / nanos;
  _lost.stalled = (double)stalled() / nanos;
  _costs.collection = _lost.collection / _work;
  _costs.stalled = _lost.stalled / _work;
  _costs.error = _costs.total() * sqrt(variance() / seconds());
}

bool HeapBudgetWindow::finish() {
  // Neither is left for the other at once, lest it be both in turn.
  const double least = (_by_allocation ? 1 : 2) * LeastAllocated;
  const bool by_allocation = _sum.allocated_known && (double)_sum.allocated / (double)length() >= least;
  if (by_allocation == _by_allocation) {
    _variance = variance();
    _variance_parts = MIN2(_variance_parts + MAX2(_parts.count, 1u) - 1, PartsBefore);
    return true;
  }
  _by_allocation = by_allocation;
  _variance = 0.0;
  _variance_parts = 0.0;
  measure();
  return false;
}
