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

#ifndef SHARE_GC_LULL_LULLSIZEPOLICY_HPP
#define SHARE_GC_LULL_LULLSIZEPOLICY_HPP

#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/numberSeq.hpp"

// How large the heap should be, and when a collection is no longer worth its time.
// Decides and logs; LullHeap acts.
//
//   at least   live / (1 - MinHeapFreeRatio)
//   at most    live / (1 - MaxHeapFreeRatio), but shrinks only while collections are cheap
//   more       while collections take more than 1 / (1 + GCTimeRatio) of the time; also between global collections
//   bounds     -Xms, -Xmx, SoftMaxHeapSize

class LullSizePolicy : public CHeapObj<mtGC> {
private:
  TruncatedSeq _cost;               // share of time in collections, decaying
  jlong   _last_end_ns;
  jlong   _young_ns;                // time in young collections since
  jlong   _window_start_ns;         // of the last few young collections: since when, their time, and how many
  jlong   _window_ns;
  uint    _window_collections;
  bool    _young_left_little;     // the last collection, if it was a young one
  uint    _useless_collections;   // in a row

  // So many young collections tell what they cost.
  static const uint WindowCollections = 4;

  static size_t size_for_free_ratio(size_t live, size_t free_percent);
  static bool is_little_free(size_t used, size_t max_capacity);
  static double cost_target();
  static size_t limit(size_t at_least);
  static size_t doubled_room(size_t used, size_t capacity);
  void start_window(jlong now_ns);

public:
  LullSizePolicy();

  // By somebody: System.gc(), jcmd, a heap dump or histogram, an agent; or by the control thread, which comes early.
  static bool is_asked_for(GCCause::Cause cause) {
    return GCCause::is_user_requested_gc(cause) || GCCause::is_serviceability_requested_gc(cause) ||
           cause == GCCause::_lull_idle || cause == GCCause::_lull_references;
  }

  // A collection has ended, and left that many bytes in use.
  void record_collection(jlong start_ns, jlong end_ns, size_t used, size_t capacity, size_t max_capacity);

  // The same of one that somebody has asked for: its time is the program's own, and says nothing of
  // whether the heap is large enough.
  void record_asked_for(jlong end_ns);

  // The same of a young collection: its time counts with the next global collection.
  void record_young_collection(jlong start_ns, jlong end_ns, size_t used, size_t max_capacity);

  // The capacity, in bytes, that the heap should have now.
  size_t desired_capacity(size_t used, size_t capacity, GCCause::Cause cause) const;

  // What free ratios and -Xms ask for at least.
  static size_t least_capacity(size_t used);

  // The same after a young collection: what is used then is not all alive, so the heap only grows, while
  // young collections themselves take more than their share.
  size_t desired_capacity_after_young(size_t used, size_t capacity, jlong now_ns);

  // Do collections take more than their share of the time?
  bool is_costly() const { return _cost.davg() > cost_target(); }

  // Did the last collection take nearly all time and free nearly nothing?
  bool was_useless() const { return _useless_collections > 0; }

  // Did the last collection, a young one, leave less free than the overhead limit asks for? Only a global one counts for the limit.
  bool young_left_little() const;

  // Is the next collection the last one before allocations fail?
  bool is_near_overhead_limit() const;

  // Should an allocation fail although a little memory is left (UseGCOverheadLimit)?
  bool overhead_limit_exceeded() const;
};

#endif // SHARE_GC_LULL_LULLSIZEPOLICY_HPP
