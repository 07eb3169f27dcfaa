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

#ifndef SHARE_GC_LULL_LULLHEAP_HPP
#define SHARE_GC_LULL_LULLHEAP_HPP

#include "gc/lull/drive/lullComponents.hpp"
#include "gc/shared/collectedHeap.hpp"

class LullBlockSupply;
class LullMonitoring;
class LullPause;

// The Lull heap: a mark-region heap in the manner of Immix.
//
//   reserved: -Xmx                                          committed in granules of 1 MB
//   +-----------+-----------+-----------+-----------+-----------+- - - - - -+
//   | block     | block     | block     | block     | block     |uncommitted|
//   | .##.#..## | ######### | ......... | LARGE OBJECT ======.. |           |
//   +-----------+-----------+-----------+-----------+-----------+- - - - - -+
//    Recyclable    Full        Free       LargeHead   LargeTail
//    |<-32 KB->|   each # or . stands for lines of 256 B: in use, free
//
//   at the side:   LullBlockTable    state, free lines, pins      of each block
//                  LullPublicMap     is it live? is it public?    of each line, each word
//                  MarkBitMap        does a live object start?    at each word
//                  LullCardTable     may it refer to young ones?  of each line; only with young collections
//
// Allocation goes one way. Each step is tried only when the one before has failed:
//
//   1  bump in the thread's TLAB, which is a hole            compiled code
//   2  a hole of the thread's run table                      LullAllocator
//   3  the holes of a recyclable block                       LullBlockSupply
//   4  a free block; for an object over 16 KB a run of free blocks
//   5  collections, then 2 to 4 again: LullFailedAllocation has the steps. They begin before all is used: LullUseLimit
//
// Objects are born private (lullPublisher.hpp). A private object that dies is collected by its own thread
// (lullLocalCollector.hpp). One that survives a global collection becomes public, unless that collection came for lack
// of memory. Without LullTracking all objects are public, and no store has a barrier.
//
// Who may write what:
//   block states, free runs    the holder of the supply's lock, or a safepoint; of an Owned block that does not become
//                              Free, its owner
//   a thread's allocator       the thread; the VM thread while the thread is stopped
//   public map                 see there
//   mark bitmap                workers, in a collection
//   committed granules         under Heap_lock at start-up, or at a safepoint
//
// The classes are in rooms, by what they are for: README.md in this directory.

// This class is what HotSpot asks of a heap, and does next to nothing itself:
//
//   how it starts and ends       lullHeapStart.cpp
//   a thread's allocation        LullMutator, LullFailedAllocation
//   who wants a collection       LullDriver
//   a pause                      LullPause
//   who looks at it              LullMonitoring and its neighbours

class LullHeap : public CollectedHeap {
  friend class VMStructs;

private:
  LullComponents _components;

  void start_control_thread();

public:
  static LullHeap* heap();

  LullHeap();

  Name kind() const override { return CollectedHeap::Lull; }
  const char* name() const override { return "Lull"; }

  // Life cycle
  jint initialize() override;
  void post_initialize() override;
  void initialize_serviceability() override;
  void safepoint_synchronize_begin() override;
  void safepoint_synchronize_end() override;
  void stop() override;

  // Size
  size_t max_capacity() const override;
  size_t capacity() const override;
  size_t used() const override;
  MemoryUsage memory_usage() override;
  bool is_in(const void* p) const override;
  bool is_in_reserved(const void* p) const { return _reserved.contains(p); }    // for BlockLocationPrinter

  // Allocation
  HeapWord* mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded) override;
  HeapWord* allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words) override;
  size_t tlab_capacity(Thread* thread) const override;
  size_t tlab_used(Thread* thread) const override;
  size_t max_tlab_size() const override;
  size_t unsafe_max_tlab_alloc(Thread* thread) const override;

  // The rest of a retired TLAB stays as it is: the heap is not parsable.
  void fill_with_dummy_object(HeapWord* start, HeapWord* end, bool zap) override {}

  MetaWord* satisfy_failed_metadata_allocation(ClassLoaderData* loader_data, size_t words,
                                               Metaspace::MetadataType type) override;

  // Collection
  void collect(GCCause::Cause cause) override;
  void do_full_collection(bool clear_all_soft_refs) override;
  bool supports_concurrent_gc_breakpoints() const override { return _components._cycle != nullptr; }
  WorkerThreads* safepoint_workers() override { return _components._workers; }

  LullBlockSupply* supply() const    { return _components._supply; }
  LullMonitoring* monitoring() const { return _components._monitoring; }
  LullPause* pause() const           { return _components._pause; }

  // Continuations: a collection transforms the chunks that it finds. An old one gets no new frames, which would be
  // stored without dirty cards.
  bool requires_barriers(stackChunkOop obj) const override;

  // JNI critical: a pinned block is not evacuated.
  void pin_object(JavaThread* thread, oop obj) override;
  void unpin_object(JavaThread* thread, oop obj) override;

  // Compiled code: all of it is visited where references may have to be updated.
  void register_nmethod(nmethod* nm) override;
  void unregister_nmethod(nmethod* nm) override {}
  void verify_nmethod(nmethod* nm) override;

  // Walking and verification
  void object_iterate(ObjectClosure* cl) override;
  ParallelObjectIteratorImpl* parallel_object_iterator(uint thread_num) override;
  void prepare_for_verify() override;
  void verify(VerifyOption option) override;
  HeapWord* block_start(const void* addr) const;
  bool block_is_obj(const HeapWord* addr) const;

  // CDS
  bool can_load_archived_objects() const override { return true; }
  HeapWord* allocate_loaded_archive_space(size_t words) override;

  // Beans, threads, printing
  GrowableArray<GCMemoryManager*> memory_managers() override;
  GrowableArray<MemoryPool*> memory_pools() override;
  void gc_threads_do(ThreadClosure* tc) const override;
  void print_heap_on(outputStream* st) const override;
  void print_gc_on(outputStream* st) const override;
  void print_tracing_info() const override;
  bool print_location(outputStream* st, void* addr) const override;
};

#endif // SHARE_GC_LULL_LULLHEAP_HPP
