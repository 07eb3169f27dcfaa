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

#include "classfile/classLoaderData.hpp"
#include "code/nmethod.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullCode.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullDriver.hpp"
#include "gc/lull/drive/lullFailedAllocation.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullHeapBudget.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/observe/lullBlockCensus.hpp"
#include "gc/lull/observe/lullHeapParts.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/observe/lullObjectIterator.hpp"
#include "gc/lull/observe/lullPublicationReport.hpp"
#include "gc/lull/observe/lullVerify.hpp"
#include "gc/lull/stat/lullLocalLog.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/locationPrinter.inline.hpp"
#include "gc/shared/scavengableNMethods.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "memory/classLoaderMetaspace.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/init.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/vmError.hpp"

LullHeap* LullHeap::heap() {
  return named_heap<LullHeap>(CollectedHeap::Lull);
}

void LullHeap::safepoint_synchronize_begin() {
  if (UseStringDeduplication || LullConcurrentMarking) {
    SuspendibleThreadSet::synchronize();
  }
  if (_components._cycle != nullptr) {
    _components._cycle->cleaner()->give_up();   // whose thread stands still now
  }
}

void LullHeap::safepoint_synchronize_end() {
  if (UseStringDeduplication || LullConcurrentMarking) {
    SuspendibleThreadSet::desynchronize();
  }
}

// ---- Size

size_t LullHeap::max_capacity() const        { return _components._memory->max_capacity(); }
size_t LullHeap::capacity() const            { return _components._memory->capacity(); }
size_t LullHeap::used() const                { return _components._supply->used_bytes(); }
bool LullHeap::is_in(const void* p) const    { return _components._memory->is_committed(p); }

// What is in use is read first: a heap that grows in between must not show more in use than committed.
MemoryUsage LullHeap::memory_usage() {
  const LullHeapParts parts = _components._monitoring->heap_parts();
  return MemoryUsage(InitialHeapSize, parts.old_used() + parts.new_used(), parts.committed(), max_capacity());
}

// ---- Allocation

HeapWord* LullHeap::mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded) {
  *gc_overhead_limit_was_exceeded = false;
  LullMutator* const mutator = LullMutator::of(Thread::current());
  mutator->prepare();
  HeapWord* const result = mutator->allocate(words);
  if (result != nullptr) {
    return result;
  }
  return LullFailedAllocation(&_components, mutator, words).resolve(gc_overhead_limit_was_exceeded);
}

HeapWord* LullHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words) {
  return LullMutator::of(Thread::current())->allocate_tlab(min_words, actual_words);
}

size_t LullHeap::tlab_capacity(Thread* thread) const         { return capacity(); }
size_t LullHeap::tlab_used(Thread* thread) const             { return used(); }
size_t LullHeap::max_tlab_size() const                       { return LullGeometry::WordsPerBlock; }
size_t LullHeap::unsafe_max_tlab_alloc(Thread* thread) const { return LullGeometry::BlockSize; }

HeapWord* LullHeap::allocate_loaded_archive_space(size_t words) {
  assert(!is_init_completed(), "an archive is loaded while the VM starts");
  LullBlockIndex head;
  if (!_components._supply->take_archive((uint32_t)LullGeometry::blocks_for(words), &head)) {
    return nullptr;
  }
  // Its objects are public before they are there.
  _components._memory->public_map()->set_blocks(head, LullGeometry::blocks_for(words), true);
  return LullGeometry::start_of(head);
}

// ---- Collection

void LullHeap::collect(GCCause::Cause cause) {
  assert(!Thread::current()->is_VM_thread(), "who is at a safepoint has do_full_collection()");
  _components._driver->collect(cause);
}

// As where G1 begins a cycle: metaspace grows meanwhile. When it can not, it is emptied at once.
MetaWord* LullHeap::satisfy_failed_metadata_allocation(ClassLoaderData* loader_data, size_t words,
                                                       Metaspace::MetadataType type) {
  if (_components._driver->unload_by_cycle(GCCause::_metadata_GC_threshold)) {
    MetaWord* const result = loader_data->metaspace_non_null()->expand_and_allocate(words, type);
    if (result != nullptr) {
      return result;
    }
  }
  return CollectedHeap::satisfy_failed_metadata_allocation(loader_data, words, type);
}

// By the VM thread, for who has executed a VM operation.
void LullHeap::do_full_collection(bool clear_all_soft_refs) {
  assert_at_safepoint();
  const bool makes_room = gc_cause() == GCCause::_heap_budget && LullHeapBudget::makes_room();
  _components._pause->collect_as_asked(makes_room, clear_all_soft_refs);
}

void LullHeap::pin_object(JavaThread* thread, oop obj) {
  assert(Thread::current() == thread, "a collection would not wait for this thread");
  LullBlock* const block = _components._blocks->block_of(cast_from_oop<void*>(obj));
  Atomic::inc(block->pin_count_addr());
  LullFarHeap::hold(obj);
}

void LullHeap::unpin_object(JavaThread* thread, oop obj) {
  assert(Thread::current() == thread, "who has pinned it unpins it");
  LullBlock* const block = _components._blocks->block_of(cast_from_oop<void*>(obj));
  assert(block->is_pinned(), "unpinned more often than pinned");
  LullFarHeap::release(obj);
  Atomic::dec(block->pin_count_addr());
}

bool LullHeap::requires_barriers(stackChunkOop obj) const {
  assert(is_in(obj), "not an object of this heap: " PTR_FORMAT, p2i(obj));
  return LullYoungCollections && LullTables::is_old(obj);
}

// ---- Compiled code

void LullHeap::register_nmethod(nmethod* nm) {
  _components._code->add(nm);
  if (LullTracking) {
    LullVerify::verify_new_code(nm);
  }
  if (LullYoungCollections) {
    ScavengableNMethods::register_nmethod(nm);
  }
}

// R for code: code that refers to something young is on the list of it.
void LullHeap::verify_nmethod(nmethod* nm) {
  if (LullYoungCollections) {
    ScavengableNMethods::verify_nmethod(nm);
  }
}

// ---- Walking and verification

void LullHeap::object_iterate(ObjectClosure* cl) {
  assert_at_safepoint();
  LullObjectIterator(_components._memory, 1).object_iterate(cl, 0);
}

ParallelObjectIteratorImpl* LullHeap::parallel_object_iterator(uint thread_num) {
  return new LullObjectIterator(_components._memory, thread_num);
}

void LullHeap::prepare_for_verify() {
  assert_at_safepoint();
  ensure_parsability(false /* retire TLABs */);
}

void LullHeap::verify(VerifyOption option) {
  assert_at_safepoint();
  LullVerify(_components._memory, _components._blocks, _components._supply, _components._workers,
             LullVerify::Moment::AnyTime).verify();
}

// Only the start of a large object is known.
HeapWord* LullHeap::block_start(const void* addr) const {
  const LullBlockIndex index = LullGeometry::block_of(addr);
  const LullBlockTable* const blocks = _components._blocks;
  return blocks->at(index)->is_large() ? LullGeometry::start_of(blocks->large_head_of(index)) : nullptr;
}

bool LullHeap::block_is_obj(const HeapWord* addr) const {
  return block_start(addr) == addr;
}

bool LullHeap::print_location(outputStream* st, void* addr) const {
  return BlockLocationPrinter<LullHeap>::print_location(st, addr);
}

// ---- Beans, threads, printing

GrowableArray<GCMemoryManager*> LullHeap::memory_managers() { return _components._monitoring->memory_managers(); }
GrowableArray<MemoryPool*> LullHeap::memory_pools()         { return _components._monitoring->memory_pools(); }

void LullHeap::gc_threads_do(ThreadClosure* tc) const {
  _components._workers->threads_do(tc);
  if (_components._control_thread != nullptr) {
    tc->do_thread(_components._control_thread);
  }
  if (_components._cycle != nullptr) {
    _components._cycle->threads_do(tc);
  }
}

void LullHeap::print_heap_on(outputStream* st) const {
  st->print_cr("Lull heap: total %zuK, used %zuK, maximum %zuK, [" PTR_FORMAT ", " PTR_FORMAT ")",
               capacity() / K, used() / K, max_capacity() / K, p2i(_reserved.start()), p2i(_reserved.end()));
  StreamIndentor si(st, 1);
  // HotSpot keeps the heap before and after each of the last pauses for error reports (LogEvents): no pause is to look
  // at each block for that.
  if (!is_stw_gc_active() || log_is_enabled(Debug, gc, heap) || VMError::is_error_reported()) {
    LullBlockCensus::print_states_on(st, _components._blocks);
  }
  const LullBlockSupply* const supply = _components._supply;
  st->print_cr("kept for copies: %u free, %u recyclable blocks", supply->reserve_blocks(), supply->recyclable_reserve());
}

void LullHeap::print_gc_on(outputStream* st) const {
  st->print_cr("Lull global collections: %u, young collections: %u, %u workers", total_full_collections(),
               total_collections() - total_full_collections(), _components._workers->max_workers());
}

void LullHeap::print_tracing_info() const {
  LullPublicationReport::report(_components._monitoring, true /* at exit */);
  LullLocalLog::log_rest();
  LullLocalCollector::log_total();
  LullMutator::log_medium_requests();
}
