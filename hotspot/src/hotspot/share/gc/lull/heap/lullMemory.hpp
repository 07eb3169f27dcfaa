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

#ifndef SHARE_GC_LULL_HEAP_LULLMEMORY_HPP
#define SHARE_GC_LULL_HEAP_LULLMEMORY_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullMarkBitMap.hpp"
#include "memory/allocation.hpp"
#include "memory/reservedSpace.hpp"
#include "runtime/atomic.hpp"

class LullCardTable;
class LullPublicMap;
class WorkerThreads;

// The memory of the heap and of its tables: what is reserved, and what of it is
// committed, in granules. A granule's part of each table is committed with it.
//
// A granule is 1 MB, or what a large page or a page of a table needs if that is more.

class LullMemory : public CHeapObj<mtGC> {
  friend class VMStructs;

private:
  const ReservedHeapSpace _heap;
  const bool              _pinned;          // large pages that cannot be returned

  ReservedSpace           _public_map_space;
  ReservedSpace           _mark_bitmap_space;
  ReservedSpace           _walk_bitmap_space;
  ReservedSpace           _card_space;        // only with young collections
  ReservedSpace           _stretch_space;     // as well
  ReservedSpace           _cycle_bitmap_space;  // only with concurrent marking
  ReservedSpace           _cycle_line_space;    // as well: a byte for each line

  LullPublicMap*          _public_map;
  LullCardTable*          _card_table;        // or nullptr
  LullMarkBitMap          _mark_bitmap;
  LullMarkBitMap          _cycle_bitmap;
  MarkBitMap              _walk_bitmap;     // committed only while the heap is walked

  bool* const             _committed;       // by granule
  const size_t            _granules;
  volatile size_t         _capacity;        // bytes committed; the serviceability agent reads it

  static ReservedSpace reserve_table(size_t bytes);
  static ReservedSpace reserve_low(size_t bytes, size_t bias);
  bool commit_tables(size_t granule);
  char* granule_start(size_t granule) const { return _heap.base() + granule * granule_size(); }

public:
  static size_t granule_size();
  static size_t blocks_per_granule();

  LullMemory(const ReservedHeapSpace& heap);
  bool is_usable() const;

  size_t max_capacity() const { return _heap.size(); }
  size_t capacity() const { return Atomic::load(&_capacity); }
  bool can_uncommit() const { return !_pinned; }
  bool is_committed(const void* addr) const;
  size_t page_size() const { return _heap.page_size(); }

  LullPublicMap* public_map() const { return _public_map; }
  LullCardTable* card_table() const { return _card_table; }
  LullMarkBitMap* mark_bitmap() { return &_mark_bitmap; }

  // For LullCycleMarks.
  LullMarkBitMap* cycle_bitmap() { return &_cycle_bitmap; }
  volatile uint8_t* cycle_lines() const { return (volatile uint8_t*)_cycle_line_space.base(); }

  size_t granules() const { return _granules; }
  bool is_granule_committed(size_t granule) const { return _committed[granule]; }

  // Commits one granule; false if the system has no memory for it.
  bool commit(size_t granule);

  // Touches each page of so many granules, all committed, and of their tables, which takes a while.
  void pretouch(size_t granule, size_t count, WorkerThreads* workers) const;
  void uncommit(size_t granule);

  // The bitmap for walking the heap, all clear; nullptr if there is no memory for it.
  MarkBitMap* acquire_walk_bitmap();
  void release_walk_bitmap();
};

#endif // SHARE_GC_LULL_HEAP_LULLMEMORY_HPP
