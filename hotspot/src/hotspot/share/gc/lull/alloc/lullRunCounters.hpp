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

#ifndef SHARE_GC_LULL_ALLOC_LULLRUNCOUNTERS_HPP
#define SHARE_GC_LULL_ALLOC_LULLRUNCOUNTERS_HPP

#include "utilities/globalDefinitions.hpp"

// What a run table and a segregated space do, counted for the study of allocators
// (docs/measurements/allocator-study.md), or not counted at all: the collector's own tables take
// LullNoRunCounters, whose calls are empty, and pay neither time nor space.
//
// A counter belongs to the owner of its table, as the table itself: not synchronized.

struct LullNoRunCounters {
  static const bool Enabled = false;

  void looked_up() const {}
  void passed_lists(uint32_t) const {}
  void passed_run() const {}
  void list_became_empty() const {}
  void list_became_non_empty() const {}
  void wrote_entries(uint32_t) const {}
  void rebuilt() const {}
  void split() const {}
  void wasted(uint32_t) const {}
  void swept_chunk() const {}
  void freed_chunk() const {}
  void joined_chunk() const {}
  void joined_all() const {}
};

struct LullRunCounters {
  static const bool Enabled = true;

  // The search. A traversal of the thesis is a list or a run that was passed.
  mutable uint64_t _look_ups;           // searches for a run
  mutable uint64_t _lists_passed;       // empty lists looked at before the one that has the run
  mutable uint64_t _runs_passed;        // runs looked at in the last list before the one that was taken

  // The upkeep of what makes the search fast, between two rebuilds of it.
  mutable uint64_t _became_empty;       // a list lost its last run, but the last list
  mutable uint64_t _became_non_empty;   // a list got its first run, but the last list
  mutable uint64_t _entries_written;    // of the Next Hit Table; words of the bitmap
  mutable uint64_t _rebuilds;           // of the whole table, one in each sweep

  // The space.
  mutable uint64_t _splits;             // allocations that left a remainder in a list
  mutable uint64_t _wasted_words;       // that went to objects because no run is as short
  mutable uint64_t _chunks_swept;       // looked at by sweeps: objects and free runs
  mutable uint64_t _chunks_freed;       // dead objects among them
  mutable uint64_t _chunks_joined;      // free chunks that became a part of their left neighbour
  mutable uint64_t _passes_to_join;     // deferred coalescing of all free chunks

  LullRunCounters()
    : _look_ups(0), _lists_passed(0), _runs_passed(0),
      _became_empty(0), _became_non_empty(0), _entries_written(0), _rebuilds(0),
      _splits(0), _wasted_words(0), _chunks_swept(0), _chunks_freed(0), _chunks_joined(0), _passes_to_join(0) {}

  void looked_up() const                    { _look_ups++; }
  void passed_lists(uint32_t lists) const   { _lists_passed += lists; }
  void passed_run() const                   { _runs_passed++; }
  void list_became_empty() const            { _became_empty++; }
  void list_became_non_empty() const        { _became_non_empty++; }
  void wrote_entries(uint32_t entries) const { _entries_written += entries; }
  void rebuilt() const                      { _rebuilds++; }
  void split() const                        { _splits++; }
  void wasted(uint32_t words) const         { _wasted_words += words; }
  void swept_chunk() const                  { _chunks_swept++; }
  void freed_chunk() const                  { _chunks_freed++; }
  void joined_chunk() const                 { _chunks_joined++; }
  void joined_all() const                   { _passes_to_join++; }
};

#endif // SHARE_GC_LULL_ALLOC_LULLRUNCOUNTERS_HPP
