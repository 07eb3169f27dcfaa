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

#include "gc/budget/heapBudgetProc.hpp"
#include "gc/budget/heapBudgetSensorFile.hpp"
#include "logging/log.hpp"
#include "runtime/arguments.hpp"
#include "runtime/java.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "utilities/formatBuffer.hpp"
#include "utilities/ostream.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Readings that a write of the sensor's has spoilt, in a row and a millisecond apart, before that is an error. Somebody else may have
// its processor meanwhile.
static const int MaxAttempts = 500;

// An interval of the budget, in nanoseconds.
static const uint64_t LongestPeriod = NANOSECS_PER_SEC;

static const char* const source_names[] = { "none", "bpf", "delayacct", "reads", "psi", "faults" };

static const char* name_of(uint32_t source) {
  return source < ARRAY_SIZE(source_names) ? source_names[source] : "of a later version";
}

HeapBudgetSensorFile::HeapBudgetSensorFile(const char* path) :
    _process_start(0),
    _source(0) {
  _complaint[0] = '\0';
  if (!Arguments::copy_expand_pid(path, strlen(path), _path, sizeof(_path))) {
    vm_exit_during_initialization(err_msg("-XX:HeapBudgetFile=%s is too long.", path));
  }
  HeapBudgetProc::stat_field(22, &_process_start);
}

// What is wrong with what stays as it is.
const char* HeapBudgetSensorFile::check_origin(const HeapBudgetSensorHeader& header) const {
  if (header.magic != HeapBudgetSensorHeader::Magic) {
    return "it is no file of a sensor";
  }
  if (header.version != HeapBudgetSensorHeader::Version) {
    return "it is of another version of the sensor";
  }
  // Later versions append.
  if (header.header_size < sizeof(HeapBudgetSensorHeader) || header.row_size < sizeof(HeapBudgetSensorRow) ||
      header.header_size > K || header.row_size > K || header.row_capacity > MostRows) {
    return "the sizes in it cannot be";
  }
  if (header.process_start != _process_start) {
    return "it is of another process, or of one that had the same id before";
  }
  if ((header.fields & HeapBudgetSensorHeader::FieldIO) == 0) {
    return "its source does not measure stalls on I/O";
  }
  // Intervals without a new reading would be taken for ones without stalls.
  if (header.period_ns > LongestPeriod) {
    return "it is written less than once a second: start lull-stall with a shorter --period";
  }
  return nullptr;
}

// What is wrong with what the sensor writes.
const char* HeapBudgetSensorFile::check_state(const HeapBudgetSensorHeader& header) {
  if (header.rows > header.row_capacity) {
    return "it has more rows than it can have";
  }
  if ((header.flags & (HeapBudgetSensorHeader::Ended | HeapBudgetSensorHeader::Stopped)) != 0) {
    return "the sensor has stopped";
  }
  const uint64_t now = (uint64_t)os::javaTimeNanos();
  if (header.updated_ns + MAX2(header.period_ns * 10, (uint64_t)NANOSECS_PER_SEC) < now) {
    return "the sensor does not write any more";
  }
  return nullptr;
}

// Whoever may write it can steer the heap: in a directory that all may write to, it may be anybody's.
const char* HeapBudgetSensorFile::check_file(const struct stat& status) {
  if ((status.st_mode & S_IFMT) != S_IFREG) {
    return "it is no regular file";
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return "it belongs neither to root nor to this process's user, as one of whom lull-stall must run";
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    return "all may write to it";
  }
  if ((status.st_mode & S_IWGRP) != 0) {
    return "its group may write to it";
  }
  return nullptr;
}

// Says what is wrong, or nullptr.
const char* HeapBudgetSensorFile::read_at_once(int fd, size_t size, HeapBudgetReading* reading, HeapBudgetSensorHeader* header, bool* changed) const {
  const char* const too_short = "it is too short";
  *changed = false;
  if (os::read_at(fd, header, sizeof(*header), 0) != (ssize_t)sizeof(*header)) {
    return too_short;
  }
  const char* wrong = check_origin(*header);
  if (wrong != nullptr) {
    return wrong;
  }
  wrong = check_state(*header);
  if (wrong != nullptr) {
    // If that is because it is being written, the next attempt will tell.
    *changed = (header->sequence & 1) != 0;
    return wrong;
  }
  reading->stalled = header->total.io_ns;
  reading->read_bytes = header->read_bytes;
  reading->read_known = (header->fields & HeapBudgetSensorHeader::FieldReadBytes) != 0;
  reading->has_threads = (header->fields & HeapBudgetSensorHeader::FieldRows) != 0;
  reading->threads.clear();
  if (reading->has_threads && header->rows > 0) {
    const size_t bytes = (size_t)header->rows * header->row_size;
    if (header->header_size + bytes > size) {
      return too_short;
    }
    char* const rows = NEW_C_HEAP_ARRAY_RETURN_NULL(char, bytes, mtGC);
    if (rows == nullptr) {
      return "there is no memory for its rows";
    }
    const bool complete = os::read_at(fd, rows, (unsigned int)bytes, header->header_size) == (ssize_t)bytes;
    for (uint32_t i = 0; complete && i < header->rows; i++) {
      HeapBudgetSensorRow row;
      memcpy(&row, rows + (size_t)i * header->row_size, sizeof(row));
      reading->threads.append(HeapBudgetThreadStall{ row.tid, row.counts.io_ns });
    }
    FREE_C_HEAP_ARRAY(char, rows);
    if (!complete) {
      return too_short;
    }
  }
  OrderAccess::loadload();
  uint64_t sequence;
  if (os::read_at(fd, &sequence, sizeof(sequence), offset_of(HeapBudgetSensorHeader, sequence)) != (ssize_t)sizeof(sequence)) {
    return too_short;
  }
  *changed = (sequence & 1) != 0 || sequence != header->sequence;
  return nullptr;
}

const char* HeapBudgetSensorFile::read_consistent(int fd, size_t size, HeapBudgetReading* reading, HeapBudgetSensorHeader* header) const {
  bool changed = true;
  for (int attempt = 0; attempt < MaxAttempts; attempt++) {
    const char* const wrong = read_at_once(fd, size, reading, header, &changed);
    if (!changed) {
      return wrong;
    }
    os::naked_short_sleep(1);
  }
  return "the sensor has not ended a write";
}

// Always false.
bool HeapBudgetSensorFile::complain(const char* what) {
  if (strcmp(what, _complaint) != 0) {
    log_warning(gc, budget)("-XX:HeapBudgetFile=%s is not used, and I/O is not known, until it can be: %s", _path, what);
    os::snprintf_checked(_complaint, sizeof(_complaint), "%s", what);
  }
  _source = 0;
  return false;
}

bool HeapBudgetSensorFile::read(HeapBudgetReading* reading) {
  // Without O_NONBLOCK, a pipe would be waited for.
  const int fd = os::open(_path, O_RDONLY | O_NONBLOCK, 0);
  if (fd < 0) {
    return complain(os::strerror(errno));
  }
  struct stat status;
  const char* wrong = ::fstat(fd, &status) != 0 ? os::strerror(errno) : check_file(status);
  HeapBudgetSensorHeader header;
  if (wrong == nullptr) {
    wrong = read_consistent(fd, (size_t)status.st_size, reading, &header);
  }
  ::close(fd);
  if (wrong != nullptr) {
    return complain(wrong);
  }
  if (_source != header.source) {
    log_info(gc, budget)("Stalls on I/O are measured by the sensor of %s: source %s, of %s", _path, name_of(header.source),
                         reading->has_threads ? "each thread" : "all threads together");
    _source = header.source;
    _complaint[0] = '\0';
  }
  return true;
}

void HeapBudgetSensorFile::print_on(outputStream* st) const {
  st->print("by the sensor of %s", _path);
}
