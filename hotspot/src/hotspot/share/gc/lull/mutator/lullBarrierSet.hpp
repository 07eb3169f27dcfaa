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

#ifndef SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_HPP
#define SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_HPP

#include "gc/lull/stat/lullStoreOutcome.hpp"
#include "gc/shared/barrierSet.hpp"

class JavaThread;
class nmethod;
class ScopeValue;
template <typename E> class GrowableArray;

// P: no public object refers to a private one, and neither does a root that other threads can read. The exceptions,
// which only their thread reads, are in lullThreadFields.hpp. A store into a public object, or into such a root, first
// publishes its value and all that this leads to (lullPublisher.hpp).
//
// R: with young collections, an old object that refers to a young one covers a dirty card: of a large array at its
// header or at the element (lullCardTable.hpp). The same barriers see to it.
//
// Each store asks for its destination first. As a rule that is private, and nothing else is to be done.
//
// With -XX:-LullTracking all objects count as public and no store has a barrier.
class LullBarrierSet : public BarrierSet {
public:
  LullBarrierSet();

  void print_on(outputStream* st) const override {}

  void on_thread_create(Thread* thread) override;
  void on_thread_destroy(Thread* thread) override;
  void on_thread_attach(Thread* thread) override;
  void on_thread_detach(Thread* thread) override;
  void on_slowpath_allocation_exit(JavaThread* thread, oop new_obj) override;

  // Before the value is stored to a field of an object: by a store, or by an atomic
  // operation, whether that will succeed or not.
  static LullStoreOutcome before_store(const void* field, oop value);

  // Before the value is stored to a root outside of the heap.
  static void before_root_store(const void* root, oop value);

  // Before length elements are copied from one reference array to another.
  static LullStoreOutcome before_copy(const void* from, const void* to, size_t length);

  // Before the fields of one object are copied to another, which is new.
  static void before_clone(oop from, oop to);

  // Before another thread gets the value in its frames or handles; nullptr: any thread.
  static void before_foreign_store(JavaThread* other, oop value);

  // In a handshake, before another thread makes objects for the frames of this one, and reads them.
  static void before_foreign_objects(JavaThread* thread);

  // These have been made, and nothing has been stored to them.
  static void on_foreign_objects(const GrowableArray<ScopeValue*>* objects);

  // From here on nothing that this thread has is private: its frames are about to be in the heap (freeze), or an object that code takes for
  // private is not. For good: nor what it will have.
  static void publish_all(JavaThread* thread, const char* reason, bool for_good);

  // Checks P where a value is read (-XX:+LullLoadCheck).
  static void check_load(const void* field, oop value);

  template <DecoratorSet decorators, typename BarrierSetT = LullBarrierSet>
  class AccessBarrier : public BarrierSet::AccessBarrier<decorators, BarrierSetT> {
    typedef BarrierSet::AccessBarrier<decorators, BarrierSetT> Raw;

  public:
    template <typename T> static oop  oop_load_in_heap(T* addr);
    static oop  oop_load_in_heap_at(oop base, ptrdiff_t offset);

    template <typename T> static void oop_store_in_heap(T* addr, oop value);
    static void oop_store_in_heap_at(oop base, ptrdiff_t offset, oop value);

    template <typename T> static oop  oop_atomic_cmpxchg_in_heap(T* addr, oop compare_value, oop new_value);
    static oop  oop_atomic_cmpxchg_in_heap_at(oop base, ptrdiff_t offset, oop compare_value, oop new_value);

    template <typename T> static oop  oop_atomic_xchg_in_heap(T* addr, oop new_value);
    static oop  oop_atomic_xchg_in_heap_at(oop base, ptrdiff_t offset, oop new_value);

    template <typename T> static bool oop_arraycopy_in_heap(arrayOop src_obj, size_t src_offset_in_bytes, T* src_raw,
                                                            arrayOop dst_obj, size_t dst_offset_in_bytes, T* dst_raw,
                                                            size_t length);
    static void clone_in_heap(oop src, oop dst, size_t size);

    template <typename T> static void oop_store_not_in_heap(T* addr, oop value);
    template <typename T> static oop  oop_atomic_cmpxchg_not_in_heap(T* addr, oop compare_value, oop new_value);
    template <typename T> static oop  oop_atomic_xchg_not_in_heap(T* addr, oop new_value);
  };
};

template <>
struct BarrierSet::GetName<LullBarrierSet> {
  static const BarrierSet::Name value = BarrierSet::LullBarrierSet;
};

template <>
struct BarrierSet::GetType<BarrierSet::LullBarrierSet> {
  typedef ::LullBarrierSet type;
};

#endif // SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_HPP
