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
#include "classfile/systemDictionary.hpp"
#include "code/codeCache.hpp"
#include "compiler/oopMap.hpp"
#include "gc/lull/collect/lullClassRoots.hpp"
#include "gc/lull/collect/lullCode.hpp"
#include "gc/lull/collect/lullCodeTasks.hpp"
#include "gc/lull/collect/lullCollector.hpp"
#include "gc/lull/collect/lullFlip.hpp"
#include "gc/lull/collect/lullMarkWorker.inline.hpp"
#include "gc/lull/collect/lullSlidingCompaction.hpp"
#include "gc/lull/collect/lullStrongRoots.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/collect/lullUnloadingCheck.hpp"
#include "gc/lull/collect/lullUpdate.inline.hpp"
#include "gc/lull/collect/lullYoungRoots.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/shared/classUnloadingContext.hpp"
#include "gc/shared/gcTraceTime.inline.hpp"
#include "gc/shared/referenceProcessor.inline.hpp"
#include "gc/shared/referenceProcessorPhaseTimes.hpp"
#include "gc/shared/scavengableNMethods.hpp"
#include "gc/shared/strongRootsScope.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "gc/shared/weakProcessor.inline.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "memory/universe.hpp"
#include "oops/access.inline.hpp"
#include "runtime/safepoint.hpp"

bool LullIsAliveClosure::do_object_b(oop obj) {
  return _mark_bitmap->is_marked(obj) ||
         (_blocks->is_evacuated(obj) && obj->is_forwarded());
}

LullCollector::LullCollector(LullCode* code, LullPauseProgress* progress, LullMemory* memory, LullBlockTable* blocks,
                             LullBlockSupply* supply, LullEvacuationPolicy* evacuation_policy, WorkerThreads* workers,
                             LullCycle* cycle)
  : _code(code),
    _progress(progress),
    _memory(memory),
    _blocks(blocks),
    _supply(supply),
    _evacuation_policy(evacuation_policy),
    _workers(workers),
    _queues(workers->max_workers()),
    _array_states(workers->max_workers()),
    _always_true(),
    _is_alive(blocks, memory->mark_bitmap()),
    _reference_processor(new ReferenceProcessor(&_always_true,
                                                workers->max_workers(),   // processing threads
                                                workers->max_workers(),   // discovering threads
                                                false,                    // discovery is not concurrent
                                                &_is_alive)),
    _mark_workers(NEW_C_HEAP_ARRAY(LullMarkWorker*, workers->max_workers(), mtGC)),
    _timer(),
    _tracer(),
    _young_tracer(),
    _young_mark_ns(0),
    _remembered_bytes(0),
    _statistics(),
    _unloading_policy(),
    _cycle(cycle) {
  for (uint i = 0; i < workers->max_workers(); i++) {
    _mark_workers[i] = new LullMarkWorker(blocks, supply, memory, &_queues, &_array_states, workers->max_workers(),
                                          _reference_processor, progress, cycle);
    _queues.register_queue(i, _mark_workers[i]->queue());
  }
}

void LullCollector::prepare(const LullEvacuationRequest& request) {
  assert_at_safepoint();
  GCTraceTime(Debug, gc, phases) tm("Prepare", &_timer);
  const bool evacuating = _evacuation_policy->select(request);
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->prepare(evacuating, false /* young */);
  }
  LullClearMarksTask task(_blocks, _memory);
  _workers->run_task(&task);
}

// What is in sparse blocks is young from here on, if they move.
void LullCollector::prepare_young(bool ages, bool moves_sparse) {
  assert(LullYoungCollections, "nothing is old");
  GCTraceTime(Debug, gc, phases) tm("Prepare", &_timer);
  const size_t promised_lines = moves_sparse ? _cycle->sparse()->lines_to_copy() : 0;
  const bool evacuates_young = _evacuation_policy->select_young(_memory->card_table(), ages, promised_lines);
  const bool evacuates_sparse = moves_sparse && _cycle->sparse()->begin_move();
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->prepare(evacuates_young || evacuates_sparse, true /* young */);
    _mark_workers[i]->prepare_move(moves_sparse ? _cycle->sparse() : nullptr);
  }
  LullPrepareYoungTask task(_blocks);
  _workers->run_task(&task);
}

// After prepare_young().
void LullCollector::prepare_cycle(bool remark) {
  assert(_cycle != nullptr && _cycle->in_remark() == remark, "the cycle has not begun its remark, or has ended it");
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->prepare_cycle(remark);
  }
  _is_alive.set_marks(remark ? _cycle->marks()->alive() : _memory->mark_bitmap());
}

void LullCollector::mark() {
  GCTraceTime(Info, gc, phases) tm("Mark", &_timer);
  ClassLoaderDataGraph::verify_claimed_marks_cleared(ClassLoaderData::_claim_stw_fullgc_mark);
  LullMarkFromRootsTask task(_mark_workers, _workers->active_workers(), &_queues);
  _workers->run_task(&task);
}

// If few classes are dead: all live on. Returns whether they do.
bool LullCollector::keep_classes() {
  const LullDeadClasses dead = LullClassRoots::find_dead(&_is_alive);
  const bool keeps = _unloading_policy.keeps(dead);
  log_debug(gc, ergo)("Dead class loaders: %zu, dead hidden classes: %zu; all classes and code are kept: %s", dead._loaders, dead._hidden,
                      BOOL_TO_STR(keeps));
  if (keeps) {
    mark_from_classes();
  }
  return keeps;
}

// From all class loaders and all code that no trace has come to yet.
void LullCollector::mark_from_classes() {
#ifdef ASSERT
  if (LullDropMarking == LullCycle::DropClasses ||
      (_cycle != nullptr && _cycle->sparse()->is_left() && LullSparseBlocks::are_classes_left_out())) {
    return;
  }
#endif
  GCTraceTime(Info, gc, phases) tm("Mark Classes", &_timer);
  LullMarkFromClassesTask roots(_mark_workers, _code);
  _workers->run_task(&roots);
  LullTraceTask trace(_mark_workers, _workers->active_workers(), &_queues);
  _workers->run_task(&trace);
}

// What the markers of the cycle have not come to.
void LullCollector::follow_left() {
  assert(_cycle->in_remark(), "markers go on");
  GCTraceTime(Info, gc, phases) tm("Mark What Is Left", &_timer);
  size_t tasks = 0;
  LullOldTask task;
  while (_cycle->take(&task)) {
    _mark_workers[tasks++ % _workers->active_workers()]->leave(task);
  }
  size_t methods = 0;
  _cycle->take_chunk_code([&](nmethod* nm) {
    _mark_workers[methods++ % _workers->active_workers()]->leave_code(nm);
  });
  LullFollowLeftTask follow(_mark_workers, _workers->active_workers(), &_queues);
  _workers->run_task(&follow);
  log_debug(gc, marking)("Left by the markers: %zu tasks, %zu methods in stack chunks", tasks, methods);
}

void LullCollector::give_grey_to_cycle() {
  if (_cycle == nullptr || !_cycle->is_marking()) {
    return;
  }
  GCTraceTime(Debug, gc, phases) tm("Give To Markers", &_timer);
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->give_grey_to_cycle();
  }
}

void LullCollector::flip() {
  assert(_cycle->in_remark(), "not all is marked");
  GCTraceTime(Info, gc, phases) tm("Flip", &_timer);
  _cycle->flip();
  _is_alive.set_marks(_memory->mark_bitmap());
  _cycle->later_sweep()->begin(_workers, _cycle->gc_id());
  _cycle->sparse()->end_cycle();
}

void LullCollector::sweep_what_is_left() {
  if (_cycle != nullptr && _cycle->later_sweep()->is_open()) {
    GCTraceTime(Info, gc, phases) tm("Sweep What Is Left", &_timer);
    _cycle->later_sweep()->sweep_more(_workers, SIZE_MAX);
  }
}

void LullCollector::find_remembered() {
  assert(_memory->card_table() != nullptr, "nothing is remembered without cards");
  GCTraceTime(Info, gc, phases) tm("Find Remembered", &_timer);
  const jlong start = os::javaTimeNanos();
  LullFindRememberedTask task(_mark_workers, _memory, _blocks);
  _workers->run_task(&task);
  _memory->card_table()->forget_touched(_blocks->limit());
  _remembered_bytes = task.dirty_cards() * LullGeometry::LineSize;
  _young_mark_ns = os::javaTimeNanos() - start;
  log_debug(gc, heap)("Dirty cards: %zu, remembered objects: %zu, in %zu stretches of cards of %u",
                      task.dirty_cards(), task.objects(), task.visited(), _blocks->limit());
}

void LullCollector::mark_young() {
  GCTraceTime(Info, gc, phases) tm("Mark", &_timer);
  const jlong start = os::javaTimeNanos();
  ClassLoaderDataGraph::verify_claimed_marks_cleared(ClassLoaderData::_claim_stw_fullgc_mark);
  // Code that is not in the list of what refers to young objects refers to what is young in sparse blocks.
  const bool moves_sparse = _cycle != nullptr && _cycle->sparse()->is_left();
  const LullCycleMarks* const cycle_marks = _cycle != nullptr && _cycle->is_marking() ? _cycle->marks() : nullptr;
  LullMarkFromYoungRootsTask task(_mark_workers, _workers->active_workers(), &_queues, !moves_sparse, cycle_marks);
  _workers->run_task(&task);
  _young_mark_ns += os::javaTimeNanos() - start;
}

// Traces what a reference that is kept alive leads to.
class LullCompleteMarkClosure : public VoidClosure {
private:
  LullMarkWorker* const _worker;
  const uint            _worker_id;
  TaskTerminator* const _terminator;    // nullptr: alone

public:
  LullCompleteMarkClosure(LullMarkWorker* worker, uint worker_id, TaskTerminator* terminator)
    : _worker(worker), _worker_id(worker_id), _terminator(terminator) {}

  void do_void() override {
    if (_terminator == nullptr) {
      _worker->drain();
    } else {
      _worker->drain_and_steal(_worker_id, _terminator);
    }
  }
};

// Links references that are alive, and so public: P asks for no barrier, and R for none of a mutator's, which would make cards dirty that
// the sweep has to make clean.
class LullEnqueueClosure final : public EnqueueDiscoveredFieldClosure {
private:
  LullMarkWorker* const _worker;

public:
  explicit LullEnqueueClosure(LullMarkWorker* worker) : _worker(worker) {}

  void enqueue(HeapWord* discovered_field_addr, oop value) override {
    RawAccess<>::oop_store(discovered_field_addr, value);
    _worker->remember_survivor(discovered_field_addr, value);
    _worker->grey_enqueued(discovered_field_addr, value);
    _worker->count_cleared_reference();    // each list is linked, and its end to what others have found
  }
};

class LullReferenceProcessingTask : public RefProcProxyTask {
private:
  LullMarkWorker** const   _workers;
  LullIsAliveClosure* const _is_alive;
  TaskTerminator           _terminator;

public:
  LullReferenceProcessingTask(LullMarkWorker** workers, uint max_workers, LullMarkQueueSet* queues, LullIsAliveClosure* is_alive)
    : RefProcProxyTask("Lull Reference Processing", max_workers),
      _workers(workers),
      _is_alive(is_alive),
      _terminator(max_workers, queues) {}

  void work(uint worker_id) override {
    const bool alone = _tm == RefProcThreadModel::Single;
    LullMarkWorker* const worker = _workers[alone ? 0 : worker_id];
    LullEnqueueClosure enqueue(worker);
    LullCompleteMarkClosure complete(worker, worker_id, alone ? nullptr : &_terminator);
    _rp_task->rp_work(worker_id, _is_alive, worker->root_closure(), &enqueue, &complete);
  }

  void prepare_run_task_hook() override {
    _terminator.reset_for_reuse(_queue_count);
  }
};

void LullCollector::process_references(ReferenceProcessor* processor, GCTracer* tracer) {
  GCTraceTime(Info, gc, phases) tm("Process References", &_timer);
  ReferenceProcessorPhaseTimes times(&_timer, processor->max_num_queues());
  processor->set_active_mt_degree(_workers->active_workers());
  LullReferenceProcessingTask task(_mark_workers, processor->max_num_queues(), &_queues, &_is_alive);
  const ReferenceProcessorStats stats = processor->process_discovered_references(task, times);
  tracer->report_gc_reference_stats(stats);
  times.print_all_references();
}

class LullUpdateClosure final : public OopClosure {
private:
  const LullBlockTable* const _blocks;

public:
  explicit LullUpdateClosure(const LullBlockTable* blocks) : _blocks(blocks) {}

  void do_oop(oop* p) override       { LullUpdate::update(_blocks, p); }
  void do_oop(narrowOop* p) override { LullUpdate::update(_blocks, p); }
};

void LullCollector::process_weak_roots() {
  GCTraceTime(Info, gc, phases) tm("Process Weak Roots", &_timer);
  LullUpdateClosure update(_blocks);
  WeakProcessor::weak_oops_do(_workers, &_is_alive, &update, 1);
}

// All code, dead or alive, before classes are unloaded: unlinking reads objects through
// the references of the code that it unlinks (call site contexts), and must find the
// copies. Returns whether any code refers to a dead object; that is not looked for if nothing was moved and nobody asks.
bool LullCollector::update_code(bool find_dead) {
  if (_statistics._evacuated_objects == 0 && !find_dead) {
    return false;
  }
  GCTraceTime(Info, gc, phases) tm("Update Code", &_timer);
  LullUpdateCodeTask task(_blocks, _code, &_is_alive);
  _workers->run_task(&task);
  return task.found_dead();
}

class LullFindDeadLoaderClosure final : public CLDClosure {
private:
  bool _found;

public:
  LullFindDeadLoaderClosure() : _found(false) {}

  bool found() const { return _found; }
  void do_cld(ClassLoaderData* cld) override { _found |= !cld->is_alive(); }
};

static bool is_any_loader_dead() {
  LullFindDeadLoaderClosure loaders;
  ClassLoaderDataGraph::cld_do(&loaders);
  return loaders.found();
}

// In a service that has warmed up nothing that classes and code hang on dies any more. Then there is nothing to unlink, which
// would look at all code. Code that is no longer in use, or seldom, waits for a collection that unloads.
bool LullCollector::must_unload(bool found_dead_in_code) {
  const bool found_dead_loader = is_any_loader_dead();
  log_debug(gc, ergo)("Class loaders: %s; code: %s", found_dead_loader ? "some are dead" : "all are alive",
                      found_dead_in_code ? "some refers to dead objects" : "none refers to dead objects");
  return found_dead_loader || found_dead_in_code;
}

static size_t used_code_cache() {
  return CodeCache::max_capacity() - CodeCache::unallocated_capacity();
}

bool LullCollector::has_code_grown() const {
  const size_t used = used_code_cache();
  const bool has_grown = _unloading_policy.has_code_grown(used, CodeCache::max_capacity());
  if (has_grown) {
    log_info(gc, ergo)("Unloads what is dead: code has grown to %zuK since code was unloaded last", used / K);
  }
  return has_grown;
}

void LullCollector::unload_classes() {
  GCTraceTime(Info, gc, phases) tm("Unload Classes", &_timer);
  ClassUnloadingContext* const context = ClassUnloadingContext::context();
  {
    CodeCache::UnlinkingScope scope(&_is_alive);
    const bool classes_unloaded = SystemDictionary::do_unloading(&_timer);
    LullUnlinkTask task(_workers->active_workers(), classes_unloaded);
    _workers->run_task(&task);
  }
  context->purge_nmethods();
  _code->remove_unlinked();
  if (LullYoungCollections) {
    ScavengableNMethods::prune_unlinked_nmethods();
  }
  context->free_nmethods();
  _unloading_policy.record_unloading(used_code_cache());
}

// All is marked, and weak roots are processed.
void LullCollector::unload_dead(bool unload_always) {
  const bool found_dead_in_code = update_code(!unload_always);
  if (unload_always || must_unload(found_dead_in_code)) {
    unload_classes();
  }
  if (_cycle != nullptr) {
    _cycle->record_unloading();
  }
}

// All is marked.
void LullCollector::finish_marking() {
  _statistics = LullMarkStatistics();
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->finish(&_is_alive);
    _statistics.add(_mark_workers[i]->statistics());
  }
  // Private objects are found anew each time, young or not.
  const size_t still_young = _statistics._survivor_words + _statistics._private_words;
  assert(still_young <= _statistics._marked_words, "%zu of %zu marked words are young", still_young,
         _statistics._marked_words);
  _progress->end_tracing(_statistics._marked_words, _statistics._marked_words - still_young);
}

void LullCollector::sweep(LullSweepTask* task) {
  GCTraceTime(Info, gc, phases) tm("Sweep", &_timer);
  _workers->run_task(task);
}

void LullCollector::end_evacuation() {
  _blocks->all_stay();
}

void LullCollector::slide() {
  GCTraceTime(Info, gc, phases) tm("Slide", &_timer);
  LullSlidingCompaction compaction(_memory, _blocks, _workers);
  if (compaction.compact()) {
    LullSweepTask task(_blocks, _memory, _supply->min_hole_lines());
    _workers->run_task(&task);
  }
  log_info(gc, heap)("Slid: %zu objects, %zuK", compaction.moved_objects(), compaction.moved_words() * HeapWordSize / K);
}

void LullCollector::log_statistics() const {
  log_info(gc, heap)("Marked: %zu objects, %zuK; evacuated: %zu objects, %zuK; left in evacuated blocks: %zu objects, %zuK",
                     _statistics._marked_objects,
                     _statistics._marked_words * HeapWordSize / K,
                     _statistics._evacuated_objects,
                     _statistics._evacuated_words * HeapWordSize / K,
                     _statistics._failed_objects,
                     _statistics._failed_words * HeapWordSize / K);
  if (_statistics._survivor_objects > 0) {
    log_info(gc, heap)("Survivors, of the evacuated: %zu objects, %zuK", _statistics._survivor_objects,
                       _statistics._survivor_words * HeapWordSize / K);
  }
  if (_statistics._greyed_objects > 0) {
    log_debug(gc, marking)("Old objects that the cycle has got from this pause: %zu", _statistics._greyed_objects);
  }
  if (_statistics._private_objects > 0) {
    log_info(gc, heap)("Still private, of the marked: %zu objects, %zuK",
                       _statistics._private_objects, _statistics._private_words * HeapWordSize / K);
  }
}

bool LullCollector::must_slide(const LullEvacuationRequest& request) {
#ifdef ASSERT
  if (LullSlideALot > 0 && Universe::heap()->total_collections() % LullSlideALot == 0) {
    return true;
  }
#endif
  return request._slide && LullEvacuation;
}

void LullCollector::collect(const LullEvacuationRequest& request, bool clear_soft_references, bool unload_always) {
  _code->verify();
  if (_cycle != nullptr) {
    _cycle->abort();
  }
  sweep_what_is_left();
  prepare(request);
  unload_always = unload_always || has_code_grown() || (_cycle != nullptr && _cycle->must_unload());

  _reference_processor->start_discovery(clear_soft_references);
  bool kept;
  {
    // All trace, and claim threads and code for it.
    StrongRootsScope scope(_workers->active_workers());
    mark();
    kept = !unload_always && keep_classes();
    process_references(_reference_processor, &_tracer);
  }
  _unloading_policy.record(kept);
  finish_marking();

  _evacuation_policy->record(_statistics._evacuated_words, _statistics._failed_words);

  process_weak_roots();
  if (!kept) {
    unload_dead(unload_always);
  }
  assert(!kept || !is_any_loader_dead(), "a class loader is dead that was marked");
  LullSweepTask sweep_task(_blocks, _memory, _supply->min_hole_lines());
  sweep(&sweep_task);
  end_evacuation();
  if (must_slide(request)) {
    slide();
  }
  if (LullYoungCollections) {
    ScavengableNMethods::prune_nmethods_not_into_young();   // all that is alive is old now
    _memory->card_table()->forget_touched(_blocks->limit());
  }
  log_statistics();
}

// From what is remembered and from roots; in the first pause of a cycle that keeps them, and where what is sparse moves,
// from classes and code.
void LullCollector::trace_young(bool from_classes) {
  _reference_processor->start_discovery(false /* clear soft references */);
  StrongRootsScope scope(_workers->active_workers());
  find_remembered();
  mark_young();
  if (from_classes) {
    mark_from_classes();
  }
  process_references(_reference_processor, &_young_tracer);
}

// The same for the last pause. Returns whether classes and code are kept.
bool LullCollector::trace_remark(bool follows_classes, bool unload_always) {
  StrongRootsScope scope(_workers->active_workers());
  find_remembered();
  mark_young();
  if (!follows_classes) {
    mark_from_classes();
  }
  follow_left();
  const bool kept = !follows_classes || (!unload_always && keep_classes());
  if (follows_classes) {
    _unloading_policy.record(kept);
  }
  process_references(_cycle->references(), &_young_tracer);
  return kept;
}

void LullCollector::end_young_trace() {
  finish_marking();
  const size_t live_words = _statistics._evacuated_words + _statistics._failed_words - _statistics._sparse_words;
  assert(_statistics._mature_words <= live_words, "%zu of %zu words in evacuated blocks were survivors",
         _statistics._mature_words, live_words);
  _evacuation_policy->record_young(live_words - _statistics._mature_words, _statistics._mature_words);
  process_weak_roots();
}

void LullCollector::collect_young() {
  assert_at_safepoint();
  // A cycle that is ready begins with the next pause: its notes are those of one choice.
  const bool moves_sparse = _cycle != nullptr && _cycle->sparse()->is_left();
  const bool is_first = _cycle != nullptr && !moves_sparse && _cycle->begin_young();
  if (is_first && !_cycle->is_far()) {    // servers do not note who refers to what
    _cycle->sparse()->choose(_evacuation_policy->needs_reserve());
  }
  const bool ages = _evacuation_policy->must_age();
  _young_tracer.report_tenuring_threshold(ages ? 1 : 0);
  prepare_young(ages, moves_sparse);
  if (_cycle != nullptr && _cycle->is_marking()) {
    prepare_cycle(false /* remark */);
  }
  trace_young(moves_sparse || (is_first && !_cycle->follows_classes()));
  end_young_trace();
  LullCycleMarks* const cycle_marks = _cycle != nullptr && _cycle->is_marking() ? _cycle->marks() : nullptr;
  LullYoungSweepTask sweep_task(_blocks, _memory, _supply, _workers->active_workers(), cycle_marks);
  sweep(&sweep_task);
  end_evacuation();
  sweep_task.finish();
  const size_t survived_words = sweep_task.survived_words();
  _evacuation_policy->record_young_in_place(survived_words - MIN2(survived_words, _statistics._sparse_words));
  if (moves_sparse) {
    _cycle->sparse()->end_move(_statistics._sparse_words);
  }
  give_grey_to_cycle();
  log_statistics();
}

// Nothing old refers to anything young any more. Workers that have discovered References, as the markers do it, have
// made their cards dirty; blocks with nothing young have kept them.
void LullCollector::clean_cards() {
  LullCardTable* const cards = _memory->card_table();
  cards->touched_do(0, _blocks->limit(), [&](LullBlockIndex index) { cards->clean(index, 1); });
  cards->forget_touched(_blocks->limit());
}

void LullCollector::remark() {
  assert_at_safepoint();
  _code->verify();
  _young_tracer.report_tenuring_threshold(0);
  const bool follows_classes = _cycle->follows_classes();
  const bool unload_always = follows_classes && (_cycle->must_unload() || has_code_grown());
  _cycle->begin_remark();
  prepare_young(false /* ages */, false /* moves sparse */);
  prepare_cycle(true /* remark */);
  const bool kept = trace_remark(follows_classes, unload_always);
  end_young_trace();
  if (follows_classes && LullVerifyHeap) {
    LullUnloadingCheck::verify(_blocks, _cycle->marks()->alive(), &_is_alive, _workers);
  }
  if (!kept) {
    unload_dead(unload_always);
  }
  assert(!kept || !follows_classes || !is_any_loader_dead(), "a class loader is dead that was marked");
  flip();
  LullRemarkSweepTask sweep_task(_blocks, _memory, _supply, _workers->active_workers(), _cycle->marks());
  sweep(&sweep_task);
  end_evacuation();
  sweep_task.finish(true /* leaves unswept */);
  ScavengableNMethods::prune_nmethods_not_into_young();   // all that is alive is old now
  clean_cards();
  _cycle->end_remark();
  log_statistics();
}
