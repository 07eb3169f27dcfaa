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

#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/pretouchTask.hpp"
#include "logging/log.hpp"
#include "memory/allocation.inline.hpp"
#include "memory/memoryReserver.hpp"
#include "memory/memRegion.hpp"
#include "nmt/memTracker.hpp"
#include "runtime/atomic.hpp"
#include "runtime/init.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/align.hpp"

size_t LullMemory::granule_size() {
  // Heap for which a page of a table is used: a word per line, a bit per place where an
  // object may start.
  const size_t per_public_map_page = (os::vm_page_size() >> LullPublicMap::LogBytesPerWord) << LullGeometry::LogLineSize;
  const size_t per_bitmap_page = os::vm_page_size() * MarkBitMap::heap_map_factor();
  const size_t per_card_page = os::vm_page_size() << LullGeometry::LogLineSize;
  return MAX2(MAX4(M, per_public_map_page, per_bitmap_page, UseLargePages ? os::large_page_size() : M), per_card_page);
}

size_t LullMemory::blocks_per_granule() {
  return granule_size() / LullGeometry::BlockSize;
}

ReservedSpace LullMemory::reserve_table(size_t bytes) {
  return MemoryReserver::reserve(align_up(bytes, os::vm_allocation_granularity()),
                                 os::vm_allocation_granularity(),
                                 os::vm_page_size(),
                                 mtGC);
}

// Compiled code adds the address of a table, less its bias, to an index. Below 2 GB that is a part of the
// instruction, elsewhere a register and an instruction more.
ReservedSpace LullMemory::reserve_low(size_t bytes, size_t bias) {
  const size_t step = 64 * M;
  const size_t size = align_up(bytes, os::vm_allocation_granularity());
  for (size_t at = 2 * G - step; at >= step && size <= 2 * G; at -= step) {
    if (at + size > 2 * G || at < bias) {
      continue;
    }
    ReservedSpace space = MemoryReserver::reserve((char*)at, size, os::vm_allocation_granularity(), os::vm_page_size(), mtGC);
    if (space.is_reserved() && space.base() == (char*)at) {
      return space;
    }
    if (space.is_reserved()) {
      MemoryReserver::release(space);
    }
  }
  return reserve_table(bytes);
}

static size_t cycle_line_bytes(size_t heap_bytes) { return heap_bytes >> LullGeometry::LogLineSize; }

static size_t bias_of(const ReservedHeapSpace& heap, size_t (*storage_bytes)(size_t)) {
  return storage_bytes((size_t)heap.base());
}

LullMemory::LullMemory(const ReservedHeapSpace& heap)
  : _heap(heap),
    _pinned(heap.special() && !LullFarHeap::is_far()),
    _public_map_space(LullTracking ? reserve_low(LullPublicMap::storage_bytes(heap.size()), bias_of(heap, LullPublicMap::storage_bytes))
                                   : reserve_table(LullPublicMap::storage_bytes(heap.size()))),
    _mark_bitmap_space(reserve_table(MarkBitMap::compute_size(heap.size()))),
    _walk_bitmap_space(reserve_table(MarkBitMap::compute_size(heap.size()))),
    _card_space(LullYoungCollections ? reserve_low(LullCardTable::storage_bytes(heap.size()), bias_of(heap, LullCardTable::storage_bytes))
                                     : ReservedSpace()),
    _stretch_space(LullYoungCollections ? reserve_low(LullCardTable::stretches_bytes(heap.size()),
                                                      bias_of(heap, LullCardTable::stretches_bytes))
                                        : ReservedSpace()),
    _cycle_bitmap_space(LullConcurrentMarking ? reserve_table(MarkBitMap::compute_size(heap.size())) : ReservedSpace()),
    _cycle_line_space(LullConcurrentMarking ? reserve_table(cycle_line_bytes(heap.size())) : ReservedSpace()),
    _public_map(nullptr),
    _card_table(nullptr),
    _mark_bitmap(),
    _cycle_bitmap(),
    _walk_bitmap(),
    _committed(NEW_C_HEAP_ARRAY(bool, heap.size() / granule_size(), mtGC)),
    _granules(heap.size() / granule_size()),
    _capacity(0) {
  for (size_t i = 0; i < _granules; i++) {
    _committed[i] = false;
  }
  if (!is_usable()) {
    return;
  }
  // As the tables by block, it is there as a whole.
  if (_stretch_space.is_reserved() && !os::commit_memory(_stretch_space.base(), _stretch_space.size(), false)) {
    vm_exit_out_of_memory(_stretch_space.size(), OOM_MMAP_ERROR, "the table of the stretches of cards");
  }
  const MemRegion covered((HeapWord*)heap.base(), heap.size() / HeapWordSize);
  _public_map = new LullPublicMap(_public_map_space.base());
  log_debug(gc, lull)("Public map: " PTR_FORMAT ", that of address 0 would be at " PTR_FORMAT,
                      p2i(_public_map_space.base()), _public_map->biased_base());
  if (LullYoungCollections) {
    _card_table = new LullCardTable(_card_space.base(), _stretch_space.base());
    log_debug(gc, lull)("Card table: " PTR_FORMAT ", that of address 0 would be at " PTR_FORMAT,
                        p2i(_card_space.base()), _card_table->biased_base());
  }
  _mark_bitmap.initialize(covered, MemRegion((HeapWord*)_mark_bitmap_space.base(),
                                             _mark_bitmap_space.size() / HeapWordSize));
  if (LullConcurrentMarking) {
    _cycle_bitmap.initialize(covered, MemRegion((HeapWord*)_cycle_bitmap_space.base(),
                                                _cycle_bitmap_space.size() / HeapWordSize));
  }
  _walk_bitmap.initialize(covered, MemRegion((HeapWord*)_walk_bitmap_space.base(),
                                             _walk_bitmap_space.size() / HeapWordSize));
}

bool LullMemory::is_usable() const {
  return (!LullYoungCollections || (_card_space.is_reserved() && _stretch_space.is_reserved())) &&
         (!LullConcurrentMarking || (_cycle_bitmap_space.is_reserved() && _cycle_line_space.is_reserved())) &&
         _public_map_space.is_reserved() &&
         _mark_bitmap_space.is_reserved() &&
         _walk_bitmap_space.is_reserved();
}

bool LullMemory::is_committed(const void* addr) const {
  if (addr < _heap.base() || addr >= _heap.end()) {
    return false;
  }
  return _committed[((const char*)addr - _heap.base()) / granule_size()];
}

// Of a far heap no page takes memory before it is used; and the mapping is the pager's, as a whole.
static bool commit_heap(char* start, size_t bytes, size_t page_size) {
  return LullFarHeap::is_far() || os::commit_memory(start, bytes, page_size, false);
}

static bool uncommit_heap(char* start, size_t bytes) {
  if (LullFarHeap::is_far()) {
    LullFarHeap::forget(LullGeometry::block_of(start), bytes / LullGeometry::BlockSize);
    LullFarHeap::trim();
    return true;
  }
  return os::uncommit_memory(start, bytes, false);
}

// The part of a table that belongs to a granule, in whole pages.
static bool commit_part(const ReservedSpace& space, size_t part_size, size_t granule) {
  assert(is_aligned(part_size, os::vm_page_size()), "%zu", part_size);
  return os::commit_memory(space.base() + granule * part_size, part_size, false);
}

static void uncommit_part(const ReservedSpace& space, size_t part_size, size_t granule) {
  os::uncommit_memory(space.base() + granule * part_size, part_size, false);
}

bool LullMemory::commit_tables(size_t granule) {
  const size_t bitmap_part = granule_size() / MarkBitMap::heap_map_factor();
  return commit_part(_public_map_space, LullPublicMap::storage_bytes(granule_size()), granule) &&
         commit_part(_mark_bitmap_space, bitmap_part, granule) &&
         (_card_table == nullptr ||
          commit_part(_card_space, LullCardTable::storage_bytes(granule_size()), granule)) &&
         (!LullConcurrentMarking ||
          (commit_part(_cycle_bitmap_space, bitmap_part, granule) &&
           commit_part(_cycle_line_space, cycle_line_bytes(granule_size()), granule)));
}

bool LullMemory::commit(size_t granule) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "others look at what is committed");
  assert(!_committed[granule], "granule %zu is committed", granule);
  if (!_pinned && !commit_heap(granule_start(granule), granule_size(), _heap.page_size())) {
    log_warning(gc)("Failed to commit %zuM of heap memory: the system has no more", granule_size() / M);
    return false;
  }
  if (!commit_tables(granule)) {
    log_warning(gc)("Failed to commit the tables of %zuM of heap memory: the system has no more", granule_size() / M);
    if (!_pinned) {
      uncommit_heap(granule_start(granule), granule_size());
    }
    return false;
  }
  _committed[granule] = true;
  Atomic::store(&_capacity, _capacity + granule_size());
  return true;
}

// Of a table that has so many bytes for each granule.
static void pretouch_part(const ReservedSpace& table, size_t bytes, size_t granule, size_t count, WorkerThreads* workers) {
  char* const start = table.base() + granule * bytes;
  PretouchTask::pretouch("Lull pre-touch tables", start, start + count * bytes, os::vm_page_size(), workers);
}

void LullMemory::pretouch(size_t granule, size_t count, WorkerThreads* workers) const {
  PretouchTask::pretouch("Lull pre-touch", granule_start(granule), granule_start(granule) + count * granule_size(), _heap.page_size(), workers);
  pretouch_part(_public_map_space, LullPublicMap::storage_bytes(granule_size()), granule, count, workers);
  pretouch_part(_mark_bitmap_space, granule_size() / MarkBitMap::heap_map_factor(), granule, count, workers);
  if (_card_table != nullptr) {
    pretouch_part(_card_space, LullCardTable::storage_bytes(granule_size()), granule, count, workers);
  }
  if (LullConcurrentMarking) {
    pretouch_part(_cycle_bitmap_space, granule_size() / MarkBitMap::heap_map_factor(), granule, count, workers);
    pretouch_part(_cycle_line_space, cycle_line_bytes(granule_size()), granule, count, workers);
  }
}

void LullMemory::uncommit(size_t granule) {
  assert_at_safepoint();
  assert(can_uncommit() && _committed[granule], "granule %zu", granule);
  if (!uncommit_heap(granule_start(granule), granule_size())) {
    // Harmless for the heap: what is committed again is mapped anew.
    log_warning(gc)("Failed to give back %zuM of heap memory at " PTR_FORMAT, granule_size() / M, p2i(granule_start(granule)));
  }
  uncommit_part(_public_map_space, LullPublicMap::storage_bytes(granule_size()), granule);
  uncommit_part(_mark_bitmap_space, granule_size() / MarkBitMap::heap_map_factor(), granule);
  if (_card_table != nullptr) {
    uncommit_part(_card_space, LullCardTable::storage_bytes(granule_size()), granule);
  }
  if (LullConcurrentMarking) {
    uncommit_part(_cycle_bitmap_space, granule_size() / MarkBitMap::heap_map_factor(), granule);
    uncommit_part(_cycle_line_space, cycle_line_bytes(granule_size()), granule);
  }
  _committed[granule] = false;
  Atomic::store(&_capacity, _capacity - granule_size());
}

// Where the system promises no more memory than it has, HotSpot's own commit ends the VM. Nobody is to lose it by asking for a histogram: the
// system is asked for the whole first, in a way that may fail.
static bool is_available(size_t bytes) {
  void* const memory = os::malloc(bytes, mtGC);
  os::free(memory);
  return memory != nullptr;
}

MarkBitMap* LullMemory::acquire_walk_bitmap() {
  if (!is_available(capacity() / MarkBitMap::heap_map_factor())) {
    log_warning(gc)("No %zuK for a bitmap to walk the heap", capacity() / MarkBitMap::heap_map_factor() / K);
    return nullptr;
  }
  const size_t part = granule_size() / MarkBitMap::heap_map_factor();
  for (size_t i = 0; i < _granules; i++) {
    if (_committed[i] && !commit_part(_walk_bitmap_space, part, i)) {
      log_warning(gc)("Failed to commit %zuK for a bitmap to walk the heap", capacity() / MarkBitMap::heap_map_factor() / K);
      release_walk_bitmap();
      return nullptr;
    }
  }
  return &_walk_bitmap;
}

void LullMemory::release_walk_bitmap() {
  // All of it: fresh pages are zero when it is committed again.
  os::uncommit_memory(_walk_bitmap_space.base(), _walk_bitmap_space.size(), false);
}
