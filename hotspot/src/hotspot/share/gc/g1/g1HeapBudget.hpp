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

#ifndef SHARE_GC_G1_G1HEAPBUDGET_HPP
#define SHARE_GC_G1_G1HEAPBUDGET_HPP

#include "gc/budget/heapBudget.hpp"

class G1CollectedHeap;

// The heap budget of G1: hooks at the end of collections, where G1 would size the heap, and what the budget must know.

class G1HeapBudget : public HeapBudgetCollector {
private:
  static size_t kept_bytes(const G1CollectedHeap* heap, bool after_young_collection);
  static bool resize(G1CollectedHeap* heap, bool after_young_collection);

public:
  const char* name() const override { return "G1"; }
  size_t reserve(size_t live) const override;
  void pauses(jlong* ms, size_t* count) const override;
  size_t granule() const override;
  void collect(bool makes_room) override;

  // At the end of a young collection; at Remark and at the end of a full one. False: G1 is to size the heap by itself.
  static bool resize_after_young_collection(G1CollectedHeap* heap) { return resize(heap, true); }
  static bool resize_after_marking(G1CollectedHeap* heap)          { return resize(heap, false); }
};

#endif // SHARE_GC_G1_G1HEAPBUDGET_HPP
