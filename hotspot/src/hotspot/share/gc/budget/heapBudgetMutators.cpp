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

#include "gc/budget/heapBudgetMutators.hpp"
#include "gc/budget/heapBudgetProc.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/threadSMR.hpp"
#include "services/threadService.hpp"

#include <inttypes.h>
#include <stdio.h>

int HeapBudgetMutators::by_tid(Mutator* a, Mutator* b) {
  return a->tid < b->tid ? -1 : a->tid > b->tid ? 1 : 0;
}

int HeapBudgetMutators::compare(const uint32_t& tid, const Mutator& mutator) {
  return tid < mutator.tid ? -1 : tid > mutator.tid ? 1 : 0;
}

// Returns what all threads have allocated, with those that have ended. (Between the two sums a thread may end, and count twice: until
// the next call, which then sees less, and takes that for nothing.)
uint64_t HeapBudgetMutators::find(GrowableArrayCHeap<Mutator, mtGC>* mutators) {
  uint64_t allocated = (uint64_t)ThreadService::exited_allocated_bytes();
  // No file is read while threads are kept from going away.
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    if (thread->osthread() != nullptr && !thread->is_hidden_from_external_view()) {
      mutators->append(Mutator{ (uint32_t)thread->osthread()->thread_id(), 0, 0, 0 });
      allocated += (uint64_t)thread->cooked_allocated_bytes();
    }
  }
  mutators->sort(&by_tid);
  return allocated;
}

// "nanoseconds on a processor, nanoseconds of waiting for one, time slices"
void HeapBudgetMutators::read_schedule(Mutator* mutator) {
  char path[64];
  char text[128];
  os::snprintf_checked(path, sizeof(path), "/proc/self/task/%u/schedstat", mutator->tid);
  if (HeapBudgetProc::read(path, text, sizeof(text))) {
    sscanf(text, "%" SCNu64 " %" SCNu64, &mutator->running, &mutator->waiting);
  }
}

void HeapBudgetMutators::add_stalls(GrowableArrayCHeap<Mutator, mtGC>* mutators, const HeapBudgetReading& reading) {
  for (const HeapBudgetThreadStall& thread : reading.threads) {
    bool found;
    const int at = mutators->find_sorted<uint32_t, compare>(thread.tid, found);
    if (found) {
      mutators->at(at).stalled = thread.stalled;
    }
  }
}

static uint64_t grown(uint64_t from, uint64_t to) {
  return to - MIN2(from, to);
}

HeapBudgetTimes HeapBudgetMutators::since_last(const HeapBudgetReading& reading) {
  GrowableArrayCHeap<Mutator, mtGC> now;
  const uint64_t allocated = find(&now);
  if (reading.has_threads) {
    add_stalls(&now, reading);
  }
  HeapBudgetTimes times = { 0, 0, 0, grown(_last_allocated, allocated) };
  _last_allocated = allocated;
  for (int i = 0; i < now.length(); i++) {
    Mutator& mutator = now.at(i);
    read_schedule(&mutator);
    bool found;
    const int at = _last.find_sorted<uint32_t, compare>(mutator.tid, found);
    // All that a new thread did was since the last call.
    const Mutator before = found ? _last.at(at) : Mutator{ mutator.tid, 0, 0, 0 };
    times.running += grown(before.running, mutator.running);
    times.waiting += grown(before.waiting, mutator.waiting);
    times.stalled += grown(before.stalled, mutator.stalled);
  }
  _last.swap(&now);
  if (!_begun) {
    _begun = true;
    return HeapBudgetTimes{ 0, 0, 0, 0 };
  }
  return times;
}
