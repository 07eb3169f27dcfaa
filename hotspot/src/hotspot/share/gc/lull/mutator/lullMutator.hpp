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

#ifndef SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP
#define SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"

class LullLocalCollector;
class LullPublisher;
class Thread;

// A thread as one that allocates: what it does before it asks for memory, and where it gets that without a collection of
// others. It owns what Lull has of the thread:
//
//   allocator         its holes and its blocks
//   publisher         what is private, and how that becomes public; with tracking
//   local collector   a Java thread's, with local collections
//
// All of them are there from when the thread is attached until it is destroyed; so no list of threads has one without
// them. Used by the thread itself; at a safepoint by the VM thread for it.
class LullMutator : public CHeapObj<mtGC> {
private:
  Thread* const        _thread;
  LullAllocator        _allocator;
  LullPublisher* const _publisher;          // nullptr without tracking
  LullLocalCollector*  _local_collector;    // nullptr if the thread does not collect by itself

  static LullBlockSupply* _supply;

  explicit LullMutator(Thread* thread);

  void make_local_collector();
  void collect_if_due();
  void count_allocated(size_t before);
  HeapWord* allocate_large(size_t words, LullReserveUse use);

public:
  ~LullMutator();

  // While the VM starts.
  static void initialize(LullBlockSupply* supply) { _supply = supply; }

  // Makes that of a thread which is about to be in a list of threads. By that thread, or by the one that makes it.
  static void attach(Thread* thread);

  // The thread ends, and what it has is others'. Of a Java thread under Threads_lock.
  void detach();

  static LullMutator* of(Thread* thread) {
    LullMutator* const mutator = LullThreadLocalData::mutator(thread);
    assert(mutator != nullptr, "thread %u is not attached", LullThreadLocalData::owner(thread));
    return mutator;
  }

  Thread* thread() const { return _thread; }

  // Before it allocates outside of a TLAB: perhaps it collects what it has.
  void prepare();

  // Memory for an object that is outside of a TLAB; nullptr if there is none without a collection.
  HeapWord* allocate(size_t words);

  // A TLAB of at least so many words; sets *actual_words. Perhaps it collects what it has before.
  HeapWord* allocate_tlab(size_t min_words, size_t* actual_words);

  // For lack of memory. False if nothing can have been freed.
  bool collect_before_global();

  // The thread asks for a collection of what it has, whatever that frees.
  void collect_as_asked();

  // ---- At a safepoint

  HeapWord* allocate_at_safepoint(size_t words, LullReserveUse use);

  // Of all threads, before the first mark: TLABs are retired. Some may keep private objects, if any.
  static void begin_collection(bool keep_private, GCCause::Cause cause);

  // After the last one, when it is known what is free.
  static void end_collection();

  // How those that have ended, and those that run, got medium objects.
  static void log_medium_requests();
};

#endif // SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP
