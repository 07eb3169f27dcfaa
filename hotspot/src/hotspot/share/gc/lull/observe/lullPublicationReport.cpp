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
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/observe/lullPublicationReport.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/stat/lullPublicationSamples.hpp"
#include "gc/lull/stat/lullPublicationStatistics.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/threadSMR.hpp"

void LullPublicationReport::log_total(const LullPublicationStatistics& total) {
  log_info(gc, publish)("Allocated: %zuK, published: %zuK (%.1f%%), %zu objects in %zu closures, the longest of %zu; "
                        "slow calls: %zu (private destination: %zu, public value: %zu, published: %zu); "
                        "public mode: entered %zu times, left %zu times",
                        total._allocated / K, total.published_bytes() / K, total.share() * 100,
                        total._objects, total._closures, total._longest,
                        total._slow_calls, total._calls_private_destination, total._calls_public_value, total._calls_published,
                        total._public_mode_entered, total._public_mode_left);
}

void LullPublicationReport::log_threads() {
  if (!log_is_enabled(Debug, gc, publish)) {
    return;
  }
  ResourceMark rm;
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullPublisher* const publisher = LullThreadLocalData::publisher(thread);
    const LullPublicationStatistics& statistics = publisher->statistics();
    if (statistics.is_empty()) {
      continue;
    }
    log_debug(gc, publish)("Thread %u \"%s\", %s mode: allocated: %zuK, published: %zuK (%.1f%%), %zu objects in %zu closures, "
                           "the longest of %zu; slow calls: %zu; public mode: entered %zu times, left %zu times",
                           LullThreadLocalData::owner(thread), thread->name(),
                           LullThreadLocalData::is_public_mode(thread) ? "public" : "private",
                           statistics._allocated / K, statistics.published_bytes() / K, statistics.share() * 100,
                           statistics._objects, statistics._closures, statistics._longest, statistics._slow_calls,
                           statistics._public_mode_entered, statistics._public_mode_left);
  }
}

void LullPublicationReport::report(LullMonitoring* monitoring, bool at_exit) {
  if (!LullTracking) {
    return;
  }
  const LullPublicationStatistics total = LullPublisher::total();
  monitoring->update_publication_counters(total);
  log_total(total);
  log_threads();
  if (LullPublicationSampling > 0 && (at_exit ? log_is_enabled(Info, gc, publish) : log_is_enabled(Debug, gc, publish))) {
    LullPublicationSamples::log(at_exit ? SitesAtExit : SitesAfterCollection);
  }
}
