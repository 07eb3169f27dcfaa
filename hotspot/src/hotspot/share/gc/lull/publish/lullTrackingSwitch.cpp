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

#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullLocalStatistics.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/ostream.hpp"

LullTrackingSwitch::LullTrackingSwitch()
  : _policy(),
    _collections(0),
    _since(0) {}

bool LullTrackingSwitch::wants_suspension() const {
#ifdef ASSERT
  if (LullTracking && LullSuspendALot > 0) {
    return _collections / LullSuspendALot % 2 == 1;
  }
#endif
  return LullSuspendTracking && _policy.wants_suspension();
}

bool LullTrackingSwitch::publishes_all() const {
  assert_at_safepoint();
  return LullPublicMap::is_tracking_suspended() || wants_suspension();
}

// Bytes are those of objects, as HotSpot counts them when a TLAB is retired, which all are now: what is lost in holes depends on the
// mode, and would count as work. A thread that has allocated nothing has used next to no processor: it is not asked, and costs
// no system call.
void LullTrackingSwitch::add_thread(LullPublisher* publisher, JavaThread* thread, bool with_costs, LullTrackingPolicy::Interval* interval) const {
  const LullLocalStatistics* const local = LullThreadLocalData::local_statistics(thread);
  const Work before = *publisher->work();
  Work now;
  now._collections = _collections;
  now._allocated = (size_t)thread->allocated_bytes();
  now._published = publisher->statistics().published_bytes();
  now._freed = local == nullptr ? 0 : local->_freed;
  const size_t allocated = now._allocated - before._allocated;
  assert(now._allocated >= before._allocated && now._published >= before._published, "a thread's counts do not fall");
  if (with_costs) {
    now._processor_time = allocated == 0 ? before._processor_time : os::thread_cpu_time(thread);
  }
  *publisher->work() = now;
  if (before._collections + 1 != _collections || (with_costs && (before._processor_time < 0 || now._processor_time < 0))) {
    return;
  }
  interval->_allocated += allocated;
  interval->_allocated_public += LullThreadLocalData::is_public_mode(thread) ? allocated : 0;
  interval->_published += now._published - before._published;
  interval->_freed += now._freed - before._freed;
  interval->_mutators += with_costs ? now._processor_time - before._processor_time : 0;
}

void LullTrackingSwitch::log_decision(LullTrackingPolicy::State before) const {
  if (_policy.state() == before) {
    return;
  }
  if (_policy.state() == LullTrackingPolicy::State::Trial) {
    log_info(gc, publish)("Tracking: on trial");
  } else {
    log_info(gc, publish)("Tracking: %s; without it a byte costs %.2f of what it costs with it",
                          _policy.state() == LullTrackingPolicy::State::Suspended ? "suspended" : "goes on", _policy.last_ratio());
  }
}

void LullTrackingSwitch::end_collection(jlong pause, bool by_references) {
  assert_at_safepoint();
  if (!LullTracking) {
    return;
  }
  // All that is alive has been published, or has been public before.
  const bool is_suspended = LullPublicMap::is_tracking_suspended();
  const bool may_suspend = wants_suspension();
  _collections++;
  if (LullSuspendTracking) {
    const bool with_costs = _policy.wants_costs();
    LullTrackingPolicy::Interval interval = LullTrackingPolicy::Interval();
    interval._end = os::javaTimeNanos();
    interval._collection = pause * os::active_processor_count();
    interval._by_references = by_references;
    for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
      LullPublisher* const publisher = LullThreadLocalData::publisher(thread);
      if (!thread->is_hidden_from_external_view()) {
        add_thread(publisher, thread, with_costs, &interval);
      }
    }
    const LullTrackingPolicy::State before = _policy.state();
    _policy.record(interval, is_suspended);
    log_decision(before);
  }
  const bool suspends = wants_suspension() && may_suspend;
  if (suspends != is_suspended) {
    LullPublicMap::set_tracking_suspended(suspends);
    _since = os::javaTimeNanos();
    log_debug(gc, publish)("Tracking: %s for all threads, %s", suspends ? "suspended" : "resumed", LullTrackingPolicy::to_string(_policy.state()));
  }
}

void LullTrackingSwitch::print_on(outputStream* st) const {
  const bool is_suspended = LullPublicMap::is_tracking_suspended();
  st->print("%s", is_suspended ? "suspended" : "on");
  if (_since != 0) {
    st->print(" since %.1f s", (double)(os::javaTimeNanos() - _since) / NANOSECS_PER_SEC);
  }
  if (_policy.state() == LullTrackingPolicy::State::Trial) {
    st->print(", on trial");
  }
  if (_policy.last_ratio() > 0) {
    st->print("; without it a byte has cost %.2f of what it costs with it", _policy.last_ratio());
  }
}
