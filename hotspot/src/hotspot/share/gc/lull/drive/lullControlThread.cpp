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
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullComponents.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullDriver.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullYoungSchedule.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/policy/lullCleaningPolicy.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/lull/stat/lullPendingReferences.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/atomic.hpp"
#include "runtime/init.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "runtime/threadSMR.inline.hpp"
#ifdef LINUX
#include "os_linux.hpp"
#endif

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

// Between two looks at what no mutator says, at most.
static jlong longest_wait() { return MIN2(LullLookInterval, 1000u) * (jlong)NANOSECS_PER_MILLISEC; }

LullControlThread::LullControlThread(const LullComponents* components)
  : ConcurrentGCThread(),
    _monitor(Mutex::nosafepoint, "LullControl_lock"),
    _is_woken(false),
    _components(components),
    _heap(components->_heap),
    _references(LullReferencePausePercent, os::javaTimeNanos()),
    _globals_ns(0),
    _idle(),
    _last_look(os::javaTimeNanos()),
    _allocated(0),
    _last_used(0),
    _last_garbage(0),
    _last_collections(0),
    _own_collections(0),
    _last_pause_end(os::javaTimeNanos()),
    _all_looked_at_end(os::javaTimeNanos()),
    _cleared(0) {
  set_name("Lull Control");
  set_limits();
  create_and_start();
}

void LullControlThread::wake() {
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  _is_woken = true;
  ml.notify();
}

void LullControlThread::stop_service() {
  wake();
}

void LullControlThread::wait(jlong ns) {
  assert(Thread::current() == this, "the control thread's own fields");
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  if (!_is_woken && !should_terminate()) {
    ml.wait(MAX2(ns / NANOSECS_PER_MILLISEC, (jlong)1));
  }
  _is_woken = false;
}

void LullControlThread::record_pause(bool all_looked_at, size_t cleared) {
  assert_at_safepoint();
  LullPendingReferences::begin_anew(all_looked_at, cleared);
  Atomic::store(&_cleared, cleared);
  const jlong now = os::javaTimeNanos();
  Atomic::store(&_last_pause_end, now);
  if (all_looked_at) {
    Atomic::store(&_all_looked_at_end, now);
  }
}

// From the kernel's counters; 0: unknown. os::rss() asks for more, and the kernel goes through all page tables for it.
static size_t resident_bytes() {
#ifdef LINUX
  os::Linux::meminfo_t info;
  return os::Linux::query_process_memory_info(&info) && info.vmrss > 0 ? (size_t)info.vmrss * K : 0;
#else
  return 0;
#endif
}

// As many are in use below the first that is free, which a new one gets. Above it there may be more: who leaks them fills
// the gaps first.
static size_t descriptors_in_use(size_t limit) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno == EMFILE || errno == ENFILE ? limit : 0;
  }
  ::close(fd);
  return (size_t)fd;
}

// 0: unknown, or none.
static size_t descriptor_limit() {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (size_t)limit.rlim_cur : 0;
}

LullReferencePolicy::Seen LullControlThread::seen_references(jlong now) {
  assert(Thread::current() == this, "the control thread's own fields");
  const size_t resident = resident_bytes();
  const size_t allocated = LullPendingReferences::all_garbage() + _heap->used();
  const uint pauses = _heap->total_collections();
  const size_t growth = _native_growth.look(pauses, resident, allocated);
  const size_t limit = descriptor_limit();
  return {LullPendingReferences::garbage(), LullPendingReferences::references(), now - Atomic::load(&_last_pause_end),
          growth, resident,
          _descriptor_growth.look(pauses, descriptors_in_use(limit)), limit,
          _thread_growth.look(pauses, (size_t)Threads::number_of_threads())};
}

void LullControlThread::set_limits() {
  LullPendingReferences::set_limits(_references.garbage_due(_heap->capacity()), _references.references_due());
}

jlong LullControlThread::expected_global_ns() const {
  return _components->_monitoring->pause_progress()->expected_global_ns(_heap->used());
}

// Without young collections the whole heap is looked at in any case, and that is what is charged. Who looks at all
// references does not live on the credit of urgent pauses.
LullExtent LullControlThread::extent_for_references(const LullReferencePolicy::Seen& since_all, bool has_usual_credit) const {
  if (!LullYoungCollections) {
    return LullExtent::Global;
  }
  const bool all = has_usual_credit &&
                   LullReferencePolicy::wants_all(since_all, LullPendingReferences::looked_at(), _heap->capacity());
  const LullCycle* const cycle = _components->_cycle;
  if (all && cycle != nullptr && cycle->is_better(expected_global_ns())) {
    return LullExtent::Cycle;
  }
  return all && LullReferencePolicy::may_be_global(expected_global_ns()) ? LullExtent::Global : LullExtent::Young;
}

// Returns whether it is done. No other pause is kept waiting: after one there is nothing to clean.
bool LullControlThread::wait_for_cleaning(size_t wish, uint pauses, jlong until) {
  while (!_components->_cycle->has_cleaned(wish)) {
    if (should_terminate() || _heap->total_collections() != pauses || os::javaTimeNanos() >= until) {
      return false;
    }
    wait(NANOSECS_PER_MILLISEC);
    keep_pause_goal();
  }
  return true;
}

// Before a pause that can wait. Returns whether that is still to come: another one may have been faster.
bool LullControlThread::clean_cards_first() {
  assert(Thread::current() == this, "the control thread's own fields");
  LullCycle* const cycle = _components->_cycle;
  const uint pauses = _heap->total_collections();
  const jlong due = os::javaTimeNanos();
  for (uint passes = 0; cycle != nullptr && cycle->needs_cleaning() &&
                        LullCleaningPolicy::may_wait(passes, due, os::javaTimeNanos()); passes++) {
    const size_t passes_before = cycle->cleaner()->passes();
    if (!wait_for_cleaning(cycle->clean_soon(), pauses, LullCleaningPolicy::latest(due)) ||
        cycle->cleaner()->passes() == passes_before) {    // the last ones were in vain
      break;
    }
  }
  return _heap->total_collections() == pauses;
}

void LullControlThread::collect_references(const LullReferencePolicy::Seen& seen, bool urgent, jlong now) {
  assert(Thread::current() == this, "the control thread's own fields");
  const LullReferencePolicy::Seen since_all = {LullPendingReferences::garbage_since_all(), LullPendingReferences::outstanding(),
                                               now - Atomic::load(&_all_looked_at_end)};
  const bool has_usual_credit = _references.wait_ns(now, false) == 0;
  const LullExtent extent = extent_for_references(since_all, has_usual_credit);
  const bool global = extent == LullExtent::Global;
  if (!urgent && !global && !clean_cards_first() && extent == LullExtent::Young) {
    return;    // the other pause has processed them
  }
  log_debug(gc, ergo)("References are due%s: %zu seen, %zuM of local garbage, %.3f s since the last pause; outside of the "
                      "heap were taken %zuM, %zu of %zu descriptors, %zu threads; since all were looked at %zu and %zuM",
                      urgent ? " urgently" : "", seen._references, seen._garbage / M,
                      (double)seen._elapsed_ns / NANOSECS_PER_SEC, seen._native_growth / M, seen._descriptors,
                      seen._descriptor_limit, seen._threads, since_all._references, since_all._garbage / M);
  if (_components->_driver->collect_early(GCCause::_lull_references, extent)) {
    const LullPauses* const pauses = global ? _components->_monitoring->global_pauses() : _components->_monitoring->young_pauses();
    const size_t cleared = Atomic::load(&_cleared);
    _globals_ns += global ? pauses->_last_time : 0;
    _references.record_pause(pauses->_last_time, cleared, urgent && !has_usual_credit);
    log_debug(gc, ergo)("References: %zu cleared or enqueued in %.3f ms", cleared, (double)pauses->_last_time / NANOSECS_PER_MILLISEC);
    _own_collections++;
  }
}

void LullControlThread::charge_other_globals() {
  assert(Thread::current() == this, "the control thread's own fields");
  const jlong all = _components->_monitoring->global_pauses()->_time;
  if (all > _globals_ns) {
    _references.record_other_globals(all - _globals_ns);
    _globals_ns = all;
  }
}

// Returns for how long there is nothing to do, unless somebody wakes it.
jlong LullControlThread::process_references() {
  assert(Thread::current() == this, "the control thread's own fields");
  charge_other_globals();
  const jlong now = os::javaTimeNanos();
  const LullReferencePolicy::Seen seen = seen_references(now);
  const bool urgent = _references.is_urgent(seen);
  const jlong credit_wait = _references.wait_ns(now, urgent);
  if (_references.is_due(seen, _heap->capacity())) {
    if (credit_wait > 0) {
      // Limits stay as they are: nobody needs to wake it. But it may be urgent soon.
      return MIN2(credit_wait, longest_wait() / 20);
    }
    collect_references(seen, urgent, now);
  }
  set_limits();
  return longest_wait();
}

// Since the VM's start, or about so much. A program that needs collections is not idle.
size_t LullControlThread::allocated() {
  assert(Thread::current() == this, "the control thread's own fields");
  const size_t used = _heap->used();
  const size_t garbage = LullPendingReferences::all_garbage();
  const uint collections = _heap->total_collections() - _own_collections;
  _allocated += garbage - _last_garbage;
  _allocated += collections != _last_collections ? _heap->capacity() : used - MIN2(used, _last_used);
  _last_used = used;
  _last_garbage = garbage;
  _last_collections = collections;
  return _allocated;
}

// Step by step, for each is a pause: a granule is a few system calls, and its pages go.
size_t LullControlThread::give_back(size_t bytes) {
  assert(Thread::current() == this, "the control thread's own fields");
  const size_t Step = 32 * M;
  const uint   MostSteps = 32;
  const jlong  StepDistance = NANOSECS_PER_SEC / 20;
  const size_t before = _heap->capacity();
  size_t left = bytes;
  for (uint step = 0; step < MostSteps && left > 0 && !should_terminate(); step++) {
    const size_t capacity = _heap->capacity();
    _components->_driver->give_back(MIN2(left, Step));
    if (_heap->capacity() >= capacity) {
      break;
    }
    left -= MIN2(left, capacity - _heap->capacity());
    wait(StepDistance);
    keep_pause_goal();    // somebody may have woken it for that
  }
  return before - MIN2(_heap->capacity(), before);
}

// Those that lack a processor, too, if they had one in Java or in the VM before. Threads in native code are not
// counted, whatever they do there.
static uint threads_at_work() {
  uint at_work = 0;
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const JavaThreadState state = thread->thread_state();
    const bool is_program = !thread->is_hidden_from_external_view() && !thread->is_Compiler_thread();
    at_work += is_program && (state == _thread_in_Java || state == _thread_in_vm) ? 1 : 0;
  }
  return at_work;
}

LullIdlePolicy::Look LullControlThread::heap_now() {
  const size_t unused = (size_t)_components->_supply->free_blocks() * LullGeometry::BlockSize;   // in whole blocks
  const size_t capacity = _heap->capacity();
  const size_t least = _components->_sizer->may_shrink() ? MinHeapSize : capacity;   // to which it may shrink of itself
  return {allocated(), _heap->used(), unused, capacity, least, expected_global_ns(),
          threads_at_work(), _components->_cycle != nullptr};
}

// If another pause has come first it has collected, but nothing has slid.
void LullControlThread::collect_idle(LullExtent extent) {
  assert(Thread::current() == this, "the control thread's own fields");
  const bool collected = _components->_driver->collect_early(GCCause::_lull_idle, extent);
  _own_collections += collected ? 1 : 0;
  if (extent == LullExtent::Slide && collected) {
    _idle.record_slide(heap_now());
  } else {
    _idle.record_collection(_heap->used(), extent == LullExtent::Global);
  }
}

// drive_cycle makes the pauses that it needs. A cycle that marks already ends sooner for that, but does not find what
// has died since it began to: nothing is recorded, and a later look asks again.
void LullControlThread::begin_idle_cycle() {
  assert(Thread::current() == this, "the control thread's own fields");
  if (_components->_cycle->begin_for_idle()) {
    _idle.record_cycle_begun(_heap->used());
  }
}

void LullControlThread::look() {
  assert(Thread::current() == this, "the control thread's own fields");
  const LullIdlePolicy::Decision decision = _idle.look(heap_now());
  switch (decision._action) {
    case LullIdlePolicy::Action::None:
      return;
    case LullIdlePolicy::Action::GiveBack:
      _idle.record_given_back(decision._bytes, give_back(decision._bytes));
      break;
    case LullIdlePolicy::Action::CollectYoung:
      collect_idle(LullExtent::Young);
      break;
    case LullIdlePolicy::Action::BeginCycle:
      begin_idle_cycle();
      break;
    case LullIdlePolicy::Action::CollectGlobal:
      collect_idle(LullExtent::Global);
      break;
    case LullIdlePolicy::Action::Slide:
      collect_idle(LullExtent::Slide);
      break;
  }
  _last_used = _heap->used();
}

// Mutators have taken more than what a pause marks in its time. They go on until it comes.
void LullControlThread::keep_pause_goal() {
  assert(Thread::current() == this, "the control thread's own fields");
  if (!is_init_completed()) {
    return;    // no pauses yet; it is looked at again after a while
  }
  // Read first: if another pause comes meanwhile, what was in use before it makes none due.
  const uint collections_before = _components->_driver->collections_so_far();
  if (_components->_young_schedule->is_due(_heap->used())) {
    allocated();    // as the idle policy counts it, before the pause changes what is in use
    if (_components->_driver->collect_early(GCCause::_lull_pause_goal, LullExtent::Young, collections_before)) {
      _own_collections++;
      _last_used = _heap->used();
    }
  }
}

// A cycle that somebody waits for needs two young pauses: one that begins the marking, and the remark. One that is to
// unload also needs the pause that begins it. Returns whether such a cycle runs, or will.
bool LullControlThread::drive_cycle() {
  assert(Thread::current() == this, "the control thread's own fields");
  const LullCycle* const cycle = _components->_cycle;
  if (cycle == nullptr || !is_init_completed()) {
    return false;
  }
  if (cycle->needs_begin() || cycle->needs_pause()) {
    const GCCause::Cause cause = cycle->cause();
    allocated();    // as the idle policy counts it, before the pause changes what is in use
    if (_components->_driver->collect_early(cause, LullExtent::Young) && cause == GCCause::_lull_idle) {
      _own_collections++;
      _last_used = _heap->used();
    }
  }
  return cycle->is_waited_for() || cycle->needs_begin();
}

void LullControlThread::run_service() {
  while (!should_terminate()) {
    keep_pause_goal();
    const jlong now = os::javaTimeNanos();
    if (now - _last_look >= LullLookInterval * (jlong)NANOSECS_PER_MILLISEC) {
      _last_look = now;
      look();
    }
    wait(drive_cycle() ? NANOSECS_PER_MILLISEC : process_references());
  }
}
