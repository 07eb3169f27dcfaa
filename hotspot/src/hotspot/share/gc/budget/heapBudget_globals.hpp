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

#ifndef SHARE_GC_BUDGET_HEAPBUDGET_GLOBALS_HPP
#define SHARE_GC_BUDGET_HEAPBUDGET_GLOBALS_HPP

#include "runtime/globals_shared.hpp"

#define GC_BUDGET_FLAGS(develop,                                            \
                        develop_pd,                                         \
                        product,                                            \
                        product_pd,                                         \
                        range,                                              \
                        constraint)                                         \
                                                                            \
  product(bool, UseHeapBudget, false,                                       \
          "Gives memory to the heap or leaves it to the page cache, "       \
          "whichever loses mutators less time: collections, or stalls on "  \
          "I/O. With G1 and Lull.")                                         \
                                                                            \
  product(ccstr, HeapBudgetFile, nullptr,                                   \
          "With UseHeapBudget, the file of the sensor, lull-stall --map; "  \
          "%p stands for the process id. Without it the VM estimates "      \
          "stalls by itself.")                                              \
                                                                            \
  product(size_t, HeapBudgetLimit, 0, MANAGEABLE,                           \
          "With UseHeapBudget, bytes that the heap, the process's other "   \
          "memory and the page cache may take together, if that is less "   \
          "than the limit of the container or the machine (0: it is not). " \
          "It can be changed while the VM runs.")                           \
          range(0, SIZE_MAX)

// end of GC_BUDGET_FLAGS

#endif // SHARE_GC_BUDGET_HEAPBUDGET_GLOBALS_HPP
