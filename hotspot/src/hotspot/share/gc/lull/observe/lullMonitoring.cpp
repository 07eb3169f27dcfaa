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

#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullHeapCounters.hpp"
#include "gc/lull/observe/lullHeapParts.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/stat/lullLocalCounters.hpp"
#include "gc/lull/stat/lullLocalLog.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/lull/stat/lullPublicationCounters.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/collectorCounters.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/metaspaceCounters.hpp"
#include "runtime/atomic.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/perfData.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/task.hpp"
#include "services/memoryService.hpp"

LullNewPool::LullNewPool(const LullMonitoring* monitoring)
  : CollectedMemoryPool("Lull Eden Space", 0, MemoryUsage::undefined_size(),
                        false /* usage threshold */),
    _monitoring(monitoring) {}

size_t LullNewPool::used_in_bytes() {
  return _monitoring->heap_parts().new_used();
}

MemoryUsage LullNewPool::get_memory_usage() {
  const LullHeapParts parts = _monitoring->heap_parts();
  return MemoryUsage(initial_size(), parts.new_used(), parts.new_committed(), max_size());
}

LullOldPool::LullOldPool(const LullMonitoring* monitoring, size_t capacity, size_t max_capacity)
  : CollectedMemoryPool("Lull tenured Old Gen", capacity, max_capacity, true /* usage threshold */),
    _monitoring(monitoring) {}

size_t LullOldPool::used_in_bytes() {
  return _monitoring->heap_parts().old_used();
}

MemoryUsage LullOldPool::get_memory_usage() {
  const LullHeapParts parts = _monitoring->heap_parts();
  return MemoryUsage(initial_size(), parts.old_used(), parts.old_committed(), max_size());
}

jlong LullLocalMemoryManager::gc_time_ms() {
  return LullLocalCollector::total()._cpu_time / NANOSECS_PER_MILLISEC;
}

size_t LullLocalMemoryManager::gc_count() {
  return LullLocalCollector::total()._collections;
}

LullMonitoring::LullMonitoring(const CollectedHeap* heap)
  : _heap(heap),
    _global_manager("Lull Global"),
    _young_manager("Lull Young"),
    _local_manager(),
    _new_pool(nullptr),
    _old_pool(nullptr),
    _young_collector_counters(new CollectorCounters("Lull young collections", 0)),
    _collector_counters(new CollectorCounters("Lull global collections", 1)),
    _heap_counters(UsePerfData ? new LullHeapCounters(LullHeapParts(0, 0, heap->capacity())) : nullptr),
    _heap_counters_lock(Mutex::nosafepoint, "LullHeapCounters_lock"),
    _publication_counters(LullTracking && UsePerfData ? new LullPublicationCounters() : nullptr),
    _pause_progress(new LullPauseProgress()),
    _global_pauses(),
    _young_pauses(),
    _left(0) {
  if (LullLocalCollections) {
    LullLocalLog::initialize();
  }
  if (LullLocalCollections && UsePerfData) {
    LullLocalCounters::initialize();
  }
}

GrowableArray<GCMemoryManager*> LullMonitoring::memory_managers() {
  GrowableArray<GCMemoryManager*> managers(3);
  managers.append(&_global_manager);
  if (LullYoungCollections) {
    managers.append(&_young_manager);
  }
  if (LullLocalCollections) {
    managers.append(&_local_manager);
  }
  return managers;
}

GrowableArray<MemoryPool*> LullMonitoring::memory_pools() const {
  assert(_new_pool != nullptr && _old_pool != nullptr, "pools are asked for when they are there");
  GrowableArray<MemoryPool*> pools(2);
  pools.append(_new_pool);
  pools.append(_old_pool);
  return pools;
}

class LullSampleHeapCounters : public PeriodicTask {
private:
  LullMonitoring* const _monitoring;

public:
  explicit LullSampleHeapCounters(LullMonitoring* monitoring) : PeriodicTask(MILLIUNITS), _monitoring(monitoring) {}

  void task() override { _monitoring->sample_heap_counters(); }
};

void LullMonitoring::initialize_serviceability() {
  assert(_new_pool == nullptr && _old_pool == nullptr, "once");
  _new_pool = new LullNewPool(this);
  _old_pool = new LullOldPool(this, _heap->capacity(), _heap->max_capacity());
  _global_manager.add_pool(_new_pool);
  _global_manager.add_pool(_old_pool);
  if (LullYoungCollections) {
    _young_manager.add_pool(_new_pool);
    _young_manager.add_pool(_old_pool);
  }
  if (LullLocalCollections) {
    _local_manager.add_pool(_new_pool);
  }
  if (_heap_counters != nullptr) {
    (new LullSampleHeapCounters(this))->enroll();
  }
}

// What is in use is read first: it may only have fallen by then to less than what was left.
LullHeapParts LullMonitoring::heap_parts() const {
  const size_t used = _heap->used();
  return LullHeapParts(used, Atomic::load(&_left), _heap->capacity());
}

void LullMonitoring::record_left() {
  assert_at_safepoint();
  Atomic::store(&_left, _heap->used());
}

void LullMonitoring::lower_left() {
  const size_t used = _heap->used();
  size_t left = Atomic::load(&_left);
  while (used < left) {
    const size_t seen = Atomic::cmpxchg(&_left, left, used, memory_order_relaxed);
    if (seen == left) {
      break;
    }
    left = seen;
  }
}

void LullMonitoring::update_heap_counters() {
  assert(_heap_counters_lock.owned_by_self(), "one thread at a time");
  _heap_counters->update(heap_parts());
  MetaspaceCounters::update_performance_counters();
}

// While a pause runs, what is in use is half-way between two states. If it begins or ends just now, it brings the
// counters up to date itself, after this.
void LullMonitoring::sample_heap_counters() {
  MutexLocker ml(&_heap_counters_lock, Mutex::_no_safepoint_check_flag);
  if (!_heap->is_stw_gc_active() && PerfDataManager::has_PerfData()) {
    update_heap_counters();
  }
}

void LullMonitoring::update_counters() {
  assert_at_safepoint();
  MemoryService::track_memory_usage();
  if (_heap_counters != nullptr) {
    MutexLocker ml(&_heap_counters_lock, Mutex::_no_safepoint_check_flag);
    update_heap_counters();
  }
}

void LullMonitoring::update_publication_counters(const LullPublicationStatistics& total) {
  if (_publication_counters != nullptr) {
    _publication_counters->update(total);
  }
}
