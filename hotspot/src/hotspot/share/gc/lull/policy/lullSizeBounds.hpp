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

#ifndef SHARE_GC_LULL_POLICY_LULLSIZEBOUNDS_HPP
#define SHARE_GC_LULL_POLICY_LULLSIZEBOUNDS_HPP

#include "gc/lull/policy/lullCollectionCost.hpp"
#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// How large a heap should be in which so much is alive, by what its user has set. No more than arithmetic:
// LullSizePolicy knows what happens, and when.
class LullSizeBounds {
private:
  // Collections that tell what the heap of now costs.
  static const uint EnoughCollections = 4;
  // And that it may be smaller.
  static const uint SomeCollections = 2;

  // A good part of the heap, and far below the maximum: shares of them.
  static const size_t MuchOfHeap = 32;
  static const size_t FarBelow = 2;

  const size_t _min;
  const size_t _max;
  const size_t _soft_max;
  const size_t _min_free_percent;
  const size_t _max_free_percent;
  const size_t _time_ratio;

  size_t for_free_percent(size_t live, size_t percent) const {
    if (percent >= 100) {
      return _max;
    }
    return (size_t)MIN2((double)live * 100.0 / (double)(100 - percent), (double)_max);
  }

  // Collections may cost half of their share: a heap that has shrunk is not to grow at once.
  size_t room_for(const LullCollectionCost& cost) const {
    return (size_t)MIN2(2 * cost.needed_room(_time_ratio), (double)_max);
  }

public:
  // -Xms, -Xmx, SoftMaxHeapSize (0: none), MinHeapFreeRatio, MaxHeapFreeRatio, GCTimeRatio.
  LullSizeBounds(size_t min, size_t max, size_t soft_max, size_t min_free_percent, size_t max_free_percent,
                 size_t time_ratio)
    : _min(min),
      _max(max),
      _soft_max(soft_max == 0 ? max : MIN2(soft_max, max)),
      _min_free_percent(min_free_percent),
      _max_free_percent(max_free_percent),
      _time_ratio(time_ratio) {
    assert(min <= max, "a heap of %zu to %zu bytes", min, max);
  }

  // What the free ratios ask for, and what they allow.
  size_t at_least(size_t live) const { return for_free_percent(live, _min_free_percent); }
  size_t at_most(size_t live) const  { return MAX2(for_free_percent(live, _max_free_percent), at_least(live)); }

  // The share of time that collections may take.
  double cost_target() const { return 1.0 / (1.0 + (double)_time_ratio); }

  // By -Xmx and SoftMaxHeapSize, which yields to what is alive.
  size_t limit(size_t at_least) const { return MAX2(_soft_max, MIN2(at_least, _max)); }

  // Twice the free memory halves the number of collections.
  static size_t doubled_room(size_t used, size_t capacity) {
    assert(used <= capacity, "%zu bytes of %zu are in use", used, capacity);
    return capacity + MAX2(capacity - used, capacity / 5);
  }

  // What may stay of a heap: what the free ratios allow, or more, where collections would cost too much else.
  size_t may_stay(size_t live, const LullCollectionCost& cost) const {
    return MAX2(at_most(live), (size_t)MIN2((double)live + (double)room_for(cost), (double)_max));
  }

  // Is that much known of what a heap of this size costs, or of a smaller one?
  static bool is_known(const LullCollectionCost& cost)       { return cost.collections() >= EnoughCollections; }
  static bool can_be_smaller(const LullCollectionCost& cost) { return cost.collections() >= SomeCollections; }

  // The heap after a collection that has found so much alive, in which all that is known of costs was seen. At once
  // no more than the free ratios allow: beyond that only where enough collections have cost too much.
  size_t grown_for_cost(size_t live, size_t capacity, const LullCollectionCost& cost) const {
    if (cost.share() <= cost_target()) {
      return capacity;
    }
    const size_t doubled = doubled_room(live, capacity);
    return is_known(cost) ? doubled : MAX2(capacity, MIN2(doubled, at_most(live)));
  }

  // What the heap should be when nothing is to be kept for later: so much is alive, and so much was allocated lately,
  // with the collections that it has cost. For a collection that nobody waits for.
  size_t right_size(size_t live, const LullCollectionCost& lately) const {
    const size_t asked = at_least(live);
    const size_t wanted = MAX2(asked, (size_t)MIN2((double)live + (double)room_for(lately), (double)_max));
    return within(MIN2(wanted, limit(asked)));
  }

  size_t within(size_t desired) const { return clamp(desired, _min, _max); }

  // Should a heap grow for a large object of so many bytes before all of it is collected? The object is a good part of the
  // heap, which is far below its maximum with it: a program that starts. What has grown too far shrinks after the next
  // global collection.
  static bool grows_first(size_t bytes, size_t capacity, size_t max) {
    return bytes >= capacity / MuchOfHeap && capacity + bytes <= max / FarBelow;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLSIZEBOUNDS_HPP
