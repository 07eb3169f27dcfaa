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

#ifndef SHARE_GC_LULL_LULL_GLOBALS_HPP
#define SHARE_GC_LULL_LULL_GLOBALS_HPP

#include "runtime/globals_shared.hpp"

#define GC_LULL_FLAGS(develop,                                              \
                      develop_pd,                                           \
                      product,                                              \
                      product_pd,                                           \
                      range,                                                \
                      constraint)                                           \
                                                                            \
  product(uint, LullMinHoleLines, 2, EXPERIMENTAL,                          \
          "The shortest hole, in lines of 256 bytes, into which objects "   \
          "are allocated. Smaller values use more of a fragmented heap, "   \
          "larger values refill allocation buffers less often.")            \
          range(1, 128)                                                     \
                                                                            \
  product(bool, LullEvacuation, true, EXPERIMENTAL,                         \
          "Move objects out of fragmented blocks while marking. Off, "      \
          "collections copy nothing and fragmentation stays.")              \
                                                                            \
  product(uint, LullEvacuationReservePercent, 5, EXPERIMENTAL,              \
          "Share of the heap's blocks, in percent, that only a collection " \
          "may copy into. A larger reserve repairs more fragmentation at "  \
          "once, a smaller one leaves more memory to the application.")     \
          range(0, 50)                                                      \
                                                                            \
  product(uint, LullEvacuationMaxLivePercent, 50, EXPERIMENTAL,             \
          "A block is evacuated only if at most this share of it was live " \
          "at the last collection. Higher values copy more to win less.")   \
          range(0, 100)                                                     \
                                                                            \
  product(uint, LullFragmentationTriggerPercent, 15, EXPERIMENTAL,          \
          "Evacuate when at least this share of the committed heap is "     \
          "dead or free memory inside of partly used blocks. Lower values " \
          "keep the heap denser, higher values copy less.")                 \
          range(0, 100)                                                     \
                                                                            \
  product(bool, LullUncommit, true, EXPERIMENTAL,                           \
          "Return memory that the heap does not need to the system. Off, "  \
          "the heap never shrinks, and growing again costs nothing.")       \
                                                                            \
  product(bool, LullVerifyHeap, trueInDebug, DIAGNOSTIC,                        \
          "Check all invariants of the heap after each collection. "        \
          "Visits every object once more.")                                 \
                                                                            \
  develop(uint, LullEvacuateALot, 0,                                        \
          "Stress: evacuate every block that may be moved at each N-th "    \
          "collection (0: off)")                                            \
                                                                            \
  develop(uint, LullSlideALot, 0,                                           \
          "Stress: slide all blocks and large objects together at each "    \
          "N-th collection (0: off)")                                       \
                                                                            \
  develop(uint, LullEvacuationFailureALot, 0,                               \
          "Stress: fail each N-th copy of an evacuation (0: off)")

// end of GC_LULL_FLAGS

#endif // SHARE_GC_LULL_LULL_GLOBALS_HPP
