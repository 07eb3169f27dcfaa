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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/alloc/lullRunTable.inline.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullProtection.inline.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/init.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/growableArray.hpp"

LullBlockSupply::LullBlockSupply(LullBlockTable* table, LullPublicMap* public_map)
  : _table(table),
    _public_map(public_map),
    _lock(Mutex::service - 1, "LullBlockSupply_lock"),
    _runs(MmapArrayAllocator<LullRun>::allocate(table->count(), mtGC)),
    _free_runs(_runs),
    _free_blocks(0),
    _reserve_blocks(0),
    _recyclable(table),
    _recyclable_reserve(0),
    _min_hole_lines(MinHoleLines),
    _wanted_reserve(0),
    _used_bytes(0),
    _unswept_garbage(0),
    _left_sweeper(nullptr),
    _use_limit(SIZE_MAX),
    _slack_lines(0),
    _notify_at(SIZE_MAX),
    _listener(nullptr) {
  table->set_supply_lock(&_lock);
}

// Who sweeps a block beside the program takes it off both, one after the other.
size_t LullBlockSupply::used_bytes() const {
  const size_t used = Atomic::load(&_used_bytes);
  return used - MIN2(used, unswept_garbage());
}

size_t LullBlockSupply::unswept_garbage() const { return Atomic::load(&_unswept_garbage); }

void LullBlockSupply::add_unswept_garbage(ssize_t bytes) {
  Atomic::add(&_unswept_garbage, (size_t)bytes, memory_order_relaxed);
}

size_t LullBlockSupply::slack_bytes() const {
  return Atomic::load(&_slack_lines) * LullGeometry::LineSize;
}

void LullBlockSupply::add_slack(ssize_t lines) {
  if (lines != 0) {
    Atomic::add(&_slack_lines, (size_t)lines, memory_order_relaxed);
  }
}

bool LullBlockSupply::is_over_use_limit(size_t bytes, LullReserveUse use) const {
  return use == LullReserveUse::Keep && bytes > _use_limit - MIN2(_use_limit, used_bytes()) &&
         !SafepointSynchronize::is_at_safepoint();
}

void LullBlockSupply::add_free_run(uint32_t start, uint32_t length) {
  assert(_lock.owned_by_self(), "the lock guards the free runs");
  assert(length > 0 && start + length <= _table->count(), "blocks %u to %u", start, start + length);
  // Join with the neighbours.
  if (start > 0 && _table->at(to_block_index(start - 1))->is_free()) {
    const uint32_t left = _runs[start - 1]._start;
    length += _runs[left]._length;
    _free_runs.remove(left);
    start = left;
  }
  const uint32_t end = start + length;
  if (end < _table->count() && _table->at(to_block_index(end))->is_free()) {
    length += _runs[end]._length;
    _free_runs.remove(end);
  }
  _runs[start]._length = length;
  _runs[start]._start = start;
  _runs[start + length - 1]._start = start;
  _free_runs.add(start);
}

// The caller counts the run as used.
bool LullBlockSupply::take_free_run_locked(uint32_t length, LullReserveUse use, uint32_t* start) {
  assert(_lock.owned_by_self(), "the lock guards the free runs");
  const uint32_t reserve = use == LullReserveUse::Allow ? 0 : _reserve_blocks;
  if (_free_blocks < length + reserve) {
    return false;
  }
  const uint32_t run = _free_runs.find(length);
  if (run == LullRunTable<RunLists>::None) {
    return false;
  }
  const uint32_t run_length = _runs[run]._length;
  _free_runs.remove(run);
  if (run_length > length) {
    const uint32_t rest = run + length;
    _runs[rest]._start = rest;
    _runs[rest]._length = run_length - length;
    _runs[run + run_length - 1]._start = rest;
    _free_runs.add(rest);
  }
  Atomic::store(&_free_blocks, _free_blocks - length);
  LullProtection::allow(to_block_index(run), length);
  *start = run;
  return true;
}

bool LullBlockSupply::take_run_locked(uint32_t length, LullReserveUse use, uint32_t* start) {
  assert(_lock.owned_by_self(), "the lock guards the free runs");
  const size_t bytes = (size_t)length * LullGeometry::BlockSize;
  if (is_over_use_limit(bytes, use) || !take_free_run_locked(length, use, start)) {
    return false;
  }
  Atomic::add(&_used_bytes, bytes, memory_order_relaxed);
  return true;
}

// Of a block that was taken, outside of the lock.
void LullBlockSupply::clear_words(LullBlockIndex index) {
  if (_public_map != nullptr) {
    _public_map->set_blocks(index, 1, false);
  }
}

bool LullBlockSupply::take_block_for_copies(LullBlockIndex* index) {
  {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    uint32_t start;
    if (!take_free_run_locked(1, LullReserveUse::Keep, &start)) {
      return false;
    }
    *index = to_block_index(start);
    _table->make_owned(*index, LullBlockRight::Supply);
  }
  LullFarHeap::forget(*index, 1);
  clear_words(*index);
  return true;
}

void LullBlockSupply::use_for_copies(size_t blocks) {
  Atomic::add(&_used_bytes, blocks * LullGeometry::BlockSize, memory_order_relaxed);
}

// One of those who see it tells: the others find that it was told.
void LullBlockSupply::notify_if_due() {
  const size_t at = Atomic::load(&_notify_at);
  if (used_bytes() > at && !SafepointSynchronize::is_at_safepoint() && Atomic::cmpxchg(&_notify_at, at, SIZE_MAX) == at) {
    _listener->on_use();
  }
}

void LullBlockSupply::set_notification(size_t bytes) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "mutators must not allocate meanwhile");
  assert(_listener != nullptr || bytes == SIZE_MAX, "nobody to tell");
  Atomic::store(&_notify_at, bytes);
}

void LullBlockSupply::renew_notification(size_t bytes) {
  Atomic::cmpxchg(&_notify_at, (size_t)SIZE_MAX, bytes);
}

bool LullBlockSupply::take_block(LullReserveUse use, LullBlockIndex* index) {
  {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    uint32_t start;
    if (!take_run_locked(1, use, &start)) {
      return false;
    }
    *index = to_block_index(start);
    _table->make_owned(*index, LullBlockRight::Supply);
  }
  LullFarHeap::forget(*index, 1);
  clear_words(*index);
  notify_if_due();
  return true;
}

bool LullBlockSupply::take_large(uint32_t blocks, LullReserveUse use, LullBlockIndex* head) {
  {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    uint32_t start;
    if (!take_run_locked(blocks, use, &start)) {
      return false;
    }
    *head = to_block_index(start);
    _table->make_large(*head, blocks, LullBlockRight::Supply);
  }
  LullFarHeap::forget(*head, blocks);
  notify_if_due();
  return true;
}

// For good, at start-up.
bool LullBlockSupply::take_archive(uint32_t blocks, LullBlockIndex* head) {
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  uint32_t start;
  if (!take_run_locked(blocks, LullReserveUse::Allow, &start)) {
    return false;
  }
  *head = to_block_index(start);
  for (uint32_t i = start; i < start + blocks; i++) {
    _table->make_archive(to_block_index(i), LullBlockRight::Supply);
    _table->set_young(to_block_index(i));   // until a collection has marked what is alive in it
  }
  return true;
}

void LullBlockSupply::own_recyclable(LullBlockIndex index) {
  LullBlock* const block = _table->at(index);
  _table->make_owned(index, LullBlockRight::Taker);
  block->set_in_reserve(false);
  Atomic::add(&_used_bytes, block->free_lines().count() * LullGeometry::LineSize, memory_order_relaxed);
}

// First what mutators may take, then what is swept only now, then the reserve if allowed.
template <typename Take>
bool LullBlockSupply::take_recyclable_by(Take take, LullReserveUse use, LullBlockIndex* index) {
  if (is_over_use_limit(LullGeometry::BlockSize, use)) {
    return false;
  }
  do {
    if (!take(LullRecyclableBlocks::Part::Mutators, index) &&
        !take(LullRecyclableBlocks::Part::Unswept, index) &&
        !(use == LullReserveUse::Allow && take(LullRecyclableBlocks::Part::Reserve, index))) {
      return false;
    }
    own_recyclable(*index);
    if (_table->is_unswept(*index)) {
      _left_sweeper->sweep_taken(*index);
    }
  } while (_table->is_evacuated(*index));   // no copies where objects leave: the sweep comes to it
  notify_if_due();
  return true;
}

bool LullBlockSupply::take_recyclable(uint lines, LullReserveUse use, LullBlockIndex* index) {
  return take_recyclable_by([&](LullRecyclableBlocks::Part part, LullBlockIndex* block) {
    return _recyclable.take_longest(part, lines, block);
  }, use, index);
}

bool LullBlockSupply::take_recyclable_with_hole(uint lines, LullReserveUse use, LullBlockIndex* index) {
  return take_recyclable_by([&](LullRecyclableBlocks::Part part, LullBlockIndex* block) {
    return _recyclable.take_fit(part, lines, block);
  }, use, index);
}

bool LullBlockSupply::take_recyclable_with_hole_at_safepoint(uint lines, LullReserveUse use, LullBlockIndex* index) {
  return take_recyclable_by([&](LullRecyclableBlocks::Part part, LullBlockIndex* block) {
    return _recyclable.take_fit_at_safepoint(part, lines, block);
  }, use, index);
}

void LullBlockSupply::give_back(LullBlockIndex index, const LullLineSet& free_lines) {
  LullBlock* const block = _table->at(index);
  assert(block->state() == LullBlockState::Owned, "block %u is %s", untype(index), to_string(block->state()));
  if (free_lines.count() == LullGeometry::LinesPerBlock) {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    block->free_lines().clear_all();
    free_blocks_locked(untype(index), 1);
    return;
  }
  if (!free_lines.has_run(_min_hole_lines)) {
    block->free_lines().clear_all();
    _table->make_full(index, free_lines.count(), LullBlockRight::Owner);
    add_slack(block->slack_lines());
    return;
  }
  block->free_lines() = free_lines;
  _table->make_recyclable(index, LullBlockRight::Owner);
  Atomic::sub(&_used_bytes, free_lines.count() * LullGeometry::LineSize, memory_order_relaxed);
  _recyclable.give_back(index);
}

void LullBlockSupply::set_recyclable_unswept() {
  assert_at_safepoint();
  if (_recyclable_reserve > 0) {
    _recyclable_reserve = _recyclable.set_reserve(0);
  }
  _recyclable.set_unswept();
}

bool LullBlockSupply::take_unswept(LullBlockIndex* index) {
  if (!_recyclable.take_longest(LullRecyclableBlocks::Part::Unswept, 0, index)) {
    return false;
  }
  own_recyclable(*index);
  return true;
}

// When the pause has planned for the reserve, these blocks were not free yet.
void LullBlockSupply::fill_reserve(uint32_t freed) {
  assert(_lock.owned_by_self(), "mutators read the reserve under the lock");
  if (_reserve_blocks < _wanted_reserve) {
    _reserve_blocks = MIN2(_wanted_reserve, _reserve_blocks + freed);
  }
}

void LullBlockSupply::give_back_swept(LullBlockIndex index, const LullLineSet& free_lines) {
  if (free_lines.count() == LullGeometry::LinesPerBlock) {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    fill_reserve(1);
  }
  give_back(index, free_lines);
}

void LullBlockSupply::give_back_large_swept(LullBlockIndex head) {
  {
    MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
    fill_reserve(_table->at(head)->large_blocks());
  }
  give_back_large(head);
}

void LullBlockSupply::give_back_large(LullBlockIndex head) {
  add_slack(-(ssize_t)_table->at(head)->slack_lines());
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  free_blocks_locked(untype(head), _table->at(head)->large_blocks());
}

// The run is listed before its blocks are Free: it must not be joined with itself.
void LullBlockSupply::free_blocks_locked(uint32_t start, uint32_t count) {
  assert(_lock.owned_by_self(), "the lock guards the free runs");
  add_free_run(start, count);
  for (uint32_t i = start; i < start + count; i++) {
    assert(!_table->has_straddler(to_block_index(i)), "block %u is free, and a straddler lies there", i);
    _table->clear_young(to_block_index(i));   // before anybody can take it
    _table->set_wasted(to_block_index(i), 0);
    _table->make_free(to_block_index(i), LullBlockRight::Supply);
  }
  LullProtection::forbid(to_block_index(start), count);
  Atomic::store(&_free_blocks, _free_blocks + count);
  Atomic::sub(&_used_bytes, (size_t)count * LullGeometry::BlockSize, memory_order_relaxed);
}

void LullBlockSupply::free_runs(const GrowableArrayCHeap<LullBlockRun, mtGC>& runs) {
  assert_at_safepoint();
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  for (int i = 0; i < runs.length(); i++) {
    free_blocks_locked(runs.at(i)._start, runs.at(i)._length);
  }
}

void LullBlockSupply::add_recyclable_at_safepoint(const GrowableArrayCHeap<uint32_t, mtGC>& blocks) {
  assert_at_safepoint();
  size_t free_lines = 0;
  for (int i = 0; i < blocks.length(); i++) {
    const LullBlockIndex index = to_block_index(blocks.at(i));
    assert(!_table->at(index)->is_recyclable(), "block %u is in a stack", blocks.at(i));
    _table->make_recyclable(index, LullBlockRight::Sweep);
    free_lines += _table->at(index)->free_lines().count();
  }
  Atomic::sub(&_used_bytes, free_lines * LullGeometry::LineSize, memory_order_relaxed);
  _recyclable.merge_at_safepoint(blocks);
}

void LullBlockSupply::add_committed(uint32_t start, uint32_t count) {
  MutexLocker ml(&_lock, Mutex::_no_safepoint_check_flag);
  add_free_run(start, count);
  for (uint32_t i = start; i < start + count; i++) {
    _table->make_free(to_block_index(i), LullBlockRight::Supply);
  }
  _table->raise_limit(start + count);
  Atomic::store(&_free_blocks, _free_blocks + count);
}

void LullBlockSupply::rebuild() {
  assert_at_safepoint();
  _free_runs.clear();
  _recyclable.clear();
  _recyclable_reserve = 0;
  _reserve_blocks = 0;
  _wanted_reserve = 0;
  uint32_t free_blocks = 0;
  size_t used = 0;
  size_t slack_lines = 0;
  uint32_t run_length = 0;
  GrowableArrayCHeap<uint32_t, mtGC> recyclable;
  const uint32_t count = _table->limit();
  for (uint32_t i = 0; i <= count; i++) {
    const LullBlockState state = i < count ? _table->at(to_block_index(i))->state() : LullBlockState::Uncommitted;
    if (i < count) {
      _table->update_wasted(to_block_index(i));
    }
    if (state == LullBlockState::Free) {
      run_length++;
      continue;
    }
    if (run_length > 0) {
      const uint32_t start = i - run_length;
      _runs[start]._start = start;
      _runs[start]._length = run_length;
      _runs[i - 1]._start = start;
      _free_runs.add_batched(start);
      LullProtection::forbid(to_block_index(start), run_length);
      free_blocks += run_length;
      run_length = 0;
    }
    switch (state) {
      case LullBlockState::Recyclable:
        recyclable.append(i);
        used += LullGeometry::BlockSize - _table->at(to_block_index(i))->free_lines().count() * LullGeometry::LineSize;
        break;
      case LullBlockState::Uncommitted:
        break;
      default:
        used += LullGeometry::BlockSize;
        slack_lines += _table->at(to_block_index(i))->slack_lines();
        break;
    }
  }
  _free_runs.rebuild();
  _free_blocks = free_blocks;
  _used_bytes = used;
  Atomic::store(&_slack_lines, slack_lines);
  // From the last to the first: those at low addresses are taken first, for the heap shrinks from high addresses down.
  for (int i = recyclable.length() - 1; i >= 0; i--) {
    const LullBlockIndex index = to_block_index(recyclable.at(i));
    _table->at(index)->set_in_reserve(false);
    if (!_table->is_evacuated(index)) {
      _recyclable.add_at_safepoint(index);    // in the part of what is to be swept, if it is
    }
  }
}

void LullBlockSupply::set_reserve(uint32_t blocks, bool with_holes) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "mutators must not allocate meanwhile");
  _reserve_blocks = MIN2(blocks, _free_blocks);
  _wanted_reserve = blocks;
  const uint32_t missing = with_holes ? blocks - _reserve_blocks : 0;
  if (missing > 0 || _recyclable_reserve > 0) {
    _recyclable_reserve = _recyclable.set_reserve((size_t)missing * LullGeometry::LinesPerBlock);
  }
}

void LullBlockSupply::set_use_limit(size_t bytes) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "mutators must not allocate meanwhile");
  _use_limit = bytes;
}

void LullBlockSupply::set_min_hole_lines(uint lines) {
  assert_at_safepoint();
  _min_hole_lines = lines;
}

size_t LullBlockSupply::recyclable_lines(size_t capacity) const {
  assert_at_safepoint();
  const size_t used_blocks = capacity / LullGeometry::BlockSize - _free_blocks;
  return (used_blocks * LullGeometry::BlockSize - Atomic::load(&_used_bytes)) / LullGeometry::LineSize;
}

uint32_t LullBlockSupply::longest_free_run() const {
  assert_at_safepoint();
  return _free_runs.longest();
}

const char* LullBlockSupply::verify() const {
  const char* const error = _free_runs.verify();
  if (error != nullptr) {
    return error;
  }
  uint32_t free_in_runs = 0;
  const char* run_error = nullptr;
  _free_runs.runs_do([&](const LullRun& run) {
    free_in_runs += run._length;
    for (uint32_t i = run._start; i < run._start + run._length; i++) {
      if (!_table->at(to_block_index(i))->is_free()) {
        run_error = "a free run holds a block that is not free";
      }
    }
    const uint32_t end = run._start + run._length;
    if ((run._start > 0 && _table->at(to_block_index(run._start - 1))->is_free()) ||
        (end < _table->count() && _table->at(to_block_index(end))->is_free())) {
      run_error = "a free run is not joined with its neighbour";
    }
    if (_runs[run._start + run._length - 1]._start != run._start) {
      run_error = "the end of a free run does not know its start";
    }
  });
  if (run_error != nullptr) {
    return run_error;
  }
  uint32_t free_by_state = 0;
  for (uint32_t i = 0; i < _table->limit(); i++) {
    free_by_state += _table->at(to_block_index(i))->is_free() ? 1 : 0;
  }
  if (free_in_runs != free_by_state || free_in_runs != _free_blocks) {
    return "the free runs, the free blocks and their count do not agree";
  }
  return _recyclable.verify();
}
