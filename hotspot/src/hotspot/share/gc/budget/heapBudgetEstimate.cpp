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

#include "gc/budget/heapBudgetEstimate.hpp"
#include "gc/budget/heapBudgetProc.hpp"
#include "runtime/os.hpp"
#include "utilities/ostream.hpp"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// What a read is taken to last until the disks have been seen to read: a fast NVMe disk.
static const double FirstReadNanos = 100000.0;
static const double FirstReadBytes = 4096.0;

// Fewer reads than this say little: the disks count whole milliseconds.
static const uint64_t EnoughReads = 16;

static const uint64_t SectorBytes = 512;

static const double NanosPerMicro = 1000.0;

HeapBudgetEstimate::HeapBudgetEstimate() :
    _by_reads(false),
    _disk_reads(0),
    _disk_sectors(0),
    _disk_ms(0),
    _ns_per_read(FirstReadNanos),
    _ns_per_byte(FirstReadNanos / FirstReadBytes),
    _read_bytes(0),
    _faults(0),
    _pressure_us(0),
    _stalled(0.0) {
  _pressure[0] = '\0';
  char text[K];
  _by_reads = HeapBudgetProc::read("/proc/self/io", text, sizeof(text)) && HeapBudgetProc::number(text, "read_bytes", &_read_bytes);
  find_pressure();
  // What was before counts for nothing.
  double added;
  estimate(&added);
}

// How long reads take on the machine's disks: of all processes, as disks tell no more. Whole disks with hardware behind
// them, no partitions, loops, or devices on top of others.
void HeapBudgetEstimate::look_at_disks() {
  FILE* const file = os::fopen("/proc/diskstats", "r");
  if (file == nullptr) {
    return;
  }
  uint64_t reads = 0;
  uint64_t sectors = 0;
  uint64_t ms = 0;
  char line[512];
  while (fgets(line, sizeof(line), file) != nullptr) {
    char name[64];
    uint64_t disk_reads;
    uint64_t disk_sectors;
    uint64_t disk_ms;
    if (sscanf(line, "%*u %*u %63s %" SCNu64 " %*u %" SCNu64 " %" SCNu64, name, &disk_reads, &disk_sectors, &disk_ms) == 4) {
      char device[128];
      struct stat status;
      os::snprintf(device, sizeof(device), "/sys/block/%s/device", name);
      if (os::stat(device, &status) == 0) {
        reads += disk_reads;
        sectors += disk_sectors;
        ms += disk_ms;
      }
    }
  }
  fclose(file);
  // From the boot on is what there is at first.
  const bool first = _disk_reads == 0 && _disk_sectors == 0;
  // Less than before: a disk has gone, or the kernel's 32 bits of milliseconds have begun anew.
  const bool begins_anew = reads < _disk_reads || sectors < _disk_sectors || ms < _disk_ms;
  if (!begins_anew && !first && reads - _disk_reads < EnoughReads) {
    return;
  }
  if (!begins_anew && reads > _disk_reads && sectors > _disk_sectors) {
    const double ns = (double)(ms - _disk_ms) * NANOSECS_PER_MILLISEC;
    _ns_per_read = ns / (double)(reads - _disk_reads);
    _ns_per_byte = ns / (double)((sectors - _disk_sectors) * SectorBytes);
  }
  _disk_reads = reads;
  _disk_sectors = sectors;
  _disk_ms = ms;
}

// The pressure of the process's cgroup, of version 2, if there is no other process in it.
void HeapBudgetEstimate::find_pressure() {
  static const char* const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
  char text[8 * K];
  if (!HeapBudgetProc::read("/proc/self/cgroup", text, sizeof(text))) {
    return;
  }
  const char* group = strstr(text, "0::");
  if (group == nullptr || (group != text && group[-1] != '\n')) {
    return;
  }
  group += strlen("0::");
  int length = (int)strcspn(group, "\n");
  if (length > 0 && group[length - 1] == '/') {
    length--;
  }
  for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
    char path[PathLength];
    char processes[64];
    const int written = os::snprintf(path, sizeof(path), "%s%.*s/cgroup.procs", roots[i], length, group);
    if (written < 0 || (size_t)written >= sizeof(path) || !HeapBudgetProc::read(path, processes, sizeof(processes))) {
      continue;
    }
    char* end;
    const long process = strtol(processes, &end, 10);
    if (process == (long)os::current_process_id() && strcmp(end, "\n") == 0) {
      os::snprintf(_pressure, sizeof(_pressure), "%s%.*s/io.pressure", roots[i], length, group);
      if (!read_pressure(&_pressure_us)) {
        _pressure[0] = '\0';
      }
    }
    return;
  }
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234"
bool HeapBudgetEstimate::read_pressure(uint64_t* us) const {
  char text[512];
  if (_pressure[0] == '\0' || !HeapBudgetProc::read(_pressure, text, sizeof(text)) || strncmp(text, "some ", 5) != 0) {
    return false;
  }
  const char* const total = strstr(text, "total=");
  return total != nullptr && sscanf(total, "total=%" SCNu64, us) == 1;
}

// What has been added since the last call, in nanoseconds.
bool HeapBudgetEstimate::estimate(double* added) {
  *added = 0.0;
  look_at_disks();
  if (!_by_reads) {
    uint64_t faults;
    if (!HeapBudgetProc::stat_field(12, &faults)) {
      return false;
    }
    *added = (double)(faults - MIN2(_faults, faults)) * _ns_per_read;
    _faults = faults;
    return true;
  }
  char text[K];
  uint64_t bytes;
  if (!HeapBudgetProc::read("/proc/self/io", text, sizeof(text)) || !HeapBudgetProc::number(text, "read_bytes", &bytes)) {
    return false;
  }
  const uint64_t more = bytes - MIN2(_read_bytes, bytes);
  _read_bytes = bytes;
  // A throttled disk lets reads wait before it counts them; the pressure has that in it.
  double by_pressure = 0.0;
  uint64_t us;
  if (read_pressure(&us)) {
    by_pressure = (double)(us - MIN2(_pressure_us, us)) * NanosPerMicro;
    _pressure_us = us;
  }
  if (more > 0) {
    *added = MAX2((double)more * _ns_per_byte, by_pressure);
  }
  return true;
}

bool HeapBudgetEstimate::read(HeapBudgetReading* reading) {
  double added;
  if (!estimate(&added)) {
    return false;
  }
  _stalled += added;
  reading->stalled = (uint64_t)_stalled;
  reading->read_bytes = _read_bytes;
  reading->read_known = _by_reads;
  reading->has_threads = false;
  return true;
}

void HeapBudgetEstimate::print_on(outputStream* st) const {
  if (_by_reads) {
    st->print("estimated from the bytes that the process reads (%.0f us for 4K at first)", _ns_per_byte * FirstReadBytes / NanosPerMicro);
    if (_pressure[0] != '\0') {
      st->print(" and from %s", _pressure);
    }
  } else {
    st->print("estimated from major faults (%.0f us for each at first): mapped files only, as /proc/self/io cannot be read",
              _ns_per_read / NanosPerMicro);
  }
}
