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
#include "memory/resourceArea.hpp"
#include "runtime/atomic.hpp"
#include "runtime/perfData.inline.hpp"

PerfVariable* LullCounter::create(const char* group, const char* name, PerfData::Units units) {
  EXCEPTION_MARK;
  ResourceMark rm;
  PerfVariable* const variable =
    PerfDataManager::create_variable(SUN_GC, PerfDataManager::counter_name(group, name), units, THREAD);
  guarantee(!HAS_PENDING_EXCEPTION, "no room for a performance counter");
  return variable;
}

void LullCounter::raise(volatile jlong* counter, jlong value) {
  jlong old = Atomic::load(counter);
  while (value > old) {
    const jlong seen = Atomic::cmpxchg(counter, old, value, memory_order_relaxed);
    if (seen == old) {
      return;
    }
    old = seen;
  }
}
