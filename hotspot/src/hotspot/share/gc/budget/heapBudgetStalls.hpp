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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETSTALLS_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETSTALLS_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/growableArray.hpp"

class outputStream;

// How long a thread has been stalled on I/O, in nanoseconds.
struct HeapBudgetThreadStall {
  uint32_t tid;
  uint64_t stalled;
};

// What has been counted since some time. Later readings of the same source have higher numbers.
struct HeapBudgetReading : public CHeapObj<mtGC> {
  uint64_t stalled;        // nanoseconds that threads were stalled on I/O, summed up
  uint64_t read_bytes;     // from devices
  bool     read_known;
  bool     has_threads;    // it is known of each thread, too:
  GrowableArrayCHeap<HeapBudgetThreadStall, mtGC> threads;

  HeapBudgetReading() : stalled(0), read_bytes(0), read_known(false), has_threads(false), threads() {}
};

// Where the time that threads are stalled on I/O is known from.
class HeapBudgetStalls : public CHeapObj<mtGC> {
public:
  // False if it is not known now.
  virtual bool read(HeapBudgetReading* reading) = 0;

  // Words for the log.
  virtual void print_on(outputStream* st) const = 0;
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETSTALLS_HPP
