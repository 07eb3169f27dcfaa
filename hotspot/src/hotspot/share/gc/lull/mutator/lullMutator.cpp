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

#include "gc/lull/alloc/lullAllocator.hpp"
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
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"

LullBlockSupply* LullMutator::_supply = nullptr;

LullAllocator* LullMutator::allocator() const {
  LullAllocator* allocator = LullThreadLocalData::allocator(_thread);
  if (allocator == nullptr) {
    allocator = new LullAllocator(_supply, LullTables::blocks(), LullReserveUse::Keep,
                                  LullThreadLocalData::owner(_thread),
                                  LullTracking ? LullTables::public_map() : nullptr);
    allocator->set_born_public(LullThreadLocalData::is_public_mode(_thread));
    LullThreadLocalData::set_allocator(_thread, allocator);
  }
  return allocator;
}

LullLocalCollector* LullMutator::local_collector() const {
  if (!LullLocalCollections || !_thread->is_Java_thread()) {
    return nullptr;
  }
  LullLocalCollector* collector = LullThreadLocalData::local_collector(_thread);
  if (collector == nullptr) {
    collector = new LullLocalCollector(JavaThread::cast(_thread), allocator());
    LullThreadLocalData::set_local_collector(_thread, collector, &collector->statistics());
    LullThreadFields::create_root(JavaThread::cast(_thread));
  }
  return collector;
}

// ---- Without a collection of others

void LullMutator::collect_if_due() const {
  LullLocalCollector* const collector = local_collector();
  if (collector != nullptr) {
    collector->collect_if_due();
  }
}

void LullMutator::prepare() const {
  assert(_thread == Thread::current(), "a thread prepares its own allocation");
  if (LullTracking && !UseTLAB) {
    LullPublisher::of(_thread)->choose_mode();   // nobody asks for a TLAB, where it is chosen else
  }
  collect_if_due();
}

// Counts what the thread's allocator has given since.
void LullMutator::count_allocated(size_t before) const {
  assert(allocator()->allocated() >= before, "what a mutator was given does not fall");
  if (LullTracking) {
    LullPublisher::of(_thread)->count_allocated(allocator()->allocated() - before);
  }
}

HeapWord* LullMutator::allocate_large(size_t words, LullReserveUse use) const {
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
    LullPublisher::of(_thread)->count_allocated(blocks * LullGeometry::BlockSize);
    allocator()->own_large(head, blocks);
  }
  return LullGeometry::start_of(head);
}

HeapWord* LullMutator::allocate(size_t words) const {
  assert(_thread == Thread::current(), "at a safepoint there is another way");
  if (LullGeometry::is_large(words)) {
    return allocate_large(words, LullReserveUse::Keep);
  }
  const size_t before = allocator()->allocated();
  HeapWord* const result = allocator()->allocate(words);
  count_allocated(before);
  return result;
}

// Never collects for lack of memory: if there is no hole, the object is allocated outside of a TLAB, and that collects.
HeapWord* LullMutator::allocate_tlab(size_t min_words, size_t* actual_words) const {
  assert(_thread == Thread::current(), "a thread refills its own TLAB");
  if (LullGeometry::is_large(min_words)) {
    return nullptr;
  }
  if (LullTracking) {
    LullPublisher::of(_thread)->choose_mode();
    collect_if_due();
  }
  const size_t before = allocator()->allocated();
  HeapWord* const tlab = allocator()->allocate_tlab(min_words, actual_words);
  count_allocated(before);
  return tlab;
}

bool LullMutator::collect_before_global() const {
  assert(_thread == Thread::current(), "a thread collects its own objects");
  LullLocalCollector* const collector = local_collector();
  return collector != nullptr && collector->collect_before_global();
}

void LullMutator::collect_as_asked() const {
  assert(_thread == Thread::current(), "a thread collects its own objects");
  LullLocalCollector* const collector = local_collector();
  if (collector != nullptr) {
    collector->collect_as_asked();
  }
}

// ---- At a safepoint

HeapWord* LullMutator::allocate_at_safepoint(size_t words, LullReserveUse use) const {
  assert_at_safepoint();
  assert(Thread::current()->is_VM_thread(), "one allocation at a time");
  if (LullGeometry::is_large(words)) {
    return allocate_large(words, use);
  }
  const size_t before = allocator()->allocated();
  HeapWord* const result = allocator()->allocate_at_safepoint(words, use);
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
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    if (allocator != nullptr) {
      allocator->begin_global_collection(keep_private &&
                                         may_keep_private(LullThreadLocalData::local_collector(thread), cause));
    }
  }
}

void LullMutator::end_collection() {
  assert_at_safepoint();
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    if (allocator != nullptr) {
      allocator->end_global_collection();
    }
    LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
    if (collector != nullptr) {
      collector->record_pause();
    }
  }
}

void LullMutator::log_medium_requests() {
  LullMediumRequests total = LullAllocator::released_medium_requests();
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    if (allocator != nullptr) {
      total.add(allocator->medium_requests());
    }
  }
  log_info(gc, lull)("Objects of more than a line that did not fit the hole in use: %zu got a hole that fits, "
                     "%zu a free block", total._in_holes, total._in_blocks);
}
