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

#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "memory/allocation.inline.hpp"
#include "utilities/copy.hpp"

LullCycleMarks::LullCycleMarks(LullMemory* memory, LullBlockTable* blocks)
  : _memory(memory),
    _blocks(blocks),
    _blocks_per_granule((uint32_t)LullMemory::blocks_per_granule()),
    _old(memory->mark_bitmap()),
    _alive(memory->cycle_bitmap()),
    _lines(memory->cycle_lines()),
    _live(MmapArrayAllocator<uint16_t>::allocate(blocks->count(), mtGC)),
    _marked(MmapArrayAllocator<bool>::allocate(blocks->count(), mtGC)),
    _to_clear(MmapArrayAllocator<bool>::allocate(memory->granules(), mtGC)) {}

void LullCycleMarks::note_to_clear(LullBlockIndex index) {
  const uint32_t granule = untype(index) / _blocks_per_granule;
  if (!_to_clear[granule]) {
    _to_clear[granule] = true;
  }
}

void LullCycleMarks::all_to_clear() {
  for (size_t granule = 0; granule < _memory->granules(); granule++) {
    _to_clear[granule] = true;
  }
}

// As LullBlockTable::add_live, and as seldom wrong: only the choice of blocks to evacuate reads the words.
void LullCycleMarks::note_part(LullBlockIndex block, const HeapWord* start, size_t words) {
  const uint32_t first = untype(LullGeometry::line_of(start));
  const uint32_t last = untype(LullGeometry::line_of(start + words - 1));
  for (uint32_t line = first; line <= last; line++) {
    // Many objects share a line: keep it clean in the cache.
    if (_lines[line] == 0 DEBUG_ONLY(&& LullDropMarking != LullCycle::DropLines)) {
      _lines[line] = 1;
    }
  }
  if (!_marked[untype(block)]) {
    _marked[untype(block)] = true;
  }
  const size_t live = _live[untype(block)] + words;
  _live[untype(block)] = (uint16_t)MIN2(live, LullGeometry::WordsPerBlock);
}

void LullCycleMarks::note_straddler(HeapWord* obj, size_t words) {
  LullGeometry::parts_do(obj, words, [&](LullBlockIndex block, HeapWord* part, size_t part_words) {
    note_part(block, part, part_words);
  });
}

void LullCycleMarks::add_marks(size_t word, uint64_t marks) {
  if (marks != 0) {
    _alive->add_to_word(word, marks);
    _marked[word * BitsPerWord / LullGeometry::WordsPerBlock] = true;
  }
}

void LullCycleMarks::add_line(LullLineIndex line) {
  const LullBlockIndex block = LullGeometry::block_of(line);
  if (_blocks->at(block)->has_lines()) {
    _lines[untype(line)] = 1;
    _marked[untype(block)] = true;
  }
}

void LullCycleMarks::add_live(LullBlockIndex block, size_t words) {
  if (_blocks->at(block)->has_lines()) {
    const size_t live = _live[untype(block)] + words;
    _live[untype(block)] = (uint16_t)MIN2(live, LullGeometry::WordsPerBlock);
  }
}

void LullCycleMarks::note_private(LullBlockIndex block, size_t words) {
  _marked[untype(block)] = true;
  add_live(block, words);
}

void LullCycleMarks::clear_marks(uint32_t first, uint32_t blocks) {
  HeapWord* const start = LullGeometry::start_of(to_block_index(first));
  _alive->clear_range_large(MemRegion(start, blocks * LullGeometry::WordsPerBlock));
  memset((void*)&_lines[(size_t)first * LullGeometry::LinesPerBlock], 0, (size_t)blocks * LullGeometry::LinesPerBlock);
}

// Also where no memory is committed: it may be when the cycle marks.
void LullCycleMarks::clear_blocks(size_t granule) {
  const size_t blocks = LullMemory::blocks_per_granule();
  memset((void*)&_live[granule * blocks], 0, blocks * sizeof(uint16_t));
  memset((void*)&_marked[granule * blocks], 0, blocks * sizeof(bool));
}

void LullCycleMarks::give_to_block(LullBlockIndex index) {
  const uint32_t i = untype(index);
  _blocks->clear_live(index);
  if (_marked[i]) {
    _blocks->set_marks(index);
  } else {
    _blocks->clear_marks(index);
  }
  if (!_blocks->at(index)->has_lines()) {
    return;
  }
  _blocks->add_live(index, _live[i]);
  if (_blocks->owner(index) != LullBlockTable::NoOwner) {
    return;   // its words say what is public there, and the sweep finds from marks what of that is alive
  }
  LullPublicMap* const map = _memory->public_map();
  const LullLineIndex first = LullGeometry::first_line(index);
  const volatile uint8_t* const lines = &_lines[untype(first)];
  for (uint start = 0; start < LullGeometry::LinesPerBlock; ) {
    uint end = start + 1;
    while (end < LullGeometry::LinesPerBlock && lines[end] == lines[start]) {
      end++;
    }
    map->set_lines(to_line_index(untype(first) + start), end - start, lines[start] != 0);
    start = end;
  }
}

// A block of lines alone has live words, and wastes some. If something is alive, and none of these are, it is another one.
ssize_t LullCycleMarks::give_counts(LullBlockIndex index) {
  const size_t before = _blocks->live_words(index);
  const size_t alive = _live[untype(index)];
  const bool has_lines = alive > 0 || !is_any_alive(index);
  _live[untype(index)] = has_lines ? (uint16_t)(before - MIN2(before, alive)) : (uint16_t)0;
  _blocks->clear_live(index);
  _blocks->add_live(index, alive);
  const uint lines = _blocks->packed_lines(index);
  const bool counts = lines > 0 && !_blocks->has_straddler(index);
  return _blocks->change_wasted(index, counts ? LullGeometry::LinesPerBlock - lines : 0);
}

// Nobody writes them any more: they need not be volatile.
void LullCycleMarks::unused_lines(LullBlockIndex index, LullLineSet* lines) const {
  const uint64_t* const words = (const uint64_t*)const_cast<uint8_t*>(&_lines[untype(LullGeometry::first_line(index))]);
  for (uint w = 0; w < LullGeometry::LinesPerBlock / 64; w++) {
    uint64_t used = 0;
    for (uint i = 0; i < 8; i++) {
      used |= LullLineSet::gather_lowest_bits(words[w * 8 + i]) << (i * 8);
    }
    lines->set_word(w, ~used);
  }
}

void LullCycleMarks::flip() {
  _old->swap(_alive);
}
