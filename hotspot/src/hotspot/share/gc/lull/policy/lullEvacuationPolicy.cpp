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
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "memory/universe.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/growableArray.hpp"

static const uint LinesPerBlock = LullGeometry::LinesPerBlock;

LullEvacuationPolicy::LullEvacuationPolicy(LullBlockTable* blocks, LullBlockSupply* supply)
  : _blocks(blocks),
    _supply(supply),
    _estimated_lines(0),
    _correction(1.0),
    _hole_use(),
    _bounded_by_room(false),
    _block_lines(0),
    _hole_lines(0),
    _survival(LullEvacuationMaxLivePercent, LullAgeSurvivors),
    _new_blocks(),
    _survivor_blocks(),
    _lines_in_place(0) {}

// Lines that copies may go to without a block of their own.
static size_t hole_lines(const LullBlock* block) {
  return block->is_recyclable() ? block->free_lines().count() : 0;
}

// Blocks that have an owner while the collection runs hold private objects: they stay.
bool LullEvacuationPolicy::may_move(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  return block->has_lines() && !block->is_pinned() && _blocks->owner(index) == LullBlockTable::NoOwner;
}

// What lies across the start of a block moves with another one, if at all.
bool LullEvacuationPolicy::may_be_emptied(LullBlockIndex index) const {
  return !_blocks->has_straddler(index);
}

// With what of a straddler lies in the next block. It may be dead, as all that is estimated.
uint LullEvacuationPolicy::lines_to_copy(LullBlockIndex index) const {
  const size_t words = _blocks->leaving_words(index);
  return _blocks->packed_lines(index) + (uint)(words / LullGeometry::WordsPerLine);
}

// Lines to expect to be copied, with a tenth for the ends of holes.
size_t LullEvacuationPolicy::copied_lines(size_t estimated_lines) const {
  return (size_t)((double)estimated_lines * _correction * 1.1) + 1;
}

void LullEvacuationPolicy::record(size_t copied_words, size_t left_words) {
  assert_at_safepoint();
  if (_estimated_lines == 0) {
    return;
  }
  // Up at once, down slowly: too much selected costs more than too little.
  const size_t live_words = copied_words + left_words;
  const double ratio = (double)live_words / (double)(_estimated_lines * LullGeometry::WordsPerLine);
  _correction = MAX3(1.0, ratio, (_correction + ratio) / 2);
  if (_bounded_by_room || left_words > 0) {
    const size_t free_lines = (size_t)_supply->free_blocks() * LinesPerBlock;
    _hole_use.record(copied_words / LullGeometry::WordsPerLine, left_words / LullGeometry::WordsPerLine, _block_lines, _hole_lines,
                     _block_lines - MIN2(free_lines, _block_lines));
  }
  log_debug(gc, ergo)("Evacuation: %zuK were alive, %zuK expected; correction by %.2f; of what is free in holes, %.0f%% fit",
                      live_words * HeapWordSize / K, _estimated_lines * LullGeometry::LineSize / K, _correction,
                      100 * _hole_use.share());
}

// Takes blocks with few live words first, counted in lines that these would fill, up to
// the number at which there is just room for the copies: in free blocks, and in holes of
// blocks that stay. The blocks of the reserve stay if told so.
bool LullEvacuationPolicy::select_sparse(uint max_live_lines, bool keep_reserve) {
  assert(max_live_lines <= LinesPerBlock, "%u lines of a block", max_live_lines);
  size_t live_lines_of[LinesPerBlock + 1] = {};   // by live lines of a block
  size_t holes_of[LinesPerBlock + 1] = {};
  _block_lines = (size_t)_supply->free_blocks() * LinesPerBlock;
  _hole_lines = 0;
  _bounded_by_room = false;
  const auto is_candidate = [&](LullBlockIndex index) {
    // What lies across its end is only copied if it fits into a block.
    return may_move(index) && may_be_emptied(index) && _blocks->leaving_words(index) <= LullGeometry::WordsPerBlock &&
           !(keep_reserve && _blocks->at(index)->is_in_reserve());
  };
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlock* const block = _blocks->at(to_block_index(i));
    const uint lines = _blocks->packed_lines(to_block_index(i));
    const size_t holes = hole_lines(block);
    _hole_lines += holes;
    if (is_candidate(to_block_index(i))) {
      live_lines_of[lines] += lines_to_copy(to_block_index(i));
      holes_of[lines] += holes;
    }
  }
  double room = (double)_block_lines + _hole_use.room_in(_hole_lines);
  const double room_at_first = room;
  uint limit = 0;
  size_t needed = 0;
  while (limit < max_live_lines) {
    const size_t more = live_lines_of[limit + 1];
    const double less = _hole_use.room_in(holes_of[limit + 1]);
    if ((double)copied_lines(needed + more) + less > room) {
      _bounded_by_room = true;
      break;
    }
    needed += more;
    room -= less;
    limit++;
  }
  size_t selected = 0;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlock* const block = _blocks->at(to_block_index(i));
    const uint lines = _blocks->packed_lines(to_block_index(i));
    if (!is_candidate(to_block_index(i)) || lines == 0) {
      continue;
    }
    if (lines == limit + 1 && lines <= max_live_lines) {
      // Some of the blocks with one live line more, while they fit.
      const double holes = _hole_use.room_in(hole_lines(block));
      const uint to_copy = lines_to_copy(to_block_index(i));
      if ((double)copied_lines(needed + to_copy) + holes > room) {
        continue;
      }
      needed += to_copy;
      room -= holes;
    } else if (lines > limit) {
      continue;
    }
    _blocks->set_fate(to_block_index(i), LullFate::Move);
    _hole_lines -= hole_lines(block);
    selected++;
  }
  _estimated_lines = needed;
  if (selected == 0 && _bounded_by_room) {
    _hole_use.record_no_room();
  }
  log_debug(gc, ergo)("Evacuation: %zu blocks of at most %u live lines, %zuK to copy, room for %.0fK",
                      selected, limit + 1, needed * LullGeometry::LineSize / K, room_at_first * LullGeometry::LineSize / K);
  return selected > 0;
}

bool LullEvacuationPolicy::select_all() {
  assert_at_safepoint();
  size_t selected = 0;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    if (may_move(to_block_index(i))) {
      _blocks->set_fate(to_block_index(i), LullFate::Move);
      selected++;
    }
  }
  log_debug(gc, ergo)("Evacuation: all %zu blocks that may be moved", selected);
  return selected > 0;
}

// Dead or free memory inside of partly used blocks that may move, and in blocks.
size_t LullEvacuationPolicy::wasted_lines(size_t* committed) const {
  size_t waste = 0;
  *committed = 0;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const uint lines = _blocks->packed_lines(to_block_index(i));
    *committed += _blocks->at(to_block_index(i))->is_committed() ? LinesPerBlock : 0;
    if (lines > 0 && may_move(to_block_index(i)) && may_be_emptied(to_block_index(i))) {
      waste += LinesPerBlock - lines;
    }
  }
  return waste;
}

// In percent of what waste is compared with: normally the committed heap. When memory is short, what is free or would be by moving: that is by
// how much less often collections would run, however full the heap is. (Seen: 12% of a heap, and a third of what was left between
// two collections.)
size_t LullEvacuationPolicy::fragmentation_percent(LullEvacuationRequest::Goal goal) const {
  size_t committed;
  const size_t waste = wasted_lines(&committed);
  const size_t base = goal == LullEvacuationRequest::Goal::Normal ? committed : (size_t)_supply->free_blocks() * LinesPerBlock + waste;
  return base == 0 ? 0 : waste * 100 / base;
}

bool LullEvacuationPolicy::needs_reserve() const {
  const size_t committed = Universe::heap()->capacity() / LullGeometry::LineSize;
  return _blocks->all_wasted() * 100 >= committed * LullFragmentationTriggerPercent;
}

// When memory is short, what is won by a move is won for all collections to come. A heap of blocks that are all just too full
// to be moved would stay so. (Seen: H2 in 36 MB, 24 MB alive in 31 MB of lines, and 450 collections a second.)
uint LullEvacuationPolicy::max_live_lines(LullEvacuationRequest::Goal goal) {
  const uint normal = LinesPerBlock * LullEvacuationMaxLivePercent / 100;
  switch (goal) {
    case LullEvacuationRequest::Goal::Normal:  return normal;
    case LullEvacuationRequest::Goal::Dense:   return normal == 0 ? 0 : LinesPerBlock - (LinesPerBlock - normal) / 4;
    case LullEvacuationRequest::Goal::Compact: return LinesPerBlock - 1;
  }
  ShouldNotReachHere();
  return 0;
}

bool LullEvacuationPolicy::select_by(const LullEvacuationRequest& request) {
#ifdef ASSERT
  if (LullEvacuateALot > 0 && Universe::heap()->total_collections() % LullEvacuateALot == 0) {
    return select_all();
  }
#endif
  if (request._slide) {
    return false;
  }
  const size_t percent = fragmentation_percent(request._goal);
  log_debug(gc, ergo)("Fragmentation at the last sweep: %zu%% of %s (trigger: %u%%)", percent,
                      request._goal == LullEvacuationRequest::Goal::Normal ? "the committed heap" : "what is free or would be",
                      LullFragmentationTriggerPercent);
  return (request.is_compact() || percent >= LullFragmentationTriggerPercent) &&
         select_sparse(max_live_lines(request._goal), !request.is_compact());
}

bool LullEvacuationPolicy::select(const LullEvacuationRequest& request) {
  assert_at_safepoint();
  _estimated_lines = 0;
  if (!LullEvacuation || !select_by(request)) {
    return false;
  }
  // Evacuated blocks are not handed out.
  _supply->rebuild();
  return true;
}

// R: every reference to a young object is in a root, in a young object, or in an old one on a dirty card. A young collection
// visits all of these. How many lines of a block with young objects are free or hold such only, if these may move? 0:
// all stays.
uint LullEvacuationPolicy::young_lines(LullBlockIndex index, const LullCardTable* cards) const {
  assert(_blocks->has_young(index), "block %u has nothing young", untype(index));
  if (!may_move(index)) {
    return 0;
  }
  if (!_blocks->has_marks(index)) {
    return LinesPerBlock;    // nothing there is old: most young blocks, and their cards are not in the cache
  }
  LullLineSet lines;
  cards->lines_without_old(index, &lines);
  return lines.count();
}

// Of so many lines of a block that are free or hold young objects only, how many hold something? Survivors have no
// marks, and their blocks no holes.
uint LullEvacuationPolicy::used_young_lines(LullBlockIndex index, uint lines) const {
  assert(lines <= LinesPerBlock, "%u lines of block %u", lines, untype(index));
  const uint free_lines = (uint)hole_lines(_blocks->at(index));
  return _blocks->has_survivors(index) ? _blocks->packed_lines(index) : lines - MIN2(lines, free_lines);
}

// Selects the block if there is room for what is alive there.
void LullEvacuationPolicy::select_young_block(LullBlockIndex index, uint lines, YoungRoom* room) {
  const bool has_survivors = _blocks->has_survivors(index);
  YoungBlocks& kind = has_survivors ? _survivor_blocks : _new_blocks;
  const size_t free_lines = hole_lines(_blocks->at(index));
  const size_t used_lines = used_young_lines(index, lines);
  if (lines < LinesPerBlock && used_lines <= free_lines) {
    return;    // more room would be lost than can be gained
  }
  kind._candidates++;
  const double holes = _hole_use.room_in(free_lines);
  const double live_share = has_survivors ? _survival.of_survivors() : _survival.of_new();
  // A tenth for the ends of holes, and as much again as is expected, for an object that finds no room makes the work vain.
  const double more = live_share * (double)used_lines * 2.1;
  if (room->_needed + more + holes > room->_room) {
    return;
  }
  room->_needed += more;
  room->_room -= holes;
  kind._selected++;
  kind._selected_lines += used_lines;
  _blocks->set_fate(index, has_survivors ? LullFate::Mature : room->_ages ? LullFate::Age : LullFate::Move);
}

// Nothing is copied. What could be is counted, for the share of it that lives on.
void LullEvacuationPolicy::leave_young(const LullCardTable* cards) {
  _blocks->young_do(0, _blocks->limit(), [&](LullBlockIndex index) {
    _lines_in_place += used_young_lines(index, young_lines(index, cards));
  });
  log_debug(gc, ergo)("Young evacuation: none, for %.0f%% of %zuK is expected to be alive", 100 * _survival.of_new(),
                      _lines_in_place * LullGeometry::LineSize / K);
}

// What survives in a block that is not selected, or finds no room, stays where it is: the block is free
// only when all of that is dead, and a few objects in each block would leave no free block. What is young beside old objects
// is moved, too: it may age then, and does not make holes shorter.
bool LullEvacuationPolicy::select_young(const LullCardTable* cards, bool ages, size_t promised_lines) {
  assert_at_safepoint();
  _new_blocks = {0, 0, 0};
  _survivor_blocks = {0, 0, 0};
  _lines_in_place = 0;
  _survival.begin_collection();
  if (!LullEvacuation) {
    return false;
  }
  if (!_survival.copies()) {
    leave_young(cards);
    return false;
  }
  struct Mixed {
    LullBlockIndex _index;
    uint           _lines;
  };
  ResourceMark rm;
  GrowableArray<Mixed> mixed;
  const double room_in_all = (double)_supply->free_blocks() * LinesPerBlock +
                             _hole_use.room_in(_supply->recyclable_lines(Universe::heap()->capacity()));
  const double room_at_first = room_in_all - MIN2(room_in_all, (double)promised_lines);
  YoungRoom room = {room_at_first, 1, ages};
  _blocks->young_do(0, _blocks->limit(), [&](LullBlockIndex index) {
    const uint lines = young_lines(index, cards);
    if (lines == LinesPerBlock) {
      select_young_block(index, lines, &room);
    } else if (lines > 0) {
      mixed.append({index, lines});
    }
  });
  room._room = MIN2(room._room, (double)(_new_blocks._selected + _survivor_blocks._selected) * LinesPerBlock);
  for (const Mixed& block : mixed) {
    select_young_block(block._index, block._lines, &room);
  }
  log_debug(gc, ergo)("Young evacuation: %zu of %zu blocks, of which %.2f%% is expected to be alive, and %zu of %zu "
                      "with survivors, %.0f%%; room for %.0fK; survivors of this one stay young: %s",
                      _new_blocks._selected, _new_blocks._candidates, 100 * _survival.of_new(),
                      _survivor_blocks._selected, _survivor_blocks._candidates, 100 * _survival.of_survivors(),
                      room_at_first * LullGeometry::LineSize / K, BOOL_TO_STR(room._ages));
  return _new_blocks._selected + _survivor_blocks._selected > 0;   // what is selected is not handed out
}

void LullEvacuationPolicy::record_young(size_t live_words_in_new_blocks, size_t live_survivor_words) {
  assert_at_safepoint();
  assert(_survivor_blocks._selected > 0 || live_survivor_words == 0, "%zu words of no block", live_survivor_words);
  _survival.record_copied(_new_blocks.seen(live_words_in_new_blocks), _survivor_blocks.seen(live_survivor_words));
}

void LullEvacuationPolicy::record_young_in_place(size_t live_words) {
  if (_lines_in_place > 0) {
    _survival.record_in_place({_lines_in_place, live_words});
  }
}
