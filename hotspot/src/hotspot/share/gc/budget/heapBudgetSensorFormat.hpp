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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETSENSORFORMAT_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETSENSORFORMAT_HPP

#include "utilities/globalDefinitions.hpp"

// The file of the sensor lull-stall, as its lull_stall.h documents it: a header, and rows behind it; times in nanoseconds. The build
// of the controller lull-budget compares the two.

struct HeapBudgetSensorCounts {
  uint64_t io_ns;
  uint64_t io_sleeps;
  uint64_t refault_ns;
  uint64_t blocked_ns;
  uint64_t async_ns;
  uint64_t runqueue_ns;
};

struct HeapBudgetSensorHeader {
  static const uint64_t Magic = UINT64_C(0x4c4c4154534c554c);    // "LULSTALL" in memory order
  static const uint32_t Version = 1;

  // Bits of fields: what is measured
  static const uint32_t FieldIO        = 1 << 0;
  static const uint32_t FieldReadBytes = 1 << 6;
  static const uint32_t FieldRows      = 1 << 8;

  // Bits of flags
  static const uint32_t Ended   = 1 << 0;
  static const uint32_t Stopped = 1 << 2;

  uint64_t magic;
  uint32_t version;
  uint32_t header_size;
  uint32_t row_size;
  uint32_t row_capacity;
  uint32_t pid;
  uint32_t source;
  uint64_t process_start;
  uint64_t period_ns;
  uint32_t fields;
  uint32_t flags;
  uint64_t sequence;       // odd while the sensor writes
  uint64_t updated_ns;
  HeapBudgetSensorCounts total;
  uint64_t read_bytes;
  uint64_t major_faults;
  uint32_t rows;
  uint32_t reserved;
};

struct HeapBudgetSensorRow {
  uint32_t host_tid;
  uint32_t tid;            // gettid() of the thread
  HeapBudgetSensorCounts counts;
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETSENSORFORMAT_HPP
