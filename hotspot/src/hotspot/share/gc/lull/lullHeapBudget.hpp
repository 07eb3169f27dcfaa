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

#ifndef SHARE_GC_LULL_LULLHEAPBUDGET_HPP
#define SHARE_GC_LULL_LULLHEAPBUDGET_HPP

#include "gc/budget/heapBudget.hpp"
#include "runtime/atomic.hpp"

// What the heap budget must know of Lull. LullHeapSizer follows it.

class LullHeapBudget : public HeapBudgetCollector {
private:
  static volatile bool _makes_room;   // written by the budget's thread before it asks

public:
  // Is the collection with the cause Heap Budget to free whole granules? With some live objects in each, none could be given back.
  static bool makes_room() { return Atomic::load(&_makes_room); }

  const char* name() const override { return "Lull"; }
  size_t reserve(size_t live) const override;
  void pauses(jlong* ms, size_t* count) const override;
  size_t granule() const override;
  void collect(bool makes_room) override;
};

#endif // SHARE_GC_LULL_LULLHEAPBUDGET_HPP
