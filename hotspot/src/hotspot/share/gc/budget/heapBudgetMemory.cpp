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

#include "gc/budget/heapBudgetMemory.hpp"
#include "gc/budget/heapBudgetProc.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/atomic.hpp"
#include "runtime/os.hpp"
#ifdef LINUX
#include "osContainer_linux.hpp"
#endif

// The share of the limit, in percent, that stays for the page cache at least.
static const size_t LeastCachePercent = 5;

bool HeapBudgetMemory::used_by_process(size_t* bytes) {
  char text[8 * K];
  uint64_t anonymous;
  uint64_t shared;
  if (!HeapBudgetProc::read("/proc/self/status", text, sizeof(text)) || !HeapBudgetProc::number(text, "RssAnon", &anonymous) ||
      !HeapBudgetProc::number(text, "RssShmem", &shared)) {
    return false;
  }
  *bytes = (size_t)(anonymous + shared) * K;
  return true;
}

// Memory that is not page cache, of the container or the machine.
size_t HeapBudgetMemory::used_by_all() {
#ifdef LINUX
  if (OSContainer::is_containerized() && OSContainer::memory_limit_in_bytes() > 0) {
    const jlong used = OSContainer::rss_usage_in_bytes();
    return used > 0 ? (size_t)used : 0;
  }
#endif
  const julong all = os::physical_memory();
  return (size_t)(all - MIN2(all, os::available_memory()));
}

HeapBudgetRoom HeapBudgetMemory::room(size_t capacity) {
  HeapBudgetRoom room;
  room.limit = (size_t)os::physical_memory();
  size_t used = used_by_all();
  const size_t wanted = Atomic::load(&HeapBudgetLimit);
  if (wanted != 0 && wanted < room.limit) {
    // What others use has been thought of by who has set it.
    room.limit = wanted;
    used_by_process(&used);
  }
  room.other = used - MIN2(used, capacity);
  const size_t cache = room.limit / 100 * LeastCachePercent;
  room.available = room.limit - MIN2(room.limit, room.other + cache);
  return room;
}
