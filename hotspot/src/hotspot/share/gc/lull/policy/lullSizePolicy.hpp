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

#ifndef SHARE_GC_LULL_POLICY_LULLSIZEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLSIZEPOLICY_HPP

#include "gc/lull/policy/lullCollectionCost.hpp"
#include "gc/lull/policy/lullSizeBounds.hpp"
#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/numberSeq.hpp"

// How large the heap should be, and when a collection is no longer worth its time.
// Decides and logs; LullHeap acts. The arithmetic is LullSizeBounds'.
//
//   at least   live / (1 - MinHeapFreeRatio)
//   at most    live / (1 - MaxHeapFreeRatio), or what collections need to stay cheap; shrinks half of the way at a time
//   more       while collections take more than 1 / (1 + GCTimeRatio) of the time, some of them in a heap of this size
//   bounds     -Xms, -Xmx, SoftMaxHeapSize
//
// When much of what was alive has died all that was known of costs was of another program: it is forgotten. The
// collection that finds that out makes the heap smaller, never larger.
//
// After a young collection what is in use is not all alive, but the free ratios allow more for it than for less: the
// heap may shrink then, too, by little at a time. Young collections do not find old garbage, and a heap that it has
// made large would stay so: where memory could be given back a global collection comes after some time, of which it
// takes a hundredth; each time in vain, half as often.
//
// Written at safepoints.

// When a collection was, and how many bytes were in use before it and after.
struct LullSizedCollection {
  jlong  _start_ns;
  jlong  _end_ns;
  size_t _used_before;
  size_t _used;

  jlong ns() const { return _end_ns - _start_ns; }
};

class LullSizePolicy : public CHeapObj<mtGC> {
private:
  TruncatedSeq _cost;               // share of time in collections, decaying
  jlong   _last_end_ns;             // of the last global one that nobody has asked for
  jlong   _young_ns;                // time in young collections since, early ones among them
  jlong   _window_start_ns;         // of the last few young collections: since when, their time, and how many
  jlong   _window_ns;
  uint    _window_collections;
  size_t  _window_used;             // after the first of them
  bool    _young_left_little;     // the last collection, if it was a young one
  uint    _useless_collections;   // in a row

  LullCollectionCost _now;        // of the last collections, since the heap has grown or much has died
  bool    _much_has_died;         // as the last collection has found
  jlong   _last_any_end_ns;       // of the last collection of any kind
  size_t  _last_used;             // what that left
  size_t  _early_freed;           // by early ones since
  size_t  _last_live;             // what the last global one left
  jlong   _global_end_ns;         // of any global one, and how long it took
  jlong   _global_ns;
  uint    _vain_globals;          // in a row, after which the heap could not become smaller

  // So many young collections tell what they cost.
  static const uint WindowCollections = 4;

  // Of the heap's capacity: so much less alive is another program.
  static const size_t DiedShare = 4;

  // A global collection in order to shrink comes after so many times as long as the last one took; later after vain
  // ones.
  static const jlong GlobalWaits = 100;
  static const uint MaxVainGlobals = 6;

  // Less than that share of the heap is not worth one.
  static const size_t GainShare = 8;

  // Use that has grown by less has not grown.
  static const size_t GrowthShare = 64;

  static LullSizeBounds bounds();
  static bool is_little_free(size_t used, size_t max_capacity);
  static size_t half_of_the_way(size_t from, size_t to) {
    assert(to <= from, "it shrinks from %zu to %zu bytes", from, to);
    return from - (from - to) / 2;
  }
  void start_window(jlong now_ns);
  void forget_costs(jlong now_ns);
  void record_cost(const LullSizedCollection& collection, double share, size_t died, size_t capacity);
  double share_of_global(jlong end_ns) const;

public:
  LullSizePolicy();

  // By somebody: System.gc(), jcmd, a heap dump or histogram, an agent; or by the control thread, which comes early.
  static bool is_asked_for(GCCause::Cause cause) {
    return GCCause::is_user_requested_gc(cause) || GCCause::is_serviceability_requested_gc(cause) ||
           cause == GCCause::_lull_idle || cause == GCCause::_lull_references;
  }

  // A global collection has ended.
  void record_collection(const LullSizedCollection& collection, size_t capacity, size_t max_capacity);

  // The same of one that somebody has asked for: its time is the program's own, and says nothing of
  // whether the heap is large enough.
  void record_asked_for(const LullSizedCollection& collection);

  // The same of a young collection: its time counts with the next global collection.
  void record_young_collection(const LullSizedCollection& collection, size_t capacity, size_t max_capacity);

  // The same of one that came early, for the pause goal. A larger heap would have no fewer of them: so their time
  // counts for the share that collections take, and for the overhead limit, but is no reason for more room. What they
  // have freed mutators have consumed.
  void record_early(const LullSizedCollection& collection, size_t max_capacity);

  // A cycle of concurrent marking runs, which will tell what is alive. Where use does not grow meanwhile, young
  // collections cost so much because old garbage fills the heap: that is no reason for a larger one.
  void await_cycle(const LullSizedCollection& young, size_t capacity);

  // The capacity, in bytes, that the heap should have now.
  size_t desired_capacity(size_t used, size_t capacity, GCCause::Cause cause, jlong now_ns);

  // What -Xmx and SoftMaxHeapSize allow, whatever is alive.
  static size_t most_capacity() { return bounds().limit(0); }

  // What free ratios and -Xms ask for at least.
  static size_t least_capacity(size_t used) { return bounds().within(bounds().at_least(used)); }

  // The same after a young collection: it grows while young collections themselves take more than their share.
  size_t desired_capacity_after_young(size_t used, size_t capacity, jlong now_ns);

  // The same of a heap that nobody waits for, after a collection of whatever kind: see LullSizeBounds::right_size().
  size_t right_size(size_t live) const { return bounds().right_size(live, _now); }

  // Should the next collection for lack of memory be a global one, so that the heap can become smaller?
  bool wants_global_to_shrink(size_t capacity, jlong now_ns) const;

  // Do collections take more than their share of the time?
  bool is_costly() const;

  // Did the last collection take nearly all time and free nearly nothing?
  bool was_useless() const { return _useless_collections > 0; }

  // Did the last collection, a young one, leave less free than the overhead limit asks for? Only a global one counts for the limit.
  bool young_left_little() const;

  // Is the next collection the last one before allocations fail?
  bool is_near_overhead_limit() const;

  // Should an allocation fail although a little memory is left (UseGCOverheadLimit)?
  bool overhead_limit_exceeded() const;
};

#endif // SHARE_GC_LULL_POLICY_LULLSIZEPOLICY_HPP
