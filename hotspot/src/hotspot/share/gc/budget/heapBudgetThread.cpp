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
#include "gc/budget/heapBudgetThread.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/workerThread.hpp"
#include "jfr/jfrEvents.hpp"
#include "logging/log.hpp"
#include "memory/iterator.hpp"
#include "memory/resourceArea.hpp"
#include "memory/universe.hpp"
#include "runtime/atomic.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/nonJavaThread.hpp"
#include "runtime/os.hpp"
#include "utilities/ostream.hpp"

static const int64_t IntervalMillis = 1000;

// A heap that is larger than it is to stay for so many intervals needs that.
static const uint32_t GrownIntervals = 3;

// A step that makes the heap smaller waits for so many intervals for a collection that can do that.
static const uint32_t LookIntervals = 2;

// Sums up processor time.
class HeapBudgetProcessorTime : public ThreadClosure {
private:
  uint64_t _ns;

public:
  HeapBudgetProcessorTime() : _ns(0) {}

  void do_thread(Thread* thread) override {
    if (thread == nullptr || thread->osthread() == nullptr) {
      return;   // is just being made
    }
    const jlong ns = os::thread_cpu_time(thread);
    if (ns > 0) {
      _ns += (uint64_t)ns;
    }
  }

  uint64_t ns() const { return _ns; }
};

HeapBudgetThread::HeapBudgetThread(HeapBudgetCollector* collector, HeapBudgetStalls* stalls) :
    ConcurrentGCThread(),
    _monitor(Mutex::nosafepoint, "HeapBudget_lock"),
    _collector(collector),
    _stalls(stalls),
    _mutators(),
    _policy(HeapBudgetSettings((uint32_t)os::active_processor_count())),
    _last(),
    _reading(new HeapBudgetReading()),
    _last_reading(new HeapBudgetReading()),
    _was_known(false),
    _last_reason(HeapBudgetDecision::Measuring),
    _grown(0),
    _over_limit(0),
    _capacities(),
    _enough(0),
    _looks_before(0),
    _waited(0),
    _vain_target(0),
    _vain_capacity(0),
    _vain_live(0),
    _target(0),
    _held(0),
    _in_charge(false),
    _live(0),
    _looks(0) {
  set_name("Heap Budget");
  create_and_start();
}

HeapBudgetThread::Counters HeapBudgetThread::counters() const {
  jlong pause_ms;
  Counters now;
  _collector->pauses(&pause_ms, &now.collections);
  now.pause = (uint64_t)pause_ms * NANOSECS_PER_MILLISEC;
  // Workers of pauses are counted by the pauses. The collector's own list of its threads is not to be read while it starts some.
  HeapBudgetProcessorTime all;
  HeapBudgetProcessorTime paused;
  Universe::heap()->safepoint_workers()->threads_do(&paused);
  for (NonJavaThread::Iterator threads; !threads.end(); threads.step()) {
    Thread* const thread = threads.current();
    if ((thread->is_ConcurrentGC_thread() || thread->is_Worker_thread()) && thread != this) {
      all.do_thread(thread);
    }
  }
  now.concurrent = all.ns() - MIN2(all.ns(), paused.ns());
  return now;
}

// What there was since the last call.
HeapBudgetSample HeapBudgetThread::measure(HeapBudgetRoom* room) {
  CollectedHeap* const heap = Universe::heap();
  const bool is_known = _stalls->read(_reading);
  const HeapBudgetTimes times = _mutators.since_last(*_reading);
  const Counters now = counters();

  HeapBudgetSample sample;
  sample.now = (uint64_t)os::javaTimeNanos();
  sample.pause = now.pause - MIN2(_last.pause, now.pause);
  sample.concurrent = now.concurrent - MIN2(_last.concurrent, now.concurrent);
  sample.waiting = times.waiting;
  sample.running = times.running;
  // Two readings of the same source, which has not begun anew in between.
  sample.stalled_known = is_known && _was_known && _reading->stalled >= _last_reading->stalled &&
                         _reading->has_threads == _last_reading->has_threads;
  sample.stalled = !sample.stalled_known ? 0 : _reading->has_threads ? times.stalled : _reading->stalled - _last_reading->stalled;
  sample.read_known = sample.stalled_known && _reading->read_known && _last_reading->read_known &&
                      _reading->read_bytes >= _last_reading->read_bytes;
  sample.read_bytes = sample.read_known ? _reading->read_bytes - _last_reading->read_bytes : 0;
  sample.allocated = times.allocated;
  sample.allocated_known = true;
  sample.collections = (uint32_t)(now.collections - MIN2(_last.collections, now.collections));
  size_t live = Atomic::load(&_live);
  {
    // Not in the middle of a pause, in which a collector may add memory for copies and give it back at the end (G1 does, in mixed collections):
    // that would be taken for a heap that has grown, or that has not followed.
    MutexLocker ml(Heap_lock);
    sample.capacity = heap->capacity();
    if (live == 0) {
      live = heap->used();
    }
  }
  sample.live = MIN2(live, sample.capacity);
  sample.reserve = _collector->reserve(sample.live);
  sample.least = MinHeapSize;
  sample.most = MaxHeapSize;
  *room = HeapBudgetMemory::room(sample.capacity);
  sample.available = room->available;
  // G1 uncommits after the pause.
  sample.released = MIN2(MAX3(sample.capacity, _capacities[0], _capacities[1]) - sample.capacity, room->other);
  _capacities[1] = _capacities[0];
  _capacities[0] = sample.capacity;

  _last = now;
  _was_known = is_known;
  swap(_reading, _last_reading);
  return sample;
}

void HeapBudgetThread::follow(const HeapBudgetDecision& decision, const HeapBudgetSample& sample) {
  if (decision.action != HeapBudgetDecision::Hold) {
    Atomic::store(&_target, decision.target);
    Atomic::store(&_held, decision.target);
    Atomic::store(&_in_charge, true);
    _grown = 0;
    if (decision.reason == HeapBudgetDecision::OverLimit) {
      _over_limit = sample.capacity;
    }
  } else if (decision.state == HeapBudgetDecision::Stable) {
    Atomic::store(&_target, (size_t)0);
    // Where I/O is not known the collector sizes the heap by itself, but not while there is less room than half of what it had to give up for a limit.
    const size_t given_up = _over_limit - MIN2(sample.capacity, _over_limit);
    if (decision.reason == HeapBudgetDecision::NoSensor && (given_up == 0 || sample.available >= sample.capacity + given_up / 2)) {
      _over_limit = 0;
      Atomic::store(&_in_charge, false);
      Atomic::store(&_held, (size_t)0);
    }
    hold_at(decision, sample.capacity);
  }
}

// Where nothing is to change, a collector that adds memory while it copies (each mixed collection of G1 may), and keeps it, would
// make up for each step that was right. At the end of the next collection that is taken back, unless it is needed.
void HeapBudgetThread::hold_at(const HeapBudgetDecision& decision, size_t capacity) {
  if (_held == 0) {
    return;
  }
  _grown = capacity > _held ? _grown + 1 : 0;
  const bool could_not_follow = decision.reason == HeapBudgetDecision::NotFollowed || decision.reason == HeapBudgetDecision::NoRoom;
  if (could_not_follow || capacity < _held || _grown >= GrownIntervals) {
    Atomic::store(&_held, capacity);
    _grown = 0;
  }
}

// At a safepoint.
bool HeapBudgetThread::desired_capacity(size_t live, size_t capacity, bool can_shrink, size_t* desired) {
  Atomic::store(&_live, MAX2(live, (size_t)1));
  if (can_shrink) {
    Atomic::store(&_looks, Atomic::load(&_looks) + 1);
  }
  if (!Atomic::load(&_in_charge)) {
    return false;
  }
  const size_t target = Atomic::load(&_target);
  const size_t held = Atomic::load(&_held);
  const size_t size = target != 0 ? target : held != 0 ? MIN2(held, capacity) : capacity;
  // More may be alive than when that was decided.
  const size_t needed = MIN2(live + _collector->reserve(live), MaxHeapSize);
  *desired = size < capacity ? MIN2(MAX2(size, needed), capacity) : size;
  return true;
}

// At a safepoint.
bool HeapBudgetThread::grown_capacity(size_t capacity, size_t* desired) const {
  if (!Atomic::load(&_in_charge)) {
    return false;
  }
  *desired = MAX2(Atomic::load(&_target), capacity);
  return true;
}

void HeapBudgetThread::report(const HeapBudgetSample& sample, const HeapBudgetDecision& decision, const HeapBudgetRoom& room) {
  const bool step = decision.action != HeapBudgetDecision::Hold;
  const bool reason_changed = decision.reason != HeapBudgetDecision::Measuring && decision.reason != _last_reason;
  if (reason_changed) {
    _last_reason = decision.reason;
  }
  // What is not measured any more is said once.
  const bool news = step || (reason_changed && (decision.reason == HeapBudgetDecision::NoSensor ||
                                                decision.reason == HeapBudgetDecision::SlowStorage));
  if (log_is_enabled(Debug, gc, budget) || (news && log_is_enabled(Info, gc, budget))) {
    stringStream text;
    text.print("%s, %s: %s; lost: collections %.2f processors, I/O %.2f threads; heap %zuM, live %zuM, to be %zuM, "
               "at most %zuM (limit %zuM, other %zuM); wait %.1fs",
               HeapBudgetDecision::name(decision.action), HeapBudgetDecision::name(decision.state),
               HeapBudgetDecision::name(decision.reason), decision.collection, decision.stalled, sample.capacity / M,
               sample.live / M, decision.target / M, room.available / M, room.limit / M, room.other / M,
               (double)decision.wait / NANOSECS_PER_SEC);
    if (news) {
      log_info(gc, budget)("%s", text.base());
    } else {
      log_debug(gc, budget)("%s", text.base());
    }
  }
  log_trace(gc, budget)("interval: paused %.1fms in %u collections, concurrent %.1fms; mutators: running %.1fms, waiting %.1fms, "
                        "stalled %.1fms%s; read %zuK%s; allocated %zuK; reserve %zuM",
                        (double)sample.pause / NANOSECS_PER_MILLISEC, sample.collections,
                        (double)sample.concurrent / NANOSECS_PER_MILLISEC, (double)sample.running / NANOSECS_PER_MILLISEC,
                        (double)sample.waiting / NANOSECS_PER_MILLISEC, (double)sample.stalled / NANOSECS_PER_MILLISEC,
                        sample.stalled_known ? "" : " (not known)", (size_t)(sample.read_bytes / K),
                        sample.read_known ? "" : " (not known)", (size_t)(sample.allocated / K), sample.reserve / M);
  // Of windows that are not full there is nothing to say.
  if (step || decision.reason != HeapBudgetDecision::Measuring) {
    EventHeapBudgetDecision event;
    if (event.should_commit()) {
      event.set_action(HeapBudgetDecision::name(decision.action));
      event.set_state(HeapBudgetDecision::name(decision.state));
      event.set_reason(HeapBudgetDecision::name(decision.reason));
      event.set_collectionCost((float)decision.collection);
      event.set_stallCost((float)decision.stalled);
      event.set_heapSize(sample.capacity);
      event.set_live(sample.live);
      event.set_target(decision.target);
      event.set_available(room.available);
      event.set_limit(room.limit);
      event.set_other(room.other);
      event.set_waitTime((s8)decision.wait);
      event.commit();
    }
  }
}

// What a heap may differ by from where it should be: granules leave that, and less is no step for the policy.
size_t HeapBudgetThread::tolerance(size_t capacity) const {
  return MAX3(8 * M, capacity / 256, _collector->granule());
}

void HeapBudgetThread::begin_step(const HeapBudgetSample& sample, const HeapBudgetDecision& decision) {
  _enough = 0;
  if (decision.action == HeapBudgetDecision::Shrink) {
    // A limit is to be obeyed; any other step is followed by half.
    _enough = decision.target + (decision.reason == HeapBudgetDecision::OverLimit ? tolerance(sample.capacity)
                                                                                  : (sample.capacity - decision.target) / 2);
  }
  // A collection that ends between follow() and this has seen the target, and is not counted: the capacity tells.
  _looks_before = Atomic::load(&_looks);
  _waited = 0;
}

// A heap that is to shrink does that at the end of a collection, and not of each: where nothing is allocated, or all collections are
// young ones, none would come. And one that has come may have found too little that it could give back: then one is asked to make room, once.
void HeapBudgetThread::pursue_step(const HeapBudgetSample& sample) {
  if (sample.capacity <= _enough) {
    _enough = 0;
  } else if (Atomic::load(&_looks) != _looks_before) {
    collect_to_shrink(sample, true /* makes_room */);
    _enough = 0;
  } else if (sample.collections == 0 || ++_waited == LookIntervals) {
    collect_to_shrink(sample, false /* makes_room */);
  }
}

// Where as much lives, and the heap is as large, as after the last that had made all the room that there was.
bool HeapBudgetThread::would_be_in_vain(const HeapBudgetSample& sample, size_t target) const {
  const size_t same = tolerance(sample.capacity);
  return _vain_target != 0 && target + same > _vain_target && sample.capacity <= _vain_capacity + same &&
         sample.live >= _vain_live - _vain_live / 16;
}

void HeapBudgetThread::collect_to_shrink(const HeapBudgetSample& sample, bool makes_room) {
  const size_t target = Atomic::load(&_target);
  if (target == 0 || target >= sample.capacity || should_terminate() || (makes_room && would_be_in_vain(sample, target))) {
    return;
  }
  log_debug(gc, budget)("Asking for a collection%s, as the heap is to shrink from %zuM to %zuM", makes_room ? " that makes room" : "",
                        sample.capacity / M, target / M);
  _collector->collect(makes_room);
  if (makes_room) {
    const size_t capacity = Universe::heap()->capacity();
    _vain_target = capacity > _enough ? target : 0;
    _vain_capacity = capacity;
    _vain_live = sample.live;
  }
}

// Before the first collection that tells how much is alive, all that is used counts as that, and a heap above a limit may seem to have
// nothing to give: then one is asked to tell.
void HeapBudgetThread::find_live(const HeapBudgetSample& sample) {
  if (Atomic::load(&_live) != 0 || sample.available >= sample.capacity || should_terminate()) {
    return;
  }
  log_debug(gc, budget)("Asking for a collection, as the heap of %zuM is to be at most %zuM, and it is not known how much is alive",
                        sample.capacity / M, sample.available / M);
  _collector->collect(false /* makes_room */);
}

// False at the end.
bool HeapBudgetThread::wait() {
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  if (!should_terminate()) {
    ml.wait(IntervalMillis);
  }
  return !should_terminate();
}

void HeapBudgetThread::run_service() {
  size_t last_capacity = 0;
  while (wait()) {
    ResourceMark rm;
    HeapBudgetRoom room;
    const HeapBudgetSample sample = measure(&room);
    find_live(sample);
    if (_enough != 0) {
      pursue_step(sample);
    } else if (sample.capacity < last_capacity && sample.collections == 0) {
      // What a collection has compacted the next can give back.
      collect_to_shrink(sample, false /* makes_room */);
    }
    last_capacity = sample.capacity;
    const HeapBudgetDecision decision = _policy.interval(sample);
    follow(decision, sample);
    report(sample, decision, room);
    if (decision.action != HeapBudgetDecision::Hold) {
      begin_step(sample, decision);
    }
  }
}

void HeapBudgetThread::stop_service() {
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  ml.notify();
}
