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

#include "classfile/classLoaderDataGraph.hpp"
#include "code/codeCache.hpp"
#include "code/nmethod.hpp"
#include "compiler/oopMap.hpp"
#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullCode.hpp"
#include "gc/lull/collect/lullCollector.hpp"
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullFailedAllocation.hpp"
#include "gc/lull/drive/lullVMOperations.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/lullForeignFlags.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullHeapBudget.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/observe/lullBrokenHeap.hpp"
#include "gc/lull/observe/lullHeapExport.hpp"
#include "gc/lull/observe/lullHeapParts.hpp"
#include "gc/lull/observe/lullInfoDCmd.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/observe/lullObjectIterator.hpp"
#include "gc/lull/observe/lullPublicationReport.hpp"
#include "gc/lull/observe/lullVerify.hpp"
#include "gc/lull/observe/lullVerifyCycle.hpp"
#include "gc/lull/policy/lullPauseGoal.hpp"
#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "gc/lull/publish/lullPrivateReference.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullLocalLog.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/lull/stat/lullPublicationSamples.hpp"
#include "gc/shared/classUnloadingContext.hpp"
#include "gc/shared/gcArguments.hpp"
#include "gc/shared/gcId.hpp"
#include "gc/shared/gcInitLogger.hpp"
#include "gc/shared/gcTraceTime.inline.hpp"
#include "gc/shared/gcVMOperations.hpp"
#include "gc/shared/isGCActiveMark.hpp"
#include "gc/shared/locationPrinter.inline.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/scavengableNMethods.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "gc/shared/tlab_globals.hpp"
#include "gc/shared/workerPolicy.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/iterator.hpp"
#include "memory/metaspaceUtils.hpp"
#include "memory/universe.hpp"
#include "oops/access.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/java.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "runtime/threadSMR.hpp"
#include "runtime/vmThread.hpp"
#include "services/memoryService.hpp"
#include "utilities/vmError.hpp"

LullHeap* LullHeap::heap() {
  return named_heap<LullHeap>(CollectedHeap::Lull);
}

class LullIsYoungClosure final : public BoolObjectClosure {
public:
  bool do_object_b(oop obj) override { return !LullTables::is_old(obj); }
};

static LullIsYoungClosure is_young;

class LullHeapListener final : public LullLocalListener {
public:
  void on_local_collection() override { LullHeap::heap()->monitoring()->lower_left(); }
  void on_many_references() override  { LullHeap::heap()->control_thread()->wake(); }
};

static LullHeapListener local_listener;

class LullHeapUseListener final : public LullUseListener {
public:
  void on_use() override { LullHeap::heap()->control_thread()->wake(); }
};

static LullHeapUseListener use_listener;

LullHeap::LullHeap()
  : _memory(nullptr),
    _blocks(nullptr),
    _supply(nullptr),
    _evacuation_policy(nullptr),
    _workers(nullptr),
    _code(nullptr),
    _collector(nullptr),
    _monitoring(nullptr),
    _sizer(nullptr),
    _young_policy(nullptr),
    _pause_goal(nullptr),
    _used_at_pause(0),
    _young_due_at(SIZE_MAX),
    _tracking_switch(nullptr),
    _cycle(nullptr),
    _control_thread(nullptr),
    _thorough_collections(0) {
  // A hole needs no room for a filler at its end.
  _lab_alignment_reserve = 0;
}

// ---- Life cycle

jint LullHeap::initialize() {
  const ReservedHeapSpace space = Universe::reserve_heap(MaxHeapSize, HeapAlignment);
  initialize_reserved_region(space);
  os::trace_page_sizes("Heap", MinHeapSize, MaxHeapSize, space.base(), space.size(), space.page_size());

  LullGeometry::initialize(space.base());
  _memory = new LullMemory(space);
  if (!_memory->is_usable()) {
    vm_shutdown_during_initialization("Could not reserve address space for the tables of the Lull heap");
    return JNI_ENOMEM;
  }
  _blocks = new LullBlockTable(space.size());
  LullTables::initialize(_memory, _blocks);
  LullLocalCollector::set_listener(&local_listener);
  _supply = new LullBlockSupply(_blocks, _memory->public_map());
  _evacuation_policy = new LullEvacuationPolicy(_blocks, _supply);

  // Before any other thread is created.
  BarrierSet::set_barrier_set(new LullBarrierSet());
  _workers = new WorkerThreads("Lull Worker", ParallelGCThreads);
  _workers->initialize_workers();

  _code = new LullCode();
  _sizer = new LullHeapSizer(_memory, _blocks, _supply, _evacuation_policy, _workers);
  _young_policy = new LullYoungPolicy();
  _pause_goal = new LullPauseGoal(MaxGCPauseMillis);
  _supply->set_listener(&use_listener);
  _tracking_switch = new LullTrackingSwitch();
  ScavengableNMethods::initialize(&is_young);
  if (!_sizer->commit_initial()) {
    vm_shutdown_during_initialization("Could not commit the initial heap: use a smaller -Xms");
    return JNI_ENOMEM;
  }

  if (LullPublicationSampling > 0) {
    LullPublicationSamples::initialize();
  }
  _monitoring = new LullMonitoring(this);
  GCInitLogger::print();
  LullForeignFlags::log();
  return JNI_OK;
}

void LullHeap::post_initialize() {
  CollectedHeap::post_initialize();
  LullThreadFields::initialize();
  LullPrivateReference::initialize();
  if (LullConcurrentMarking) {
    _cycle = new LullCycle(_memory, _blocks, _supply, _workers->max_workers());
    LullInfoDCmd::set_cycle(_cycle);
  }
  _collector = new LullCollector(_code, _monitoring->pause_progress(), _memory, _blocks, _supply, _evacuation_policy, _workers,
                                 _cycle);
  if (_cycle != nullptr) {
    _cycle->start_thread();
  }
  _control_thread = new LullControlThread(this);
  if (_control_thread->osthread() == nullptr) {
    vm_exit_during_initialization("The control thread of Lull could not be started: "
                                  "the system is out of threads or memory.");
  }
  plan_young();
}

void LullHeap::stop() {
  if (_cycle != nullptr) {
    _cycle->stop_thread();
  }
  if (_control_thread != nullptr) {
    _control_thread->stop();
  }
}

void LullHeap::initialize_serviceability() {
  _monitoring->initialize_serviceability();
  LullInfoDCmd::register_command(_monitoring, _tracking_switch);
  LullHeapExport::register_command();
}

void LullHeap::safepoint_synchronize_begin() {
  if (UseStringDeduplication || LullConcurrentMarking) {
    SuspendibleThreadSet::synchronize();
  }
}

void LullHeap::safepoint_synchronize_end() {
  if (UseStringDeduplication || LullConcurrentMarking) {
    SuspendibleThreadSet::desynchronize();
  }
}

// ---- Size

size_t LullHeap::max_capacity() const { return _memory->max_capacity(); }
size_t LullHeap::capacity() const     { return _memory->capacity(); }
size_t LullHeap::used() const         { return _supply->used_bytes(); }

size_t LullHeap::least_capacity() const { return _sizer->may_shrink() ? MinHeapSize : capacity(); }

size_t LullHeap::unused_bytes() const { return (size_t)_supply->free_blocks() * LullGeometry::BlockSize; }

// What is in use is read first: a heap that grows in between must not show more in use than committed.
MemoryUsage LullHeap::memory_usage() {
  const LullHeapParts parts = _monitoring->heap_parts();
  return MemoryUsage(InitialHeapSize, parts.old_used() + parts.new_used(), parts.committed(), max_capacity());
}

bool LullHeap::is_in(const void* p) const {
  return _memory->is_committed(p);
}

// ---- Allocation

LullAllocator* LullHeap::allocator(Thread* thread) {
  LullAllocator* allocator = LullThreadLocalData::allocator(thread);
  if (allocator == nullptr) {
    allocator = new LullAllocator(_supply, _blocks, LullReserveUse::Keep, LullThreadLocalData::owner(thread),
                                  LullTracking ? _memory->public_map() : nullptr);
    allocator->set_born_public(LullThreadLocalData::is_public_mode(thread));
    LullThreadLocalData::set_allocator(thread, allocator);
  }
  return allocator;
}

HeapWord* LullHeap::allocate_large(Thread* thread, size_t words, LullReserveUse use) {
  const size_t blocks = LullGeometry::blocks_for(words);
  LullBlockIndex head;
  if (blocks > _blocks->count() || !_supply->take_large((uint32_t)blocks, use, &head)) {
    return nullptr;
  }
  _blocks->at(head)->set_large_words(words);
  _supply->add_slack(_blocks->at(head)->slack_lines());
  if (LullTracking) {
    const bool is_public = LullThreadLocalData::is_public_mode(thread) && !LullPublicMap::is_tracking_suspended();
    _memory->public_map()->set_blocks(head, blocks, is_public);
    LullPublisher::of(thread)->count_allocated(blocks * LullGeometry::BlockSize);
    allocator(thread)->own_large(head, blocks);
  }
  return LullGeometry::start_of(head);
}

// Counts what the thread's allocator has given since.
void LullHeap::count_allocated(Thread* thread, size_t before) {
  if (LullTracking) {
    LullPublisher::of(thread)->count_allocated(allocator(thread)->allocated() - before);
  }
}

HeapWord* LullHeap::allocate_without_collection(Thread* thread, size_t words) {
  if (LullGeometry::is_large(words)) {
    return allocate_large(thread, words, LullReserveUse::Keep);
  }
  const size_t before = allocator(thread)->allocated();
  HeapWord* const result = allocator(thread)->allocate(words);
  count_allocated(thread, before);
  return result;
}

HeapWord* LullHeap::allocate_at_safepoint(Thread* thread, size_t words, LullReserveUse use) {
  assert_at_safepoint();
  if (LullGeometry::is_large(words)) {
    return allocate_large(thread, words, use);
  }
  const size_t before = allocator(thread)->allocated();
  HeapWord* const result = allocator(thread)->allocate_at_safepoint(words, use);
  count_allocated(thread, before);
  return result;
}

// nullptr if the thread does not collect by itself.
LullLocalCollector* LullHeap::local_collector(Thread* thread) {
  if (!LullLocalCollections || !thread->is_Java_thread()) {
    return nullptr;
  }
  LullLocalCollector* collector = LullThreadLocalData::local_collector(thread);
  if (collector == nullptr) {
    collector = new LullLocalCollector(JavaThread::cast(thread), allocator(thread));
    LullThreadLocalData::set_local_collector(thread, collector, &collector->statistics());
    LullThreadFields::create_root(JavaThread::cast(thread));
  }
  return collector;
}

// What a cycle has left to be swept may be what is lacking. The thread may stop for a pause after it. False: nothing is
// left that it could do.
bool LullHeap::help_to_sweep(Thread* thread) {
  if (_cycle == nullptr || !thread->is_Java_thread() || !_cycle->later_sweep()->sweep_some()) {
    return false;
  }
  ThreadBlockInVM safepoint_may_begin(JavaThread::cast(thread));
  return true;
}

// The same by all workers, of so many blocks.
bool LullHeap::sweep_more_at_safepoint(size_t blocks) {
  return _cycle != nullptr && _cycle->later_sweep()->sweep_more(_workers, blocks);
}

HeapWord* LullHeap::mem_allocate(size_t words, bool* gc_overhead_limit_was_exceeded) {
  *gc_overhead_limit_was_exceeded = false;
  Thread* const thread = Thread::current();
  if (LullTracking && !UseTLAB) {
    LullPublisher::of(thread)->choose_mode();   // nobody asks for a TLAB, where it is chosen else
  }
  LullLocalCollector* const local_collector = this->local_collector(thread);
  if (local_collector != nullptr) {
    local_collector->collect_if_due();
  }
  for (uint attempt = 1; ; attempt++) {
    HeapWord* result = allocate_without_collection(thread, words);
    if (result != nullptr) {
      return result;
    }
    if (help_to_sweep(thread)) {
      continue;
    }
    if (local_collector != nullptr && local_collector->collect_before_global()) {
      continue;
    }
    uint collections_before;
    {
      MutexLocker ml(Heap_lock);
      // Another thread's collection may have ended meanwhile.
      result = allocate_without_collection(thread, words);
      if (result != nullptr) {
        return result;
      }
      collections_before = total_collections();
    }
    VM_LullCollectForAllocation op(words, collections_before);
    VMThread::execute(&op);
    if (op.gc_succeeded()) {
      *gc_overhead_limit_was_exceeded = op.result() == nullptr && _sizer->overhead_limit_exceeded();
      return op.result();
    }
    if (QueuedAllocationWarningCount > 0 && attempt % QueuedAllocationWarningCount == 0) {
      log_warning(gc, ergo)("Thread \"%s\" has tried %u times to allocate %zu words", thread->name(), attempt, words);
    }
  }
}

// Never collects: if there is no hole, the object is allocated outside of a TLAB, and
// that collects.
HeapWord* LullHeap::allocate_new_tlab(size_t min_words, size_t requested_words, size_t* actual_words) {
  if (LullGeometry::is_large(min_words)) {
    return nullptr;
  }
  Thread* const thread = Thread::current();
  if (LullTracking) {
    LullPublisher::of(thread)->choose_mode();
    LullLocalCollector* const local_collector = this->local_collector(thread);
    if (local_collector != nullptr) {
      local_collector->collect_if_due();
    }
  }
  const size_t before = allocator(thread)->allocated();
  HeapWord* const tlab = allocator(thread)->allocate_tlab(min_words, actual_words);
  count_allocated(thread, before);
  return tlab;
}

size_t LullHeap::tlab_capacity(Thread* thread) const        { return capacity(); }
size_t LullHeap::tlab_used(Thread* thread) const            { return used(); }
size_t LullHeap::max_tlab_size() const                      { return LullGeometry::WordsPerBlock; }
size_t LullHeap::unsafe_max_tlab_alloc(Thread* thread) const { return LullGeometry::BlockSize; }

// At a safepoint, for a thread that found no memory.
HeapWord* LullHeap::collect_and_allocate(Thread* thread, size_t words) {
  LullFailedAllocation failed(this, _supply, _sizer, _young_policy, thread, words);
  HeapWord* const result = failed.collect_and_allocate();
  _sizer->record_allocation_at_safepoint();
  return result;
}

// ---- Collection

bool LullHeap::must_clear_soft_references() const {
  return _gc_cause == GCCause::_metadata_GC_clear_soft_refs ||
         _gc_cause == GCCause::_wb_full_gc;
}

// Until a cycle has ended that has begun after now: an older one may have marked what is dead now. A global collection
// that comes instead is as good. What is private to the caller is its own to collect; what others have stays private.
void LullHeap::collect_by_cycle(GCCause::Cause cause) {
  if (LullLocalCollections) {
    local_collector(Thread::current())->collect_as_asked();
  }
  const size_t begun_before = _cycle->begun();
  while (_cycle->ended() <= begun_before) {
    const size_t ended_before = _cycle->ended();
    _cycle->drive(cause);
    collect_early(cause, LullExtent::Young);
    _control_thread->wake();
    _cycle->wait_for_end(ended_before);
  }
}

// A test wants a cycle to begin, and does not wait for it.
void LullHeap::begin_cycle() {
  _cycle->drive(GCCause::_wb_breakpoint);
  collect_early(GCCause::_wb_breakpoint, LullExtent::Young);
  _control_thread->wake();
}

void LullHeap::collect(GCCause::Cause cause) {
  assert(!Heap_lock->owned_by_self(), "this thread should not own the Heap_lock");
  if (cause == GCCause::_wb_breakpoint) {
    begin_cycle();
    return;
  }
  const bool is_system_gc = cause == GCCause::_java_lang_system_gc || cause == GCCause::_dcmd_gc_run;
  if (_cycle != nullptr && is_system_gc && ExplicitGCInvokesConcurrent) {
    collect_by_cycle(cause);
    return;
  }
  const uint thorough_before = Atomic::load(&_thorough_collections);
  bool done;
  do {
    uint collections_before;
    uint full_collections_before;
    {
      MutexLocker ml(Heap_lock);
      collections_before = total_collections();
      full_collections_before = total_full_collections();
    }
    VM_LullCollect op(collections_before, full_collections_before, cause);
    VMThread::execute(&op);
    // Left out, if another one came first: that is as good only if somebody has asked for that, too.
    done = op.gc_succeeded() || Atomic::load(&_thorough_collections) != thorough_before;
  } while (!done);
}

uint LullHeap::collections_so_far() const {
  MutexLocker ml(Heap_lock);
  return total_collections();
}

bool LullHeap::collect_early(GCCause::Cause cause, LullExtent extent) {
  return collect_early(cause, extent, collections_so_far());
}

bool LullHeap::collect_early(GCCause::Cause cause, LullExtent extent, uint collections_before) {
  VM_LullCollectEarly op(collections_before, cause, extent);
  VMThread::execute(&op);
  return op.gc_succeeded();
}

// Private objects stay private but those of threads whose private references wait for it; an idle program's need not.
void LullHeap::collect_early_at_safepoint(LullExtent extent) {
  if (extent == LullExtent::Slide) {
    collect_at_safepoint(LullEvacuationRequest::slide(), false /* clear soft references */);
  } else if (extent == LullExtent::Global || !LullYoungCollections) {
    collect_at_safepoint(LullEvacuationRequest::normal(), false /* clear soft references */);
  } else {
    const bool keep_private = gc_cause() != GCCause::_lull_idle;
    collect_young_at_safepoint(keep_private && !_tracking_switch->publishes_all());
  }
}

void LullHeap::give_back(size_t bytes) {
  VM_LullGiveBack op(collections_so_far(), bytes);
  VMThread::execute(&op);
}

void LullHeap::give_back_at_safepoint(size_t bytes) {
  _sizer->give_back(bytes);
}

void LullHeap::do_full_collection(bool clear_all_soft_refs) {
  if (LullYoungCollections && _gc_cause == GCCause::_wb_young_gc) {
    collect_young_at_safepoint(!_tracking_switch->publishes_all());
    return;
  }
  const bool makes_room = _gc_cause == GCCause::_heap_budget && LullHeapBudget::makes_room();
  collect_at_safepoint(makes_room ? LullEvacuationRequest::slide() : LullEvacuationRequest::normal(),
                       clear_all_soft_refs || must_clear_soft_references());
}

// Whoever asks for a collection by name, or is at the end of all memory, gets all that there is: weak
// references to what is private are cleared, and all may move; objects that survive then are
// public. And code is unloaded that is not in use.
bool LullHeap::is_routine(const LullEvacuationRequest& request, bool clear_soft_references) const {
  const bool asked_for = _gc_cause != GCCause::_allocation_failure && _gc_cause != GCCause::_lull_references;
  return !asked_for && !clear_soft_references &&
         !request.is_compact() && !LullCollector::must_slide(request);
}

// What an idle thread has is old, and would only keep its block from others. Where memory is not what lacks, only what
// private references wait for has to become public.
bool LullHeap::may_keep_private(const LullLocalCollector* collector) const {
  if (collector == nullptr) {
    return false;
  }
  const bool early = _gc_cause == GCCause::_lull_references || _gc_cause == GCCause::_lull_pause_goal;
  return early ? !collector->keeps_references() : !collector->is_idle();
}

// Allocation buffers are retired.
void LullHeap::begin_collection_of_allocators(bool keep_private) {
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    if (allocator != nullptr) {
      allocator->begin_global_collection(keep_private && may_keep_private(LullThreadLocalData::local_collector(thread)));
    }
  }
}

void LullHeap::end_collection_of_allocators() {
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

// Each hole that becomes an allocation buffer costs a call into the VM with all that is cold behind it, about a microsecond: more for each
// object in a short hole than the object itself. Where all objects are public, what is left alone is not lost, for its neighbours die, too, and
// it is part of a longer hole later: with PublicMinHoleLines, H2 and CRUD refill a fifth as often as with two, and collect as often
// (docs/design/heap.md). Where threads have private objects they find holes themselves every few hundred KB, and what they cannot use of their
// blocks nobody else can: the compiler as a service collected five times as often. And where memory is scarce, each hole counts.
void LullHeap::choose_min_hole_lines(bool is_routine) {
  const uint PublicMinHoleLines = 16;
  const bool all_public = !LullTracking || LullPublicMap::is_tracking_suspended();
  const bool scarce = !is_routine || _sizer->was_useless();
  const uint lines = LullAdaptiveHoles && all_public && !scarce ? PublicMinHoleLines : LullBlockSupply::MinHoleLines;
  if (lines != _supply->min_hole_lines()) {
    log_debug(gc, heap)("Least hole for allocation: %u lines, before %u (%s)", lines, _supply->min_hole_lines(),
                        lines > LullBlockSupply::MinHoleLines ? "all objects are public" : scarce ? "each hole counts after this collection" : "threads have private objects");
  }
  _supply->set_min_hole_lines(lines);
}

// What tells the pauses of one kind of collection from those of the other. Programs that read logs know "Pause Young"
// and "Pause Full", those that get notifications "end of minor GC" and "end of major GC": a global collection is what
// other collectors call full, or major.
struct LullPauseKind {
  const char*              _title;
  const char*              _end_message;   // of the memory manager's notification
  bool                     _is_full;
  bool                     _ends_cycle;    // of concurrent marking
  SvcGCMarker::reason_type _reason;
  GCTracer*                _tracer;
  CollectorCounters*       _counters;
  GCMemoryManager*         _manager;
  LullPauses*              _pauses;
};

// At the end of each pause, and at start-up: when the next one is due, though there is memory. Without cycles the next one may be a global
// collection, which an early one would not make shorter.
void LullHeap::plan_young() {
  _used_at_pause = used();
  const size_t budget = _cycle != nullptr && _control_thread != nullptr ? _pause_goal->budget() : SIZE_MAX;
  const size_t due_at = budget == SIZE_MAX ? SIZE_MAX : _used_at_pause + budget;
  Atomic::store(&_young_due_at, due_at);
  _supply->set_notification(due_at);
  if (budget != SIZE_MAX) {
    log_debug(gc, ergo)("Pause goal: a young pause is due after %zuM more", budget / M);
  }
}

bool LullHeap::is_young_due() {
  const size_t due_at = Atomic::load(&_young_due_at);
  if (used() > due_at) {
    return true;
  }
  _supply->renew_notification(due_at);
  return false;
}

// What a pause is for those who look at it from outside, with what collect() does in its middle. Verified before and after.
template <typename Collect>
void LullHeap::pause(const LullPauseKind& kind, Collect collect) {
  assert_at_safepoint();
  IsSTWGCActiveMark active_mark;
  _monitoring->pause_progress()->begin(kind._is_full, used());    // before agents are told
  SvcGCMarker svc_marker(kind._reason);
  GCIdMark gc_id_mark;
  GCTraceCPUTime tcpu(kind._tracer);
  GCTraceTime(Info, gc) t(kind._title, nullptr, gc_cause(), true);
  TraceCollectorStats tcs(kind._counters);
  TraceMemoryManagerStats tms(kind._manager, gc_cause(), kind._end_message);

  print_before_gc();
  increment_total_collections(kind._is_full);
  const bool should_verify = total_collections() >= VerifyGCStartAt;
  if (should_verify && VerifyBeforeGC) {
    prepare_for_verify();
    Universe::verify("Before GC");
  }
  verify_before_collection();
  _workers->set_active_workers(WorkerPolicy::calc_active_workers(_workers->max_workers(),
                                                                 _workers->active_workers(),
                                                                 Threads::number_of_non_daemon_threads()));
  STWGCTimer* const timer = _collector->timer();
  timer->register_gc_start();
  kind._tracer->report_gc_start(gc_cause(), timer->gc_start());
  trace_heap_before_gc(kind._tracer);

  const size_t used_before = used();
  const jlong start = os::javaTimeNanos();
  collect();
  const jlong end = os::javaTimeNanos();
  kind._pauses->add(gc_cause(), start, end, used_before, used());
  if (!kind._ends_cycle) {
    _pause_goal->record_young(end - start, _collector->young_mark_ns(), _collector->marked_bytes(),
                              _collector->private_bytes(), used_before - MIN2(_used_at_pause, used_before));
  }
  plan_young();
  _monitoring->record_left();
  // What was asked for is none of tracking's costs. That references need pauses of their own is.
  const bool is_cost = gc_cause() == GCCause::_allocation_failure || gc_cause() == GCCause::_lull_references ||
                       gc_cause() == GCCause::_lull_pause_goal;
  _tracking_switch->end_collection(is_cost ? end - start : 0, gc_cause() == GCCause::_lull_references);

  update_capacity_and_used_at_gc();
  resize_all_tlabs();
  trace_heap_after_gc(kind._tracer);
  timer->register_gc_end();
  kind._tracer->report_gc_end(timer->gc_end(), timer->time_partitions());

  log_info(gc, heap)("Used: %zuK, of it %zuK of slack, in which nothing lies and that nobody gets",
                     used() / K, _supply->slack_bytes() / K);
  if (_cycle != nullptr) {
    _cycle->end_pause(kind._ends_cycle, used(), capacity(), _monitoring->pause_progress()->expected_global_ns(used()));
  }
  verify_after_collection(should_verify && VerifyAfterGC);
  _monitoring->update_counters();
  if (_control_thread != nullptr) {
    _control_thread->record_pause(kind._ends_cycle, _collector->cleared_references());
  }
  report_publication(false /* at exit */);
  LullLocalCollector::log_total();
  print_after_gc();
  _monitoring->pause_progress()->end(used(), end - start);
}

void LullHeap::collect_at_safepoint(const LullEvacuationRequest& request, bool clear_soft_references) {
  const LullPauseKind kind = { "Pause Full", "end of major GC", true, true, SvcGCMarker::FULL,
                               _collector->tracer(), _monitoring->collector_counters(), _monitoring->global_manager(),
                               _monitoring->global_pauses() };
  pause(kind, [&]() {
    ClearedAllSoftRefs cleared(clear_soft_references, soft_ref_policy());
    const MetaspaceCombinedStats metaspace_before = MetaspaceUtils::get_combined_statistics();
    const size_t used_before = used();
    const jlong start = os::javaTimeNanos();
    const bool routine = is_routine(request, clear_soft_references);
    if (!routine) {
      Atomic::store(&_thorough_collections, _thorough_collections + 1);
    }
    choose_min_hole_lines(routine);
    ensure_parsability(true /* retire TLABs */);
    const bool keep_private = LullLocalCollections && routine && !_tracking_switch->publishes_all();
    begin_collection_of_allocators(keep_private);
    CodeCache::on_gc_marking_cycle_start();
    ClassUnloadingContext unloading_context(_workers->active_workers(),
                                            false /* unregister while purging */,
                                            false /* lock while freeing */);
    pre_full_gc_dump(_collector->timer());

    // Not before the dump and the histogram above: they visit frames too, and a derived
    // pointer is to be recorded once.
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::clear());
    _collector->collect(request, clear_soft_references, !routine);
    end_collection_of_allocators();
    _supply->rebuild();

    // Everything has moved that will move.
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::update_pointers());
    CodeCache::on_gc_marking_cycle_finish();
    CodeCache::arm_all_nmethods();
    // Purging forgets mirrors of classes that were never published, which have been marked.
    LullHeapExport::write_if_asked(_memory, gc_cause());
    ClassLoaderDataGraph::purge(true /* at safepoint */);
    DEBUG_ONLY(MetaspaceUtils::verify();)
    ClassLoaderDataGraph::clear_claimed_marks();
    MetaspaceGC::compute_new_size();

    const jlong end = os::javaTimeNanos();
    _sizer->record_collection(gc_cause(), {start, end, used_before, used()});
    _young_policy->record_global(end - start, used_before - MIN2(used_before, used()));
    _sizer->resize(gc_cause(), end);
    record_whole_heap_examined_timestamp();

    AlwaysTrueClosure always_true;    // only what can be reached is counted
    _collector->tracer()->report_object_count_after_gc(&always_true, nullptr);
    post_full_gc_dump(_collector->timer());
    MetaspaceUtils::print_metaspace_change(metaspace_before);
  });
}

// Private objects stay private. The reserve for copies stays one, too: without it the
// next global collection could not evacuate, and holes would get smaller from cycle to cycle.
void LullHeap::collect_young_at_safepoint(bool keep_private) {
  if (_cycle != nullptr && _cycle->must_remark()) {
    remark_at_safepoint(keep_private);
    return;
  }
  const LullPauseKind kind = { "Pause Young", "end of minor GC", false, false, SvcGCMarker::MINOR,
                               _collector->young_tracer(), _monitoring->young_collector_counters(), _monitoring->young_manager(),
                               _monitoring->young_pauses() };
  pause(kind, [&]() {
    const size_t used_before = used();
    const jlong start = os::javaTimeNanos();
    choose_min_hole_lines(true);
    ensure_parsability(true /* retire TLABs */);
    begin_collection_of_allocators(keep_private);
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::clear());
    _collector->collect_young();
    end_collection_of_allocators();
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::update_pointers());
    ClassLoaderDataGraph::clear_claimed_marks();

    const jlong end = os::javaTimeNanos();
    if (LullSizePolicy::is_asked_for(gc_cause())) {
      // It was not for memory: it says nothing of what the heap needs, or of whether the next one pays.
      _sizer->update_reserve();
    } else if (gc_cause() == GCCause::_lull_pause_goal) {
      _sizer->record_early({start, end, used_before, used()});
      _young_policy->record_early(end - start, used_before - MIN2(used_before, used()));
    } else {
      _sizer->record_young_collection({start, end, used_before, used()});
      _young_policy->record_young(end - start, used_before - MIN2(used_before, used()));
    }
  });
}

// A young pause, after which nothing is young, and old garbage is free. It stands for a global collection, but that
// nothing old moves and nothing is unloaded.
void LullHeap::remark_at_safepoint(bool keep_private) {
  const LullPauseKind kind = { "Pause Remark", "end of minor GC", false, true, SvcGCMarker::MINOR,
                               _collector->young_tracer(), _monitoring->young_collector_counters(), _monitoring->young_manager(),
                               _monitoring->young_pauses() };
  pause(kind, [&]() {
    const size_t used_before = used();
    const jlong start = os::javaTimeNanos();
    choose_min_hole_lines(true);
    ensure_parsability(true /* retire TLABs */);
    begin_collection_of_allocators(keep_private);
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::clear());
    _collector->remark();
    end_collection_of_allocators();
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::update_pointers());
    ClassLoaderDataGraph::clear_claimed_marks();

    const jlong end = os::javaTimeNanos();
    _sizer->record_collection(gc_cause(), {start, end, used_before, used()});
    // What the markers have done counts: else a good remark would make each young pause after it look vain.
    _young_policy->record_global(end - start + _cycle->mark_ns(_workers->active_workers()),
                                 used_before - MIN2(used_before, used()));
    _sizer->resize(gc_cause(), end);
    record_whole_heap_examined_timestamp();
    _monitoring->pause_progress()->end_cycle(used());
  });
}

// P and R hold now because of the barriers.
void LullHeap::verify_before_collection() const {
  if (!LullVerifyHeap) {
    return;
  }
  DEBUG_ONLY(LullBrokenHeap::break_if_asked(_memory, _blocks, _supply, true /* before collection */);)
  const LullVerify verify(_memory, _blocks, _supply, _workers, LullVerify::Moment::BeforeCollection);
  verify.verify_holes();
  if (LullTracking) {
    GCTraceTime(Debug, gc, verify) tm("Verify publication");
    verify.verify_publication();
  }
}

void LullHeap::verify_after_collection(bool by_flag) {
  if (by_flag) {
    Universe::verify("After GC");
  }
  if (LullVerifyHeap) {
    GCTraceTime(Debug, gc, verify) tm("Verify");
    DEBUG_ONLY(LullBrokenHeap::break_if_asked(_memory, _blocks, _supply, false /* before collection */);)
    LullVerify(_memory, _blocks, _supply, _workers, LullVerify::Moment::AfterCollection).verify();
    if (_cycle != nullptr) {
      LullVerifyCycle::verify_swept(_cycle, _memory, _blocks, _workers);
    }
    if (_cycle != nullptr && _cycle->is_marking()) {
      LullVerifyCycle::verify_black(_cycle, _memory, _blocks, _workers);
    }
  }
}

void LullHeap::pin_object(JavaThread* thread, oop obj) {
  assert(Thread::current() == thread, "a collection would not wait for this thread");
  Atomic::inc(_blocks->block_of(cast_from_oop<void*>(obj))->pin_count_addr());
}

void LullHeap::unpin_object(JavaThread* thread, oop obj) {
  assert(_blocks->block_of(cast_from_oop<void*>(obj))->is_pinned(), "unpinned more often than pinned");
  Atomic::dec(_blocks->block_of(cast_from_oop<void*>(obj))->pin_count_addr());
}

// ---- Walking and verification

void LullHeap::object_iterate(ObjectClosure* cl) {
  assert_at_safepoint();
  LullObjectIterator(_memory, 1).object_iterate(cl, 0);
}

ParallelObjectIteratorImpl* LullHeap::parallel_object_iterator(uint thread_num) {
  return new LullObjectIterator(_memory, thread_num);
}

void LullHeap::prepare_for_verify() {
  ensure_parsability(false /* retire TLABs */);
}

void LullHeap::verify(VerifyOption option) {
  LullVerify(_memory, _blocks, _supply, _workers, LullVerify::Moment::AnyTime).verify();
}

// Only the start of a large object is known.
HeapWord* LullHeap::block_start(const void* addr) const {
  const LullBlockIndex index = LullGeometry::block_of(addr);
  return _blocks->at(index)->is_large() ? LullGeometry::start_of(_blocks->large_head_of(index)) : nullptr;
}

bool LullHeap::block_is_obj(const HeapWord* addr) const {
  return block_start(addr) == addr;
}

// ---- Publication

bool LullHeap::requires_barriers(stackChunkOop obj) const {
  return LullYoungCollections && LullTables::is_old(obj);
}

class LullCodeIsPublicClosure final : public OopClosure {
private:
  const LullPublicMap* const _map;
  const nmethod* const       _nm;

public:
  LullCodeIsPublicClosure(const LullPublicMap* map, const nmethod* nm) : _map(map), _nm(nm) {}

  void do_oop(oop* p) override {
    const oop obj = RawAccess<>::oop_load(p);
    guarantee(obj == nullptr || _map->is_public(obj),
              "P: code " PTR_FORMAT " refers to private object " PTR_FORMAT, p2i(_nm), p2i(obj));
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
};

// Any thread may run the code. A compiler reaches public objects only, so there is
// nothing to publish: a private one has come by a store without a barrier.
void LullHeap::register_nmethod(nmethod* nm) {
  _code->add(nm);
  if (LullTracking) {
    LullCodeIsPublicClosure cl(_memory->public_map(), nm);
    nm->oops_do(&cl);
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

void LullHeap::report_publication(bool at_exit) const {
  if (LullTracking) {
    const LullPublicationStatistics total = LullPublisher::total();
    _monitoring->update_publication_counters(total);
    if (at_exit) {
      LullPublicationReport::log_at_exit(total);
    } else {
      LullPublicationReport::log_after_collection(total);
    }
  }
}

// ---- CDS

HeapWord* LullHeap::allocate_loaded_archive_space(size_t words) {
  LullBlockIndex head;
  if (!_supply->take_archive((uint32_t)LullGeometry::blocks_for(words), &head)) {
    return nullptr;
  }
  // Its objects are public before they are there.
  _memory->public_map()->set_blocks(head, LullGeometry::blocks_for(words), true);
  return LullGeometry::start_of(head);
}

// ---- Beans, threads, printing

GrowableArray<GCMemoryManager*> LullHeap::memory_managers() {
  GrowableArray<GCMemoryManager*> managers(3);
  managers.append(_monitoring->global_manager());
  if (LullYoungCollections) {
    managers.append(_monitoring->young_manager());
  }
  if (LullLocalCollections) {
    managers.append(_monitoring->local_manager());
  }
  return managers;
}

GrowableArray<MemoryPool*> LullHeap::memory_pools() {
  GrowableArray<MemoryPool*> pools(2);
  pools.append(_monitoring->new_pool());
  pools.append(_monitoring->old_pool());
  return pools;
}

void LullHeap::gc_threads_do(ThreadClosure* tc) const {
  _workers->threads_do(tc);
  if (_control_thread != nullptr) {
    tc->do_thread(_control_thread);
  }
  if (_cycle != nullptr) {
    _cycle->threads_do(tc);
  }
}

// How many blocks are in which state. Others may allocate meanwhile, and in an error report a lock may be the crashed thread's: so runs are
// counted here, too.
static void print_blocks_on(outputStream* st, const LullBlockTable* blocks) {
  size_t blocks_in[(int)LullBlockState::Archive + 1] = {};
  size_t free_run = 0;
  size_t longest_free_run = 0;
  size_t large_slack = 0;
  size_t hole_slack = 0;
  for (uint32_t i = 0; i < blocks->limit(); i++) {
    const LullBlock* const block = blocks->at(to_block_index(i));
    const LullBlockState state = block->state();
    blocks_in[(int)state]++;
    (state == LullBlockState::LargeHead ? large_slack : hole_slack) += block->slack_lines();
    free_run = state == LullBlockState::Free ? free_run + 1 : 0;
    longest_free_run = MAX2(longest_free_run, free_run);
  }
  st->print("blocks of %zuK:", LullGeometry::BlockSize / K);
  for (int state = (int)LullBlockState::Free; state <= (int)LullBlockState::Archive; state++) {
    st->print(" %zu %s%s", blocks_in[state], to_string((LullBlockState)state),
              state < (int)LullBlockState::Archive ? "," : "");
  }
  st->cr();
  st->print_cr("longest free run: %zuK", longest_free_run * LullGeometry::BlockSize / K);
  st->print_cr("of what is used hold nothing: %zuK behind the ends of large objects, %zuK in holes that are too short",
               large_slack * LullGeometry::LineSize / K, hole_slack * LullGeometry::LineSize / K);
}

void LullHeap::print_heap_on(outputStream* st) const {
  st->print_cr("Lull heap: total %zuK, used %zuK, maximum %zuK, [" PTR_FORMAT ", " PTR_FORMAT ")",
               capacity() / K, used() / K, max_capacity() / K, p2i(_reserved.start()), p2i(_reserved.end()));
  StreamIndentor si(st, 1);
  // HotSpot keeps the heap before and after each of the last pauses for error reports (LogEvents): no pause is to look at each block
  // for that.
  if (!is_stw_gc_active() || log_is_enabled(Debug, gc, heap) || VMError::is_error_reported()) {
    print_blocks_on(st, _blocks);
  }
  st->print_cr("kept for copies: %u free, %u recyclable blocks", _supply->reserve_blocks(), _supply->recyclable_reserve());
}

void LullHeap::print_gc_on(outputStream* st) const {
  st->print_cr("Lull global collections: %u, young collections: %u, %u workers", total_full_collections(),
               total_collections() - total_full_collections(), _workers->max_workers());
}

void LullHeap::log_medium_requests() const {
  LullMediumRequests total = LullAllocator::released_medium_requests();
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    if (allocator != nullptr) {
      total.add(allocator->medium_requests());
    }
  }
  log_info(gc, lull)("Objects of more than a line that did not fit the hole in use: %zu got a hole that fits, %zu a free block",
                     total._in_holes, total._in_blocks);
}

void LullHeap::print_tracing_info() const {
  report_publication(true /* at exit */);
  LullLocalLog::log_rest();
  LullLocalCollector::log_total();
  log_medium_requests();
}

bool LullHeap::print_location(outputStream* st, void* addr) const {
  return BlockLocationPrinter<LullHeap>::print_location(st, addr);
}
