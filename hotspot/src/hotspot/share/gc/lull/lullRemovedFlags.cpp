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

#include "gc/lull/lullRemovedFlags.hpp"
#include "jvm_io.h"
#include "utilities/defaultStream.hpp"

#include <string.h>

static const char LeaveOut[] = "Lull chooses this by itself. Leave the flag out.";
static const char Study[] = "The allocator study has a VM of its own: bench/allocator/jdk.sh builds it. Leave the flag out here.";

static const struct {
  const char* _name;
  const char* _advice;
} removed[] = {
  { "LullAllocation",                  Study },
  { "LullSegregatedBytes",             Study },
  { "LullSegregatedCoalescing",        Study },
  { "LullSegregatedLists",             Study },
  { "LullSegregatedSearch",            Study },
  { "LullEvacuationReservePercent",    LeaveOut },
  { "LullMinHoleLines",                LeaveOut },
  { "LullLocalDefragmentation",        "Workers do not collect for threads any more: it did not pay. Leave the flag out." },
  { "LullPublicModePercent",           "Lull chooses this by itself. Leave the flag out; in place of 100 there is "
                                       "-XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPrivate." },
#ifdef PRODUCT
  // Flags of debug builds.
  { "LullAdaptiveHoles",               LeaveOut },
  { "LullEvacuation",                  LeaveOut },
  { "LullEvacuationMaxLivePercent",    LeaveOut },
  { "LullFitMedium",                   LeaveOut },
  { "LullFragmentationTriggerPercent", LeaveOut },
  { "LullPrivateCarriers",             LeaveOut },
  { "LullPrivateThreadLocals",         LeaveOut },
  { "LullPublicationLimit",            LeaveOut },
  { "LullPublicModeWindow",            LeaveOut },
  { "LullPublicModeWindows",           LeaveOut },
  { "LullTenureSize",                  LeaveOut },
  { "LullUnloadClassesInterval",       LeaveOut },
#endif
};

const char* LullRemovedFlags::advice(const char* name, size_t length) {
  for (const auto& flag : removed) {
    if (strlen(flag._name) == length && strncmp(flag._name, name, length) == 0) {
      return flag._advice;
    }
  }
  return nullptr;
}

void LullRemovedFlags::explain(const char* name, size_t length) {
  const char* const sentence = advice(name, length);
  if (sentence != nullptr) {
    jio_fprintf(defaultStream::error_stream(), "-XX:%.*s: %s\n", (int)length, name, sentence);
  }
}
