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

#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullComponents.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullDriver.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullVMOperations.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/policy/lullUnloadingPolicy.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/globals.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/vmThread.hpp"

// Until a cycle has ended that has begun after now: an older one may have marked what is dead now. A global collection
// that comes instead is as good, and a cycle in which memory servers have failed is not. What is private to the caller
// is its own to collect; what others have stays private.
// False: the VM exits, and no cycle ends any more. An agent that is told of the VM's death may still ask.
bool LullDriver::collect_by_cycle(GCCause::Cause cause) {
  LullCycle* const cycle = _components->_cycle;
  assert(cycle != nullptr && Thread::current()->is_Java_thread(), "a Java thread waits for a cycle");
  LullMutator::of(Thread::current())->collect_as_asked();
  const size_t begun_before = cycle->begun();
  while (cycle->done() <= begun_before) {
    if (_components->_control_thread->should_terminate()) {    // the last one that stops
      return false;
    }
    const size_t ended_before = cycle->ended();
    cycle->drive(cause);
    collect_early(cause, LullExtent::Young);
    _components->_control_thread->wake();
    cycle->wait_for_end(ended_before);
  }
  return true;
}

// A test wants a cycle to begin, and waits for nothing but a breakpoint that it comes to. A global collection that comes
// first begins none.
void LullDriver::begin_cycle() {
  LullCycle* const cycle = _components->_cycle;
  assert(cycle != nullptr, "there are no cycles");
  const size_t begun_before = cycle->begun();
  do {
    cycle->drive(GCCause::_wb_breakpoint);
    collect_early(GCCause::_wb_breakpoint, LullExtent::Young);
  } while (cycle->begun() == begun_before && cycle->state() == LullCycle::State::Idle);
  _components->_control_thread->wake();
}

bool LullDriver::unload_by_cycle(GCCause::Cause cause) {
  assert(LullUnloadingPolicy::is_for_classes(cause), "%s", GCCause::to_string(cause));
  if (_components->_cycle == nullptr || !ClassUnloadingWithConcurrentMark) {
    return false;
  }
  log_debug(gc, ergo)("A cycle is to unload what is dead: %s", GCCause::to_string(cause));
  _components->_cycle->unload_soon(cause);
  _components->_control_thread->wake();
  return true;
}

void LullDriver::collect(GCCause::Cause cause) {
  assert(!Heap_lock->owned_by_self(), "this thread should not own the Heap_lock");
  if (cause == GCCause::_wb_breakpoint) {
    begin_cycle();
    return;
  }
  if (LullUnloadingPolicy::is_for_classes(cause) && unload_by_cycle(cause)) {
    return;
  }
  const bool is_system_gc = cause == GCCause::_java_lang_system_gc || cause == GCCause::_dcmd_gc_run;
  if (_components->_cycle != nullptr && is_system_gc && ExplicitGCInvokesConcurrent && collect_by_cycle(cause)) {
    return;
  }
  const uint requested_before = _components->_pause->requested_collections();
  bool done;
  do {
    uint collections_before;
    uint full_collections_before;
    {
      MutexLocker ml(Heap_lock);
      collections_before = _components->_heap->total_collections();
      full_collections_before = _components->_heap->total_full_collections();
    }
    VM_LullCollect op(_components, collections_before, full_collections_before, cause);
    VMThread::execute(&op);
    // Left out, if another one came first: that is as good only if somebody has asked for that, too.
    done = op.gc_succeeded() || _components->_pause->requested_collections() != requested_before;
  } while (!done);
}

uint LullDriver::collections_so_far() const {
  MutexLocker ml(Heap_lock);
  return _components->_heap->total_collections();
}

bool LullDriver::collect_early(GCCause::Cause cause, LullExtent extent) {
  return collect_early(cause, extent, collections_so_far());
}

bool LullDriver::collect_early(GCCause::Cause cause, LullExtent extent, uint collections_before) {
  assert(!Thread::current()->is_VM_thread() && !Heap_lock->owned_by_self(), "the operation takes the lock");
  VM_LullCollectEarly op(_components, collections_before, cause, extent);
  VMThread::execute(&op);
  return op.gc_succeeded();
}

void LullDriver::give_back(size_t bytes) {
  assert(Thread::current() == _components->_control_thread && bytes > 0, "%zu bytes", bytes);
  VM_LullGiveBack op(_components, collections_so_far(), bytes);
  VMThread::execute(&op);
}
