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

#include "gc/lull/lullForeignFlags.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/flags/jvmFlag.hpp"
#include "utilities/ostream.hpp"

#include <ctype.h>
#include <string.h>

// G1HeapRegionSize, ShenandoahGCMode, ZAllocationSpikeTolerance.
static bool is_of_other_collector(const char* name) {
  return (name[0] == 'G' && name[1] == '1') || strncmp(name, "Shenandoah", 10) == 0 || (name[0] == 'Z' && isupper(name[1]));
}

// Of young generations that have a size of their own, and survivors that have an age in numbers; of when to mark. Not
// those that HotSpot sets by others: AlwaysTenure.
static bool is_of_other_heap(const char* name) {
  static const char* const names[] = {
    "NewSize", "MaxNewSize", "NewRatio", "SurvivorRatio", "InitialSurvivorRatio", "MinSurvivorRatio", "TargetSurvivorRatio",
    "MaxTenuringThreshold", "InitialTenuringThreshold", "PretenureSizeThreshold", "ScavengeBeforeFullGC",
    "UseAdaptiveSizePolicy", "UseAdaptiveSizePolicyWithSystemGC", "AdaptiveSizePolicyWeight",
    "YoungGenerationSizeIncrement", "TenuredGenerationSizeIncrement", "InitiatingHeapOccupancyPercent",
    "GCPauseIntervalMillis"
  };
  for (const char* const other : names) {
    if (strcmp(name, other) == 0) {
      return true;
    }
  }
  return false;
}

// What counts for cycles only.
static bool is_of_cycles(const char* name) {
  return strcmp(name, "MaxGCPauseMillis") == 0 || strcmp(name, "ConcGCThreads") == 0 ||
         strcmp(name, "ExplicitGCInvokesConcurrent") == 0;
}

void LullForeignFlags::log() {
  if (!log_is_enabled(Info, gc)) {
    return;
  }
  stringStream names;
  for (size_t i = 0; i < JVMFlag::numFlags; i++) {
    const JVMFlag& flag = JVMFlag::flags[i];
    if (flag.is_command_line() && (is_of_other_collector(flag.name()) || is_of_other_heap(flag.name()) ||
                                   (!LullConcurrentMarking && is_of_cycles(flag.name())))) {
      names.print("%s%s", names.size() > 0 ? ", " : "", flag.name());
    }
  }
  if (names.size() > 0) {
    log_info(gc)("Without effect with Lull: %s", names.base());
  }
}
