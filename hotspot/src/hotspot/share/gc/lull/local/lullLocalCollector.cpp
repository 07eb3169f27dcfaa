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
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollection.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/stat/lullLocalCounters.hpp"
#include "gc/lull/stat/lullLocalLog.hpp"
#include "gc/lull/stat/lullPendingReferences.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "jfr/jfrEvents.hpp"
#include "logging/log.hpp"
#include "memory/universe.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "runtime/threadSMR.hpp"

LullLocalStatistics LullLocalCollector::_ended;
LullLocalListener* LullLocalCollector::_listener = nullptr;

LullLocalCollector::LullLocalCollector(JavaThread* thread, LullAllocator* allocator)
  : _thread(thread),
    _allocator(allocator),
    _learned_budget(LullLocalBudget),
    _budget(LullLocalBudget),
    _wait_budget(MinBudget),
    _walk_budget(),
    _shallow_depth(0),
    _too_deep(SIZE_MAX),
    _ends_since(0),
    _few_in_a_row(0),
    _survived_at_last(0),
    _many_at_last(false),
    _last_trigger(Trigger::None),
    _takes_back(false),
    _last_allocated(allocator->allocated()),
    _last_published(LullPublisher::of(thread)->statistics().published_bytes()),
    _told_published(0),
    _told_kept(0),
    _told_at_pause(0),
    _keeps_references(false),
    _references_per_byte(0),
    _allocated_in_public_mode(0),
    _unmount_allocated(0),
    _pause_allocated(0),
    _pause_published(0),
    _request_depth(0),
    DEBUG_ONLY(_slow_allocations(0) COMMA)
    _statistics() {}

const char* LullLocalCollector::to_string(Trigger trigger) {
  switch (trigger) {
    case Trigger::None:       break;
    case Trigger::Wait:       return "before a wait";
    case Trigger::RequestEnd: return "at the end of a request";
    case Trigger::Shallow:    return "at a shallow stack";
    case Trigger::Unmount:    return "after a virtual thread was unmounted";
    case Trigger::Budget:     return "at the end of the budget";
    case Trigger::NoMemory:   return "for lack of memory";
  }
  return "";
}

size_t LullLocalCollector::allocated_since_last() const {
  assert(_allocator->allocated() >= _last_allocated, "what a mutator was given does not fall");
  return _allocator->allocated() - _last_allocated;
}

size_t LullLocalCollector::published_since_last() const {
  return LullPublisher::of(_thread)->statistics().published_bytes() - _last_published;
}

void LullLocalCollector::begin_anew() {
  _last_allocated = _allocator->allocated();
  _last_published = LullPublisher::of(_thread)->statistics().published_bytes();
}

// Free blocks that the thread keeps are warm, but are lost to others until it uses them:
// a budget's worth, and all threads together not more than an eighth of the heap.
size_t LullLocalCollector::blocks_to_keep() const {
  const size_t fair = LullTables::memory()->capacity() / 8 / MAX2(Threads::number_of_threads(), 1);
  return MIN2((size_t)LullLocalBudget, fair) / LullGeometry::BlockSize;
}

// What has survived once may still end with its request; what is there a second time, or is very
// much, is not copied again.
size_t LullLocalCollector::tenure_size() const {
  return _survived_at_last > LullTenureSize ? LullTenureSize : MIN2((size_t)LullTenureSize, SIZE_MAX / 4) * 4;
}

// A thread in public mode has nothing private; neither has one that has not noticed yet that tracking is suspended. While another thread makes
// the objects that this one's code has not made (EscapeBarrier), and reads its frames, this one may still run in the VM: nothing may move then.
bool LullLocalCollector::is_possible() const {
  assert(Thread::current() == _thread, "a thread collects its own objects");
  return !LullPublicMap::is_tracking_suspended() && !LullThreadLocalData::is_public_mode(_thread) && _thread->thread_state() == _thread_in_vm &&
         !_thread->is_obj_deopt_suspend();
}

size_t LullLocalCollector::stack_depth() const {
  assert(Thread::current() == _thread, "the stack pointer is this thread's");
  return _thread->stack_base() - os::current_stack_pointer();
}

bool LullLocalCollector::is_worth_a_walk(size_t depth) const {
  return allocated_since_last() >= _walk_budget.bytes_at(depth);
}

// As far as can be seen without a lock. Where mutators get less than all, what they do not get is not free, less the
// copy reserve, which they do not get anyway.
bool LullLocalCollector::is_memory_scarce() const {
  const size_t capacity = LullTables::memory()->capacity();
  const size_t limit = _allocator->supply()->use_limit();
  const size_t most = limit < capacity ? MIN2(limit + capacity / 100 * LullEvacuationPolicy::ReservePercent, capacity) : capacity;
  const size_t used = _allocator->supply()->used_bytes();
  return used >= most || (most - used) * 100 < capacity * ScarcePercent;
}

bool LullLocalCollector::is_due(size_t depth, Trigger* trigger) const {
  const size_t allocated = allocated_since_last();
#ifdef ASSERT
  if (LullLocalCollectALot > 0) {
    *trigger = Trigger::Budget;
    return _slow_allocations % LullLocalCollectALot == 0;
  }
#endif
  if (!is_worth_a_walk(depth)) {
    return false;
  }
  // A thread that does not wait looks early: weak references that only it knows are cleared by nobody else.
  const size_t largest = _shallow_depth == 0 ? BudgetWithoutWaits : LargestBudget;
  if (allocated >= _budget && (is_memory_scarce() || allocated >= largest)) {
    *trigger = Trigger::Budget;
    return true;
  }
  if (_unmount_allocated >= _last_allocated + LullLocalBudget) {
    *trigger = Trigger::Unmount;
    return true;
  }
  *trigger = Trigger::Shallow;
  return allocated >= LullLocalBudget && depth <= _shallow_depth;
}

void LullLocalCollector::learn(Trigger trigger, size_t depth, size_t allocated, size_t survived) {
  const size_t most = MAX2(LullTables::memory()->capacity() / BudgetsPerHeap, (size_t)LullLocalBudget);
  const bool many = survived * 100 > allocated * ManySurvivorsPercent;
  const bool few = survived * 100 < allocated * FewSurvivorsPercent;
  switch (trigger) {
    case Trigger::None:
      ShouldNotReachHere();
      break;
    case Trigger::Wait:
    case Trigger::RequestEnd:
      if (few) {
        if (++_ends_since >= EndsUntilForgotten) {
          _too_deep = SIZE_MAX;
        }
        _shallow_depth = MIN2(_shallow_depth == 0 ? 2 * depth : MAX2(_shallow_depth, depth), _too_deep - 1);
        _wait_budget = MAX2(_wait_budget / 2, MinBudget);
      } else if (many) {
        _wait_budget = MIN2(_wait_budget * 2, most);
      }
      break;
    case Trigger::Shallow:
      if (!few) {
        _too_deep = depth;
        _ends_since = 0;
        _shallow_depth = depth - 1;
      }
      break;
    case Trigger::Budget:
      _many_at_last = many;
      _few_in_a_row = few ? _few_in_a_row + 1 : 0;
      if (many) {
        _learned_budget = MIN2(_learned_budget * 2, most);
      } else if (_few_in_a_row == FewInARow) {
        _few_in_a_row = 0;
        _learned_budget = MAX2(_learned_budget / 2, (size_t)LullLocalBudget);
      }
      break;
    case Trigger::NoMemory:
      _many_at_last = many;
      break;
    case Trigger::Unmount:
      break;
  }
  assert(_shallow_depth < _too_deep, "%zu bytes of stack are shallow, %zu too deep", _shallow_depth, _too_deep);
  _budget = MAX2(_learned_budget, BudgetPerSurvivor * survived);
}

// What is published since the last time counts. Of what is kept only what has come since, until a pause has looked at it.
void LullLocalCollector::tell_references(size_t garbage, size_t kept) {
  assert(Thread::current() == _thread || Threads_lock->owned_by_self(), "what it has told is its thread's");
  const uint pauses = Universe::heap()->total_collections();
  if (pauses != _told_at_pause) {
    _told_at_pause = pauses;
    _told_kept = 0;
  }
  const size_t published = LullPublisher::of(_thread)->statistics()._references;
  const size_t more_kept = kept - MIN2(kept, _told_kept);
  if (LullPendingReferences::add(garbage, published - _told_published + more_kept)) {
    _listener->on_many_references();
  }
  if (published > _told_published || !LullThreadLocalData::is_public_mode(_thread)) {
    const float share = (float)(published - _told_published) / (float)MAX2(allocated_since_last(), (size_t)1);
    _references_per_byte = (_references_per_byte + share) / 2;
  }
  _told_published = published;
  _told_kept = MAX2(kept, _told_kept);
}

// A thread that registers much and waits for nothing does not collect for a while.
void LullLocalCollector::tell_many_published() {
  if (LullPublisher::of(_thread)->statistics()._references - _told_published >= ManyPublished) {
    tell_references(0, 0);
  }
}

// A thread in public mode publishes nothing: which references it makes is not known. It is taken to make as many as it has
// published of what it allocated before, and a part of what it allocates to be garbage.
void LullLocalCollector::tell_in_public_mode() {
  assert(LullThreadLocalData::is_public_mode(_thread), "what it makes is not known in public mode alone");
  const size_t allocated = allocated_since_last();
  _allocated_in_public_mode += allocated;
  if (_allocated_in_public_mode >= ToldInPublicMode && LullPublisher::of(_thread)->statistics()._references > 0) {
    const size_t references = (size_t)((float)_allocated_in_public_mode * _references_per_byte);
    tell_references(_allocated_in_public_mode / PublicModeShare, references);
    _told_kept = 0;    // each time others
    _allocated_in_public_mode = 0;
  }
}

// Of so much since a mark, what came after a later mark.
static size_t after(size_t amount, size_t mark, size_t later) {
  return amount - MIN2(later - MIN2(mark, later), amount);
}

void LullLocalCollector::collect(Trigger trigger, size_t depth) {
  assert(trigger != Trigger::None && !LullThreadLocalData::is_public_mode(_thread), "thread %u has nothing private",
         LullThreadLocalData::owner(_thread));
  EventLullLocalCollection event;
  const jlong start = os::javaTimeNanos();
  const jlong cpu_start = os::current_thread_cpu_time();
  const size_t allocated = allocated_since_last();
  _thread->retire_tlab();   // which counts what was allocated in it
  LullLocalCollection collection(_thread, _allocator);
  collection.collect(blocks_to_keep(), tenure_size());
  // Calls of natives. At an allocation, compiled code may keep what it has loaded before, and the next wait is to see to it.
  const bool takes_back = trigger == Trigger::Wait || trigger == Trigger::RequestEnd;
  if (takes_back) {
    LullThreadFields::take_back(_thread, _allocator);
  }
  _walk_budget.record(depth, collection.frames());
  _takes_back = !takes_back && LullThreadFields::can_be_taken_back(_thread);

  const jlong cpu_time = os::current_thread_cpu_time() - cpu_start;
  const jlong time = os::javaTimeNanos() - start;
  LullLocalStatistics now;
  now._collections = 1;
  now._allocated = allocated;
  now._published = published_since_last();
  now._judged_allocated = after(now._allocated, _last_allocated, _pause_allocated);
  now._judged_published = after(now._published, _last_published, _pause_published);
  now._freed = collection.freed_bytes();
  now._survived = collection.survived_bytes();
  now._copied = collection.copied_bytes();
  now._tenured = collection.is_tenured() ? now._survived : 0;
  now._before_wait = trigger == Trigger::Wait ? 1 : 0;
  now._shallow = trigger == Trigger::Shallow ? 1 : 0;
  now._frames = collection.frames();
  now._time = time;
  now._cpu_time = cpu_time;
  now._longest = time;
  now._longest_cpu_time = cpu_time;
  _statistics.add(now);
  _listener->on_local_collection();
  LullLocalCounters::add(now);
  LullLocalLog::add(now);
  if (event.should_commit()) {
    event.set_trigger(to_string(trigger));
    event.set_allocated(now._allocated);
    event.set_published(now._published);
    event.set_freed(now._freed);
    event.set_survived(now._survived);
    event.set_copied(now._copied);
    event.set_tenured(now._tenured);
    event.set_processorTime(now._cpu_time);
    event.commit();
  }
  // What is tenured is not copied again.
  _survived_at_last = now._survived - now._tenured;
  if (!takes_back || allocated >= MinBudget) {
    // Else it was to take back, or had next to nothing to collect, and says nothing of what garbage there is before waits.
    learn(trigger, depth, allocated, _survived_at_last);
  }
  _last_trigger = trigger;
  tell_references(now._freed, collection.pending_references());
  _keeps_references = collection.pending_references() > 0;
  begin_anew();
  log_debug(gc, local)("Thread %u: local collection %s, %zuK allocated, %zuK freed, %zuK survived (%zuK copied%s), %.1f us",
                      LullThreadLocalData::owner(_thread),
                      to_string(trigger),
                      allocated / K, now._freed / K, now._survived / K, now._copied / K,
                      collection.is_tenured() ? ", tenured" : "", (double)time / 1000);
}

void LullLocalCollector::collect_if_due() {
  assert(Thread::current() == _thread, "a thread collects its own objects");
  DEBUG_ONLY(_slow_allocations++;)
  if (LullThreadLocalData::is_public_mode(_thread)) {
    // What it allocates meanwhile does not count.
    tell_in_public_mode();
    begin_anew();
    return;
  }
  tell_many_published();
  // Once: in another frame it would be another one, and what is unlearned would not be what was asked.
  const size_t depth = stack_depth();
  Trigger trigger;
  if (is_due(depth, &trigger) && is_possible()) {
    collect(trigger, depth);
  }
}

bool LullLocalCollector::is_worth_a_look_before_wait(JavaThread* thread) {
  assert(thread == Thread::current(), "the depth is that of its own stack");
  const LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
  return collector != nullptr &&
         (collector->allocated_since_last() >= collector->_wait_budget || collector->_takes_back) &&
         collector->is_worth_a_walk(collector->stack_depth()) && !LullThreadLocalData::is_public_mode(thread);
}

void LullLocalCollector::record_unmount() {
  assert(Thread::current() == _thread, "a carrier unmounts what it carries");
  _unmount_allocated = _allocator->allocated();
}

void LullLocalCollector::before_wait(JavaThread* thread) {
  assert(thread == Thread::current(), "a thread collects before its own waits");
  if (is_worth_a_look_before_wait(thread)) {
    LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
    if (collector->is_possible()) {
      collector->collect(Trigger::Wait, collector->stack_depth());
    }
  }
}

bool LullLocalCollector::end_request() {
  assert(Thread::current() == _thread, "a thread ends its own requests");
  if (_request_depth == 0) {
    return false;
  }
  _request_depth--;
  if (_request_depth > 0) {
    return false;
  }
  _statistics._requests++;
  return true;
}

void LullLocalCollector::collect_after_request() {
  assert(_request_depth == 0, "%u requests are under way", _request_depth);
  if (is_possible()) {
    collect(Trigger::RequestEnd, stack_depth());
  }
}

bool LullLocalCollector::collect_before_global() {
  if (allocated_since_last() < MinBudget || _many_at_last || !is_worth_a_walk(stack_depth()) || !is_possible()) {
    return false;
  }
  collect(Trigger::NoMemory, stack_depth());
  return true;
}

void LullLocalCollector::collect_as_asked() {
  if (is_possible()) {
    collect(Trigger::NoMemory, stack_depth());
  }
}

bool LullLocalCollector::is_idle() const {
  assert_at_safepoint();
  return allocated_since_last() < MinBudget &&
         (_last_trigger == Trigger::None || _last_trigger == Trigger::Wait || _last_trigger == Trigger::RequestEnd);
}

// It has freed what the next local collection would have, so what was published for that is none of that one's costs, either.
void LullLocalCollector::record_pause() {
  assert_at_safepoint();
  _pause_allocated = _allocator->allocated();
  _pause_published = LullPublisher::of(_thread)->statistics().published_bytes();
}

bool LullLocalCollector::has_allocated() const {
  return LullPublisher::of(_thread)->statistics()._allocated > 0;
}

void LullLocalCollector::retire() {
  assert(Threads_lock->owned_by_self(), "it guards what is counted of threads that have ended");
  tell_references(0, 0);
  if (!LullThreadLocalData::is_public_mode(_thread) && _allocator->owns_blocks()) {
    LullLocalCollection(_thread, _allocator).collect_at_exit();
  }
  _ended.add(_statistics);
  _statistics = LullLocalStatistics();
}

// The lock keeps threads from ending between the two counts. The VM thread has it at
// safepoints.
LullLocalStatistics LullLocalCollector::total() {
  ConditionalMutexLocker ml(Threads_lock, !Threads_lock->owned_by_self());
  LullLocalStatistics total = _ended;
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
    if (collector != nullptr) {
      total.add(collector->_statistics);
    }
  }
  return total;
}

void LullLocalCollector::log_total() {
  if (LullLocalCollections && log_is_enabled(Info, gc, local)) {
    const LullLocalStatistics all = total();
    log_info(gc, local)("Local collections: %zu, of them %zu before a wait and %zu at a shallow stack, in %.1f ms "
                       "(%.1f ms of processor time), the longest %.1f us, %zu frames; "
                       "freed %zuM, survived %zuM, copied %zuM, tenured %zuM; %zu requests ended by lull.Requests",
                       all._collections, all._before_wait, all._shallow, (double)all._time / NANOSECS_PER_MILLISEC,
                       (double)all._cpu_time / NANOSECS_PER_MILLISEC, (double)all._longest / 1000, all._frames,
                       all._freed / M, all._survived / M, all._copied / M, all._tenured / M, all._requests);
  }
}
