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

#include "gc/lull/lullSizePolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/globals.hpp"
#include "runtime/os.hpp"

LullSizePolicy::LullSizePolicy()
  : _cost(),
    _last_end_ns(os::javaTimeNanos()),
    _young_ns(0),
    _window_start_ns(_last_end_ns),
    _window_ns(0),
    _window_collections(0),
    _young_left_little(false),
    _useless_collections(0) {}

bool LullSizePolicy::is_little_free(size_t used, size_t max_capacity) {
  return (max_capacity - used) * 100 < max_capacity * GCHeapFreeLimit;
}

void LullSizePolicy::record_collection(jlong start_ns, jlong end_ns, size_t used, size_t capacity, size_t max_capacity) {
  const double period = (double)MAX2(end_ns - _last_end_ns, (jlong)1);
  const double cost = MIN2((double)(end_ns - start_ns + _young_ns) / period, 1.0);
  _last_end_ns = end_ns;
  _young_ns = 0;
  _young_left_little = false;
  start_window(end_ns);
  _cost.add(cost);

  // Almost all time in collections, almost no memory freed, and no room to grow.
  const bool useless = _cost.davg() * 100 >= GCTimeLimit &&
                       is_little_free(used, max_capacity) && capacity == max_capacity;
  _useless_collections = useless ? _useless_collections + 1 : 0;
  log_debug(gc, ergo)("Time in collections: %.1f%% of the last period, %.1f%% on average; useless collections in a row: %u",
                      cost * 100, _cost.davg() * 100, _useless_collections);
}

void LullSizePolicy::record_asked_for(jlong end_ns) {
  _young_left_little = false;
  start_window(end_ns);
}

void LullSizePolicy::start_window(jlong now_ns) {
  _window_start_ns = now_ns;
  _window_ns = 0;
  _window_collections = 0;
}

void LullSizePolicy::record_young_collection(jlong start_ns, jlong end_ns, size_t used, size_t max_capacity) {
  _young_left_little = is_little_free(used, max_capacity);
  _young_ns += end_ns - start_ns;
  _window_ns += end_ns - start_ns;
  _window_collections++;
}

bool LullSizePolicy::young_left_little() const {
  return UseGCOverheadLimit && _young_left_little;
}

bool LullSizePolicy::is_near_overhead_limit() const {
  return UseGCOverheadLimit && _useless_collections + 1 >= GCOverheadLimitThreshold;
}

bool LullSizePolicy::overhead_limit_exceeded() const {
  return UseGCOverheadLimit && _useless_collections >= GCOverheadLimitThreshold;
}

size_t LullSizePolicy::size_for_free_ratio(size_t live, size_t free_percent) {
  if (free_percent >= 100) {
    return MaxHeapSize;
  }
  return (size_t)MIN2((double)live * 100.0 / (double)(100 - free_percent), (double)MaxHeapSize);
}

// The share of time that collections may take.
double LullSizePolicy::cost_target() {
  return 1.0 / (1.0 + GCTimeRatio);
}

size_t LullSizePolicy::limit(size_t at_least) {
  const size_t soft_max = Atomic::load(&SoftMaxHeapSize);
  return soft_max == 0 ? MaxHeapSize : MAX2(MIN2(soft_max, MaxHeapSize), MIN2(at_least, MaxHeapSize));
}

// Twice the free memory halves the number of collections.
size_t LullSizePolicy::doubled_room(size_t used, size_t capacity) {
  return capacity + MAX2(capacity - used, capacity / 5);
}

size_t LullSizePolicy::desired_capacity(size_t used, size_t capacity, GCCause::Cause cause) const {
  const size_t at_least = size_for_free_ratio(used, MinHeapFreeRatio);
  const size_t at_most  = MAX2(size_for_free_ratio(used, MaxHeapFreeRatio), at_least);
  const bool   cheap = _cost.davg() < cost_target() / 2;
  const bool   costly = is_costly();
  const bool   at_once = GCCause::is_user_requested_gc(cause) || cause == GCCause::_lull_idle;

  size_t desired = capacity;
  if (costly && !is_asked_for(cause)) {
    desired = doubled_room(used, capacity);
  } else if (capacity > at_most && (cheap || at_once) && cause != GCCause::_lull_references) {
    // One for references comes while threads work on what is private, for which free blocks are kept.
    // Half of the way at a time, all of it when asked by the user, or when nobody waits.
    desired = at_once ? at_most : capacity - (capacity - at_most) / 2;
  }
  desired = MAX2(desired, at_least);

  desired = MIN2(desired, limit(at_least));
  desired = clamp(desired, MinHeapSize, MaxHeapSize);
  log_debug(gc, ergo)("Heap size: %zuK used of %zuK, free ratios ask for %zuK to %zuK, collections are %s: desired %zuK",
                      used / K, capacity / K, at_least / K, at_most / K,
                      costly ? "costly" : cheap ? "cheap" : "affordable", desired / K);
  return desired;
}

size_t LullSizePolicy::least_capacity(size_t used) {
  return clamp(size_for_free_ratio(used, MinHeapFreeRatio), MinHeapSize, MaxHeapSize);
}

size_t LullSizePolicy::desired_capacity_after_young(size_t used, size_t capacity, jlong now_ns) {
  if (_window_collections < WindowCollections) {
    return capacity;
  }
  const double cost = (double)_window_ns / (double)MAX2(now_ns - _window_start_ns, (jlong)1);
  start_window(now_ns);
  size_t desired = capacity;
  if (cost > cost_target()) {
    desired = MAX2(MIN2(doubled_room(used, capacity), limit(used)), capacity);
  }
  log_debug(gc, ergo)("Heap size: %.1f%% of the time in the last %u young collections, %zuK used of %zuK: desired %zuK",
                      cost * 100, WindowCollections, used / K, capacity / K, desired / K);
  return desired;
}
