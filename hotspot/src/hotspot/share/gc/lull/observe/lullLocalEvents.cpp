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

#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullLocalEvents.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gc_globals.hpp"
#include "jfr/jfrEvents.hpp"
#include "jfr/support/jfrThreadId.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/growableArray.hpp"

template <typename Event>
static void set_statistics(Event& event, const LullLocalStatistics& statistics) {
  event.set_collections(statistics._collections);
  event.set_beforeWait(statistics._before_wait);
  event.set_requests(statistics._requests);
  event.set_allocated(statistics._allocated);
  event.set_freed(statistics._freed);
  event.set_survived(statistics._survived);
  event.set_copied(statistics._copied);
  event.set_tenured(statistics._tenured);
  event.set_time(statistics._time);
  event.set_processorTime(statistics._cpu_time);
  event.set_longest(statistics._longest);
  event.set_longestProcessorTime(statistics._longest_cpu_time);
}

void LullLocalEvents::send_total() {
  if (UseLullGC && LullLocalCollections) {
    EventLullLocalCollectionStatistics event;
    set_statistics(event, LullLocalCollector::total());
    event.commit();
  }
}

struct LullThreadLocalStatistics {
  traceid             _thread;
  LullLocalStatistics _statistics;
};

void LullLocalEvents::send_threads() {
  if (!UseLullGC || !LullLocalCollections) {
    return;
  }
  ResourceMark rm;
  GrowableArray<LullThreadLocalStatistics> threads;
  // No event while threads are kept from going away.
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
    if (collector->has_allocated() && !thread->is_exiting()) {
      threads.append(LullThreadLocalStatistics{ JFR_JVM_THREAD_ID(thread), collector->statistics() });
    }
  }
  const Ticks now = Ticks::now();
  for (const LullThreadLocalStatistics& thread : threads) {
    EventLullThreadLocalCollectionStatistics event(UNTIMED);
    event.set_starttime(now);
    event.set_endtime(now);
    event.set_thread(thread._thread);
    set_statistics(event, thread._statistics);
    event.commit();
  }
}
