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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETPROC_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETPROC_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// Files of /proc and /sys, and numbers in them. They are opened each time: such a file says what is when it is read.

class HeapBudgetProc : AllStatic {
public:
  // The file's text, of at most size - 1 bytes; false if it cannot be read.
  static bool read(const char* path, char* text, size_t size);

  // The number behind the name, which begins a line: "name 12" or "name: 12 kB".
  static bool number(const char* text, const char* name, uint64_t* value);

  // A field of /proc/self/stat, counted as proc(5) does; behind the second.
  static bool stat_field(int field, uint64_t* value);
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETPROC_HPP
