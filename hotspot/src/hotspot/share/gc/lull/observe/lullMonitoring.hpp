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

#ifndef SHARE_GC_LULL_OBSERVE_LULLMONITORING_HPP
#define SHARE_GC_LULL_OBSERVE_LULLMONITORING_HPP

#include "gc/shared/collectorCounters.hpp"
#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"
#include "oops/oopHandle.hpp"
#include "runtime/mutex.hpp"
#include "services/memoryManager.hpp"
#include "services/memoryPool.hpp"
#include "services/memoryUsage.hpp"
#include "utilities/growableArray.hpp"

class CollectedHeap;
class LullHeapCounters;
class LullHeapParts;
class LullMonitoring;
class LullPauseProgress;
class LullPublicationCounters;
struct LullPublicationStatistics;

// What is new since the last collection. The name's end is how metrics libraries know the pool that is allocated in.
// It has no maximum of its own: it may grow until the heap is full.
class LullNewPool : public CollectedMemoryPool {
private:
  const LullMonitoring* const _monitoring;

public:
  explicit LullNewPool(const LullMonitoring* monitoring);

  size_t used_in_bytes() override;
  MemoryUsage get_memory_usage() override;
};

// What the last collection has left. It grows by collections only, so a threshold of its usage is exceeded only where
// that much is alive, or is left to the next global collection. The name's end is how metrics libraries know the pool
// of what lives long; "tenured" is how Micrometer knows that this pool is the heap's live data after any collection,
// not after those alone whose collectors it knows by name.
class LullOldPool : public CollectedMemoryPool {
private:
  const LullMonitoring* const _monitoring;

public:
  LullOldPool(const LullMonitoring* monitoring, size_t capacity, size_t max_capacity);

  size_t used_in_bytes() override;
  MemoryUsage get_memory_usage() override;
};

// Local collections as a bean: how many, and their processor time. They are no pauses, and send no notifications.
// Whoever adds up the times of all beans takes the sum for a share of the time: the elapsed times of threads that
// collect side by side, and wait for processors, would make more than there is.
class LullLocalMemoryManager : public GCMemoryManager {
public:
  LullLocalMemoryManager() : GCMemoryManager("Lull Local") {}

  jlong gc_time_ms() override;
  size_t gc_count() override;
};

// The pauses of one kind since the VM started, and the last of them; nanoseconds of os::javaTimeNanos(), bytes.
// Written at safepoints, read by threads in the VM.
struct LullPauses {
  size_t         _number;
  jlong          _time;
  jlong          _longest;
  jlong          _last_time;
  jlong          _last_end;
  GCCause::Cause _last_cause;
  size_t         _last_used_before;
  size_t         _last_used_after;

  LullPauses()
    : _number(0), _time(0), _longest(0), _last_time(0), _last_end(0), _last_cause(GCCause::_no_gc),
      _last_used_before(0), _last_used_after(0) {}

  void add(GCCause::Cause cause, jlong start, jlong end, size_t used_before, size_t used_after) {
    _number++;
    _time            += end - start;
    _longest          = MAX2(_longest, end - start);
    _last_time        = end - start;
    _last_end         = end;
    _last_cause       = cause;
    _last_used_before = used_before;
    _last_used_after  = used_after;
  }
};

// What jstat, JMX and other observers see: beans, pools, performance counters.
class LullMonitoring : public CHeapObj<mtGC> {
private:
  const CollectedHeap* const _heap;   // its size; pauses
  GCMemoryManager     _global_manager;
  GCMemoryManager     _young_manager;
  LullLocalMemoryManager _local_manager;
  LullNewPool*        _new_pool;
  LullOldPool*        _old_pool;
  CollectorCounters*  _young_collector_counters;
  CollectorCounters*  _collector_counters;
  LullHeapCounters*   _heap_counters;       // nullptr without -XX:+UsePerfData
  Mutex               _heap_counters_lock;  // who writes them
  LullPublicationCounters* _publication_counters;   // only with tracking
  LullPauseProgress* const _pause_progress;
  LullPauses          _global_pauses;
  LullPauses          _young_pauses;

  // Bytes that the last collection has left, as far as they are still in use. Written at safepoints, and lowered by
  // threads that have collected, which no safepoint runs beside.
  volatile size_t     _left;

  void update_heap_counters();

public:
  explicit LullMonitoring(const CollectedHeap* heap);

  void initialize_serviceability();

  // By the VM thread, at the end of a pause.
  void record_left();
  void update_counters();

  // By the VM's watcher thread, once a second. Pauses may be many seconds apart.
  void sample_heap_counters();

  // By a thread that has collected locally: less may be in use than the last collection has left.
  void lower_left();

  LullHeapParts heap_parts() const;
  void update_publication_counters(const LullPublicationStatistics& total);

  // All of them, for the beans.
  GrowableArray<GCMemoryManager*> memory_managers();
  GrowableArray<MemoryPool*> memory_pools() const;

  GCMemoryManager* global_manager()         { return &_global_manager; }
  GCMemoryManager* young_manager()          { return &_young_manager; }
  CollectorCounters* young_collector_counters() { return _young_collector_counters; }
  CollectorCounters* collector_counters()   { return _collector_counters; }
  LullPauseProgress* pause_progress() const { return _pause_progress; }
  LullPauses* global_pauses()               { return &_global_pauses; }
  LullPauses* young_pauses()                { return &_young_pauses; }
  const LullPauses* global_pauses() const   { return &_global_pauses; }
  const LullPauses* young_pauses() const    { return &_young_pauses; }
};

#endif // SHARE_GC_LULL_OBSERVE_LULLMONITORING_HPP
