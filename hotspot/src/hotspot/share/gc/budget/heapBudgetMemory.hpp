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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETMEMORY_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETMEMORY_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// What the memory limit leaves for the heap: the limit of the container, the machine's memory, or -XX:HeapBudgetLimit. Bytes.
struct HeapBudgetRoom {
  size_t limit;
  size_t other;        // in use, neither page cache nor heap. Of a heap that has not been touched in full it seems less than it will be
  size_t available;    // for the heap
};

class HeapBudgetMemory : AllStatic {
private:
  static bool used_by_process(size_t* bytes);
  static size_t used_by_all();

public:
  static HeapBudgetRoom room(size_t capacity);
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETMEMORY_HPP
