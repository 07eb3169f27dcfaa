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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETTHREAD_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETTHREAD_HPP

#include "gc/budget/heapBudgetMemory.hpp"
#include "gc/budget/heapBudgetMutators.hpp"
#include "gc/budget/heapBudgetPolicy.hpp"
#include "gc/budget/heapBudgetStalls.hpp"
#include "gc/shared/concurrentGCThread.hpp"
#include "runtime/mutex.hpp"

class HeapBudgetCollector;

// Measures, decides, logs; see heapBudget.hpp.

class HeapBudgetThread : public ConcurrentGCThread {
private:
  // Since the VM's start.
  struct Counters {
    uint64_t pause;          // nanoseconds
    uint64_t concurrent;     // nanoseconds of processor time
    size_t   collections;
  };

  Monitor              _monitor;
  HeapBudgetCollector* const _collector;
  HeapBudgetStalls* const    _stalls;
  HeapBudgetMutators   _mutators;
  HeapBudgetPolicy     _policy;
  Counters             _last;
  HeapBudgetReading*   _reading;            // the present one
  HeapBudgetReading*   _last_reading;
  bool                 _was_known;
  HeapBudgetDecision::Reason _last_reason;
  uint32_t             _grown;              // intervals in a row at whose end the heap was larger than it is to stay
  size_t               _over_limit;         // capacity before the last step that was for the limit; 0: the collector has sized the heap since
  size_t               _capacities[2];      // of the last intervals

  // A step that is to make the heap smaller
  size_t               _enough;             // is followed by a heap as small as that; 0: there is none that waits for it
  size_t               _looks_before;
  uint32_t             _waited;             // intervals without a look
  // The last collection that was to make room for one, and did not make enough
  size_t               _vain_target;        // 0: there was none
  size_t               _vain_capacity;
  size_t               _vain_live;

  // Written by this thread, read at the end of collections; and the other way round
  volatile size_t      _target;             // where the heap is to go; 0: it is to stay
  volatile size_t      _held;               // where it is to stay; 0: wherever it is
  volatile bool        _in_charge;          // the collector does not size the heap by itself
  volatile size_t      _live;               // in use after the last collection; 0 before
  volatile size_t      _looks;              // collections at whose end the heap could become smaller

  Counters counters() const;
  HeapBudgetSample measure(HeapBudgetRoom* room);
  void follow(const HeapBudgetDecision& decision, const HeapBudgetSample& sample);
  void hold_at(const HeapBudgetDecision& decision, size_t capacity);
  void report(const HeapBudgetSample& sample, const HeapBudgetDecision& decision, const HeapBudgetRoom& room);
  size_t tolerance(size_t capacity) const;
  void begin_step(const HeapBudgetSample& sample, const HeapBudgetDecision& decision);
  void pursue_step(const HeapBudgetSample& sample);
  bool would_be_in_vain(const HeapBudgetSample& sample, size_t target) const;
  void collect_to_shrink(const HeapBudgetSample& sample, bool makes_room);
  void find_live(const HeapBudgetSample& sample);
  bool wait();

protected:
  void run_service() override;
  void stop_service() override;

public:
  HeapBudgetThread(HeapBudgetCollector* collector, HeapBudgetStalls* stalls);

  bool desired_capacity(size_t live, size_t capacity, bool can_shrink, size_t* desired);
  bool grown_capacity(size_t capacity, size_t* desired) const;
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETTHREAD_HPP
