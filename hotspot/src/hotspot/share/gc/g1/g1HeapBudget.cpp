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

#include "gc/g1/g1CollectedHeap.inline.hpp"
#include "gc/g1/g1ConcurrentMark.inline.hpp"
#include "gc/g1/g1ConcurrentMarkThread.inline.hpp"
#include "gc/g1/g1HeapBudget.hpp"
#include "gc/g1/g1Policy.hpp"
#include "gc/g1/g1VMOperations.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/vmThread.hpp"
#include "services/memoryManager.hpp"
#include "utilities/growableArray.hpp"

// Eden that a heap is not to shrink below, unless the live data ask for more.
static const size_t LeastEden = 32 * M;

// Eden, and what may be copied out of it. For the pause goal alone G1 wants as eden most of what there is, however much that is:
// so no more than a quarter of the live data is granted. Where that is too little, collections cost more, and the policy sees it.
size_t G1HeapBudget::reserve(size_t live) const {
  const G1CollectedHeap* const heap = G1CollectedHeap::heap();
  const uint desired = heap->policy()->young_list_desired_length();
  const uint survivors = heap->survivor_regions_count();
  const size_t wanted = (size_t)(desired - MIN2(survivors, desired)) * G1HeapRegion::GrainBytes;
  return MIN2(wanted, MAX2(live / 4, LeastEden)) + live / 100 * G1ReservePercent;
}

void G1HeapBudget::pauses(jlong* ms, size_t* count) const {
  *ms = 0;
  *count = 0;
  GrowableArray<GCMemoryManager*> managers = G1CollectedHeap::heap()->memory_managers();
  for (int i = 0; i < managers.length(); i++) {
    *ms += managers.at(i)->gc_time_ms();
    *count += managers.at(i)->gc_count();
  }
}

size_t G1HeapBudget::granule() const {
  return G1HeapRegion::GrainBytes;
}

// A concurrent cycle, which begins with a young collection; nothing if there is one. It finds free regions; there is no more to do.
void G1HeapBudget::collect(bool makes_room) {
  G1CollectedHeap* const heap = G1CollectedHeap::heap();
  uint collections;
  {
    MutexLocker ml(Heap_lock);
    collections = heap->total_collections();
  }
  VM_G1TryInitiateConcMark op(collections, GCCause::_heap_budget);
  VMThread::execute(&op);
}

// Of what is unused, the part that stays: mutators have been promised their eden until the next young collection.
size_t G1HeapBudget::kept_bytes(const G1CollectedHeap* heap, bool after_young_collection) {
  if (after_young_collection) {
    return 0;
  }
  const uint promised = heap->policy()->young_list_target_length();
  const uint taken = heap->young_regions_count();
  return (size_t)(promised - MIN2(taken, promised)) * G1HeapRegion::GrainBytes;
}

bool G1HeapBudget::resize(G1CollectedHeap* heap, bool after_young_collection) {
  if (!UseHeapBudget) {
    return false;
  }
  const size_t capacity = heap->capacity();
  const size_t eden = (size_t)heap->eden_regions_count() * G1HeapRegion::GrainBytes;
  const size_t unused = (size_t)heap->num_free_regions() * G1HeapRegion::GrainBytes;
  // In a concurrent cycle Remark makes the heap smaller: at other times the mark bitmap of a free region may be in use, which goes with it.
  const bool can_shrink = !(after_young_collection && heap->concurrent_mark()->cm_thread()->in_progress());
  size_t desired;
  if (!HeapBudget::desired_capacity(capacity - MIN2(unused + eden, capacity), capacity, can_shrink, &desired)) {
    return false;
  }
  if (desired > capacity) {
    heap->expand(desired - capacity, heap->workers());
  } else if (desired < capacity && can_shrink) {
    const size_t kept = kept_bytes(heap, after_young_collection);
    const size_t bytes = MIN2(capacity - desired, unused - MIN2(kept, unused));
    if (bytes >= G1HeapRegion::GrainBytes) {
      heap->shrink(bytes);
      heap->uncommit_regions_if_necessary();
    }
  }
  return true;
}
