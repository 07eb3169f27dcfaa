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

#include "gc/lull/concurrent/lullConcurrentPhase.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullMarkThread.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/concurrentGCBreakpoints.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/gcTraceTime.inline.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"
#include "runtime/java.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"

// Objects between two looks at whether a pause waits: some 20 microseconds.
static const size_t WorkPerLook = 512;

static LullMarkThread* the_thread = nullptr;

static bool should_stop() { return the_thread->should_terminate(); }
static bool must_clean()  { return the_thread->must_clean(); }
static bool may_clean()   { return the_thread->may_clean(); }
static void run_markers() { the_thread->run_markers(); }
static void pass_breakpoint(const char* name) { the_thread->pass_breakpoint(name); }

static const LullFarMarker::Caller far_caller = {&should_stop, &run_markers, &pass_breakpoint};

LullMarkThread::LullMarkThread(LullCycle* cycle)
  : ConcurrentGCThread(),
    _monitor(Mutex::nosafepoint, "LullMark_lock"),
    _is_woken(false),
    _end(Mutex::safepoint, "LullCycleEnd_lock"),
    _begun(0),
    _ended(0),
    _cycle(cycle),
    _workers(new WorkerThreads("Lull Marker", cycle->markers())) {
  the_thread = this;
  _workers->initialize_workers();
  if (_workers->set_active_workers(cycle->markers()) < cycle->markers()) {
    vm_exit_during_initialization("The markers of -XX:+LullConcurrentMarking could not be started: the system is out of "
                                  "threads or memory. Use a smaller -XX:ConcGCThreads, or -XX:-LullConcurrentMarking.");
  }
  set_name("Lull Mark");
  create_and_start();
  if (osthread() == nullptr) {
    vm_exit_during_initialization("The thread of -XX:+LullConcurrentMarking could not be started: the system is out of "
                                  "threads or memory.");
  }
}

void LullMarkThread::wake() {
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  _is_woken = true;
  ml.notify();
}

void LullMarkThread::stop_service() { wake(); }

void LullMarkThread::wait(int64_t ms) {
  MonitorLocker ml(&_monitor, Mutex::_no_safepoint_check_flag);
  bool is_over = false;
  while (!_is_woken && !should_terminate() && !is_over) {
    is_over = ml.wait(ms);
  }
  _is_woken = false;
}

void LullMarkThread::wait_for_end(size_t ended_before) {
  MonitorLocker ml(&_end);
  if (_cycle->ended() == ended_before) {
    ml.wait(MILLIUNITS);
  }
}

void LullMarkThread::tell_of_end() {
  {
    GCIdMark gc_id_mark(_cycle->gc_id());
    log_info(gc)("Concurrent Mark Cycle%s %.3fms", _cycle->was_given_up() ? " given up" : "",
                 (double)_cycle->last_ns() / NANOSECS_PER_MILLISEC);
  }
  {
    MonitorLocker ml(&_end, Mutex::_no_safepoint_check_flag);
    ml.notify_all();
  }
  ConcurrentGCBreakpoints::notify_active_to_idle();
}

void LullMarkThread::all_threads_do(ThreadClosure* closure) {
  closure->do_thread(this);
  _workers->threads_do(closure);
}

// Under the stress flag only what has to be.
bool LullMarkThread::must_sweep() const {
  return _cycle->later_sweep()->is_open() DEBUG_ONLY(&& (!LullMarkInRemark || _cycle->state() == LullCycle::State::Clearing));
}

// Other threads sweep some, too: the last blocks may be theirs.
void LullMarkThread::sweep() {
  LullLaterSweep* const sweep = _cycle->later_sweep();
  LullConcurrentPhase phase("Concurrent Sweep", sweep->gc_id());
  GCTraceConcTime(Debug, gc, marking) tm("Concurrent Sweep");
  SuspendibleThreadSetJoiner joiner;
  while (!should_terminate() && sweep->left() > 0) {
    if (!sweep->sweep_some()) {
      SuspendibleThreadSetLeaver leaver;
      os::naked_short_sleep(1);
    }
    joiner.yield();
  }
  sweep->end();
}

bool LullMarkThread::must_clean() const {
  // While servers mark nobody can, and markers that stopped for it would look at few objects between two questions.
  return LullCardCleaner::is_on() && !_cycle->is_far() && _cycle->cleaner()->is_asked_for();
}

bool LullMarkThread::may_clean() const { return !should_terminate() && _cycle->may_clean(); }

void LullMarkThread::clear() {
  LullConcurrentPhase phase("Concurrent Clear", _cycle->gc_id());
  GCTraceConcTime(Debug, gc, marking) tm("Concurrent Clear");
  SuspendibleThreadSetJoiner joiner;
  _cycle->clear_granules(&should_stop);
  if (!should_terminate()) {
    _cycle->end_clearing();
  }
}

// Until all markers have nothing left, or cards are to be cleaned: then each goes on later. Who has nothing looks now and
// then whether another one has left something.
class LullMarkOldTask : public WorkerTask {
private:
  LullCycle* const _cycle;
  volatile uint    _busy;

public:
  explicit LullMarkOldTask(LullCycle* cycle)
    : WorkerTask("Lull Mark Old"), _cycle(cycle), _busy(cycle->markers()) {}

  void work(uint worker_id) override {
    SuspendibleThreadSetJoiner joiner;
    LullOldMarker* const marker = _cycle->marker(worker_id);
    for (;;) {
      while (!should_stop() && marker->drain(WorkPerLook)) {
        joiner.yield();
        if (must_clean()) {
          return;
        }
      }
      Atomic::dec(&_busy);
      // A pause may have given it something, too. Nobody waits for who sleeps.
      while (!should_stop() && !must_clean() && Atomic::load(&_busy) > 0 && marker->queue()->is_empty() &&
             !marker->steal(worker_id)) {
        SuspendibleThreadSetLeaver leaver;
        os::naked_short_sleep(1);
      }
      if (should_stop() || marker->queue()->is_empty()) {
        return;
      }
      Atomic::inc(&_busy);
    }
  }
};

void LullMarkThread::pass_breakpoint(const char* breakpoint) {
  if (!WhiteBoxAPI) {
    return;
  }
  bool is_marking;
  {
    SuspendibleThreadSetJoiner joiner;
    is_marking = _cycle->is_marking();    // else a pause has ended the cycle
    _cycle->hold(is_marking);
  }
  if (is_marking) {
    ConcurrentGCBreakpoints::at(breakpoint);
  }
  SuspendibleThreadSetJoiner joiner;
  _cycle->hold(false);
}

void LullMarkThread::run_markers() {
  const jlong start = os::javaTimeNanos();
  LullMarkOldTask task(_cycle);
  _workers->run_task(&task);
  _cycle->add_mark_time(os::javaTimeNanos() - start);
}

void LullMarkThread::clean() {
  SuspendibleThreadSetJoiner joiner;
  _cycle->clean_cards(&::may_clean);
}

// If cards are to be cleaned. Do the markers have something left then?
bool LullMarkThread::clean_between() {
  if (!must_clean()) {
    return false;
  }
  clean();
  SuspendibleThreadSetJoiner joiner;
  return !should_terminate() && _cycle->state() == LullCycle::State::Marking && _cycle->has_tasks();
}

void LullMarkThread::mark() {
  LullConcurrentPhase phase("Concurrent Mark", _cycle->gc_id());
  GCTraceConcTime(Info, gc, marking) tm("Concurrent Mark");
  if (_begun != _cycle->begun()) {
    _begun = _cycle->begun();
    pass_breakpoint("AFTER MARKING STARTED");
  }
  DEBUG_ONLY(if (LullCleanALot) { _cycle->cleaner()->ask(); })
  if (_cycle->is_far()) {
    _cycle->far()->mark(&far_caller);
  }
  do {
    run_markers();
  } while (clean_between());
  pass_breakpoint("BEFORE MARKING COMPLETED");
  SuspendibleThreadSetJoiner joiner;
  _cycle->end_marking();
}

// Between what cycles ask for.
void LullMarkThread::do_default() {
  if (_ended != _cycle->ended()) {
    _ended = _cycle->ended();
    tell_of_end();
  } else if (must_sweep()) {
    sweep();
  } else if (must_clean()) {
    clean();
  } else if (DEBUG_ONLY(LullCleanALot ||) false) {
    wait(1);
    _cycle->cleaner()->ask();
  } else {
    wait(0);
  }
}

void LullMarkThread::run_service() {
  while (!should_terminate()) {
    switch (_cycle->state()) {
      case LullCycle::State::Clearing:
        if (must_sweep()) {
          sweep();
        } else {
          clear();
        }
        break;
      case LullCycle::State::Marking:
        DEBUG_ONLY(if (LullMarkInRemark) { wait(0); break; })
        if (_cycle->far()->has_failed()) {
          wait(0);    // the next pause gives it up
        } else {
          mark();
        }
        break;
      default:
        do_default();
        break;
    }
  }
}
