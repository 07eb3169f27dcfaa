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

#ifndef SHARE_GC_BUDGET_HEAPBUDGET_HPP
#define SHARE_GC_BUDGET_HEAPBUDGET_HPP

#include "memory/allocation.hpp"
#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// The heap budget inside the VM (-XX:+UseHeapBudget): how the policy gets its numbers, and how the heap gets its size.
//
//   each second   a thread of its own measures what there was since the last one, asks HeapBudgetPolicy, logs, and says how large the
//                 heap should be. It reads files of /proc, and no collection waits for that
//   collection    at its end the heap goes where it should, as far as it can (G1HeapBudget, LullHeapSizer)
//   no collection the thread asks for one, if the heap is to shrink
//
// Until its first step the collector sizes the heap as it does without; from then on the budget does, and the heap stays as it is
// where there is no step. Only an allocation that would fail makes the heap larger than that, of a mutator or of a collection that
// copies; the next collection takes back what is not needed. When I/O is not known any more, the collector sizes the heap again.

// What the budget must know of a collector.
class HeapBudgetCollector : public CHeapObj<mtGC> {
public:
  virtual const char* name() const = 0;

  // Bytes that it needs beyond that many that are alive.
  virtual size_t reserve(size_t live) const = 0;

  // Since the VM's start: milliseconds in which mutators were stopped, how often.
  virtual void pauses(jlong* ms, size_t* count) const = 0;

  // Bytes by which the heap changes.
  virtual size_t granule() const = 0;

  // Collects all of the heap, concurrently if it can. Returns when the mutators run again. That makes room if one has just been, and the
  // heap could not become as small as it should.
  virtual void collect(bool makes_room) = 0;
};

class HeapBudget : AllStatic {
public:
  // Ends the VM, with a sentence, if the collector has no budget.
  static void initialize();

  // Before the collector's threads are stopped.
  static void stop();

  // At the end of a collection, at a safepoint. Tells how many bytes are in use. False: the collector is to size the heap by itself.
  // Else the capacity that the heap should have; it may be the present one. Where the heap cannot become smaller now, another collection is waited
  // for that can do that.
  static bool desired_capacity(size_t live, size_t capacity, bool can_shrink, size_t* desired);

  // The same where it is not known how much is alive: the heap may only grow.
  static bool grown_capacity(size_t capacity, size_t* desired);
};

#endif // SHARE_GC_BUDGET_HEAPBUDGET_HPP
