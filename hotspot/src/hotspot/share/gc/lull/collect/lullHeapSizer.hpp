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

#ifndef SHARE_GC_LULL_COLLECT_LULLHEAPSIZER_HPP
#define SHARE_GC_LULL_COLLECT_LULLHEAPSIZER_HPP

#include "gc/lull/policy/lullSizePolicy.hpp"
#include "gc/lull/policy/lullUseLimit.hpp"
#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"

class LullBlockSupply;
class LullBlockTable;
class LullEvacuationPolicy;
class LullMemory;
class WorkerThreads;

// Gives the heap the size that the policy or the heap budget asks for, granule by granule, and sets the copy
// reserve apart from what mutators get. Runs at start-up and at safepoints.

class LullHeapSizer : public CHeapObj<mtGC> {
private:
  // Between what is committed and what is not. Each is one of the system's areas of memory more for the heap, and for each of its tables:
  // with more than the 65,530 that Linux gives a process by default the VM could commit nothing any more, and would end.
  static const int MaxEdges = 6000;

  // Granules that a young collection gives back at most: a millisecond or two of its pause.
  static const size_t MostAfterYoung = 16;

  LullMemory* const           _memory;
  LullBlockTable* const       _blocks;
  LullBlockSupply* const      _supply;
  LullEvacuationPolicy* const _evacuation_policy;
  WorkerThreads* const        _pretouch_workers;
  LullSizePolicy              _policy;
  LullUseLimit                _use_limit;

  size_t expand(size_t bytes);
  void pretouch(size_t first, size_t count);
  size_t can_shrink_by(size_t live) const;
  int edges_by_uncommit(size_t granule) const;
  size_t shrink(size_t bytes);
  bool is_free(size_t granule) const;
  bool shrink_and_rebuild(size_t bytes, size_t live);
  void resize_after_young(jlong now_ns);
  void set_use_limit();
  void log_resized(size_t before) const;

public:
  LullHeapSizer(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply,
                LullEvacuationPolicy* evacuation_policy, WorkerThreads* pretouch_workers);

  // What -Xms asks for; false if the system does not have it.
  bool commit_initial();

  // After a collection.
  void record_collection(GCCause::Cause cause, const LullSizedCollection& collection);
  void resize(GCCause::Cause cause, jlong now_ns);

  // After a young collection: records it, and may resize. Does a cycle of concurrent marking run?
  void record_young_collection(const LullSizedCollection& collection, bool cycle_runs);

  // After one that came early, for the pause goal: the heap stays as large as it is.
  void record_early(const LullSizedCollection& collection);

  // Without a collection: what is free now goes back to the system, so many bytes at most. At a safepoint.
  void give_back(size_t bytes);

  // After the supply was rebuilt; these do it, too.
  void update_reserve();

  // An object of so many words does not fit the largest heap, whatever is collected.
  bool is_too_large(size_t words) const;

  // While a cycle of concurrent marking goes on, in the place of a global collection.
  bool may_expand_for_cycle() const;

  // Should the heap grow for this object before all of it is collected? See LullSizeBounds.
  bool grows_first(size_t words) const;
  void expand_for_cycle();

  // Grows for an object of that many words that did not fit; false if the heap could not.
  bool expand_for(size_t words);

  // See LullUseLimit: may an object of so many words be allocated, as far as that goes? And after it was, at the end
  // of a collection.
  bool is_within_use_limit(size_t words) const;
  void record_allocation_at_safepoint();

  // Of itself, when it needs less.
  bool may_shrink() const;

  // Should the next collection for lack of memory be a global one, whatever a young one would cost?
  bool wants_global(jlong now_ns) const;

  // See LullSizePolicy.
  bool is_costly() const               { return _policy.is_costly(); }
  bool was_useless() const             { return _policy.was_useless(); }
  bool is_near_overhead_limit() const  { return _policy.is_near_overhead_limit(); }
  bool overhead_limit_exceeded() const { return _policy.overhead_limit_exceeded(); }
};

#endif // SHARE_GC_LULL_COLLECT_LULLHEAPSIZER_HPP
