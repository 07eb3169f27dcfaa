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

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullRunTable.inline.hpp"
#include "gc/lull/heap/lullProtection.inline.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/align.hpp"

volatile size_t LullAllocator::_released_in_holes = 0;
volatile size_t LullAllocator::_released_in_blocks = 0;

LullAllocator::LullAllocator(LullBlockSupply* supply, LullBlockTable* table, LullReserveUse reserve_use,
                             LullBlockTable::Owner owner, LullPublicMap* public_map)
  : _supply(supply),
    _blocks(table),
    _reserve_use(reserve_use),
    _owner(owner),
    _public_map(public_map),
    _born_public(false),
    _handed_out(0),
    _medium_requests(),
    _top(nullptr),
    _end(nullptr),
    _storage(),
    _unused_head(LineRunTable::None),
    _unused_count(0),
    _holes(_storage),
    _owned(),
    _own_recyclable(),
    _own_fragmented(),
    _own_free(),
    _blocks_for_copies(0),
    _skipped_lines(0) {
  reset();
}

void LullAllocator::forget_holes() {
  _holes.clear();
  _unused_head = LineRunTable::None;
  _unused_count = 0;
  for (uint32_t id = 0; id < MaxRuns; id++) {
    delete_run(id);
  }
}

void LullAllocator::forget_memory() {
  _handed_out -= unused_in_bump_region();
  _top = nullptr;
  _end = nullptr;
  forget_holes();
  for (int i = 0; i < _own_free.length(); i++) {
    LullProtection::allow(_own_free.at(i), 1);
  }
  _own_recyclable.clear();
  _own_fragmented.clear();
  _own_free.clear();
  _skipped_lines = 0;
}

void LullAllocator::reset() {
  forget_memory();
  _owned.clear();
}

uint32_t LullAllocator::new_run(uint32_t start, uint32_t length) {
  const uint32_t id = _unused_head;
  assert(id != LineRunTable::None, "the caller has checked that there is room");
  _unused_head = _storage[id]._next;
  _unused_count--;
  _storage[id]._start = start;
  _storage[id]._length = length;
  return id;
}

void LullAllocator::delete_run(uint32_t id) {
  _storage[id]._length = 0;
  _storage[id]._next = _unused_head;
  _unused_head = id;
  _unused_count++;
}

// A block is listed once, whatever it is used for. While tracking is suspended none has an owner.
void LullAllocator::own(LullBlockIndex index) {
  if (_public_map != nullptr && !LullPublicMap::is_tracking_suspended()) {
    _blocks->own(index, _owner);
    _owned.append(index);
  } else {
    _blocks->set_young(index);   // copies are young until they are swept; without barriers nobody asks
  }
}

void LullAllocator::own_large(LullBlockIndex head, size_t blocks) {
  assert(_blocks->at(head)->state() == LullBlockState::LargeHead, "block %u is %s", untype(head),
         to_string(_blocks->at(head)->state()));
  own(head);
  _handed_out += blocks * LullGeometry::BlockSize;
}

bool LullAllocator::take_own_free(LullRun* hole) {
  if (_own_free.is_empty()) {
    return false;
  }
  const LullBlockIndex index = _own_free.pop();
  LullProtection::allow(index, 1);
  hole->_start = untype(LullGeometry::first_line(index));
  hole->_length = LullGeometry::LinesPerBlock;
  return true;
}

// Workers take what there is.
uint LullAllocator::min_hole_lines() const {
  return _reserve_use == LullReserveUse::Keep ? _supply->min_hole_lines() : LullBlockSupply::MinHoleLines;
}

bool LullAllocator::add_hole(uint32_t first_line, uint32_t lines) {
  if (lines < min_hole_lines() || _unused_count == 0) {
    return false;
  }
  _holes.add(new_run(first_line, lines));
  return true;
}

void LullAllocator::add_holes_of(LullBlockIndex index) {
  LullBlock* const block = _blocks->at(index);
  const uint32_t first = untype(LullGeometry::first_line(index));
  block->free_lines().runs_do([&](uint start, uint length) {
    if (!add_hole(first + start, length)) {
      _skipped_lines += length;
    }
  });
  block->free_lines().clear_all();
}

// Mutators, who take long holes first, would fill the table with short ones, and find no other hole: the shortest make room for another
// block's. A worker uses up what it has.
bool LullAllocator::has_room_for_block() const {
  return _reserve_use == LullReserveUse::Keep || _unused_count >= MaxRunsOfBlock;
}

void LullAllocator::make_room_for_block() {
  while (_unused_count < MaxRunsOfBlock) {
    LullRun hole;
    const bool taken = take_known_hole(1, &hole);
    assert(taken, "a table without room has holes");
    _skipped_lines += hole._length;
  }
}

bool LullAllocator::add_holes_of_own_block() {
  if (_own_recyclable.is_empty() || !has_room_for_block()) {
    return false;
  }
  make_room_for_block();
  add_holes_of(_own_recyclable.pop());
  return true;
}

// They are not worth any room that must be made.
bool LullAllocator::add_holes_of_own_fragmented_block() {
  if (_own_fragmented.is_empty() || _unused_count < MaxRunsOfBlock) {
    return false;
  }
  add_holes_of(_own_fragmented.pop());
  return true;
}

bool LullAllocator::add_holes_of_recyclable_block(uint lines, LullReserveUse use, HoleChoice choice) {
  LullBlockIndex index;
  if (!has_room_for_block() ||
      !(choice == HoleChoice::Longest ? _supply->take_recyclable(lines, use, &index)
                                      : _supply->take_recyclable_with_hole(lines, use, &index))) {
    return false;
  }
  own(index);
  make_room_for_block();
  add_holes_of(index);
  return true;
}

bool LullAllocator::take_known_hole(uint lines, LullRun* hole) {
  const uint32_t id = _holes.find(lines);
  if (id == LineRunTable::None) {
    return false;
  }
  _holes.remove(id);
  *hole = _storage[id];
  delete_run(id);
  return true;
}

bool LullAllocator::take_free_block(LullReserveUse use, LullRun* hole) {
  if (take_own_free(hole)) {
    return true;
  }
  LullBlockIndex index;
  if (!_supply->take_block(use, &index)) {
    return false;
  }
  own(index);
  hole->_start = untype(LullGeometry::first_line(index));
  hole->_length = LullGeometry::LinesPerBlock;
  return true;
}

// A mutator pays for each hole with a call into the VM; a worker uses up what it has.
uint LullAllocator::preferred_hole_lines(uint lines) const {
  return _reserve_use == LullReserveUse::Keep ? MAX2(lines, PreferredHoleLines) : lines;
}

// One that is long enough for an object, or long.
bool LullAllocator::take_long_hole(uint lines, LullReserveUse use, LullRun* hole) {
  const uint preferred = preferred_hole_lines(lines);
  do {
    if (take_known_hole(preferred, hole)) {
      return true;
    }
  } while (add_holes_of_own_block());
  const HoleChoice choice = lines < PreferredHoleLines ? HoleChoice::Longest : HoleChoice::Fit;
  return add_holes_of_recyclable_block(preferred, use, choice) && take_known_hole(preferred, hole);
}

bool LullAllocator::take_hole(uint lines, LullReserveUse use, LullRun* hole) {
  assert(lines <= LullGeometry::LinesPerBlock, "%u lines", lines);
  if (take_long_hole(lines, use, hole) || take_own_free(hole)) {
    return true;
  }
  do {
    if (take_known_hole(lines, hole)) {
      return true;
    }
  } while (add_holes_of_own_fragmented_block());
  for (uint i = 0; i < MaxBlocksToSearch && add_holes_of_recyclable_block(lines, use, HoleChoice::Longest); i++) {
    if (take_known_hole(lines, hole)) {
      return true;
    }
  }
  if (take_free_block(use, hole)) {
    return true;
  }
  while (add_holes_of_recyclable_block(lines, use, HoleChoice::Longest)) {
    if (take_known_hole(lines, hole)) {
      return true;
    }
  }
  return false;
}

bool LullAllocator::take_hole_for(size_t words, uint min_lines, LullRun* hole) {
  const uint lines = LullGeometry::lines_for(words);
  if (lines <= 1) {
    return take_hole(min_lines, _reserve_use, hole);
  }
  if (LullFitMedium ? !take_hole(MAX2(lines, min_lines), _reserve_use, hole) : !take_free_block(_reserve_use, hole)) {
    return false;
  }
  (hole->_length < LullGeometry::LinesPerBlock ? _medium_requests._in_holes : _medium_requests._in_blocks)++;
  return true;
}

void LullAllocator::return_bump_region() {
  if (_top == _end) {
    return;
  }
  const uint32_t end = untype(LullGeometry::line_of(_end - 1)) + 1;
  const uint32_t start = untype(LullGeometry::line_of((char*)_top + LullGeometry::LineSize - 1));
  if (start < end && add_hole(start, end - start)) {
    _handed_out -= (size_t)(end - start) * LullGeometry::LineSize;
  }
  _top = _end = nullptr;
}

// Holes that come back to the table keep their words, so they are written each time. While tracking is suspended
// words of 0 keep stores into new objects on the fast path.
void LullAllocator::prepare(const LullRun& hole) {
  if (_public_map != nullptr) {
    _public_map->set_lines(to_line_index(hole._start), hole._length, _born_public && !LullPublicMap::is_tracking_suspended());
  }
  _handed_out += hole._length * LullGeometry::LineSize;
}

// Free lines have word 0.
void LullAllocator::forget(LullBlockIndex index, const LullLineSet& lines) {
  _blocks->disown(index, _owner);
  if (_public_map != nullptr) {
    lines.runs_do([&](uint start, uint length) {
      _public_map->set_lines(to_line_index(untype(LullGeometry::first_line(index)) + start), length, false);
    });
  }
}

void LullAllocator::set_born_public(bool value) {
  // What is left of the bump region has the words of the other mode.
  return_bump_region();
  _top = _end = nullptr;
  _born_public = value;
}

HeapWord* LullAllocator::allocate_in_hole(const LullRun& hole, size_t words) {
  return_bump_region();
  prepare(hole);
  HeapWord* const start = LullGeometry::start_of(to_line_index(hole._start));
  _top = start + words;
  _end = start + hole._length * LullGeometry::WordsPerLine;
  assert(_top <= _end, "the hole fits");
  return start;
}

HeapWord* LullAllocator::allocate(size_t words) {
  assert(words <= LullGeometry::WordsPerBlock, "%zu words", words);
  if (pointer_delta(_end, _top) >= words) {
    HeapWord* const start = _top;
    _top += words;
    return start;
  }
  LullRun hole;
  if (!take_hole_for(words, min_hole_lines(), &hole)) {
    return nullptr;
  }
  return allocate_in_hole(hole, words);
}

HeapWord* LullAllocator::allocate_at_safepoint(size_t words, LullReserveUse use) {
  assert_at_safepoint();
  LullRun hole;
  const uint lines = LullGeometry::lines_for(words);
  if (take_hole(lines, use, &hole)) {
    return allocate_in_hole(hole, words);
  }
  // The table is full of holes that are too short, or no block is left to search.
  LullBlockIndex index;
  if (!_supply->take_recyclable_with_hole_at_safepoint(lines, use, &index)) {
    return nullptr;
  }
  forget_holes();
  own(index);
  add_holes_of(index);
  const bool taken = take_known_hole(lines, &hole);
  assert(taken, "a block with such a hole was taken");
  return allocate_in_hole(hole, words);
}

HeapWord* LullAllocator::allocate_tlab(size_t min_words, size_t* actual_words) {
  LullRun hole;
  if (!take_hole_for(min_words, min_hole_lines(), &hole)) {
    // The last hole may be the rest of one in which an object lies that fitted no TLAB. Small objects would be put there one by
    // one, each by a call into the VM.
    return_bump_region();
    if (!take_known_hole(MAX2(LullGeometry::lines_for(min_words), min_hole_lines()), &hole)) {
      return nullptr;
    }
  }
#ifdef ASSERT
  // One line at a time, so that many allocations are slow.
  if (LullLocalCollectALot > 0) {
    const uint32_t lines = MAX2((uint32_t)LullGeometry::lines_for(min_words), (uint32_t)1);
    add_hole(hole._start + lines, hole._length - lines);
    hole._length = lines;
  }
#endif
  prepare(hole);
  *actual_words = hole._length * LullGeometry::WordsPerLine;
  return LullGeometry::start_of(to_line_index(hole._start));
}

void LullAllocator::begin_global_collection(bool keep_private) {
  assert_at_safepoint();
  forget_memory();
  if (!keep_private || _born_public) {
    for (int i = 0; i < _owned.length(); i++) {
      _blocks->disown(_owned.at(i), _owner);
    }
    _owned.clear();
  }
}

void LullAllocator::end_global_collection() {
  assert_at_safepoint();
  LullBlockList blocks;
  blocks.swap(&_owned);
  for (int i = 0; i < blocks.length(); i++) {
    const LullBlockIndex index = blocks.at(i);
    if (_blocks->owner(index) == LullBlockTable::NoOwner) {
      continue;
    }
    assert(_blocks->owner(index) == _owner, "B: block %u is of thread %u, not %u", untype(index), _blocks->owner(index),
           _owner);
    if (_blocks->at(index)->has_lines()) {
      keep(index);
    } else {
      _owned.append(index);
    }
  }
}

// During the collection these are lines of objects that stay.
size_t LullAllocator::forget_free_lines(const LullBlockList& blocks) {
  size_t unused = 0;
  for (int i = 0; i < blocks.length(); i++) {
    LullLineSet& lines = _blocks->at(blocks.at(i))->free_lines();
    unused += lines.count();
    lines.clear_all();
  }
  return unused;
}

size_t LullAllocator::begin_collection(LullBlockList* blocks) {
  assert(_public_map != nullptr && !_born_public, "thread %u has nothing private", _owner);
  assert(blocks->is_empty(), "one collection at a time");
  return_bump_region();
  size_t unused = _skipped_lines + (size_t)_own_free.length() * LullGeometry::LinesPerBlock;
  _holes.runs_do([&](const LullRun& hole) { unused += hole._length; });
  unused += forget_free_lines(_own_recyclable) + forget_free_lines(_own_fragmented);
  blocks->swap(&_owned);
  reset();
  return unused;
}

HeapWord* LullAllocator::allocate_copy(size_t words) {
  if (pointer_delta(_end, _top) >= words) {
    HeapWord* const start = _top;
    _top += words;
    return start;
  }
  LullRun hole;
  if (words > LullGeometry::WordsPerBlock || !take_block_for_copies(&hole)) {
    return nullptr;
  }
  return allocate_in_hole(hole, words);
}

bool LullAllocator::take_block_for_copies(LullRun* hole) {
  assert(_own_free.is_empty(), "a local collection has forgotten what the thread had");
  LullBlockIndex index;
  if (!_supply->take_block_for_copies(&index)) {
    return false;
  }
  _blocks_for_copies++;
  own(index);
  hole->_start = untype(LullGeometry::first_line(index));
  hole->_length = LullGeometry::LinesPerBlock;
  return true;
}

void LullAllocator::end_copying() {
  _supply->use_for_copies(_blocks_for_copies);
  _blocks_for_copies = 0;
}

void LullAllocator::publish_and_release() {
  for (int i = 0; i < _owned.length(); i++) {
    const LullBlockIndex index = _owned.at(i);
    const LullBlock* const block = _blocks->at(index);
    _public_map->set_blocks(index, block->state() == LullBlockState::LargeHead ? block->large_blocks() : 1, true);
  }
  // Its lines that hold nothing are not public.
  release();
}

void LullAllocator::keep(LullBlockIndex index) {
  _owned.append(index);
  const uint longest = _blocks->at(index)->free_lines().longest_run();
  if (longest >= min_hole_lines()) {
    (longest >= PreferredHoleLines ? _own_recyclable : _own_fragmented).append(index);
  } else {
    _skipped_lines += _blocks->at(index)->free_lines().count();
    _blocks->at(index)->free_lines().clear_all();
  }
}

void LullAllocator::keep_free(LullBlockIndex index) {
  _owned.append(index);
  _own_free.append(index);
  LullProtection::forbid(index, 1);
}

void LullAllocator::disown(LullBlockIndex index, const LullLineSet& free_lines) {
  forget(index, free_lines);
  _supply->give_back(index, free_lines);
}

void LullAllocator::disown_recyclable(LullBlockList* blocks) {
  while (!blocks->is_empty()) {
    const LullBlockIndex index = blocks->pop();
    disown(index, _blocks->at(index)->free_lines());
  }
}

void LullAllocator::undo(HeapWord* start, size_t words) {
  if (start + words == _top) {
    _top = start;
  }
}

// All objects are public. Blocks lose their owner before any goes back, and may be another thread's.
void LullAllocator::release() {
  for (int i = 0; i < _owned.length(); i++) {
    _blocks->disown(_owned.at(i), _owner);
  }
  return_bump_region();
  // Collect the holes block by block; a block's holes go back in one step.
  while (_holes.count() > 0) {
    LullRun hole;
    take_known_hole(1, &hole);
    const LullBlockIndex index = LullGeometry::block_of(to_line_index(hole._start));
    LullLineSet lines;
    lines.add_range(LullGeometry::line_in_block(to_line_index(hole._start)), hole._length);
    for (uint32_t id = 0; id < MaxRuns; id++) {
      if (is_listed(id) && LullGeometry::block_of(to_line_index(_storage[id]._start)) == index) {
        lines.add_range(LullGeometry::line_in_block(to_line_index(_storage[id]._start)), _storage[id]._length);
        _holes.remove(id);
        delete_run(id);
      }
    }
    disown(index, lines);
  }
  disown_recyclable(&_own_recyclable);
  disown_recyclable(&_own_fragmented);
  LullLineSet all;
  all.set_all();
  while (!_own_free.is_empty()) {
    disown(_own_free.pop(), all);
  }
  reset();
  Atomic::add(&_released_in_holes, _medium_requests._in_holes, memory_order_relaxed);
  Atomic::add(&_released_in_blocks, _medium_requests._in_blocks, memory_order_relaxed);
  _medium_requests = LullMediumRequests();
}

LullMediumRequests LullAllocator::released_medium_requests() {
  return {Atomic::load(&_released_in_holes), Atomic::load(&_released_in_blocks)};
}
