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

#include "gc/lull/lullBlockTable.inline.hpp"
#include "gc/lull/lullSlidingPlan.inline.hpp"
#include "gc/lull/lullSweep.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/safepoint.hpp"

LullSlidingPlan::LullSlidingPlan(LullBlockTable* blocks, const LullMarkBitMap* mark_bitmap)
  : _blocks(blocks),
    _mark_bitmap(mark_bitmap),
    _limit(blocks->limit()),
    _live_before(NEW_C_HEAP_ARRAY_RETURN_NULL(uint16_t, (size_t)_limit * LullGeometry::LinesPerBlock, mtGC)),
    _destinations(NEW_C_HEAP_ARRAY_RETURN_NULL(Destination, _limit, mtGC)),
    _next(0),
    _top(nullptr),
    _end(nullptr) {
  assert_at_safepoint();
}

LullSlidingPlan::~LullSlidingPlan() {
  FREE_C_HEAP_ARRAY(uint16_t, _live_before);
  FREE_C_HEAP_ARRAY(Destination, _destinations);
}

bool LullSlidingPlan::stays(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  switch (block->state()) {
    case LullBlockState::Uncommitted:
    case LullBlockState::Archive:
    case LullBlockState::Segregated:
      return true;
    default:
      return block->is_pinned();
  }
}

// ---- What is alive

class LullCountLiveTask : public LullBlockTask {
private:
  LullSlidingPlan* const _plan;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    if (block->has_lines()) {
      _plan->count_live(index);
    }
  }

public:
  LullCountLiveTask(LullSlidingPlan* plan, LullBlockTable* blocks)
    : LullBlockTask("Lull Count Live", blocks), _plan(plan) {}
};

void LullSlidingPlan::count_live(LullBlockIndex index) {
  HeapWord* const end = LullGeometry::start_of(index) + LullGeometry::WordsPerBlock;
  uint16_t* const live_before = _live_before + untype(LullGeometry::first_line(index));
  uint line = 0;   // those before it are set
  size_t words = 0;
  HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(index), end);
  while (addr < end) {
    for (const uint start_line = LullGeometry::line_in_block(LullGeometry::line_of(addr)); line <= start_line; line++) {
      live_before[line] = (uint16_t)words;
    }
    const size_t size = cast_to_oop(addr)->size();
    words += size;
    addr = _mark_bitmap->get_next_marked_addr(addr + size, end);
  }
  for (; line < LullGeometry::LinesPerBlock; line++) {
    live_before[line] = (uint16_t)words;
  }
}

// Sets *end to the end of the last live object.
size_t LullSlidingPlan::live_words(LullBlockIndex index, HeapWord** end) const {
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const block_end = start + LullGeometry::WordsPerBlock;
  HeapWord* const last = _mark_bitmap->get_last_marked_addr(start, block_end);
  if (last == block_end) {
    *end = start;
    return 0;
  }
  const LullLineIndex line = LullGeometry::line_of(last);
  size_t words = _live_before[untype(line)];
  HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(line), block_end);
  while (addr < block_end) {
    *end = addr + cast_to_oop(addr)->size();
    words += pointer_delta(*end, addr);
    addr = _mark_bitmap->get_next_marked_addr(*end, block_end);
  }
  return words;
}

// Of the first objects of the block, as many as there is room for.
size_t LullSlidingPlan::words_that_fit(LullBlockIndex index, size_t room) const {
  const LullLineIndex first = LullGeometry::first_line(index);
  HeapWord* const end = LullGeometry::start_of(index) + LullGeometry::WordsPerBlock;
  uint line = LullGeometry::LinesPerBlock - 1;
  while (_live_before[untype(first) + line] > room) {
    line--;   // nothing is alive before the first line
  }
  size_t words = _live_before[untype(first) + line];
  HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(to_line_index(untype(first) + line)), end);
  while (addr < end) {
    const size_t size = cast_to_oop(addr)->size();
    if (words + size > room) {
      break;
    }
    words += size;
    addr = _mark_bitmap->get_next_marked_addr(addr + size, end);
  }
  return words;
}

// ---- Where it goes

// Returns whether anything in the block moves.
bool LullSlidingPlan::place_lines(LullBlockIndex index) {
  Destination& to = _destinations[untype(index)];
  HeapWord* end;
  const size_t live = live_words(index, &end);
  const size_t split = MIN2(live, words_that_fit(index, pointer_delta(_end, _top)));
  to._first = _top;
  to._second = nullptr;
  to._split = (uint32_t)split;
  _top += split;
  if (split < live) {
    assert(_next <= untype(index), "block %u needs block %u", untype(index), _next);
    _top = LullGeometry::start_of(to_block_index(_next));
    _end = _top + LullGeometry::WordsPerBlock;
    _next++;
    to._second = _top;
    _top += live - split;
  }
  HeapWord* const start = LullGeometry::start_of(index);
  if (live > 0 && pointer_delta(end, start) == live && new_address(index, 0) == start) {
    assert(split == 0 || split == live, "to one block");
    to._first = nullptr;   // all objects are where they will be
    return false;
  }
  if (to._first == nullptr) {
    to._first = to._second;   // none is there: the split is at 0
  }
  return live > 0;
}

bool LullSlidingPlan::place_large(LullBlockIndex index, uint32_t blocks) {
  Destination& to = _destinations[untype(index)];
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const new_start = LullGeometry::start_of(to_block_index(_next));
  _next += blocks;
  to._first = new_start == start ? nullptr : new_start;
  to._second = nullptr;
  to._split = 1;   // nobody asks for any but the first word
  _live_before[untype(LullGeometry::first_line(index))] = 0;
  return new_start != start;
}

bool LullSlidingPlan::make(WorkerThreads* workers) {
  if (_live_before == nullptr || _destinations == nullptr) {
    return false;
  }
  LullCountLiveTask task(this, _blocks);
  workers->run_task(&task);
  bool moves = false;
  uint32_t blocks;
  for (uint32_t i = 0; i < _limit; i += blocks) {
    const LullBlockIndex index = to_block_index(i);
    const LullBlock* const block = _blocks->at(index);
    assert(block->state() != LullBlockState::LargeTail && block->state() != LullBlockState::Owned,
           "block %u is %s", i, to_string(block->state()));
    blocks = block->state() == LullBlockState::LargeHead ? block->large_blocks() : 1;
    for (uint32_t j = i; j < i + blocks; j++) {
      _destinations[j] = Destination();
    }
    if (stays(index)) {
      _next = i + blocks;
    } else if (block->has_lines()) {
      moves |= place_lines(index);
    } else if (!block->is_free()) {
      moves |= place_large(index, blocks);
    }
  }
  return moves;
}
