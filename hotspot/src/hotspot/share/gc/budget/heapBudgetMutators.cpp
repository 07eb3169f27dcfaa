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
#include "runtime/nonJavaThread.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/threadSMR.hpp"
#include "services/threadService.hpp"

#include <inttypes.h>
#include <stdio.h>

static const int MaxAttempts = 3;

template <typename T>
int HeapBudgetMutators::by_tid(T* a, T* b) {
  return a->tid < b->tid ? -1 : a->tid > b->tid ? 1 : 0;
}

template <typename T>
int HeapBudgetMutators::compare(const uint32_t& tid, const T& thread) {
  return tid < thread.tid ? -1 : tid > thread.tid ? 1 : 0;
}

// Returns what all threads have allocated, with those that have ended. One that ends between the two may be in both sums or in none, with all
// that it has ever allocated: then once more.
uint64_t HeapBudgetMutators::find(Mutators* mutators, Others* others) {
  uint64_t allocated = 0;
  for (int attempt = 0; attempt < MaxAttempts; attempt++) {
    const uint64_t ended = (uint64_t)ThreadService::exited_allocated_bytes();
    allocated = ended + list(mutators, others);
    if (ended == (uint64_t)ThreadService::exited_allocated_bytes()) {
      break;
    }
  }
  return allocated;
}

// Returns what the threads that there are have allocated.
uint64_t HeapBudgetMutators::list(Mutators* mutators, Others* others) {
  uint64_t allocated = 0;
  mutators->clear();
  others->clear();
  // No file is read while threads are kept from going away.
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    if (thread->osthread() == nullptr) {
      continue;
    }
    const uint32_t tid = (uint32_t)thread->osthread()->thread_id();
    if (thread->is_hidden_from_external_view()) {
      others->append(Other{ tid, 0 });
    } else {
      mutators->append(Mutator{ tid, 0, 0 });
      allocated += (uint64_t)thread->cooked_allocated_bytes();
    }
  }
  for (NonJavaThread::Iterator threads; !threads.end(); threads.step()) {
    if (threads.current()->osthread() != nullptr) {
      others->append(Other{ (uint32_t)threads.current()->osthread()->thread_id(), 0 });
    }
  }
  mutators->sort(&by_tid<Mutator>);
  others->sort(&by_tid<Other>);
  return allocated;
}

// "nanoseconds on a processor, nanoseconds of waiting for one, time slices"
bool HeapBudgetMutators::read_schedule(Mutator* mutator) {
  char path[64];
  char text[128];
  os::snprintf_checked(path, sizeof(path), "/proc/self/task/%u/schedstat", mutator->tid);
  return HeapBudgetProc::read(path, text, sizeof(text)) &&
         sscanf(text, "%" SCNu64 " %" SCNu64, &mutator->running, &mutator->waiting) == 2;
}

static uint64_t grown(uint64_t from, uint64_t to) {
  return to - MIN2(from, to);
}

// Of all threads but the VM's own, which others are.
uint64_t HeapBudgetMutators::stalled_since_last(const HeapBudgetReading& reading, Others* others) {
  uint64_t stalled = grown(_last_stalled, reading.stalled);
  _last_stalled = reading.stalled;
  for (const HeapBudgetThreadStall& thread : reading.threads) {
    bool found;
    const int at = others->find_sorted<uint32_t, compare<Other> >(thread.tid, found);
    if (!found) {
      continue;
    }
    others->at(at).stalled = thread.stalled;
    const int before = _last_others.find_sorted<uint32_t, compare<Other> >(thread.tid, found);
    const uint64_t not_ours = grown(found ? _last_others.at(before).stalled : 0, thread.stalled);
    stalled -= MIN2(not_ours, stalled);
  }
  return stalled;
}

HeapBudgetTimes HeapBudgetMutators::since_last(const HeapBudgetReading& reading) {
  Mutators now;
  Others others;
  const uint64_t allocated = find(&now, &others);
  HeapBudgetTimes times = { 0, 0, 0, grown(_last_allocated, allocated) };
  _last_allocated = allocated;
  if (reading.has_threads) {
    times.stalled = stalled_since_last(reading, &others);
  }
  for (int i = 0; i < now.length(); i++) {
    Mutator& mutator = now.at(i);
    bool found;
    const int at = _last.find_sorted<uint32_t, compare<Mutator> >(mutator.tid, found);
    // All that a new thread did was since the last call.
    const Mutator before = found ? _last.at(at) : Mutator{ mutator.tid, 0, 0 };
    if (!read_schedule(&mutator)) {
      // For lack of descriptors, perhaps: what it has done meanwhile counts at the next call.
      mutator = before;
    }
    times.running += grown(before.running, mutator.running);
    times.waiting += grown(before.waiting, mutator.waiting);
  }
  _last.swap(&now);
  _last_others.swap(&others);
  if (!_begun) {
    _begun = true;
    return HeapBudgetTimes{ 0, 0, 0, 0 };
  }
  return times;
}
