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

#include "gc/budget/heapBudget.hpp"
#include "gc/budget/heapBudgetEstimate.hpp"
#include "gc/budget/heapBudgetMemory.hpp"
#include "gc/budget/heapBudgetSensorFile.hpp"
#include "gc/budget/heapBudgetThread.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "logging/logStream.hpp"
#include "memory/universe.hpp"
#include "runtime/java.hpp"
#include "utilities/formatBuffer.hpp"
#include "utilities/macros.hpp"
#if INCLUDE_G1GC
#include "gc/g1/g1HeapBudget.hpp"
#endif
#if INCLUDE_LULLGC
#include "gc/lull/lullHeapBudget.hpp"
#endif

static HeapBudgetThread* the_thread = nullptr;

static HeapBudgetCollector* collector() {
  switch (Universe::heap()->kind()) {
#if INCLUDE_G1GC
    case CollectedHeap::G1:   return new G1HeapBudget();
#endif
#if INCLUDE_LULLGC
    case CollectedHeap::Lull: return new LullHeapBudget();
#endif
    default:                  return nullptr;
  }
}

void HeapBudget::initialize() {
  if (!UseHeapBudget) {
    if (HeapBudgetFile != nullptr || HeapBudgetLimit != 0) {
      log_warning(gc, budget)("-XX:%s has no effect without -XX:+UseHeapBudget.", HeapBudgetFile != nullptr ? "HeapBudgetFile" : "HeapBudgetLimit");
    }
    return;
  }
  HeapBudgetCollector* const collector = ::collector();
  if (collector == nullptr) {
    vm_exit_during_initialization(err_msg("-XX:+UseHeapBudget works with -XX:+UseG1GC and -XX:+UseLullGC, and the collector is %s.",
                                          Universe::heap()->name()));
  }
  HeapBudgetStalls* stalls;
  if (HeapBudgetFile != nullptr) {
    stalls = new HeapBudgetSensorFile(HeapBudgetFile);
  } else {
    stalls = new HeapBudgetEstimate();
  }
  LogTarget(Info, gc, budget) lt;
  if (lt.is_enabled()) {
    LogStream ls(lt);
    ls.print("Heap budget: %s, heap of %zuM to %zuM, memory limit %zuM; stalls on I/O: ", collector->name(), MinHeapSize / M,
             MaxHeapSize / M, HeapBudgetMemory::room(InitialHeapSize).limit / M);
    stalls->print_on(&ls);
    ls.cr();
  }
  if (MinHeapSize == MaxHeapSize) {
    log_warning(gc, budget)("-Xms and -Xmx are the same, %zuM: the heap budget has nothing to decide. Leave -Xms out.", MaxHeapSize / M);
  }
  if (UseLargePages && !UseTransparentHugePages) {
    log_warning(gc, budget)("With -XX:+UseLargePages a heap that shrinks may give back no memory. Use -XX:+UseTransparentHugePages.");
  }
  the_thread = new HeapBudgetThread(collector, stalls);
  if (the_thread->osthread() == nullptr) {
    vm_exit_during_initialization("The thread of the heap budget could not be started: the system is out of threads or memory.");
  }
}

void HeapBudget::stop() {
  if (the_thread != nullptr) {
    the_thread->stop();
  }
}

bool HeapBudget::desired_capacity(size_t live, size_t capacity, bool can_shrink, size_t* desired) {
  return the_thread != nullptr && the_thread->desired_capacity(live, capacity, can_shrink, desired);
}

bool HeapBudget::grown_capacity(size_t capacity, size_t* desired) {
  return the_thread != nullptr && the_thread->grown_capacity(capacity, desired);
}
