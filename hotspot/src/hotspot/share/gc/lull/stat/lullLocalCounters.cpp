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
#include "gc/lull/stat/lullLocalCounters.hpp"
#include "gc/lull/stat/lullLocalStatistics.hpp"
#include "runtime/atomic.hpp"
#include "runtime/perfData.inline.hpp"

static PerfVariable* _collections = nullptr;
static PerfVariable* _before_wait = nullptr;
static PerfVariable* _freed       = nullptr;
static PerfVariable* _survived    = nullptr;
static PerfVariable* _copied      = nullptr;
static PerfVariable* _tenured     = nullptr;
static PerfVariable* _frames      = nullptr;
static PerfVariable* _time        = nullptr;
static PerfVariable* _cpu_time    = nullptr;
static PerfVariable* _longest     = nullptr;
static PerfVariable* _longest_cpu_time = nullptr;

static PerfVariable* create(const char* name, PerfData::Units units) {
  return LullCounter::create("lull.local", name, units);
}

void LullLocalCounters::initialize() {
  assert(_collections == nullptr, "once");
  _before_wait = create("beforeWait", PerfData::U_Events);
  _freed       = create("freed", PerfData::U_Bytes);
  _survived    = create("survived", PerfData::U_Bytes);
  _copied      = create("copied", PerfData::U_Bytes);
  _tenured     = create("tenured", PerfData::U_Bytes);
  _frames      = create("frames", PerfData::U_Events);
  _time        = create("time", PerfData::U_None);
  _cpu_time    = create("processorTime", PerfData::U_None);
  _longest     = create("longest", PerfData::U_None);
  _longest_cpu_time = create("longestProcessorTime", PerfData::U_None);
  _collections = create("collections", PerfData::U_Events);
}

static volatile jlong* value_of(PerfVariable* variable) {
  return (volatile jlong*)variable->get_address();
}

static void add(PerfVariable* variable, size_t value) {
  if (value != 0) {
    Atomic::add(value_of(variable), (jlong)value, memory_order_relaxed);
  }
}

void LullLocalCounters::add(const LullLocalStatistics& collection) {
  if (_collections == nullptr || !PerfDataManager::has_PerfData()) {
    return;   // or the VM exits and has unmapped them
  }
  ::add(_collections, collection._collections);
  ::add(_before_wait, collection._before_wait);
  ::add(_freed, collection._freed);
  ::add(_survived, collection._survived);
  ::add(_copied, collection._copied);
  ::add(_tenured, collection._tenured);
  ::add(_frames, collection._frames);
  ::add(_time, (size_t)collection._time);
  ::add(_cpu_time, (size_t)collection._cpu_time);
  LullCounter::raise(value_of(_longest), collection._longest);
  LullCounter::raise(value_of(_longest_cpu_time), collection._longest_cpu_time);
}
