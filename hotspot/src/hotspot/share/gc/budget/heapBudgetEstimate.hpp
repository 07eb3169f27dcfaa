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

#ifndef SHARE_GC_BUDGET_HEAPBUDGETESTIMATE_HPP
#define SHARE_GC_BUDGET_HEAPBUDGETESTIMATE_HPP

#include "gc/budget/heapBudgetStalls.hpp"

// What the VM knows of stalls on I/O without a sensor, of all its threads together. As the sources "reads" and "faults" of lull-stall:
//
//   reads    bytes that the process read from devices, times what a byte took on the machine's disks; or the time that some thread of
//            its cgroup waited for I/O (pressure stall information), if that is more and nobody else is in the cgroup
//   faults   major faults, times what a read took: mapped files only. Where /proc/self/io cannot be read

class HeapBudgetEstimate : public HeapBudgetStalls {
private:
  static const size_t PathLength = 1024;

  bool     _by_reads;
  char     _pressure[PathLength];    // the file of the cgroup's pressure; empty if it says nothing of this process alone
  // Of the disks, since the boot, when they were last looked at
  uint64_t _disk_reads;
  uint64_t _disk_sectors;
  uint64_t _disk_ms;
  double   _ns_per_read;
  double   _ns_per_byte;
  // Of this process
  uint64_t _read_bytes;
  uint64_t _faults;
  uint64_t _pressure_us;
  double   _stalled;                 // nanoseconds, estimated so far

  void look_at_disks();
  void find_pressure();
  bool read_pressure(uint64_t* us) const;
  bool estimate(double* added);

public:
  HeapBudgetEstimate();

  bool read(HeapBudgetReading* reading) override;
  void print_on(outputStream* st) const override;
};

#endif // SHARE_GC_BUDGET_HEAPBUDGETESTIMATE_HPP
