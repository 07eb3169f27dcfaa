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

#include "gc/lull/lullAllocator.hpp"
#include "gc/lull/lullRunTable.inline.hpp"
#include "gc/lull/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/align.hpp"

LullAllocator::LullAllocator(LullBlockSupply* supply, LullBlockTable* table, LullReserveUse reserve_use,
                             LullBlockTable::Owner owner, LullPublicMap* public_map)
  : _supply(supply),
    _table(table),
    _reserve_use(reserve_use),
    _owner(owner),
    _public_map(public_map),
    _born_public(false),
    _handed_out(0),
    _top(nullptr),
    _end(nullptr),
    _storage(),
    _unused_head(LineRunTable::None),
    _unused_count(0),
    _holes(_storage) {
  reset();
}

void LullAllocator::reset() {
  _top = nullptr;
  _end = nullptr;
  _holes.clear();
  _unused_head = LineRunTable::None;
  _unused_count = 0;
  for (uint32_t id = 0; id < MaxRuns; id++) {
    delete_run(id);
  }
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

void LullAllocator::add_hole(uint32_t first_line, uint32_t lines) {
  if (lines >= LullMinHoleLines && _unused_count > 0) {
    _holes.add(new_run(first_line, lines));
  }
}

void LullAllocator::add_holes_of(LullBlockIndex index) {
  LullBlock* const block = _table->at(index);
  _table->set_owner(index, _owner);
  const uint32_t first = untype(LullGeometry::first_line(index));
  block->free_lines().runs_do([&](uint start, uint length) {
    if (length >= LullMinHoleLines) {
      _holes.add_batched(new_run(first + start, length));
    }
  });
  block->free_lines().clear_all();
  _holes.rebuild();
}

bool LullAllocator::add_holes_of_recyclable_block(LullReserveUse use) {
  LullBlockIndex index;
  if (_unused_count < MaxRunsOfBlock || !_supply->take_recyclable(use, &index)) {
    return false;
  }
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

bool LullAllocator::take_hole(uint lines, LullReserveUse use, LullRun* hole) {
  assert(lines <= LullGeometry::LinesPerBlock, "%u lines", lines);
  if (take_known_hole(lines, hole)) {
    return true;
  }
  for (uint i = 0; i < MaxBlocksToSearch && add_holes_of_recyclable_block(use); i++) {
    if (take_known_hole(lines, hole)) {
      return true;
    }
  }
  LullBlockIndex index;
  if (_supply->take_block(use, &index)) {
    _table->set_owner(index, _owner);
    hole->_start = untype(LullGeometry::first_line(index));
    hole->_length = LullGeometry::LinesPerBlock;
    return true;
  }
  while (add_holes_of_recyclable_block(use)) {
    if (take_known_hole(lines, hole)) {
      return true;
    }
  }
  return false;
}

void LullAllocator::return_bump_region() {
  if (_top == _end) {
    return;
  }
  const uint32_t end = untype(LullGeometry::line_of(_end - 1)) + 1;
  const uint32_t start = untype(LullGeometry::line_of((char*)_top + LullGeometry::LineSize - 1));
  if (start < end) {
    add_hole(start, end - start);
  }
  _top = _end = nullptr;
}

// Holes that come back to the table keep their words, so they are written each time.
void LullAllocator::prepare(const LullRun& hole) {
  if (_public_map != nullptr) {
    _public_map->set_lines(to_line_index(hole._start), hole._length, _born_public);
    _handed_out += hole._length * LullGeometry::LineSize;
  }
}

// Free lines have word 0.
void LullAllocator::forget(LullBlockIndex index, const LullLineSet& lines) {
  _table->set_owner(index, LullBlockTable::NoOwner);
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
  if (!take_hole(LullGeometry::lines_for(words), _reserve_use, &hole)) {
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
  if (!_supply->take_recyclable_with_hole(lines, use, &index)) {
    return nullptr;
  }
  reset();
  add_holes_of(index);
  const bool taken = take_known_hole(lines, &hole);
  assert(taken, "a block with such a hole was taken");
  return allocate_in_hole(hole, words);
}

HeapWord* LullAllocator::allocate_tlab(size_t min_words, size_t* actual_words) {
  LullRun hole;
  if (!take_hole(MAX2(LullGeometry::lines_for(min_words), (uint)LullMinHoleLines), _reserve_use, &hole)) {
    return nullptr;
  }
  prepare(hole);
  *actual_words = hole._length * LullGeometry::WordsPerLine;
  return LullGeometry::start_of(to_line_index(hole._start));
}

void LullAllocator::undo(HeapWord* start, size_t words) {
  if (start + words == _top) {
    _top = start;
  }
}

void LullAllocator::release() {
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
    forget(index, lines);
    _supply->give_back(index, lines);
  }
  reset();
}
