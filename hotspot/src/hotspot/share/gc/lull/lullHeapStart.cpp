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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullCode.hpp"
#include "gc/lull/collect/lullCollector.hpp"
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullDriver.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullYoungSchedule.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/lullForeignFlags.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/observe/lullHeapExport.hpp"
#include "gc/lull/observe/lullInfoDCmd.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "gc/lull/publish/lullPrivateReference.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullPublicationSamples.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/gcArguments.hpp"
#include "gc/shared/gcInitLogger.hpp"
#include "gc/shared/scavengableNMethods.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/iterator.hpp"
#include "memory/universe.hpp"
#include "runtime/init.hpp"
#include "runtime/java.hpp"
#include "runtime/os.hpp"

// LullHeap: how it starts and ends. What it is made of is made here, in an order in which each part finds those that it
// needs:
//
//   initialize()       the tables and the memory, before there is a second thread; then the barrier set, with which
//                      the first thread gets its data; then all that needs no Java object
//   post_initialize()  Java's basic classes are there: the collector, and the threads that make it run

// Whom the parts tell of what happens: mutators and the supply.
class LullHeapListener final : public LullLocalListener, public LullUseListener {
private:
  const LullComponents* const _components;

  void wake() {
    assert(_components->_control_thread != nullptr, "nobody makes pauses yet");
    _components->_control_thread->wake();
  }

public:
  explicit LullHeapListener(const LullComponents* components) : _components(components) {}

  void on_local_collection() override { _components->_monitoring->lower_left(); }
  void on_many_references() override  { wake(); }
  void on_use() override              { wake(); }
};

class LullIsYoungClosure final : public BoolObjectClosure {
public:
  bool do_object_b(oop obj) override { return !LullTables::is_old(obj); }
};

static LullIsYoungClosure is_young;

LullHeap::LullHeap() : _components() {
  _components._heap = this;
  // A hole needs no room for a filler at its end.
  _lab_alignment_reserve = 0;
}

jint LullHeap::initialize() {
  const ReservedHeapSpace space = Universe::reserve_heap(MaxHeapSize, HeapAlignment);
  initialize_reserved_region(space);
  os::trace_page_sizes("Heap", MinHeapSize, MaxHeapSize, space.base(), space.size(), space.page_size());

  LullComponents& c = _components;
  LullGeometry::initialize(space.base());
  LullFarHeap::find(space);
  c._memory = new LullMemory(space);
  if (!c._memory->is_usable()) {
    vm_shutdown_during_initialization("Could not reserve address space for the tables of the Lull heap");
    return JNI_ENOMEM;
  }
  c._blocks = new LullBlockTable(space.size());
  LullTables::initialize(c._memory, c._blocks);
  LullFarHeap::attach(space, c._blocks);
  static LullHeapListener listener(&c);
  LullLocalCollector::set_listener(&listener);
  c._supply = new LullBlockSupply(c._blocks, c._memory->public_map());
  c._supply->set_listener(&listener);
  LullMutator::initialize(c._supply);
  c._evacuation_policy = new LullEvacuationPolicy(c._blocks, c._supply);

  // Before any other thread is created.
  BarrierSet::set_barrier_set(new LullBarrierSet());
  c._workers = new WorkerThreads("Lull Worker", ParallelGCThreads);
  c._workers->initialize_workers();

  c._code = new LullCode();
  c._sizer = new LullHeapSizer(c._memory, c._blocks, c._supply, c._evacuation_policy, c._workers);
  c._young_policy = new LullYoungPolicy();
  c._young_schedule = new LullYoungSchedule(c._supply, MaxGCPauseMillis);
  c._tracking_switch = new LullTrackingSwitch();
  c._pause = new LullPause(&c);
  c._driver = new LullDriver(&c);
  ScavengableNMethods::initialize(&is_young);
  if (!c._sizer->commit_initial()) {
    vm_shutdown_during_initialization("Could not commit the initial heap: use a smaller -Xms");
    return JNI_ENOMEM;
  }

  if (LullPublicationSampling > 0) {
    LullPublicationSamples::initialize();
  }
  c._monitoring = new LullMonitoring(this);
  GCInitLogger::print();
  LullForeignFlags::log();
  return JNI_OK;
}

void LullHeap::post_initialize() {
  assert(_components._monitoring != nullptr && _components._collector == nullptr, "after initialize(), once");
  CollectedHeap::post_initialize();
  LullThreadFields::initialize();
  LullPrivateReference::initialize();
  LullComponents& c = _components;
  if (LullConcurrentMarking) {
    c._cycle = new LullCycle(c._memory, c._blocks, c._supply, c._workers->max_workers());
    LullInfoDCmd::set_cycle(c._cycle);
  }
  c._collector = new LullCollector(c._code, c._monitoring->pause_progress(), c._memory, c._blocks, c._supply,
                                   c._evacuation_policy, c._workers, c._cycle);
  if (c._cycle != nullptr) {
    c._cycle->start_thread();
  }
  start_control_thread();
}

void LullHeap::start_control_thread() {
  _components._control_thread = new LullControlThread(&_components);
  if (_components._control_thread->osthread() == nullptr) {
    vm_exit_during_initialization("The control thread of Lull could not be started: "
                                  "the system is out of threads or memory.");
  }
  if (_components._cycle != nullptr) {
    _components._young_schedule->keep(_components._cycle);
  }
  _components._young_schedule->plan(used());
}

void LullHeap::stop() {
  if (_components._cycle != nullptr) {
    _components._cycle->stop_thread();
  }
  if (_components._control_thread != nullptr) {
    _components._control_thread->stop();
  }
}

void LullHeap::initialize_serviceability() {
  assert(!is_init_completed(), "while there is one thread");
  _components._monitoring->initialize_serviceability();
  LullInfoDCmd::register_command(_components._monitoring, _components._tracking_switch);
  LullHeapExport::register_command();
}
