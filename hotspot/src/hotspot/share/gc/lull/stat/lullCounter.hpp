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

#ifndef SHARE_GC_LULL_STAT_LULLCOUNTER_HPP
#define SHARE_GC_LULL_STAT_LULLCOUNTER_HPP

#include "memory/allStatic.hpp"
#include "runtime/perfData.hpp"

// How Lull's performance counters are made, and what many threads write without a lock.
class LullCounter : public AllStatic {
public:
  // sun.gc.GROUP.NAME; while the VM starts.
  static PerfVariable* create(const char* group, const char* name, PerfData::Units units);

  // Makes *counter at least value; by many threads at once, ordered with nothing else.
  static void raise(volatile jlong* counter, jlong value);
};

#endif // SHARE_GC_LULL_STAT_LULLCOUNTER_HPP
