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


#ifndef SHARE_GC_LULL_HEAP_LULLFARPAGER_HPP
#define SHARE_GC_LULL_HEAP_LULLFARPAGER_HPP

#include <stddef.h>
#include <stdint.h>

// What the pager of far memory offers to a program that knows what its pages are. As native/far/include/lull_far.h has
// it, which is the text to read; native/far/pager/tests/owner.rs compares the two. Not included from there: HotSpot is
// built without the Rust parts.
//
// Fields are added at the end only. The library says how long its structure is.

typedef uint32_t (*LullFarUse)(const void* page);

static const uint32_t LullFarOther  = 0;
static const uint32_t LullFarYoung  = 1;
static const uint32_t LullFarUnused = 2;

// Pages, since the start but for the first two.
struct LullFarStatistics {
  uint64_t _local;
  uint64_t _local_limit;
  uint64_t _fetched;
  uint64_t _written;
  uint64_t _dropped_clean;
  uint64_t _dropped_unused;
  uint64_t _forgotten;
  uint64_t _young_passed;
  uint64_t _young_written;
  uint64_t _held_left;
  uint64_t _zero_faults;
  uint64_t _fetch_faults;
  uint64_t _second_chances;
  uint64_t _replica_fetches;
  uint64_t _copied;
  uint64_t _lost_servers;   // now
};

struct LullFarPager {
  size_t _size;
  int  (*_attach)(void* start, size_t bytes, LullFarUse function, char* error, size_t error_size);
  void (*_forget)(void* start, size_t bytes);
  void (*_trim)(void);
  void (*_hold)(const void* start, size_t bytes);
  void (*_release)(const void* start, size_t bytes);
  int  (*_get_statistics)(LullFarStatistics* out, size_t size);
  uint64_t (*_count_remote)(void);
};

// Words of a bitmap, from one on.
typedef void (*LullFarWords)(void* argument, uint64_t first, const uint64_t* words, size_t count);

static const int LullFarTracing = 0;
static const int LullFarTraced  = 1;
static const int LullFarLayouts = 2;

struct LullFarTracer {
  size_t _size;
  int  (*_begin)(void* start, size_t bytes, uint64_t narrow_base, uint32_t narrow_shift);
  int  (*_old)(uint64_t first_word, const uint64_t* words, size_t count);
  int64_t (*_clean)(uint64_t first_block, const uint8_t* blocks, size_t count);
  int  (*_roots)(const uint64_t* objects, size_t count);
  int  (*_poll)(uint32_t* classes, size_t room, size_t* count);
  int  (*_layouts)(const uint8_t* layouts, size_t bytes);
  int64_t (*_listed)(uint64_t* objects, size_t room);
  int  (*_marks)(LullFarWords visit, void* argument);
  int  (*_lines)(LullFarWords visit, void* argument);
  int  (*_live)(LullFarWords visit, void* argument);
  void (*_end)(void);
  void (*_failure)(char* text, size_t size);
};

#endif // SHARE_GC_LULL_HEAP_LULLFARPAGER_HPP
