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
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/concurrent/lullMarkThread.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullCyclePolicy.hpp"
#include "gc/shared/concurrentGCBreakpoints.hpp"
#include "gc/shared/gcId.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/referenceProcessor.inline.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "logging/log.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/globals.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"

bool LullCycle::IsAlive::do_object_b(oop obj) {
  if (obj == nullptr) {
    return true;    // a mutator has cleared it since it was looked at: there is nothing to discover
  }
  if (_cycle->_marks.is_alive(obj)) {
    return true;
  }
  return _cycle->in_remark() ? _blocks->is_evacuated(obj) && obj->is_forwarded() : !_cycle->_marks.is_old(obj);
}

LullCycle::LullCycle(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply, uint workers)
  : _memory(memory),
    _marks(memory, blocks),
    _sparse(memory, blocks, supply),
    _later_sweep(memory, blocks, &_marks, &_sparse, supply),
    _cleaner(memory, blocks, &_marks, &_sparse),
    _far(this, memory, blocks),
    _always_true(),
    _is_alive(this, blocks),
    _references(new ReferenceProcessor(&_always_true,
                                       workers,                             // processing threads
                                       MAX2(workers, (uint)ConcGCThreads),  // discovering threads
                                       true,                                // discovery is concurrent
                                       &_is_alive)),
    _markers_count(ConcGCThreads),
    _queues(ConcGCThreads),
    _markers(NEW_C_HEAP_ARRAY(LullOldMarker*, ConcGCThreads, mtGC)),
    _thread(nullptr),
    _state(State::Idle),
    _in_remark(false),
    _was_enough_left(false),
    _was_vain(false),
    _is_asked_for(false),
    _is_driven(false),
    _cause(GCCause::_no_gc),
    _needs_begin(false),
    _must_unload(false),
    _is_for_idle(false),
    _follows_classes(false),
    _chunk_code(),
    _is_held(false),
    _next_marker(0),
    _start_ns(0),
    _gc_id(0),
    _last_ns(0),
    _was_given_up(false),
    _mark_ns(0),
    _last_used(0),
    _growth(0),
    _last_was_cycle(false),
    _used_at_last(0),
    _marking_ns(0),
    _begun(0),
    _ended(0),
    _done(0),
    _cycles(0),
    _late(0),
    _given_up(0) {
  DEBUG_ONLY(_pauses = 0;)
  for (uint i = 0; i < _markers_count; i++) {
    _markers[i] = new LullOldMarker(&_marks, &_queues, _references, _sparse.new_notes(), &_far);
    _queues.register_queue(i, _markers[i]->queue());
  }
}

void LullCycle::start_thread() { _thread = new LullMarkThread(this); }
void LullCycle::stop_thread()  { _thread->stop(); }

void LullCycle::threads_do(ThreadClosure* closure) const { _thread->all_threads_do(closure); }

const char* LullCycle::to_string(State state) {
  switch (state) {
    case LullCycle::State::Idle:     return "idle";
    case LullCycle::State::Clearing: return "clearing";
    case LullCycle::State::Ready:    return "ready";
    case LullCycle::State::Marking:  return "marking";
    case LullCycle::State::Marked:   return "marked";
  }
  ShouldNotReachHere();
  return nullptr;
}

void LullCycle::set_state(State state) {
  if (state == _state) {
    return;
  }
  log_debug(gc, marking)("Cycle %zu: %s -> %s", _cycles, to_string(_state), to_string(state));
  Atomic::store(&_state, state);
}

size_t LullCycle::marked_bytes() const {
  size_t words = 0;
  for (uint i = 0; i < _markers_count; i++) {
    words += _markers[i]->words();
  }
  return words * HeapWordSize;
}

jlong LullCycle::marking_for_ns(jlong now_ns) const {
  const jlong since = Atomic::load(&_marking_ns);
  return state() == State::Marking && since != 0 ? now_ns - since : 0;
}

bool LullCycle::has_tasks() const {
  for (uint i = 0; i < _markers_count; i++) {
    if (!_markers[i]->queue()->is_empty()) {
      return true;
    }
  }
  return false;
}

void LullCycle::start(const char* why) {
  assert(state() == State::Idle, "one cycle at a time");
  log_info(gc, marking)("Cycle %zu begins: %s", _cycles, why);
  Atomic::store(&_needs_begin, false);
  _start_ns = os::javaTimeNanos();
  Atomic::store(&_gc_id, GCId::current());
  Atomic::store(&_begun, _begun + 1);
  ConcurrentGCBreakpoints::notify_idle_to_active();
  set_state(State::Clearing);
  _thread->wake();
}

// The thread tells who waits for it: a pause may not.
void LullCycle::become_idle(bool given_up) {
  if (state() != State::Idle) {
    Atomic::store(&_marking_ns, (jlong)0);
    Atomic::store(&_last_ns, os::javaTimeNanos() - _start_ns);
    Atomic::store(&_was_given_up, given_up);
    Atomic::store(&_is_driven, false);
    Atomic::store(&_is_for_idle, false);
    Atomic::store(&_done, _begun);
    Atomic::store(&_ended, _ended + 1);
    set_state(State::Idle);
    _thread->wake();
  }
}

// A test that has control begins cycles by itself.
bool LullCycle::may_start() const {
  return is_driven() || !ConcurrentGCBreakpoints::is_controlled();
}

static bool is_controlled_by_test() {
  if (!WhiteBoxAPI) {
    return false;
  }
  MutexLocker ml(ConcurrentGCBreakpoints::monitor(), Mutex::_no_safepoint_check_flag);
  return ConcurrentGCBreakpoints::is_controlled();
}

bool LullCycle::is_waited_for() const {
  return begun() != ended() && (is_driven() || must_unload() || is_controlled_by_test());
}

bool LullCycle::needs_pause() const {
  const State now = state();
  return (now == State::Ready || now == State::Marked || _far.has_failed()) &&
         (is_waited_for() || (begun() != ended() && is_for_idle()));
}

void LullCycle::drive(GCCause::Cause cause) {
  _is_asked_for = true;
  Atomic::store(&_must_unload, ClassUnloadingWithConcurrentMark);
  Atomic::store(&_cause, cause);
  Atomic::store(&_is_driven, true);
}

void LullCycle::unload_soon(GCCause::Cause cause) {
  assert(ClassUnloadingWithConcurrentMark, "no cycle would unload");
  Atomic::store(&_cause, cause);
  Atomic::store(&_must_unload, true);
  Atomic::store(&_needs_begin, true);
}

// A pause among these would forget one of them.
bool LullCycle::begin_for_idle() {
  SuspendibleThreadSetJoiner joiner;
  Atomic::store(&_is_for_idle, true);
  Atomic::store(&_needs_begin, true);
  return !is_marking();
}

// A test that has control begins cycles by itself. Its next one unloads.
bool LullCycle::needs_begin() const {
  return Atomic::load(&_needs_begin) && state() == State::Idle && !is_controlled_by_test();
}

size_t LullCycle::clean_soon() {
  const size_t wish = _cleaner.ask();
  _thread->wake();
  return wish;
}

bool LullCycle::needs_cleaning() const {
  if (!LullCardCleaner::is_on()) {
    return false;
  }
  SuspendibleThreadSetJoiner joiner;    // what is committed for stretches changes in pauses
  return may_clean() && _cleaner.is_worth();
}

bool LullCycle::may_clean() const {
  return state() != State::Clearing && !is_far() && !_later_sweep.is_open() && !_sparse.is_left();
}

void LullCycle::clean_cards(bool (*may_go_on)()) { _cleaner.clean(may_go_on, is_marking()); }

void LullCycle::wait_for_end(size_t ended_before) { _thread->wait_for_end(ended_before); }

bool LullCycle::must_remark() const {
  const bool at_once = DEBUG_ONLY((LullMarkInRemark && state() == State::Marking && _pauses > 2) ||) false;
  return at_once || state() == State::Marked;
}

bool LullCycle::begin_young() {
  assert_at_safepoint();
  if (_far.has_failed()) {
    abort_far();
  }
  DEBUG_ONLY(_pauses = state() == State::Ready ? 0 : _pauses + 1;)
  if (state() != State::Ready) {
    return false;
  }
  assert(!has_tasks(), "left over from the cycle before");
  if (!must_unload()) {    // one that somebody waits for unloads, if any does
    _far.begin();
  }
  begin_classes();
  for (uint i = 0; i < _markers_count; i++) {
    _markers[i]->begin_cycle(_follows_classes, is_far());
  }
  _mark_ns = 0;
  Atomic::store(&_marking_ns, os::javaTimeNanos());
  _references->set_active_mt_degree(_references->max_num_queues());    // each marker has lists of its own
  _references->start_discovery(false /* clear soft references */);
  set_state(State::Marking);
  return true;
}

// As if a global collection came: what has a mark was perhaps never looked at. Another cycle does what this one was for:
// who waits for it begins it (LullDriver::collect_by_cycle).
void LullCycle::abort_far() {
  const bool was_for_idle = is_for_idle();
  const size_t done = _done;
  abort();
  Atomic::store(&_done, done);
  if (was_for_idle) {
    Atomic::store(&_is_for_idle, true);
    Atomic::store(&_needs_begin, true);
  }
}

// Which code is on stacks counts by cycles that follow classes, and by global collections.
void LullCycle::begin_classes() {
  ClassLoaderDataGraph::verify_claimed_marks_cleared(ClassLoaderData::_claim_strong);
  _follows_classes = ClassUnloadingWithConcurrentMark && !is_far();
  _chunk_code.clear();
  if (_follows_classes) {
    CodeCache::on_gc_marking_cycle_start();
  }
}

void LullCycle::begin_remark() {
  assert_at_safepoint();
  assert(is_marking() && !is_far(), "nothing to end");
  if (state() == State::Marking) {
    Atomic::store(&_late, _late + 1);
    log_info(gc, marking)("Cycle %zu is late: what is left is marked in the pause", _cycles);
  } else {
    _was_vain = false;
  }
  _in_remark = true;
}

bool LullCycle::take(LullOldTask* task) {
  assert(_in_remark, "markers have them");
  for (uint i = 0; i < _markers_count; i++) {
    LullOldQueue* const queue = _markers[i]->queue();
    if (queue->pop_overflow(*task) || queue->pop_local(*task)) {
      return true;
    }
  }
  return false;
}

void LullCycle::add(const LullOldTask& task) {
  assert_at_safepoint();
  assert(is_marking() && !_in_remark, "nobody does it");
  _markers[_next_marker]->queue()->push(task);
  _next_marker = _next_marker + 1 < _markers_count ? _next_marker + 1 : 0;
}

void LullCycle::flip() {
  assert(_in_remark && !has_tasks(), "not all is marked");
  _marks.flip();
}

void LullCycle::end_remark() {
  size_t objects = 0;
  size_t words = 0;
  for (uint i = 0; i < _markers_count; i++) {
    objects += _markers[i]->objects();
    words += _markers[i]->words();
  }
  log_info(gc, marking)("Cycle %zu has ended after %.3f s: %zu objects, %zuK, marked beside the program", _cycles,
                        (double)(os::javaTimeNanos() - _start_ns) / NANOSECS_PER_SEC, objects, words * HeapWordSize / K);
  Atomic::store(&_cycles, _cycles + 1);
  _in_remark = false;
  become_idle(false);
}

void LullCycle::abort() {
  assert_at_safepoint();
  _sparse.forget();
  if (is_marking()) {
    log_info(gc, marking)("Cycle %zu is given up: %s", _cycles,
                          _far.has_failed() ? "a memory server has failed" : "a global collection comes first");
    _far.stop();
    Atomic::store(&_given_up, _given_up + 1);
    for (uint i = 0; i < _markers_count; i++) {
      _markers[i]->queue()->set_empty();
      _markers[i]->queue()->overflow_stack()->clear();
    }
    _references->disable_discovery();
    _references->abandon_partial_discovery();
    _marks.all_to_clear();
    take_chunk_code([](nmethod*) {});
  }
  if (state() != State::Clearing) {
    become_idle(true);
  }
}

// What was in use after the remark was an estimate: half of what is free counts from what was.
ssize_t LullCycle::take_sweep_surplus() {
  const ssize_t surplus = _later_sweep.take_surplus();
  const size_t used_at_last = _used_at_last;
  Atomic::store(&_used_at_last, surplus < 0 ? used_at_last + (size_t)-surplus :
                                              used_at_last - MIN2((size_t)surplus, used_at_last));
  return surplus;
}

void LullCycle::end_period(double ns_per_byte) {
  if (ns_per_byte > 0) {
    const uint left_out = _worth.left_out();
    _worth.record_period(_last_was_cycle, ns_per_byte);
    log_debug(gc, ergo)("For each byte freed, with young collections: cycles %.3f ns, global collections %.3f ns",
                        _worth.cost(true), _worth.cost(false));
    if (_worth.left_out() > left_out) {
      log_info(gc, marking)("Cycles are dear: %.3f ns for each byte freed, where global collections cost %.3f; "
                            "%u of these come in their place", _worth.cost(true), _worth.cost(false), _worth.left_out());
    }
  }
}

void LullCycle::record_remark(jlong pause_ns, jlong expected_global_ns) {
  const uint left_out = _worth.left_out();
  _worth.record_remark(pause_ns, expected_global_ns);
  if (_worth.left_out() > left_out) {
    log_info(gc, marking)("Remarks are long: %.3fms, where a global pause takes %.3fms; %u of these come in their place",
                          (double)pause_ns / NANOSECS_PER_MILLISEC, (double)expected_global_ns / NANOSECS_PER_MILLISEC,
                          _worth.left_out());
  }
}

void LullCycle::end_pause(Ended ended, jlong pause_ns, size_t used, size_t capacity, jlong expected_global_ns) {
  const bool was_global_or_remark = ended != Ended::Young;
  _cleaner.begin_interval();
  if (ended == Ended::Remark) {
    record_remark(pause_ns, expected_global_ns);
  } else if (ended == Ended::Global) {
    _worth.record_global();
  }
  _was_enough_left = LullCyclePolicy::is_enough_left(used, capacity);
  if (!was_global_or_remark) {
    _growth = used - MIN2(used, _last_used);
  }
  _last_used = used;
  if (was_global_or_remark) {
    Atomic::store(&_used_at_last, used);
    _last_was_cycle = ended == Ended::Remark;
    if (ended == Ended::Global || !must_unload()) {    // else the cycle could not: another one has to
      Atomic::store(&_needs_begin, false);
      Atomic::store(&_is_for_idle, false);
    }
    _is_asked_for = false;
  }
  const bool needs_begin = Atomic::load(&_needs_begin);
  switch (state()) {
    case State::Idle: {
      const LullCyclePolicy::Seen seen = {used, _used_at_last, _growth, capacity, expected_global_ns, _was_vain};
      const bool always = DEBUG_ONLY(LullCycleALot ||) false;
      if (may_start() && (always || needs_begin || _is_asked_for || LullCyclePolicy::wants_cycle(seen, _worth))) {
        start(always ? "always" : is_driven() ? "asked for" :
              must_unload() ? "classes or code have grown" :
              is_for_idle() ? "little is allocated, and threads are at work" :
              _is_asked_for ? "instead of a global collection" : "half of what was free is old, or soon");
      }
      break;
    }
    case State::Marking:
    case State::Marked:
      set_state(has_tasks() || _is_held || is_far() ? State::Marking : State::Marked);
      if (has_tasks() || is_far()) {
        _thread->wake();
      }
      break;
    default:
      break;
  }
  _is_asked_for = false;
}

// Where nothing was marked the memory of bitmap and lines is not touched, which is perhaps not there yet. Nothing is
// committed or given back but in pauses.
void LullCycle::clear_granules(bool (*should_stop)()) {
  assert(!_later_sweep.is_open(), "the sweep needs what the cycle before has found");
  const uint32_t BlocksAtOnce = M / LullGeometry::BlockSize;
  const uint32_t blocks = (uint32_t)LullMemory::blocks_per_granule();
  for (size_t granule = 0; granule < _memory->granules() && !should_stop(); granule++) {
    _marks.clear_blocks(granule);
    const uint32_t first = (uint32_t)granule * blocks;
    for (uint32_t i = 0; i < blocks && _marks.is_to_clear(granule); i += BlocksAtOnce) {
      if (_memory->is_granule_committed(granule)) {
        _marks.clear_marks(first + i, BlocksAtOnce);
      }
      SuspendibleThreadSet::yield();
    }
    _marks.set_cleared(granule);
    SuspendibleThreadSet::yield();
  }
}

void LullCycle::end_clearing() {
  assert(state() == State::Clearing, "nobody else ends it");
  set_state(State::Ready);
}

// A pause that found nothing left may just have ended it.
void LullCycle::hold(bool held) {
  _is_held = held;
  if (held && state() == State::Marked) {
    set_state(State::Marking);
  }
}

void LullCycle::end_marking() {
  if (state() == State::Marking && !has_tasks() && !is_far()) {
    set_state(State::Marked);
  }
}
