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

#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullInfoDCmd.hpp"
#include "gc/lull/lullLocalCollector.hpp"
#include "gc/lull/lullLocalCounters.hpp"
#include "gc/lull/lullLocalLog.hpp"
#include "gc/lull/lullMonitoring.hpp"
#include "gc/lull/lullPauseProgress.hpp"
#include "gc/lull/lullPublicationCounters.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/generationCounters.hpp"
#include "gc/shared/hSpaceCounters.hpp"
#include "memory/metaspaceCounters.hpp"
#include "runtime/perfData.hpp"
#include "services/memoryService.hpp"

LullMemoryPool::LullMemoryPool(LullHeap* heap)
  : CollectedMemoryPool("Lull Old Gen", heap->capacity(), heap->max_capacity(), true /* usage threshold */),
    _heap(heap) {}

size_t LullMemoryPool::committed_in_bytes()   { return _heap->capacity(); }
size_t LullMemoryPool::used_in_bytes()        { return _heap->used(); }
size_t LullMemoryPool::max_size() const       { return _heap->max_capacity(); }

MemoryUsage LullMemoryPool::get_memory_usage() {
  // Used is read first: a heap that grows in between must not show more used than committed.
  const size_t used = used_in_bytes();
  const size_t committed = MAX2(committed_in_bytes(), used);
  return MemoryUsage(initial_size(), used, committed, max_size());
}

jlong LullLocalMemoryManager::gc_time_ms() {
  return LullLocalCollector::total()._time / NANOSECS_PER_MILLISEC;
}

size_t LullLocalMemoryManager::gc_count() {
  return LullLocalCollector::total()._collections;
}

LullMonitoring::LullMonitoring(LullHeap* heap)
  : _heap(heap),
    _global_manager("Lull Global"),
    _young_manager("Lull Young"),
    _local_manager(),
    _pool(nullptr),
    _young_collector_counters(new CollectorCounters("Lull young collections", 0)),
    _collector_counters(new CollectorCounters("Lull global collections", 1)),
    _young_counters(new GenerationCounters("young", 0, 0, 0, 0, 0)),
    _heap_counters(new GenerationCounters("old", 1, 1, MinHeapSize, heap->max_capacity(), heap->capacity())),
    _space_counters(new HSpaceCounters(_heap_counters->name_space(), "old", 0, heap->max_capacity(), heap->capacity())),
    _publication_counters(LullTracking && UsePerfData ? new LullPublicationCounters() : nullptr),
    _pause_progress(new LullPauseProgress()),
    _global_pauses(),
    _young_pauses() {
  if (LullLocalCollections) {
    LullLocalLog::initialize();
  }
  if (LullLocalCollections && UsePerfData) {
    LullLocalCounters::initialize();
  }
}

void LullMonitoring::initialize_serviceability() {
  _pool = new LullMemoryPool(_heap);
  _global_manager.add_pool(_pool);
  if (LullYoungCollections) {
    _young_manager.add_pool(_pool);
  }
  if (LullLocalCollections) {
    _local_manager.add_pool(_pool);
  }
  LullInfoDCmd::register_command();
}

void LullMonitoring::update_counters() {
  MemoryService::track_memory_usage();
  if (UsePerfData) {
    _heap_counters->update_all(_heap->capacity());
    _space_counters->update_all(_heap->capacity(), _heap->used());
    MetaspaceCounters::update_performance_counters();
  }
}

void LullMonitoring::update_publication_counters(const LullPublicationStatistics& total) {
  if (_publication_counters != nullptr) {
    _publication_counters->update(total);
  }
}
