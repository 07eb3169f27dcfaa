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

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/tlab_globals.hpp"
#include "logging/log.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"

LullBlockSupply* LullMutator::_supply = nullptr;

LullMutator::LullMutator(Thread* thread)
  : _thread(thread),
    _allocator(_supply, LullTables::blocks(), LullReserveUse::Keep, LullThreadLocalData::owner(thread),
               LullTracking ? LullTables::public_map() : nullptr),
    _publisher(LullTracking ? new LullPublisher(thread, LullTables::public_map(), LullTables::blocks()) : nullptr),
    _local_collector(nullptr) {}

LullMutator::~LullMutator() {
  assert(!_allocator.owns_blocks(), "thread %u has ended with blocks", LullThreadLocalData::owner(_thread));
  delete _local_collector;
  delete _publisher;
}

void LullMutator::make_local_collector() {
  JavaThread* const thread = JavaThread::cast(_thread);
  _local_collector = new LullLocalCollector(thread, &_allocator);
  LullThreadLocalData::set_local_collector(thread, _local_collector, &_local_collector->statistics());
  LullThreadFields::create_root(thread);
}

void LullMutator::attach(Thread* thread) {
  assert(_supply != nullptr, "there is no heap yet");
  LullMutator* const mutator = new LullMutator(thread);
  LullThreadLocalData::set_mutator(thread, mutator, &mutator->_allocator, mutator->_publisher);
  if (LullLocalCollections && thread->is_Java_thread()) {
    mutator->make_local_collector();
  }
}

// A thread of the VM keeps its counts: who adds up asks the VM thread to its end, and no other one publishes.
void LullMutator::detach() {
  if (!_thread->is_Java_thread()) {
    _allocator.release();
    return;
  }
  assert(Threads_lock->owned_by_self(), "who adds up all threads must find it in the list, or what it has left");
  LullThreadFields::clear(JavaThread::cast(_thread));
  // First: it finds memory that the allocator gives back then.
  if (_local_collector != nullptr) {
    _local_collector->retire();
  }
  _allocator.release();
  if (_publisher != nullptr) {
    _publisher->retire();
  }
}

// ---- Without a collection of others

void LullMutator::collect_if_due() {
  if (_local_collector != nullptr) {
    _local_collector->collect_if_due();
  }
}

void LullMutator::prepare() {
  assert(_thread == Thread::current(), "a thread prepares its own allocation");
  if (LullTracking && !UseTLAB) {
    _publisher->choose_mode();   // nobody asks for a TLAB, where it is chosen else
  }
  collect_if_due();
}

// Counts what the thread's allocator has given since.
void LullMutator::count_allocated(size_t before) {
  assert(_allocator.allocated() >= before, "what a mutator was given does not fall");
  if (LullTracking) {
    _publisher->count_allocated(_allocator.allocated() - before);
  }
}

HeapWord* LullMutator::allocate_large(size_t words, LullReserveUse use) {
  assert(LullGeometry::is_large(words), "%zu words lie in a block", words);
  LullBlockTable* const table = LullTables::blocks();
  const size_t blocks = LullGeometry::blocks_for(words);
  LullBlockIndex head;
  if (blocks > table->count() || !_supply->take_large((uint32_t)blocks, use, &head)) {
    return nullptr;
  }
  table->at(head)->set_large_words(words);
  _supply->add_slack(table->at(head)->slack_lines());
  if (LullTracking) {
    const bool is_public = LullThreadLocalData::is_public_mode(_thread) && !LullPublicMap::is_tracking_suspended();
    LullTables::public_map()->set_blocks(head, blocks, is_public);
    _publisher->count_allocated(blocks * LullGeometry::BlockSize);
    _allocator.own_large(head, blocks);
  }
  return LullGeometry::start_of(head);
}

HeapWord* LullMutator::allocate(size_t words) {
  assert(_thread == Thread::current(), "at a safepoint there is another way");
  if (LullGeometry::is_large(words)) {
    return allocate_large(words, LullReserveUse::Keep);
  }
  const size_t before = _allocator.allocated();
  HeapWord* const result = _allocator.allocate(words);
  count_allocated(before);
  return result;
}

// Never collects for lack of memory: if there is no hole, the object is allocated outside of a TLAB, and that collects.
HeapWord* LullMutator::allocate_tlab(size_t min_words, size_t* actual_words) {
  assert(_thread == Thread::current(), "a thread refills its own TLAB");
  if (LullGeometry::is_large(min_words)) {
    return nullptr;
  }
  if (LullTracking) {
    _publisher->choose_mode();
    collect_if_due();
  }
  const size_t before = _allocator.allocated();
  HeapWord* const tlab = _allocator.allocate_tlab(min_words, actual_words);
  count_allocated(before);
  return tlab;
}

bool LullMutator::collect_before_global() {
  assert(_thread == Thread::current(), "a thread collects its own objects");
  return _local_collector != nullptr && _local_collector->collect_before_global();
}

void LullMutator::collect_as_asked() {
  assert(_thread == Thread::current(), "a thread collects its own objects");
  if (_local_collector != nullptr) {
    _local_collector->collect_as_asked();
  }
}

// ---- At a safepoint

HeapWord* LullMutator::allocate_at_safepoint(size_t words, LullReserveUse use) {
  assert_at_safepoint();
  assert(Thread::current()->is_VM_thread(), "one allocation at a time");
  if (LullGeometry::is_large(words)) {
    return allocate_large(words, use);
  }
  const size_t before = _allocator.allocated();
  HeapWord* const result = _allocator.allocate_at_safepoint(words, use);
  count_allocated(before);
  return result;
}

// What an idle thread has is old, and would only keep its block from others. Where memory is not what lacks, only what
// private references wait for has to become public.
static bool may_keep_private(const LullLocalCollector* collector, GCCause::Cause cause) {
  if (collector == nullptr) {
    return false;
  }
  const bool early = cause == GCCause::_lull_references || cause == GCCause::_lull_pause_goal;
  return early ? !collector->keeps_references() : !collector->is_idle();
}

void LullMutator::begin_collection(bool keep_private, GCCause::Cause cause) {
  assert_at_safepoint();
  assert(!keep_private || LullTracking, "without tracking nothing is private");
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullMutator* const mutator = of(thread);
    const bool keeps = keep_private && may_keep_private(mutator->_local_collector, cause);
    mutator->_allocator.begin_global_collection(keeps);
    if (!keeps && mutator->_publisher != nullptr) {
      mutator->_publisher->private_objects_lost();
    }
  }
}

void LullMutator::end_collection() {
  assert_at_safepoint();
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullMutator* const mutator = of(thread);
    mutator->_allocator.end_global_collection();
    if (mutator->_local_collector != nullptr) {
      mutator->_local_collector->record_pause();
    }
  }
}

void LullMutator::log_medium_requests() {
  LullMediumRequests total = LullAllocator::released_medium_requests();
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    total.add(of(thread)->_allocator.medium_requests());
  }
  log_info(gc, lull)("Objects of more than a line that did not fit the hole in use: %zu got a hole that fits, "
                     "%zu a free block", total._in_holes, total._in_blocks);
}
