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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETMUTATORS_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETMUTATORS_HPP

#include "gc/budget/heapBudgetStalls.hpp"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

// Summed up over mutators; times in nanoseconds.
struct HeapBudgetTimes {
  uint64_t running;    // on a processor
  uint64_t waiting;    // ready to run, without a processor
  uint64_t stalled;    // on I/O; 0 if it is not known of each thread
  uint64_t allocated;  // bytes
};

// What the program's threads did. Neither compilers nor the VM's other threads are among them. A thread that has ended counts
// up to the last call before; but its stalls to its end, for they are what all threads had but for the VM's own, which stay.
class HeapBudgetMutators : public CHeapObj<mtGC> {
private:
  struct Mutator {
    uint32_t tid;
    uint64_t running;
    uint64_t waiting;
  };

  // A thread of the VM's own.
  struct Other {
    uint32_t tid;
    uint64_t stalled;
  };

  typedef GrowableArrayCHeap<Mutator, mtGC> Mutators;    // by ascending tid
  typedef GrowableArrayCHeap<Other, mtGC>   Others;

  Mutators _last;
  Others   _last_others;
  uint64_t _last_allocated;     // by all threads that there have been
  uint64_t _last_stalled;       // all threads, also those that have ended
  bool     _begun;

  template <typename T> static int by_tid(T* a, T* b);
  template <typename T> static int compare(const uint32_t& tid, const T& thread);
  static uint64_t find(Mutators* mutators, Others* others);
  static uint64_t list(Mutators* mutators, Others* others);
  static bool read_schedule(Mutator* mutator);
  uint64_t stalled_since_last(const HeapBudgetReading& reading, Others* others);

public:
  HeapBudgetMutators() : _last(), _last_others(), _last_allocated(0), _last_stalled(0), _begun(false) {}

  // Since the last call; nothing at the first.
  HeapBudgetTimes since_last(const HeapBudgetReading& reading);
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETMUTATORS_HPP
