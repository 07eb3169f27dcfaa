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

#include "gc/lull/stat/lullCounter.hpp"
#include "gc/lull/stat/lullLocalLog.hpp"
#include "gc/lull/stat/lullLocalStatistics.hpp"
#include "logging/log.hpp"
#include "runtime/atomic.hpp"
#include "runtime/os.hpp"

static const jlong IntervalNanos = 5 * (jlong)NANOSECS_PER_SEC;

// Since the last line; added to without a lock. The line takes them one by one: of a collection that ends meanwhile, a
// part may be in this line and the rest in the next.
static volatile size_t _collections = 0;
static volatile size_t _freed = 0;
static volatile size_t _survived = 0;
static volatile jlong _longest = 0;
static volatile jlong _longest_cpu_time = 0;
static volatile jlong _cpu_time = 0;

// When the last line was, or the VM started; 0 without local collections. Who moves it on writes the line.
static volatile jlong _since = 0;

void LullLocalLog::initialize() {
  _since = os::javaTimeNanos();
}

static bool is_on() {
  return _since != 0 && log_is_enabled(Info, gc);
}

static void log_if_due(jlong least_nanos) {
  const jlong since = Atomic::load(&_since);
  const jlong now = os::javaTimeNanos();
  if (now - since < least_nanos || Atomic::load(&_collections) == 0 || Atomic::cmpxchg(&_since, since, now) != since) {
    return;
  }
  const size_t collections = Atomic::xchg(&_collections, (size_t)0);
  const size_t freed = Atomic::xchg(&_freed, (size_t)0);
  const size_t survived = Atomic::xchg(&_survived, (size_t)0);
  const jlong longest = Atomic::xchg(&_longest, (jlong)0);
  const jlong longest_cpu_time = Atomic::xchg(&_longest_cpu_time, (jlong)0);
  const jlong cpu_time = Atomic::xchg(&_cpu_time, (jlong)0);
  // Elapsed time of a thread that waits for a processor goes on, and would look like a pause.
  log_info(gc)("Local collections: %zu in %.1fs, %zuM freed, %zuM survived, the longest %.3fms, "
               "by processor time %.3fms, processor time %.3fms in all",
               collections, (double)(now - since) / NANOSECS_PER_SEC, freed / M, survived / M,
               (double)longest / NANOSECS_PER_MILLISEC, (double)longest_cpu_time / NANOSECS_PER_MILLISEC,
               (double)cpu_time / NANOSECS_PER_MILLISEC);
}

void LullLocalLog::add(const LullLocalStatistics& collection) {
  if (!is_on()) {
    return;
  }
  Atomic::add(&_freed, collection._freed, memory_order_relaxed);
  Atomic::add(&_survived, collection._survived, memory_order_relaxed);
  Atomic::add(&_cpu_time, collection._cpu_time, memory_order_relaxed);
  LullCounter::raise(&_longest, collection._longest);
  LullCounter::raise(&_longest_cpu_time, collection._longest_cpu_time);
  Atomic::add(&_collections, collection._collections, memory_order_relaxed);
  log_if_due(IntervalNanos);
}

void LullLocalLog::log_rest() {
  if (is_on()) {
    log_if_due(0);
  }
}
