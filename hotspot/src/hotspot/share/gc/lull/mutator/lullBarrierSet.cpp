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

#include "code/debugInfo.hpp"
#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.inline.hpp"
#include "gc/lull/mutator/lullBarrierSetAssembler.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "prims/jvmtiExport.hpp"
#include "runtime/atomic.hpp"
#include "runtime/javaThread.hpp"
#include "utilities/growableArray.hpp"
#include "utilities/macros.hpp"
#ifdef COMPILER1
#include "gc/lull/c1/lullBarrierSetC1.hpp"
#endif
#ifdef COMPILER2
#include "gc/lull/c2/lullBarrierSetC2.hpp"
#endif

LullBarrierSet::LullBarrierSet()
  : BarrierSet(make_barrier_set_assembler<LullBarrierSetAssembler>(),
               make_barrier_set_c1<LullBarrierSetC1>(),
               make_barrier_set_c2<LullBarrierSetC2>(),
               nullptr /* barrier_set_nmethod */,
               nullptr /* barrier_set_stack_chunk */,
               BarrierSet::FakeRtti(BarrierSet::LullBarrierSet)) {}

void LullBarrierSet::on_thread_create(Thread* thread) {
  LullThreadLocalData::create(thread);
}

void LullBarrierSet::on_thread_attach(Thread* thread) {
  BarrierSet::on_thread_attach(thread);
  LullMutator::attach(thread);
}

void LullBarrierSet::on_thread_destroy(Thread* thread) {
  delete LullThreadLocalData::mutator(thread);    // nullptr: it was never attached
  LullThreadLocalData::destroy(thread);
}

void LullBarrierSet::on_thread_detach(Thread* thread) {
  LullMutator::of(thread)->detach();
}

static bool is_in_private_object(const void* field) {
  return LullTables::blocks()->covers(field) && !LullTables::public_map()->is_public(field);
}

LullStoreOutcome LullBarrierSet::before_store(const void* field, oop value) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropRuntime) {
    return LullStoreOutcome::PublicValue;
  }
#endif
  if (is_in_private_object(field) || LullThreadFields::may_store(field)) {
    return LullStoreOutcome::PrivateDestination;
  }
  LullStoreBarrier::dirty_card(field);
  return LullStoreBarrier::publish(value);
}

void LullBarrierSet::before_root_store(const void* root, oop value) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropRoot) {
    return;
  }
#endif
  if (!LullThreadFields::may_store(root)) {
    LullStoreBarrier::publish(value);
  }
}

LullStoreOutcome LullBarrierSet::before_copy(const void* from, const void* to, size_t length) {
  // What a public array refers to is public, and an address behind the last element may
  // be of another object.
  if (length == 0 || is_in_private_object(to)) {
    return LullStoreOutcome::PrivateDestination;
  }
  LullStoreBarrier::dirty_cards(to, (const char*)to + length * heapOopSize - 1);
  LullStoreOutcome outcome = LullStoreOutcome::PublicValue;
  if (!is_in_private_object(from)) {
    return outcome;
  }
  LullPublisher* const publisher = LullPublisher::of(Thread::current());
  const size_t published_before = publisher->statistics()._objects;
  for (size_t i = 0; i < length; i++) {
    const oop value = UseCompressedOops ? CompressedOops::decode(((const narrowOop*)from)[i]) : ((const oop*)from)[i];
    if (value != nullptr && LullStoreBarrier::publish(value) == LullStoreOutcome::Published) {
      outcome = LullStoreOutcome::Published;
      if (publisher->statistics()._objects - published_before > LullPublicationLimit) {
        // A private array is its thread's, and what it leads to.
        publisher->publish_all("long copy", false);
        break;
      }
    }
  }
  return outcome;
}

// A new object is private, unless an agent was told of it between its allocation and now
// and has kept it. A collection may then have made it old.
void LullBarrierSet::before_clone(oop from, oop to) {
  assert(from != nullptr && from->klass() == to->klass(), "an object and its clone have one class");
  if (!is_in_private_object(cast_from_oop<void*>(to))) {
    if (LullYoungCollections) {
      LullStoreBarrier::dirty_card(cast_from_oop<void*>(to));
    }
    LullStoreBarrier::publish(from);
  }
}

// Once: who looks for the gain that is gone finds out why.
static void tell_of_kept_samples() {
  static volatile bool told = false;
  const bool by_agent = JVMTI_ONLY(JvmtiExport::should_post_sampled_object_alloc()) NOT_JVMTI(false);
  if (by_agent && !Atomic::load(&told) && !Atomic::cmpxchg(&told, false, true)) {
    log_info(gc)("An agent keeps new objects (JVMTI's SampledObjectAlloc): threads that allocate them have no private "
                 "objects for a while, and free little by themselves");
  }
}

// The rest of a method that has allocated an object initialises it without barriers. If a collection has
// found the object alive since then it is old, and what it refers to may be young. If
// the object has been published meanwhile, by what an agent or the flight recorder does
// at an allocation, then there must be no private value to store. After a global
// collection there is none: the thread owns no block yet.
void LullBarrierSet::on_slowpath_allocation_exit(JavaThread* thread, oop new_obj) {
  assert(Thread::current() == thread, "a thread initialises its own new objects");
  if (LullYoungCollections && LullTables::public_map()->is_public(new_obj)) {
    LullStoreBarrier::dirty_card(cast_from_oop<void*>(new_obj));
  }
  if (LullTracking && !LullThreadLocalData::is_public_mode(thread) && LullTables::public_map()->is_public(new_obj) &&
      (LullThreadLocalData::allocator(thread)->owns_blocks() DEBUG_ONLY(|| LullCheckElision))) {
    ResourceMark rm;
    log_debug(gc, publish)("Thread %u: a new %s has been published at its allocation", LullThreadLocalData::owner(thread),
                        new_obj->klass()->external_name());
    tell_of_kept_samples();
    publish_all(thread, "a new object was published", false);
  }
}

void LullBarrierSet::before_foreign_store(JavaThread* other, oop value) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropRoot) {
    return;
  }
#endif
  if (LullTracking && value != nullptr && !LullTables::public_map()->is_public(value)) {
    LullBlockTable* const blocks = LullTables::blocks();
    if (other == nullptr || blocks->owner_of(cast_from_oop<void*>(value)) != LullThreadLocalData::owner(other)) {
      LullStoreBarrier::publish(value);
    }
  }
}

void LullBarrierSet::before_foreign_objects(JavaThread* thread) {
  assert(thread->is_handshake_safe_for(Thread::current()), "the thread runs");
  if (LullTracking) {
    LullPublisher::of(thread)->publish_present();
  }
}

void LullBarrierSet::on_foreign_objects(const GrowableArray<ScopeValue*>* objects) {
  for (ScopeValue* const object : *objects) {
    before_foreign_store(nullptr, object->as_ObjectValue()->value()());
  }
}

void LullBarrierSet::publish_all(JavaThread* thread, const char* reason, bool for_good) {
  if (LullTracking) {
    LullPublisher::of(thread)->publish_all(reason, for_good);
  }
}

void LullBarrierSet::check_load(const void* field, oop value) {
  if (LullTracking && !Universe::heap()->is_stw_gc_active() &&
      !is_in_private_object(field) && !LullTables::public_map()->is_public(value) &&
      !LullThreadFields::may_have_private(field, LullTables::blocks()->owner_of(cast_from_oop<void*>(value)))) {
    ResourceMark rm;
    fatal("P: field " PTR_FORMAT " of a public object refers to private " PTR_FORMAT " (%s) of thread %u",
          p2i(field), p2i(value), value->klass()->external_name(),
          LullTables::blocks()->owner_of(cast_from_oop<void*>(value)));
  }
}
