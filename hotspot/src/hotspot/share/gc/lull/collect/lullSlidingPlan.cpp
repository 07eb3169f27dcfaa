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

#include "gc/lull/collect/lullSlidingPlan.inline.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/safepoint.hpp"

LullSlidingPlan::LullSlidingPlan(LullBlockTable* blocks, const LullMarkBitMap* mark_bitmap)
  : _blocks(blocks),
    _mark_bitmap(mark_bitmap),
    _limit(blocks->limit()),
    _live_before(NEW_C_HEAP_ARRAY_RETURN_NULL(uint16_t, (size_t)_limit * LullGeometry::LinesPerBlock, mtGC)),
    _destinations(NEW_C_HEAP_ARRAY_RETURN_NULL(Destination, _limit, mtGC)),
    _cursor() {
  assert_at_safepoint();
}

LullSlidingPlan::~LullSlidingPlan() {
  FREE_C_HEAP_ARRAY(uint16_t, _live_before);
  FREE_C_HEAP_ARRAY(Destination, _destinations);
}

// Of an array a card may tell of the elements on it (lullCardTable.hpp), so that nobody looks for its start.
bool LullSlidingPlan::may_straddle(oop obj) {
  return obj->is_array() && LullGeometry::is_straddler_size(obj->size());
}

size_t LullSlidingPlan::slack_of_large(const LullBlockTable* blocks) {
  assert_at_safepoint();
  size_t lines = 0;
  for (uint32_t i = 0; i < blocks->limit(); i++) {
    const LullBlock* const block = blocks->at(to_block_index(i));
    if (block->state() == LullBlockState::LargeHead && block->slack_lines() > 0 && !block->is_pinned() &&
        may_straddle(cast_to_oop(LullGeometry::start_of(to_block_index(i))))) {
      lines += block->slack_lines();
    }
  }
  return lines * LullGeometry::LineSize;
}

// ---- What stays

bool LullSlidingPlan::must_stay(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  switch (block->state()) {
    case LullBlockState::Uncommitted:
    case LullBlockState::Archive:
      return true;
    default:
      return block->is_pinned();
  }
}

// If a block stays so do those in which its straddlers begin and end: up, then down.
void LullSlidingPlan::find_what_stays() {
  for (uint32_t i = 0; i < _limit; i++) {
    const LullBlockIndex index = to_block_index(i);
    _destinations[i] = Destination();
    _destinations[i]._stays = must_stay(index) || (_blocks->has_straddler(index) && _destinations[i - 1]._stays);
  }
  for (uint32_t i = _limit; i-- > 1; ) {
    if (_destinations[i]._stays && _blocks->has_straddler(to_block_index(i))) {
      _destinations[i - 1]._stays = true;
    }
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

// A straddler is the last one that begins in its block, and is not counted.
void LullSlidingPlan::count_live(LullBlockIndex index) {
  HeapWord* const end = LullGeometry::end_of(index);
  uint16_t* const live_before = _live_before + untype(LullGeometry::first_line(index));
  uint line = 0;   // those before it are set
  size_t words = 0;
  HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(index), end);
  while (addr < end) {
    for (const uint start_line = LullGeometry::line_in_block(LullGeometry::line_of(addr)); line <= start_line; line++) {
      live_before[line] = (uint16_t)words;
    }
    HeapWord* const next = addr + cast_to_oop(addr)->size();
    if (next > end) {
      break;
    }
    words += pointer_delta(next, addr);
    addr = _mark_bitmap->get_next_marked_addr(next, end);
  }
  for (; line < LullGeometry::LinesPerBlock; line++) {
    live_before[line] = (uint16_t)words;
  }
}

LullSlidingPlan::Live LullSlidingPlan::live_in(LullBlockIndex index) const {
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const block_end = LullGeometry::end_of(index);
  Live live = { 0, _mark_bitmap->get_next_marked_addr(start, block_end), start, nullptr };
  HeapWord* const last = _mark_bitmap->get_last_marked_addr(start, block_end);
  if (last == block_end) {
    return live;
  }
  if (last + cast_to_oop(last)->size() > block_end) {
    live._straddler = last;
  }
  // The end of the last one that ends in the block too.
  HeapWord* const last_inside = live._straddler == nullptr ? last : _mark_bitmap->get_last_marked_addr(start, last);
  if (last_inside != live._straddler) {
    live._end = last_inside + cast_to_oop(last_inside)->size();
  }
  const LullLineIndex line = LullGeometry::line_of(last);
  live._words = _live_before[untype(line)];
  for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(line), block_end);
       addr < block_end && addr != live._straddler; ) {
    HeapWord* const end = addr + cast_to_oop(addr)->size();
    live._words += pointer_delta(end, addr);
    addr = _mark_bitmap->get_next_marked_addr(end, block_end);
  }
  return live;
}

// Of the first objects that begin and end in the block, as many as there is room for. Sets *next to the first one
// that does not fit.
size_t LullSlidingPlan::words_that_fit(LullBlockIndex index, size_t live, size_t room, HeapWord** next) const {
  *next = nullptr;
  if (live <= room) {
    return live;
  }
  const LullLineIndex first = LullGeometry::first_line(index);
  HeapWord* const end = LullGeometry::end_of(index);
  uint line = LullGeometry::LinesPerBlock - 1;
  while (_live_before[untype(first) + line] > room) {
    line--;   // nothing is alive before the first line
  }
  size_t words = _live_before[untype(first) + line];
  HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(to_line_index(untype(first) + line)), end);
  for (;;) {
    const size_t size = cast_to_oop(addr)->size();
    if (words + size > room) {
      *next = addr;
      return words;
    }
    words += size;
    addr = _mark_bitmap->get_next_marked_addr(addr + size, end);
  }
}

// ---- Where it goes

// What begins and ends in the block.
void LullSlidingPlan::place_inside(LullBlockIndex index, size_t live) {
  Destination& to = _destinations[untype(index)];
  HeapWord* next;
  const size_t fit = words_that_fit(index, live, _cursor.room(), &next);
  to._first = _cursor.top();
  to._live = (uint16_t)live;
  to._split = (uint16_t)fit;
  _cursor.take(fit);
  if (fit == live) {
    return;
  }
  if (may_straddle(cast_to_oop(next)) && _cursor.can_straddle()) {
    // All that follows is less than a block, and goes on there.
    to._split = (uint16_t)live;
    _cursor.take_across(live - fit);
  } else {
    assert(_cursor.next() <= untype(index), "block %u needs block %u", untype(index), _cursor.next());
    _cursor.take_block(live - fit);
    to._second = _cursor.top() - (live - fit);
  }
}

// Returns whether anything in the block moves.
bool LullSlidingPlan::place_lines(LullBlockIndex index) {
  Destination& to = _destinations[untype(index)];
  const Live live = live_in(index);
  place_inside(index, live._words);
  const bool in_place = live._words == 0 ||
                        (pointer_delta(live._end, live._first) == live._words && new_address(index, 0) == live._first &&
                         (to._split == 0 || to._split == live._words));
  bool moves = !in_place;
  if (live._straddler != nullptr) {
    to._straddler = _cursor.place_straddler(cast_to_oop(live._straddler)->size(), live._straddler);
    assert(to._straddler != nullptr, "straddler " PTR_FORMAT " would move up", p2i(live._straddler));
    moves |= to._straddler != live._straddler;
  }
  // Blocks that have to do with straddlers are all written anew, for it is not looked at whether the others that
  // these lie in move.
  to._moves = moves || live._words == 0 || live._straddler != nullptr || _blocks->has_straddler(index);
  return moves;
}

bool LullSlidingPlan::place_large(LullBlockIndex index, uint32_t blocks) {
  Destination& to = _destinations[untype(index)];
  HeapWord* const start = LullGeometry::start_of(index);
  to._live = to._split = 1;   // nobody asks for any but the first word
  _live_before[untype(LullGeometry::first_line(index))] = 0;
  if (may_straddle(cast_to_oop(start))) {
    to._first = _cursor.place_straddler(cast_to_oop(start)->size(), start);
    if (to._first != nullptr) {
      to._moves = to._packs = true;
      return true;
    }
  }
  // It cannot, or it would be behind where it is.
  assert(_cursor.next() <= untype(index), "block %u needs block %u", untype(index), _cursor.next());
  to._first = LullGeometry::start_of(to_block_index(_cursor.take_blocks(blocks)));
  to._moves = to._first != start;
  return to._moves;
}

bool LullSlidingPlan::make(WorkerThreads* workers) {
  if (_live_before == nullptr || _destinations == nullptr) {
    return false;
  }
  LullCountLiveTask task(this, _blocks);
  workers->run_task(&task);
  find_what_stays();
  bool moves = false;
  uint32_t blocks;
  for (uint32_t i = 0; i < _limit; i += blocks) {
    const LullBlockIndex index = to_block_index(i);
    const LullBlock* const block = _blocks->at(index);
    assert(block->state() != LullBlockState::LargeTail && block->state() != LullBlockState::Owned,
           "block %u is %s", i, to_string(block->state()));
    blocks = block->state() == LullBlockState::LargeHead ? block->large_blocks() : 1;
    if (_destinations[i]._stays) {
      _cursor.skip_to(i + blocks);
    } else if (block->has_lines()) {
      moves |= place_lines(index);
    } else if (!block->is_free()) {
      moves |= place_large(index, blocks);
    }
  }
  return moves;
}
