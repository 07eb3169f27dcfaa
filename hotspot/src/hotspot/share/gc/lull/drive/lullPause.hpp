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

#ifndef SHARE_GC_LULL_DRIVE_LULLPAUSE_HPP
#define SHARE_GC_LULL_DRIVE_LULLPAUSE_HPP

#include "memory/allocation.hpp"
#include "runtime/atomic.hpp"
#include "utilities/globalDefinitions.hpp"

struct LullComponents;
struct LullEvacuationRequest;
struct LullPauseKind;

// What an early collection is about.
enum class LullExtent {
  Young,
  Cycle,     // young, and a cycle of concurrent marking begins with it, if none runs
  Global,
  Slide      // global, and all that may move slides together
};

// A pause, from its begin to its end. All threads are stopped; the VM thread does this. There are three kinds: global,
// young, and the remark, a young one that ends a cycle of concurrent marking. Each takes these steps:
//
//    1  who looks on is told that it begins: agents, beans, counters, events, the log
//    2  what must hold before a collection is verified
//    3  the shortest hole for mutators is chosen; TLABs are retired
//    4  mutators' holes are forgotten; whoever is to keep private objects keeps their blocks (LullMutator)
//    5  LullCollector marks, copies, sweeps; a remark ends the cycle
//    6  mutators get back what is free of their blocks; after a global one the supply is built anew
//    7  dead classes are purged, after a global one or a remark
//    8  the heap gets its size; the policies learn what this one has cost
//    9  the next young pause is planned; tracking is suspended or resumed
//   10  a cycle begins, if one is due
//   11  what must hold after a collection is verified
//   12  who looks on is told that it ends
//
// Steps 3 to 8 are those that differ.
class LullPause : public CHeapObj<mtGC> {
private:
  const LullComponents* const _components;
  volatile uint               _requested_collections;   // global ones that were not routine; written at safepoints

  size_t used() const;
  bool may_keep_private() const;
  bool is_for_threads_at_work() const;
  bool is_routine(const LullEvacuationRequest& request, bool clear_soft_references) const;
  void choose_min_hole_lines(bool routine);
  void retire_tlabs();
  void set_workers();
  void verify_before(bool by_flag);
  void verify_after(bool by_flag);
  void begin_tracing(const LullPauseKind& kind);
  void end_tracing(const LullPauseKind& kind);
  void record(const LullPauseKind& kind, jlong start, jlong end, size_t used_before);
  void correct_freed();
  void end_period();
  void record_young(jlong start, jlong end, size_t used_before);
  void record_remark(GCCause::Cause cause, jlong start, jlong end, size_t used_before);
  void purge_classes();
  void end(const LullPauseKind& kind, bool verifies, jlong ns);
  LullPauseKind young_kind(const char* title, bool ends_cycle) const;
  template <typename Collect> void pause(const LullPauseKind& kind, Collect collect);
  template <typename Collect, typename Record>
  void pause_for_young(const LullPauseKind& kind, Collect collect, Record record);

public:
  explicit LullPause(const LullComponents* components) : _components(components), _requested_collections(0) {}

  // A global collection.
  void collect(const LullEvacuationRequest& request, bool clear_soft_references);

  // A young one; the remark, if a cycle of concurrent marking waits for it. Private objects stay private, if they may
  // and are to.
  void collect_young();
  void remark();

  // Before memory is lacking.
  void collect_early(LullExtent extent);

  // By name, or by HotSpot: a global one, unless the cause says young. To make room means that whole granules are free
  // after it.
  void collect_as_asked(bool makes_room, bool clear_soft_references);
  bool must_clear_soft_references() const;

  // Any thread may ask.
  uint requested_collections() const { return Atomic::load(&_requested_collections); }
};

#endif // SHARE_GC_LULL_DRIVE_LULLPAUSE_HPP
