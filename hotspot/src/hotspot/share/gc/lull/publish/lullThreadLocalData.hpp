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

#ifndef SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALDATA_HPP
#define SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALDATA_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/shared/gc_globals.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/thread.hpp"
#include "utilities/debug.hpp"
#include "utilities/sizes.hpp"

class LullAllocator;
class LullLocalCollector;
class LullMutator;
struct LullLocalStatistics;
class LullPublisher;

// What Lull keeps in each thread. Only the thread itself changes it, or a thread that has stopped it: the VM thread, or in a handshake
// another Java thread. Statistics are read while it runs.
//
// A thread has its LullMutator from when it is attached, before it is in a list of threads, until it is destroyed. What
// the mutator is made of is found here by those who know nothing of the whole.
class LullThreadLocalData {
private:
  LullAllocator*        _allocator;
  LullPublisher*        _publisher;         // nullptr without tracking
  LullLocalCollector*   _local_collector;   // nullptr without local collections; of Java threads alone
  const LullLocalStatistics* _local_statistics;   // its
  oop*                  _mounted;       // a weak root, made with the local collector; see LullThreadFields, which alone writes it
  LullBlockTable::Owner _owner;         // this thread's name in the block table; no other thread has it that lives at the same time

  // The thread has no private object: whatever it can store is public. Compiled code
  // tests it before it looks at the value of a store. Written by LullPublisher.
  bool                  _public_mode;

  // The frames of a virtual thread have left it, once at least: code of that thread may come to the fields of this one's Thread object when it is on another
  // carrier. See LullThreadFields, which alone writes it.
  bool                  _has_unmounted;

  // With LullPublicationSampling: the stack pointer of the compiled frame that calls the
  // barrier's slow path, and the instruction behind its store. Written by the code itself
  // just before the call, read in the call.
  intptr_t*             _store_sp;
  address               _store_pc;

  // Bytes that the thread has allocated when the leak profiler may look at it again.
  size_t                _next_leak_sample;

  // What owns the allocator, the publisher and the local collector. Behind what compiled code reads, which lies near.
  LullMutator*          _mutator;

  // All threads, for their names. Under the lock.
  LullThreadLocalData* _next;
  LullThreadLocalData* _previous;
  static LullThreadLocalData* _first;
  static volatile int         _list_lock;
  static uint64_t             _names_given;

  static LullBlockTable::Owner new_name();
  static bool is_name_in_use(LullBlockTable::Owner name);
  void enlist();
  void delist();

  LullThreadLocalData();
  ~LullThreadLocalData();

  static LullThreadLocalData* data(Thread* thread) {
    assert(UseLullGC, "Sanity");
    return thread->gc_data<LullThreadLocalData>();
  }

public:
  static void create(Thread* thread);
  static void destroy(Thread* thread);    // the mutator is deleted by who has made it

  // Once, while the thread is attached.
  static void set_mutator(Thread* thread, LullMutator* mutator, LullAllocator* allocator, LullPublisher* publisher) {
    assert(data(thread)->_mutator == nullptr, "one for each thread");
    data(thread)->_mutator = mutator;
    data(thread)->_allocator = allocator;
    data(thread)->_publisher = publisher;
  }
  static void set_local_collector(Thread* thread, LullLocalCollector* collector, const LullLocalStatistics* statistics) {
    assert(data(thread)->_local_collector == nullptr, "one for each thread");
    data(thread)->_local_statistics = statistics;
    data(thread)->_local_collector = collector;
  }

  static LullMutator* mutator(Thread* thread)                { return data(thread)->_mutator; }
  static LullAllocator* allocator(Thread* thread)            { return data(thread)->_allocator; }
  static LullPublisher* publisher(Thread* thread)            { return data(thread)->_publisher; }
  static LullLocalCollector* local_collector(Thread* thread) { return data(thread)->_local_collector; }
  static const LullLocalStatistics* local_statistics(Thread* thread) { return data(thread)->_local_statistics; }

  static oop* mounted(const Thread* thread) { return data(const_cast<Thread*>(thread))->_mounted; }
  static void set_mounted(Thread* thread, oop* root) { data(thread)->_mounted = root; }

  static LullBlockTable::Owner owner(Thread* thread) { return data(thread)->_owner; }

  static bool is_public_mode(Thread* thread) { return data(thread)->_public_mode; }
  static void set_public_mode(Thread* thread, bool value) { data(thread)->_public_mode = value; }

  static bool has_unmounted(const Thread* thread) { return data(const_cast<Thread*>(thread))->_has_unmounted; }
  static void set_has_unmounted(Thread* thread) { data(thread)->_has_unmounted = true; }

  static size_t next_leak_sample(Thread* thread) { return data(thread)->_next_leak_sample; }
  static void set_next_leak_sample(Thread* thread, size_t bytes) { data(thread)->_next_leak_sample = bytes; }

  static intptr_t* store_sp(Thread* thread) { return data(thread)->_store_sp; }
  static address store_pc(Thread* thread) { return data(thread)->_store_pc; }

  static ByteSize store_sp_offset() { return Thread::gc_data_offset() + byte_offset_of(LullThreadLocalData, _store_sp); }
  static ByteSize store_pc_offset() { return Thread::gc_data_offset() + byte_offset_of(LullThreadLocalData, _store_pc); }
  static ByteSize public_mode_offset() {
    return Thread::gc_data_offset() + byte_offset_of(LullThreadLocalData, _public_mode);
  }
};

#endif // SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALDATA_HPP
