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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETSENSORFILE_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETSENSORFILE_HPP

#include "gc/budget/heapBudgetSensorFormat.hpp"
#include "gc/budget/heapBudgetStalls.hpp"
#include "memory/allocation.hpp"

class outputStream;
struct stat;

// Reads the file of a sensor that runs by itself, -XX:HeapBudgetFile. The sensor may begin after the VM, end, and begin again: then
// it makes a new file, so the file is opened for each reading. It is read, not mapped: somebody who cuts off a mapped file
// kills who looks at the rest of it.

class HeapBudgetSensorFile : public HeapBudgetStalls {
private:
  static const size_t PathLength = 4096;
  static const uint32_t MostRows = 64 * K;   // a file that says more is not lull-stall's, which has 4096

  char     _path[PathLength];
  uint64_t _process_start;       // of this process, in clock ticks since the boot
  uint32_t _source;              // as it was last; 0 if the sensor is lost
  char     _complaint[256];      // what was last wrong with the file: it is said once

  static const char* check_file(const struct stat& status);
  const char* read_consistent(int fd, size_t size, HeapBudgetReading* reading, HeapBudgetSensorHeader* header) const;
  const char* read_at_once(int fd, size_t size, HeapBudgetReading* reading, HeapBudgetSensorHeader* header, bool* changed) const;
  const char* check_origin(const HeapBudgetSensorHeader& header) const;
  static const char* check_state(const HeapBudgetSensorHeader& header);
  bool complain(const char* what);

public:
  explicit HeapBudgetSensorFile(const char* path);

  bool read(HeapBudgetReading* reading) override;
  void print_on(outputStream* st) const override;
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETSENSORFILE_HPP
