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
#include "gc/lull/lullBlockTable.inline.hpp"
#include "gc/lull/lullCollector.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullMarkWorker.inline.hpp"
#include "gc/lull/lullMemory.hpp"
#include "gc/lull/lullStrongRoots.hpp"
#include "gc/lull/lullSweep.hpp"
#include "gc/shared/classUnloadingContext.hpp"
#include "gc/shared/gcTraceTime.inline.hpp"
#include "gc/shared/referenceProcessor.inline.hpp"
#include "gc/shared/referenceProcessorPhaseTimes.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "gc/shared/weakProcessor.inline.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "oops/klass.hpp"

bool LullIsAliveClosure::do_object_b(oop obj) {
  return _mark_bitmap->is_marked(obj) ||
         (_blocks->is_evacuated(obj) && obj->is_forwarded());
}

LullCollector::LullCollector(LullHeap* heap, LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply, WorkerThreads* workers)
  : _heap(heap),
    _memory(memory),
    _blocks(blocks),
    _supply(supply),
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
    _statistics() {
  for (uint i = 0; i < workers->max_workers(); i++) {
    _mark_workers[i] = new LullMarkWorker(blocks, supply, memory->line_marks(), memory->mark_bitmap(), &_queues,
                                          &_array_states, workers->max_workers(), _reference_processor);
    _queues.register_queue(i, _mark_workers[i]->queue());
  }
}

void LullCollector::prepare(const LullEvacuationRequest& request) {
  GCTraceTime(Debug, gc, phases) tm("Prepare", &_timer);
  LullEvacuationPolicy policy(_blocks, _supply);
  const bool evacuating = policy.select(request);
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->prepare(evacuating);
  }
  LullClearMarksTask task(_blocks, _memory);
  _workers->run_task(&task);
}

void LullCollector::mark() {
  GCTraceTime(Info, gc, phases) tm("Mark", &_timer);
  ClassLoaderDataGraph::verify_claimed_marks_cleared(ClassLoaderData::_claim_stw_fullgc_mark);
  LullMarkFromRootsTask task(_mark_workers, _workers->active_workers(), &_queues);
  _workers->run_task(&task);
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
    BarrierEnqueueDiscoveredFieldClosure enqueue;
    LullCompleteMarkClosure complete(worker, worker_id, alone ? nullptr : &_terminator);
    _rp_task->rp_work(worker_id, _is_alive, worker->closure(), &enqueue, &complete);
  }

  void prepare_run_task_hook() override {
    _terminator.reset_for_reuse(_queue_count);
  }
};

void LullCollector::process_references(bool clear_soft_references) {
  GCTraceTime(Info, gc, phases) tm("Process References", &_timer);
  ReferenceProcessorPhaseTimes times(&_timer, _reference_processor->max_num_queues());
  _reference_processor->set_active_mt_degree(_workers->active_workers());
  LullReferenceProcessingTask task(_mark_workers, _reference_processor->max_num_queues(), &_queues, &_is_alive);
  const ReferenceProcessorStats stats = _reference_processor->process_discovered_references(task, times);
  _tracer.report_gc_reference_stats(stats);
  times.print_all_references();
}

// Stores the new address of an object that is alive and was moved.
class LullUpdateClosure final : public OopClosure {
private:
  LullBlockTable* const _blocks;

  template <typename T> void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return;
    }
    const oop obj = CompressedOops::decode_not_null(heap_oop);
    if (_blocks->is_evacuated(obj) && obj->is_forwarded() && !obj->is_self_forwarded()) {
      RawAccess<IS_NOT_NULL>::oop_store(p, obj->forwardee());
    }
  }

public:
  explicit LullUpdateClosure(LullBlockTable* blocks) : _blocks(blocks) {}

  void do_oop(oop* p) override       { do_oop_work(p); }
  void do_oop(narrowOop* p) override { do_oop_work(p); }
};

void LullCollector::process_weak_roots() {
  GCTraceTime(Info, gc, phases) tm("Process Weak Roots", &_timer);
  LullUpdateClosure update(_blocks);
  WeakProcessor::weak_oops_do(_workers, &_is_alive, &update, 1);
}

// All code, dead or alive, before classes are unloaded: unlinking reads objects through
// the references of the code that it unlinks (call site contexts), and must find the
// copies. What is dead was not moved, and its reference stays as it is.
void LullCollector::update_code() {
  if (_statistics._evacuated_objects == 0) {
    return;
  }
  GCTraceTime(Info, gc, phases) tm("Update Code", &_timer);
  LullUpdateClosure update(_blocks);
  NMethodToOopClosure nmethods(&update, NMethodToOopClosure::FixRelocations);
  CodeCache::nmethods_do(&nmethods);
}

void LullCollector::unload_classes() {
  GCTraceTime(Info, gc, phases) tm("Unload Classes", &_timer);
  ClassUnloadingContext* const context = ClassUnloadingContext::context();
  bool unloading_occurred;
  {
    CodeCache::UnlinkingScope scope(&_is_alive);
    unloading_occurred = SystemDictionary::do_unloading(&_timer);
    CodeCache::do_unloading(unloading_occurred);
  }
  context->purge_nmethods();
  context->free_nmethods();
  Klass::clean_weak_klass_links(unloading_occurred);
}

void LullCollector::sweep() {
  GCTraceTime(Info, gc, phases) tm("Sweep", &_timer);
  LullSweepTask task(_blocks, _memory);
  _workers->run_task(&task);
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    _blocks->set_evacuated(to_block_index(i), false);
  }
}

void LullCollector::log_statistics() const {
  log_info(gc, heap)("Marked: %zu objects, %zuK; evacuated: %zu objects, %zuK; left in evacuated blocks: %zu objects",
                     _statistics._marked_objects,
                     _statistics._marked_words * HeapWordSize / K,
                     _statistics._evacuated_objects,
                     _statistics._evacuated_words * HeapWordSize / K,
                     _statistics._failed_objects);
}

void LullCollector::collect(const LullEvacuationRequest& request, bool clear_soft_references) {
  prepare(request);

  _reference_processor->start_discovery(clear_soft_references);
  mark();
  process_references(clear_soft_references);
  _statistics = LullMarkStatistics();
  for (uint i = 0; i < _workers->max_workers(); i++) {
    _mark_workers[i]->finish();
    _statistics.add(_mark_workers[i]->statistics());
  }

  process_weak_roots();
  update_code();
  unload_classes();
  sweep();
  log_statistics();
}
