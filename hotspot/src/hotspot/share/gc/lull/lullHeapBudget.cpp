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

#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullHeapBudget.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/thread.hpp"
#include "services/memoryManager.hpp"

// Room for what is allocated between two collections that a heap is not to shrink below, unless the live data ask for more.
static const size_t LeastRoom = 32 * M;

volatile bool LullHeapBudget::_makes_room = false;

// As LullHeapSizer::can_shrink_by(): a size that could not be reached would be asked for again and again.
size_t LullHeapBudget::reserve(size_t live) const {
  const size_t percent = LullEvacuation ? LullEvacuationPolicy::ReservePercent : 0;   // of the heap
  return (live + MAX2(live / 4, LeastRoom)) / (100 - percent) * 100 - live + granule();
}

size_t LullHeapBudget::granule() const {
  return LullMemory::granule_size();
}

// Local collections stop nobody else.
void LullHeapBudget::pauses(jlong* ms, size_t* count) const {
  LullMonitoring* const monitoring = LullHeap::heap()->monitoring();
  *ms = monitoring->global_manager()->gc_time_ms() + monitoring->young_manager()->gc_time_ms();
  *count = monitoring->global_manager()->gc_count() + monitoring->young_manager()->gc_count();
}

void LullHeapBudget::collect(bool makes_room) {
  assert(!Thread::current()->is_VM_thread() && !Heap_lock->owned_by_self(), "the collection takes the lock");
  Atomic::store(&_makes_room, makes_room);
  LullHeap::heap()->collect(GCCause::_heap_budget);
}
