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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/heap/lullMarkBitMap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/lullSegregatedHeap.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/lull/study/lullObjectSpace.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "memory/iterator.hpp"
#include "runtime/java.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/vmThread.hpp"
#include "utilities/align.hpp"
#include "utilities/ticks.hpp"

LullSegregatedHeap* LullSegregatedHeap::_of_study = nullptr;

LullSegregatedHeap::LullSegregatedHeap()
  : LullHeap(),
    _space(nullptr),
    _lock(Mutex::nosafepoint, "LullSegregatedSpace_lock"),
    _allocations(0),
    _allocated_words(0),
    _allocation_ticks(0),
    _interrupted(0),
    _collections(0),
    _collection_ns(0),
    _sweep_ns(0),
    _collection_start_ns(0) {}

jint LullSegregatedHeap::initialize() {
  const jint result = LullHeap::initialize();
  if (result != JNI_OK) {
    return result;
  }
  // No other block is ever given out.
  LullBlockIndex first;
  if (!supply()->take_segregated((uint32_t)(capacity() / LullGeometry::BlockSize), &first)) {
    vm_shutdown_during_initialization("The heap is not one run of free blocks");
    return JNI_ERR;
  }
  _space = LullObjectSpace::make(LullGeometry::start_of(first), bytes() / HeapWordSize, LullTables::mark_bitmap());
  LullObjectSpace::set_of_heap(_space);
  _of_study = this;
  return JNI_OK;
}

// Of the space, in whole objects' alignment.
size_t LullSegregatedHeap::bytes() const {
  return LullSegregatedBytes == 0 ? capacity() : align_down(LullSegregatedBytes, (size_t)ObjectAlignmentInBytes);
}

// One word: exact at a safepoint, of some moment otherwise.
size_t LullSegregatedHeap::used() const {
  return _space->used_bytes();
}

// ---- Allocation

HeapWord* LullSegregatedHeap::allocate(size_t words) {
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  static const jlong interrupted = (jlong)(FastUnorderedElapsedCounterSource::frequency() / 1000);
  const jlong start = FastUnorderedElapsedCounterSource::now();
  HeapWord* const result = _space->allocate(words);
  const jlong ticks = FastUnorderedElapsedCounterSource::now() - start;
  if (ticks < interrupted) {
    _allocation_ticks += ticks;
  } else {
    _interrupted++;
  }
  if (result != nullptr) {
    _allocations++;
    _allocated_words += words;
  }
  return result;
}

// ---- Collection

class LullProcessorTimeClosure : public ThreadClosure {
private:
  jlong _ns;

public:
  LullProcessorTimeClosure() : _ns(0) {}
  void do_thread(Thread* thread) override { _ns += os::thread_cpu_time(thread); }
  jlong ns() const { return _ns; }
};

// Of those that collect, since their start.
static jlong collectors_ns(WorkerThreads* workers) {
  LullProcessorTimeClosure time;
  time.do_thread(VMThread::vm_thread());
  workers->threads_do(&time);
  return time.ns();
}

void LullSegregatedHeap::begin_collection() {
  _collection_start_ns = collectors_ns(safepoint_workers());
}

// All is marked. Classes are unloaded, but not purged.
void LullSegregatedHeap::end_collection() {
  const jlong start = os::thread_cpu_time(VMThread::vm_thread());
  _space->sweep();
  _sweep_ns += os::thread_cpu_time(VMThread::vm_thread()) - start;
  _collection_ns += collectors_ns(safepoint_workers()) - _collection_start_ns;
  _collections++;
}

bool LullSegregatedHeap::coalesce() {
  const jlong start = os::thread_cpu_time(VMThread::vm_thread());
  const bool done = _space->coalesce();
  const jlong ns = os::thread_cpu_time(VMThread::vm_thread()) - start;
  _sweep_ns += ns;
  _collection_ns += ns;
  return done;
}

// Nothing moves and the heap cannot grow: what is left after a collection is to join free chunks, and then to
// clear soft references; the only thing for what the heap could not hold.
HeapWord* LullSegregatedHeap::collect_and_allocate(size_t words) {
  assert_at_safepoint();
  for (int attempt = words * HeapWordSize > max_capacity() ? 1 : 0; attempt < 2; attempt++) {
    pause()->collect(LullEvacuationRequest::normal(), attempt > 0 || pause()->must_clear_soft_references());
    HeapWord* result = allocate(words);
    if (result == nullptr && coalesce()) {
      result = allocate(words);
    }
    if (result != nullptr) {
      return result;
    }
  }
  return nullptr;
}

// ---- What was measured

void LullSegregatedHeap::print_tracing_info() const {
  LullHeap::print_tracing_info();
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  const LullRunCounters& c = _space->counters();
  log_info(gc, lull)("Segregated: search=%s coalescing=%s lists=%u heap_bytes=%zu allocations=%zu allocated_words=%zu allocation_ns=" UINT64_FORMAT
                     " interrupted=%zu collections=%zu collection_ns=" JLONG_FORMAT " sweep_ns=" JLONG_FORMAT,
                     LullSegregatedSearch, LullSegregatedCoalescing, LullSegregatedLists, bytes(), _allocations, _allocated_words,
                     FastUnorderedElapsedCounterSource::nanoseconds(_allocation_ticks), _interrupted, _collections, _collection_ns, _sweep_ns);
  log_info(gc, lull)("Segregated: look_ups=" UINT64_FORMAT " lists_passed=" UINT64_FORMAT " runs_passed=" UINT64_FORMAT
                     " became_empty=" UINT64_FORMAT " became_non_empty=" UINT64_FORMAT " entries_written=" UINT64_FORMAT
                     " splits=" UINT64_FORMAT " wasted_words=" UINT64_FORMAT " chunks_swept=" UINT64_FORMAT " chunks_freed=" UINT64_FORMAT
                     " chunks_joined=" UINT64_FORMAT " rebuilds=" UINT64_FORMAT " passes_to_join=" UINT64_FORMAT,
                     c._look_ups, c._lists_passed, c._runs_passed, c._became_empty, c._became_non_empty, c._entries_written,
                     c._splits, c._wasted_words, c._chunks_swept, c._chunks_freed, c._chunks_joined, c._rebuilds, c._passes_to_join);
}
