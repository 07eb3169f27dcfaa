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

#include "gc/lull/policy/lullSizePolicy.hpp"
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
    _window_used(0),
    _young_left_little(false),
    _useless_collections(0),
    _now(),
    _much_has_died(false),
    _last_any_end_ns(_last_end_ns),
    _last_used(0),
    _early_freed(0),
    _last_live(0),
    _global_end_ns(_last_end_ns),
    _global_ns(0),
    _vain_globals(0) {}

LullSizeBounds LullSizePolicy::bounds() {
  return LullSizeBounds(MinHeapSize, MaxHeapSize, Atomic::load(&SoftMaxHeapSize), MinHeapFreeRatio, MaxHeapFreeRatio,
                        GCTimeRatio);
}

bool LullSizePolicy::is_little_free(size_t used, size_t max_capacity) {
  assert(used <= max_capacity, "%zu bytes of %zu are in use", used, max_capacity);
  return (max_capacity - used) * 100 < max_capacity * GCHeapFreeLimit;
}

static size_t less(size_t from, size_t what) { return from - MIN2(from, what); }

void LullSizePolicy::forget_costs(jlong now_ns) {
  _now.clear();
  start_window(now_ns);
}

// A collection that finds much dead is no evidence of what is needed from now on: the time before it belongs to what
// has died. Of the time that it took, that share is for the collections in _now.
void LullSizePolicy::record_cost(const LullSizedCollection& collection, double share, size_t died, size_t capacity) {
  assert(collection.ns() >= 0, JLONG_FORMAT " ns", collection.ns());
  _much_has_died = died > capacity / DiedShare;
  if (_much_has_died) {
    log_debug(gc, ergo)("Of a heap of %zuK, %zuK that were alive have died: what is known of costs is forgotten",
                        capacity / K, died / K);
    forget_costs(collection._end_ns);
  } else {
    _now.add(collection._end_ns - _last_any_end_ns, (jlong)(share * (double)collection.ns()),
             less(collection._used_before + _early_freed, _last_used));
  }
  _last_any_end_ns = collection._end_ns;
  _last_used = collection._used;
  _early_freed = 0;
}

// The young collections of a cycle share its global one: of that, as much as is their part of the cycle's time.
double LullSizePolicy::share_of_global(jlong end_ns) const {
  const double cycle_ns = (double)MAX2(end_ns - _global_end_ns, (jlong)1);
  return MIN2((double)(_now.time_ns() + end_ns - _last_any_end_ns) / cycle_ns, 1.0);
}

void LullSizePolicy::record_collection(const LullSizedCollection& collection, size_t capacity, size_t max_capacity) {
  assert(capacity <= max_capacity, "%zu bytes of at most %zu", capacity, max_capacity);
  assert(collection._used <= capacity, "%zu bytes of %zu are in use", collection._used, capacity);
  const size_t used = collection._used;
  const jlong end_ns = collection._end_ns;
  const double period = (double)MAX2(end_ns - _last_end_ns, (jlong)1);
  const double cost = MIN2((double)(collection.ns() + _young_ns) / period, 1.0);
  record_cost(collection, share_of_global(end_ns), less(_last_live, used), capacity);
  _last_live = used;
  _last_end_ns = end_ns;
  _global_end_ns = end_ns;
  _global_ns = collection.ns();
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

void LullSizePolicy::record_asked_for(const LullSizedCollection& collection) {
  _young_left_little = false;
  _much_has_died = false;
  _last_any_end_ns = collection._end_ns;
  _last_used = collection._used;
  _early_freed = 0;
  _last_live = collection._used;
  _global_end_ns = collection._end_ns;
  _global_ns = collection.ns();
  start_window(collection._end_ns);
}

void LullSizePolicy::start_window(jlong now_ns) {
  _window_start_ns = now_ns;
  _window_ns = 0;
  _window_collections = 0;
}

void LullSizePolicy::record_young_collection(const LullSizedCollection& collection, size_t capacity,
                                             size_t max_capacity) {
  _young_left_little = is_little_free(collection._used, max_capacity);
  _young_ns += collection.ns();
  record_cost(collection, 1.0, less(_last_used, collection._used), capacity);
  if (_window_collections++ == 0) {
    _window_used = collection._used;
  }
  _window_ns += collection.ns();
}

void LullSizePolicy::await_cycle(const LullSizedCollection& young, size_t capacity) {
  if (_window_collections >= WindowCollections && young._used <= _window_used + capacity / GrowthShare) {
    start_window(young._end_ns);
  }
}

void LullSizePolicy::record_early(const LullSizedCollection& collection, size_t max_capacity) {
  _young_left_little = is_little_free(collection._used, max_capacity);
  _young_ns += collection.ns();
  _early_freed += less(collection._used_before, collection._used);
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

bool LullSizePolicy::is_costly() const {
  return _cost.davg() > bounds().cost_target();
}

size_t LullSizePolicy::desired_capacity(size_t used, size_t capacity, GCCause::Cause cause, jlong now_ns) {
  const LullSizeBounds bounds = this->bounds();
  const size_t at_least = bounds.at_least(used);
  const size_t at_most  = bounds.at_most(used);
  const size_t stays    = bounds.may_stay(used, _now);
  // All of the way when asked by the user, or when nobody waits.
  const bool   at_once  = GCCause::is_user_requested_gc(cause) || cause == GCCause::_lull_idle;

  size_t desired = is_asked_for(cause) ? capacity : bounds.grown_for_cost(used, capacity, _now);
  if (at_once) {
    desired = MIN2(capacity, at_most);
  } else if (desired == capacity && capacity > stays && cause != GCCause::_lull_references &&
             (_much_has_died || LullSizeBounds::can_be_smaller(_now))) {
    // One for references comes while threads work on what is private, for which free blocks are kept.
    desired = half_of_the_way(capacity, stays);
  }
  desired = bounds.within(MIN2(MAX2(desired, at_least), bounds.limit(at_least)));
  if (desired > capacity) {
    forget_costs(now_ns);
  }
  const bool vain = desired <= capacity && less(capacity, desired) < capacity / GainShare;
  _vain_globals = vain ? MIN2(_vain_globals + 1, MaxVainGlobals) : 0;
  log_debug(gc, ergo)("Heap size: %zuK used of %zuK, free ratios ask for %zuK to %zuK; %.1f%% of the time in %u "
                      "collections: up to %zuK may stay; desired %zuK",
                      used / K, capacity / K, at_least / K, at_most / K, _now.share() * 100, _now.collections(),
                      stays / K, desired / K);
  return desired;
}

size_t LullSizePolicy::desired_capacity_after_young(size_t used, size_t capacity, jlong now_ns) {
  const LullSizeBounds bounds = this->bounds();
  const size_t stays = bounds.may_stay(used, _now);
  size_t desired = capacity;
  if (capacity > stays && (_much_has_died || LullSizeBounds::can_be_smaller(_now))) {
    desired = bounds.within(half_of_the_way(capacity, stays));
  }
  if (_window_collections < WindowCollections) {
    return desired;
  }
  const double cost = (double)_window_ns / (double)MAX2(now_ns - _window_start_ns, (jlong)1);
  start_window(now_ns);
  if (cost > bounds.cost_target()) {
    desired = MAX2(MIN2(LullSizeBounds::doubled_room(used, capacity), bounds.limit(used)), capacity);
  }
  if (desired > capacity) {
    forget_costs(now_ns);
  }
  log_debug(gc, ergo)("Heap size: %.1f%% of the time in the last %u young collections, %zuK used of %zuK: desired %zuK",
                      cost * 100, WindowCollections, used / K, capacity / K, desired / K);
  return desired;
}

// What a global collection could free is not known. It is in vain where collections cost so much that the heap would
// stay as it is even if nothing was alive.
bool LullSizePolicy::wants_global_to_shrink(size_t capacity, jlong now_ns) const {
  const size_t least = MAX2(MinHeapSize, bounds().may_stay(0, _now));
  return less(capacity, least) > capacity / GainShare && _global_ns > 0 && LullSizeBounds::can_be_smaller(_now) &&
         (now_ns - _global_end_ns) / (GlobalWaits << _vain_globals) > _global_ns;
}
