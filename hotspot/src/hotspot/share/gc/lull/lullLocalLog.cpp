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


#include "gc/lull/lullLocalLog.hpp"
#include "gc/lull/lullLocalStatistics.hpp"
#include "logging/log.hpp"
#include "runtime/mutex.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"

static const jlong IntervalNanos = 5 * (jlong)NANOSECS_PER_SEC;

static Mutex* _lock = nullptr;          // guards the rest
static LullLocalStatistics _unlogged;   // since the last line
static jlong _since;                    // when that was, or the VM started

void LullLocalLog::initialize() {
  _lock = new Mutex(Mutex::service - 1, "LullLocalLog_lock");
  _since = os::javaTimeNanos();
}

// Adds a collection, if there is one, and takes all that are unlogged if so much time has gone.
static bool take(const LullLocalStatistics* more, jlong least_nanos, LullLocalStatistics* taken, jlong* nanos) {
  MutexLocker ml(_lock, Mutex::_no_safepoint_check_flag);
  const jlong now = os::javaTimeNanos();
  if (more != nullptr) {
    _unlogged.add(*more);
  }
  *nanos = now - _since;
  if (_unlogged._collections == 0 || *nanos < least_nanos) {
    return false;
  }
  *taken = _unlogged;
  _unlogged = LullLocalStatistics();
  _since = now;
  return true;
}

static void log_if_due(const LullLocalStatistics* more, jlong least_nanos) {
  if (_lock == nullptr || !log_is_enabled(Info, gc)) {
    return;
  }
  LullLocalStatistics collections;
  jlong nanos;
  if (take(more, least_nanos, &collections, &nanos)) {
    log_info(gc)("Local collections: %zu in %.1fs, %zuM freed, %zuM survived, the longest %.3fms, processor time %.3fms",
                 collections._collections, (double)nanos / NANOSECS_PER_SEC, collections._freed / M, collections._survived / M,
                 (double)collections._longest / NANOSECS_PER_MILLISEC, (double)collections._cpu_time / NANOSECS_PER_MILLISEC);
  }
}

void LullLocalLog::add(const LullLocalStatistics& collection) {
  log_if_due(&collection, IntervalNanos);
}

void LullLocalLog::log_rest() {
  log_if_due(nullptr, 0);
}
