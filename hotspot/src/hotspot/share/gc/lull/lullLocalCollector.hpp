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

#ifndef SHARE_GC_LULL_LULLLOCALCOLLECTOR_HPP
#define SHARE_GC_LULL_LULLLOCALCOLLECTOR_HPP

#include "gc/lull/lullGeometry.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

class JavaThread;
class LullAllocator;
class LullLocalCollection;

// What the local collections of a thread, or of all, have done. Bytes, nanoseconds.
struct LullLocalStatistics {
  size_t _collections;
  size_t _freed;
  size_t _survived;
  size_t _copied;       // of what survived
  size_t _tenured;      // of what survived
  size_t _before_wait;  // of the collections
  size_t _shallow;      // of the collections
  jlong  _time;
  jlong  _longest;
  jlong  _cpu_time;

  LullLocalStatistics()
    : _collections(0), _freed(0), _survived(0), _copied(0), _tenured(0), _before_wait(0), _shallow(0),
      _time(0), _longest(0), _cpu_time(0) {}

  void add(const LullLocalStatistics& other);
};

// Decides when its thread collects locally:
//
//   before it waits     a request has ended, as a rule: nearly nothing survives, and nobody
//                       waits for the thread
//   at a refill         LullLocalBudget is used up, and the stack is about as shallow as it was
//                       before a wait: a thread that always has a next request does not wait
//   at a refill         the learned budget is used up, however deep the stack is
//   before it asks for a global collection, unless most would survive: a global one frees
//                       more in the time
//
// In the middle of a request most of what it has allocated survives, and is copied in vain. So
// the budget learns how much a request needs: it doubles each time that much has survived at
// a refill, up to a share of the heap, and halves when nearly nothing has a few times in a
// row: once may be the end of a request that was met by chance. It is never less
// than a multiple of what has survived, so that no more than a share of what is allocated
// is copied.
//
// Used by its thread alone.
class LullLocalCollector : public CHeapObj<mtGC> {
private:
  // Less than this is not worth a look at the stack.
  static const size_t MinBudget = 2 * LullGeometry::BlockSize;

  // Bytes to allocate for each byte that has survived.
  static const size_t BudgetPerSurvivor = 2;

  // Of what was allocated: more has survived than a request's end leaves, or less than its
  // middle.
  static const size_t ManySurvivorsPercent = 25;
  static const size_t FewSurvivorsPercent  = 5;

  // So often in a row.
  static const uint FewInARow = 4;

  // The largest budget, as a share of the heap.
  static const size_t BudgetsPerHeap = 8;

  enum class Trigger { Wait, Shallow, Budget, NoMemory };

  JavaThread* const    _thread;
  LullAllocator* const _allocator;
  size_t               _learned_budget;
  size_t               _budget;
  size_t               _shallow_depth;      // bytes of stack
  uint                 _few_in_a_row;
  bool                 _many_at_last;       // of the collections at the end of a budget or for lack of memory
  size_t               _last_handed_out;
  DEBUG_ONLY(uint      _slow_allocations;)
  LullLocalStatistics  _statistics;

  // Of threads that have ended. Under Threads_lock.
  static LullLocalStatistics _ended;

  static const char* to_string(Trigger trigger);
  size_t allocated_since_last() const;
  size_t blocks_to_keep() const;
  bool is_possible() const;
  size_t stack_depth() const;
  bool is_due(Trigger* trigger) const;
  void learn(Trigger trigger, size_t depth, size_t allocated, size_t survived);
  void collect(Trigger trigger);

public:
  LullLocalCollector(JavaThread* thread, LullAllocator* allocator);

  // At the slow path of an allocation.
  void collect_if_due();

  // The thread is about to wait for another one, or for work, and nobody waits for it:
  // collects if that frees more than it costs to look.
  static void before_wait(JavaThread* thread);

  // There is no memory left. False if nothing can have been freed.
  bool collect_before_global();

  // The thread ends. Under Threads_lock.
  void retire();

  // Of all threads.
  static LullLocalStatistics total();
  static void log_total();
};

#endif // SHARE_GC_LULL_LULLLOCALCOLLECTOR_HPP
