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

#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullPublicationEvents.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/stat/lullPublicationStatistics.hpp"
#include "gc/shared/gc_globals.hpp"
#include "jfr/jfrEvents.hpp"
#include "jfr/support/jfrThreadId.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/growableArray.hpp"

template <typename Event>
static void set_statistics(Event& event, const LullPublicationStatistics& statistics) {
  event.set_allocated(statistics._allocated);
  event.set_published(statistics.published_bytes());
  event.set_objects(statistics._objects);
  event.set_closures(statistics._closures);
  event.set_longestClosure(statistics._longest);
  event.set_slowCalls(statistics._slow_calls);
  event.set_callsPrivateDestination(statistics._calls_private_destination);
  event.set_callsPublicValue(statistics._calls_public_value);
  event.set_callsPublished(statistics._calls_published);
  event.set_enteredPublicMode(statistics._public_mode_entered);
  event.set_leftPublicMode(statistics._public_mode_left);
}

void LullPublicationEvents::send_total() {
  if (UseLullGC && LullTracking) {
    EventLullPublicationStatistics event;
    set_statistics(event, LullPublisher::total());
    event.commit();
  }
}

struct LullThreadStatistics {
  traceid                   _thread;
  bool                      _is_public_mode;
  LullPublicationStatistics _statistics;
};

void LullPublicationEvents::send_threads() {
  if (!UseLullGC || !LullTracking) {
    return;
  }
  ResourceMark rm;
  GrowableArray<LullThreadStatistics> threads;
  // No event while threads are kept from going away.
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullPublisher* const publisher = LullThreadLocalData::publisher(thread);
    if (!publisher->statistics().is_empty() && !thread->is_exiting()) {
      threads.append(LullThreadStatistics{ JFR_JVM_THREAD_ID(thread), LullThreadLocalData::is_public_mode(thread),
                                           publisher->statistics() });
    }
  }
  const Ticks now = Ticks::now();
  for (const LullThreadStatistics& thread : threads) {
    EventLullThreadPublicationStatistics event(UNTIMED);
    event.set_starttime(now);
    event.set_endtime(now);
    event.set_thread(thread._thread);
    event.set_publicMode(thread._is_public_mode);
    set_statistics(event, thread._statistics);
    event.commit();
  }
}

void LullPublicationEvents::send_mode(bool to_public, const char* reason, float share) {
  EventLullPublicationMode event;
  if (event.should_commit()) {
    // The recorder may need a handle for a virtual thread.
    DEBUG_ONLY(ResetNoHandleMark rnhm;)
    HandleMark hm(Thread::current());
    event.set_from(to_public ? "private" : "public");
    event.set_to(to_public ? "public" : "private");
    event.set_reason(reason);
    event.set_publishedShare(share);
    event.commit();
  }
}

void LullPublicationEvents::send_sample(const Klass* stored, size_t objects, size_t bytes, size_t weight) {
  EventLullPublicationSample event;
  if (event.should_commit()) {
    event.set_objectClass(stored);
    event.set_objects(objects);
    event.set_size(bytes);
    event.set_weight(weight);
    event.commit();
  }
}
