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

#include "gc/budget/heapBudget.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/globals.hpp"
#include "runtime/init.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/align.hpp"

LullHeapSizer::LullHeapSizer(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply,
                             LullEvacuationPolicy* evacuation_policy, WorkerThreads* pretouch_workers)
  : _memory(memory),
    _blocks(blocks),
    _supply(supply),
    _evacuation_policy(evacuation_policy),
    _pretouch_workers(pretouch_workers),
    _policy(),
    _use_limit() {}

bool LullHeapSizer::commit_initial() {
  // Large pages that are reserved for good are committed as a whole.
  const size_t initial = _memory->can_uncommit() ? InitialHeapSize : MaxHeapSize;
  if (expand(initial) < initial) {
    return false;
  }
  update_reserve();
  set_use_limit();
  return true;
}

// Commits granules from low addresses up; returns the bytes gained.
size_t LullHeapSizer::expand(size_t bytes) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "mutators must not allocate meanwhile");
  size_t gained = 0;
  // Neighbours are touched together: one is too little for several workers.
  size_t first = 0;
  size_t count = 0;
  for (size_t granule = 0; granule < _memory->granules() && gained < bytes; granule++) {
    if (!_memory->is_granule_committed(granule)) {
      if (!_memory->commit(granule)) {
        break;
      }
      if (granule != first + count) {
        pretouch(first, count);
        first = granule;
        count = 0;
      }
      count++;
      _supply->add_committed((uint32_t)(granule * LullMemory::blocks_per_granule()),
                             (uint32_t)LullMemory::blocks_per_granule());
      gained += LullMemory::granule_size();
    }
  }
  pretouch(first, count);
  return gained;
}

void LullHeapSizer::pretouch(size_t first, size_t count) {
  if (AlwaysPreTouch && count > 0) {
    _memory->pretouch(first, count, _pretouch_workers);
  }
}

bool LullHeapSizer::is_free(size_t granule) const {
  const uint32_t start = (uint32_t)(granule * LullMemory::blocks_per_granule());
  for (uint32_t i = start; i < start + LullMemory::blocks_per_granule(); i++) {
    if (!_blocks->at(to_block_index(i))->is_free()) {
      return false;
    }
  }
  return true;
}

// What may be given back, if so much is alive. A heap with room in holes only has none for copies, so that no collection can make any,
// and none for objects that need whole blocks: the copy reserve of what is left stays free, and a quarter of the live data.
size_t LullHeapSizer::can_shrink_by(size_t live) const {
  const size_t free = (size_t)_supply->free_blocks() * LullGeometry::BlockSize;
  const size_t reserve = LullEvacuation ? _memory->capacity() / 100 * LullEvacuationPolicy::ReservePercent : 0;
  const size_t kept = live / 4 + reserve;
  // The less is left, the smaller is its reserve.
  return free <= kept ? 0 : (free - kept) / (100 - (LullEvacuation ? LullEvacuationPolicy::ReservePercent : 0)) * 100;
}

// By how much there are more edges of what is committed once this granule is not.
int LullHeapSizer::edges_by_uncommit(size_t granule) const {
  int more = 0;
  if (granule > 0) {
    more += _memory->is_granule_committed(granule - 1) ? 1 : -1;
  }
  if (granule + 1 < _memory->granules()) {
    more += _memory->is_granule_committed(granule + 1) ? 1 : -1;
  }
  return more;
}

// Returns free granules to the system, from high addresses down; returns the bytes freed.
// The caller rebuilds the supply.
size_t LullHeapSizer::shrink(size_t bytes) {
  assert_at_safepoint();
  int edges = 0;
  for (size_t granule = 1; granule < _memory->granules(); granule++) {
    edges += _memory->is_granule_committed(granule) != _memory->is_granule_committed(granule - 1) ? 1 : 0;
  }
  size_t freed = 0;
  for (size_t granule = _memory->granules(); granule-- > 0 && freed + LullMemory::granule_size() <= bytes; ) {
    if (_memory->is_granule_committed(granule) && is_free(granule)) {
      const int more = edges_by_uncommit(granule);
      if (edges + more > MaxEdges) {
        continue;
      }
      edges += more;
      const uint32_t start = (uint32_t)(granule * LullMemory::blocks_per_granule());
      for (uint32_t i = start; i < start + LullMemory::blocks_per_granule(); i++) {
        _blocks->make_uncommitted(to_block_index(i), LullBlockRight::Resize);
      }
      _memory->uncommit(granule);
      freed += LullMemory::granule_size();
    }
  }
  return freed;
}

// A fragmented heap gets its reserve before mutators get anything: what evacuation gains
// is more than what it needs. Else the reserve yields when little is free, but not all of it: the heap may be full, and fragmented, at the
// next collection, and what has no room at all for copies cannot be compacted.
void LullHeapSizer::update_reserve() {
  const size_t blocks = _memory->capacity() / LullGeometry::BlockSize;
  const uint32_t wanted = LullEvacuation ? (uint32_t)(blocks * LullEvacuationPolicy::ReservePercent / 100) : 0;
  const bool fragmented = _evacuation_policy->needs_reserve();
  _supply->set_reserve(fragmented ? wanted : MIN2(wanted, MAX2(_supply->free_blocks() / 4, wanted / 4)), fragmented);
}

void LullHeapSizer::record_collection(GCCause::Cause cause, const LullSizedCollection& collection) {
  if (LullSizePolicy::is_asked_for(cause)) {
    _policy.record_asked_for(collection);
  } else {
    _policy.record_collection(collection, _memory->capacity(), _memory->max_capacity());
  }
  _use_limit.record_global(collection._used, _memory->max_capacity(), _policy.is_costly());
  set_use_limit();
}

void LullHeapSizer::record_young_collection(const LullSizedCollection& collection, bool cycle_runs) {
  _policy.record_young_collection(collection, _memory->capacity(), _memory->max_capacity());
  _use_limit.record_young(collection._used, _memory->max_capacity());
  if (cycle_runs) {
    _policy.await_cycle(collection, _memory->capacity());
  }
  resize_after_young(collection._end_ns);
}

// The next one for lack of memory may be a global one, by what this one has left.
void LullHeapSizer::record_early(const LullSizedCollection& collection) {
  _policy.record_early(collection, _memory->max_capacity());
  _use_limit.record_young(collection._used, _memory->max_capacity());
  update_reserve();
}

void LullHeapSizer::set_use_limit() {
  _supply->set_use_limit(_use_limit.bytes(_memory->max_capacity()));
}

bool LullHeapSizer::is_within_use_limit(size_t words) const {
  const size_t limit = _use_limit.bytes(_memory->max_capacity());
  return _supply->used_bytes() + words * HeapWordSize <= limit;
}

void LullHeapSizer::record_allocation_at_safepoint() {
  _use_limit.record_allocation(_supply->used_bytes(), _memory->max_capacity());
  set_use_limit();
}

bool LullHeapSizer::may_shrink() const { return LullUncommit && _memory->can_uncommit(); }

bool LullHeapSizer::wants_global(jlong now_ns) const {
  const bool shrinks = may_shrink() && !UseHeapBudget &&
                       _policy.wants_global_to_shrink(_memory->capacity(), now_ns);
  if (shrinks) {
    log_debug(gc, ergo)("The next collection is a global one: perhaps the heap can become smaller than %zuM",
                        _memory->capacity() / M);
  }
  return shrinks || _use_limit.young_left_much() || _policy.young_left_little();
}

static size_t less(size_t from, size_t what) { return from - MIN2(from, what); }

// False if nothing could be given back.
bool LullHeapSizer::shrink_and_rebuild(size_t bytes, size_t live) {
  if (!LullUncommit || !_memory->can_uncommit() || shrink(MIN2(bytes, can_shrink_by(live))) == 0) {
    return false;
  }
  _supply->rebuild();
  return true;
}

// What is used is not all alive: the heap may be larger than it has to be.
void LullHeapSizer::resize_after_young(jlong now_ns) {
  const size_t before = _memory->capacity();
  const size_t used = _supply->used_bytes();
  size_t desired;
  if (!HeapBudget::grown_capacity(before, &desired)) {
    desired = _policy.desired_capacity_after_young(used, before, now_ns);
  }
  if (desired > before) {
    expand(desired - before);
  } else if (desired < before) {
    shrink_and_rebuild(MIN2(before - desired, MostAfterYoung * LullMemory::granule_size()), used);
  }
  update_reserve();
  log_resized(before);
}

void LullHeapSizer::log_resized(size_t before) const {
  if (_memory->capacity() != before) {
    log_info(gc, heap)("Heap resized: %zuM->%zuM", before / M, _memory->capacity() / M);
  }
}

void LullHeapSizer::resize(GCCause::Cause cause, jlong now_ns) {
  assert_at_safepoint();
  const size_t before = _memory->capacity();
  const size_t live = _supply->used_bytes();
  size_t desired;
  if (!HeapBudget::desired_capacity(live, before, true /* can shrink */, &desired)) {
    desired = _policy.desired_capacity(live, before, cause, now_ns);
  }
  if (desired > before) {
    expand(desired - before);
  } else if (desired < before) {
    shrink_and_rebuild(before - desired, live);
  }
  update_reserve();
  log_resized(before);
}

// The heap budget sizes the heap by itself.
void LullHeapSizer::give_back(size_t bytes) {
  assert_at_safepoint();
  const size_t before = _memory->capacity();
  size_t desired;
  if (HeapBudget::grown_capacity(before, &desired)) {
    return;
  }
  const size_t kept = _policy.least_capacity(_supply->used_bytes());
  if (shrink_and_rebuild(MIN2(bytes, less(before, kept)), _supply->used_bytes())) {
    update_reserve();
  }
  log_resized(before);
}

bool LullHeapSizer::is_too_large(size_t words) const {
  return LullGeometry::blocks_for(words) > _memory->max_capacity() / LullGeometry::BlockSize;
}

// What the operator asks for, or the budget, is worth a pause.
bool LullHeapSizer::may_expand_for_cycle() const {
  return !UseHeapBudget && _memory->capacity() < LullSizePolicy::most_capacity();
}

bool LullHeapSizer::grows_first(size_t words) const {
  return LullGeometry::is_large(words) &&
         LullSizeBounds::grows_first(LullGeometry::blocks_for(words) * LullGeometry::BlockSize, _memory->capacity(),
                                     _memory->max_capacity());
}

// A quarter more, as far as there is room: a few young collections more.
void LullHeapSizer::expand_for_cycle() {
  const size_t before = _memory->capacity();
  const size_t most = LullSizePolicy::most_capacity();
  expand(align_up(MIN2(before / 4, most - MIN2(before, most)), LullMemory::granule_size()));
  update_reserve();
  log_resized(before);
}

// All that is gained is for the object: the reserve stays what it was.
bool LullHeapSizer::expand_for(size_t words) {
  assert_at_safepoint();
  const size_t blocks = LullGeometry::blocks_for(words);
  const size_t bytes = align_up(blocks * LullGeometry::BlockSize, LullMemory::granule_size());
  const size_t before = _memory->capacity();
  // For a large object granules must be neighbours: go on until there is such a run.
  while (_memory->capacity() < _memory->max_capacity() && expand(bytes) > 0) {
    if (!LullGeometry::is_large(words) || _supply->longest_free_run() >= blocks) {
      break;
    }
  }
  if (_memory->capacity() == before) {
    return false;
  }
  log_info(gc, heap)("Heap expanded for an object of %zuK: %zuM->%zuM",
                     words * HeapWordSize / K, before / M, _memory->capacity() / M);
  return true;
}
