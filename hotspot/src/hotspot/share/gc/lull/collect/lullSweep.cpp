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

#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullZap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "logging/log.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"

LullBlockTask::LullBlockTask(const char* name, LullBlockTable* blocks)
  : WorkerTask(name),
    _next(0),
    _visited(0),
    _blocks(blocks) {}

void LullBlockTask::Visit::block(LullBlockIndex index) {
  LullBlock* const block = _task->_blocks->at(index);
  _blocks++;
  if (block->is_committed() && !block->is_free()) {
    _task->do_block(index, block, _worker_id);
  }
}

void LullBlockTask::blocks_do(uint32_t start, uint32_t end, Visit* visit) {
  for (uint32_t i = start; i < end; i++) {
    visit->block(to_block_index(i));
  }
}

void LullBlockTask::work(uint worker_id) {
  assert_at_safepoint();
  const uint32_t count = _blocks->limit();
  Visit visit(this, worker_id);
  for (;;) {
    const uint32_t start = Atomic::fetch_then_add(&_next, BlocksPerClaim);
    if (start >= count) {
      break;
    }
    blocks_do(start, MIN2(start + BlocksPerClaim, count), &visit);
  }
  end_work(worker_id);
  Atomic::add(&_visited, visit.blocks());
}

void LullBlockTask::forget_survivors(LullBlockIndex index) {
  if (_blocks->has_survivors(index)) {
    _blocks->set_young(index);
  }
}

LullClearMarksTask::LullClearMarksTask(LullBlockTable* blocks, LullMemory* memory)
  : LullBlockTask("Lull Clear Marks", blocks),
    _public_map(memory->public_map()),
    _mark_bitmap(memory->mark_bitmap()) {}

void LullClearMarksTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  if (block->state() == LullBlockState::LargeTail) {
    return; // never marked
  }
  forget_survivors(index);
  if (block->has_lines()) {
    if (_blocks->owner(index) == LullBlockTable::NoOwner) {
      _public_map->set_blocks(index, 1, false);
    } else {
      block->free_lines().clear_all();    // marking adds the lines of what is private
    }
  }
  _blocks->clear_live(index);
  if (_blocks->has_marks(index)) {
    _mark_bitmap->clear_range_large(MemRegion(LullGeometry::start_of(index), LullGeometry::WordsPerBlock));
    _blocks->clear_marks(index);
  }
}

void LullPrepareYoungTask::blocks_do(uint32_t start, uint32_t end, Visit* visit) {
  _blocks->young_do(start, end, [&](LullBlockIndex index) { visit->block(index); });
}

void LullPrepareYoungTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  forget_survivors(index);
  if (block->has_lines() && _blocks->owner(index) != LullBlockTable::NoOwner) {
    block->free_lines().clear_all();      // marking adds the lines of what is private
  }
}

LullSweepTask::LullSweepTask(LullBlockTable* blocks, LullMemory* memory, uint min_hole_lines, LullCardTable::Remembered remembered)
  : LullBlockTask("Lull Sweep", blocks),
    _public_map(memory->public_map()),
    _mark_bitmap(memory->mark_bitmap()),
    _card_table(memory->card_table()),
    _remembered(remembered),
    _min_hole_lines(min_hole_lines) {}

void LullSweepTask::make_free(LullBlockIndex index, uint32_t blocks, uint worker_id) {
  for (uint32_t i = untype(index); i < untype(index) + blocks; i++) {
    _blocks->make_free(to_block_index(i), LullBlockRight::Sweep);
  }
}

void LullSweepTask::make_recyclable(LullBlockIndex index, uint worker_id) {
  _blocks->make_recyclable(index, LullBlockRight::Sweep);
}

void LullSweepTask::sweep_lines(LullBlockIndex index, LullBlock* block, const LullLineSet& unused_lines,
                                uint worker_id) {
  const uint free_count = unused_lines.count();
  LullZap::lines(index, unused_lines);
  if (free_count == LullGeometry::LinesPerBlock) {
    _blocks->clear_marks(index);
    block->free_lines().clear_all();
    make_free(index, 1, worker_id);
  } else if (unused_lines.has_run(_min_hole_lines)) {
    block->free_lines() = unused_lines;
    make_recyclable(index, worker_id);
  } else {
    block->free_lines().clear_all();
    _blocks->make_full(index, free_count, LullBlockRight::Sweep);
  }
}

// The bits of public objects that are alive stay. With young collections the marks of no others do, and no others count
// as alive: the block may have no owner at the next young collection, which then counts them as public ones. If it has none at
// the next global collection, that must know how much is to be copied. Of straddlers, which are public, the block's
// part counts: another worker sweeps the next block.
void LullSweepTask::forget_dead_public_objects(LullBlockIndex index, const LullBlock* block) {
  assert(_blocks->owner(index) != LullBlockTable::NoOwner, "B: block %u has no owner", untype(index));
  const size_t all_live = _blocks->live_words(index);
  if (_card_table != nullptr) {
    _blocks->clear_live(index);
  }
  LullLineSet all_lines;
  all_lines.add_range(0, LullGeometry::LinesPerBlock);
  uint32_t words[LullGeometry::LinesPerBlock];
  _public_map->take_words(index, all_lines, words);
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const end = LullGeometry::end_of(index);
  const auto keep = [&](HeapWord* from, HeapWord* to) {
    const size_t part = pointer_delta(MIN2(to, end), from);
    _public_map->publish(from, part);
    if (_card_table != nullptr) {
      _blocks->add_live(index, part);
    }
  };
  if (_blocks->has_straddler(index)) {
    HeapWord* const straddler = _blocks->straddler(index);
    keep(start, straddler + cast_to_oop(straddler)->size());
  }
  for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(start, end); addr < end;
       addr = _mark_bitmap->get_next_marked_addr(addr + 1, end)) {
    if (LullPublicMap::is_public_in(words[LullGeometry::line_in_block(LullGeometry::line_of(addr))], addr)) {
      keep(addr, addr + cast_to_oop(addr)->size());
    } else if (_card_table != nullptr) {
      _mark_bitmap->clear(addr);
    }
  }
  if (_card_table != nullptr) {
    _blocks->set_young_live(index, all_live - MIN2(all_live, _blocks->live_words(index)));
  }
}

void LullSweepTask::sweep_private_lines(LullBlockIndex index, LullBlock* block, const LullLineSet& unused_lines) {
  assert(_blocks->owner(index) != LullBlockTable::NoOwner, "B: block %u has no owner, and nothing private", untype(index));
  LullLineSet free_lines = unused_lines;
  free_lines.remove(block->free_lines());
  block->free_lines() = free_lines;
  LullZap::lines(index, free_lines);
}

void LullSweepTask::forget_dead_straddler(LullBlockIndex index) {
  if (_blocks->has_straddler(index) && !_mark_bitmap->is_marked(_blocks->straddler(index))) {
    _blocks->clear_straddler(index);
  }
}

// Most blocks of a heap in which little is alive. Their parts of the bitmap and the public map are not looked at: these are a thirtieth of the
// block, and not in the cache.
void LullSweepTask::free_unmarked(LullBlockIndex index, LullBlock* block, uint worker_id) {
  assert(block->has_lines(), "block %u is %s", untype(index), to_string(block->state()));
  if (_card_table != nullptr && may_have_been_old()) {
    _card_table->set_no_old(index, 1);
  }
  _blocks->disown_at_safepoint(index);
  _blocks->clear_young(index);
  _blocks->clear_live(index);
  block->free_lines().clear_all();
  LullZap::words(LullGeometry::start_of(index), LullGeometry::WordsPerBlock);
  make_free(index, 1, worker_id);
}

void LullSweepTask::sweep_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  forget_dead_straddler(index);
  if (!_blocks->has_marks(index)) {
    assert_unmarked(index);
    free_unmarked(index, block, worker_id);
    return;
  }
  const bool has_owner = _blocks->owner(index) != LullBlockTable::NoOwner;
  if (has_owner) {
    forget_dead_public_objects(index, block);
  } else {
    forget_dead_objects(index);
  }
  LullLineSet unused_lines;
  _public_map->unused_lines(index, &unused_lines);
  if (_card_table != nullptr) {
    _card_table->set_lines(index, unused_lines, _remembered);
  }
  // What marking has added to the free lines of a block with an owner is private and alive.
  if (has_owner && !block->free_lines().is_empty()) {
    sweep_private_lines(index, block, unused_lines);
  } else {
    _blocks->disown_at_safepoint(index);
    _blocks->clear_young(index);
    _blocks->set_young_live(index, 0);    // what is alive here is public
    sweep_lines(index, block, unused_lines, worker_id);
  }
}

void LullSweepTask::remember_large(LullBlockIndex index, size_t blocks, bool is_old) {
  if (_card_table != nullptr) {
    if (is_old) {
      _card_table->set_old(index, blocks, _remembered);
    } else {
      _card_table->set_no_old(index, blocks);
    }
  }
}

void LullSweepTask::sweep_large(LullBlockIndex index, LullBlock* block, uint worker_id) {
  const size_t blocks = block->large_blocks();
  HeapWord* const start = LullGeometry::start_of(index);
  if (_mark_bitmap->is_marked(start)) {
    if (_blocks->owner(index) != LullBlockTable::NoOwner && !_public_map->is_public(start)) {
      if (_card_table != nullptr) {
        _mark_bitmap->clear(start);
      }
      remember_large(index, blocks, false);
      return;
    }
    _blocks->clear_young(index);
    _blocks->disown_at_safepoint(index);
    if (LullTracking) {
      _public_map->set_blocks(index, blocks, true);
    }
    remember_large(index, blocks, true);
    return;
  }
  _blocks->disown_at_safepoint(index);
  _blocks->clear_young(index);
  _blocks->clear_marks(index);
  remember_large(index, blocks, false);
  // The worker that has the head frees the tail too. Another worker that comes to the
  // tail does nothing, whether it finds it freed or not.
  for (uint32_t i = untype(index); i < untype(index) + (uint32_t)blocks; i++) {
    LullZap::words(LullGeometry::start_of(to_block_index(i)), LullGeometry::WordsPerBlock);
  }
  make_free(index, (uint32_t)blocks, worker_id);
}

void LullSweepTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  if (block->has_lines()) {
    sweep_block(index, block, worker_id);
  } else if (block->state() == LullBlockState::LargeHead) {
    sweep_large(index, block, worker_id);
  } else if (block->state() == LullBlockState::Archive && _card_table != nullptr) {
    _blocks->clear_young(index);
    _card_table->set_old(index, 1, _remembered);
  }
}

// Lines with old objects keep their words, and so the bits of dead young objects in them: the line is not free before the old
// ones are dead too. So only objects are looked at that have become old now: an old one covers no line without old objects.
void LullYoungSweepTask::forget_dead_public_objects(LullBlockIndex index, const LullBlock* block) {
  if (_public_map->is_unused(index, 0, LullGeometry::LinesPerBlock) && block->free_lines().is_empty()) {
    assert_unmarked(index);
    return;
  }
  LullLineSet young_lines;
  _card_table->lines_without_old(index, &young_lines);
  uint32_t words[LullGeometry::LinesPerBlock];
  _public_map->take_words(index, young_lines, words);
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const end = start + LullGeometry::WordsPerBlock;
  for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(start, end); addr < end;
       addr = _mark_bitmap->get_next_marked_addr(addr + 1, end)) {
    const uint line = LullGeometry::line_in_block(LullGeometry::line_of(addr));
    if (!LullPublicMap::is_public_in(words[line], addr)) {
      _mark_bitmap->clear(addr);
    } else if (young_lines.contains(line) || (line + 1 < LullLineSet::Size && young_lines.contains(line + 1))) {
      const size_t size = cast_to_oop(addr)->size();
      _public_map->publish(addr, size);
      if (young_lines.contains(line) || young_lines.contains(LullGeometry::line_in_block(LullGeometry::line_of(addr + size - 1)))) {
        _blocks->add_live(index, size);
      }
    }
  }
}

// Large objects, and blocks with an owner, are swept otherwise. A line with old objects is not swept: what was private
// may begin there, beside one.
bool LullYoungSweepTask::marks_new(const LullBlockTable* blocks, const LullCardTable* cards, oop obj) {
  const void* const start = cast_from_oop<void*>(obj);
  const LullBlockIndex block = LullGeometry::block_of(start);
  assert(!blocks->has_survivors(block), PTR_FORMAT " is a survivor", p2i(start));
  return blocks->owner(block) == LullBlockTable::NoOwner && blocks->at(block)->has_lines() &&
         !cards->had_old(LullGeometry::line_of(start));
}

// What is marked is alive and public. Lines with old objects stay as they are. What is young is in the others, but may begin
// in the line before them: an object that was private, beside an old one.
void LullYoungSweepTask::forget_dead_objects(LullBlockIndex index) {
  _blocks->set_young_live(index, 0);    // public since, or dead
  LullLineSet young_lines;
  _card_table->lines_without_old(index, &young_lines);
  const LullLineIndex first = LullGeometry::first_line(index);
  young_lines.runs_do([&](uint start_line, uint length) {
    if (_public_map->is_unused(index, start_line, length)) {
      return;   // what was private there is dead: what lives in a block without an owner is public
    }
    _public_map->set_lines(to_line_index(untype(first) + start_line), length, false);
    HeapWord* const start = LullGeometry::start_of(index) + start_line * LullGeometry::WordsPerLine;
    HeapWord* const end = start + length * LullGeometry::WordsPerLine;
    HeapWord* const from = start_line == 0 ? start : start - LullGeometry::WordsPerLine;
    for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(from, end); addr < end; ) {
      const size_t size = cast_to_oop(addr)->size();
      if (addr + size > start) {
        _public_map->mark_lines(addr, size);
        _blocks->add_live(index, size);
      }
      if (_cycle_marks != nullptr && addr >= start && !lull_is_left_out("SweepNew")) {
        _cycle_marks->mark_new(addr, size);
      }
      addr = _mark_bitmap->get_next_marked_addr(MIN2(addr + size, end), end);   // the last one may end in a line with old objects
    }
  });
}

// Nothing but copies is in the block, one after the other.
void LullYoungSweepTask::sweep_survivors(LullBlockIndex index, LullBlock* block, uint worker_id) {
  LullLineSet unused_lines;
  _public_map->unused_lines(index, &unused_lines);
  _mark_bitmap->clear_range_large(MemRegion(LullGeometry::start_of(index), LullGeometry::WordsPerBlock));
  _blocks->clear_marks(index);
  _card_table->set_no_old(index, 1);
  LullZap::lines(index, unused_lines);
  const uint free_count = unused_lines.count();
  if (free_count == LullGeometry::LinesPerBlock) {
    _blocks->clear_young(index);    // another worker's copy was faster than the only one here
    make_free(index, 1, worker_id);
  } else {
    _blocks->set_young_live(index, (LullGeometry::LinesPerBlock - free_count) * LullGeometry::WordsPerLine);
    _blocks->make_full(index, free_count, LullBlockRight::Sweep);
  }
}

void LullListedSweepTask::blocks_do(uint32_t start, uint32_t end, Visit* visit) {
  _blocks->young_do(start, end, [&](LullBlockIndex index) { visit->block(index); });
}

LullListedSweepTask::LullListedSweepTask(LullBlockTable* blocks, LullMemory* memory, LullBlockSupply* supply,
                                         uint workers, LullCardTable::Remembered remembered)
  : LullSweepTask(blocks, memory, supply->min_hole_lines(), remembered),
    _supply(supply),
    _workers(workers),
    _swept(NEW_C_HEAP_ARRAY(LullSweptBlocks*, workers, mtGC)) {
  for (uint i = 0; i < workers; i++) {
    _swept[i] = new LullSweptBlocks(supply);
  }
}

LullListedSweepTask::~LullListedSweepTask() {
  for (uint i = 0; i < _workers; i++) {
    delete _swept[i];
  }
  FREE_C_HEAP_ARRAY(LullSweptBlocks*, _swept);
}

// It is no slack any more, and not Free before it is listed.
void LullListedSweepTask::make_free(LullBlockIndex index, uint32_t blocks, uint worker_id) {
  _blocks->make_owned(index, LullBlockRight::Sweep);
  _swept[worker_id]->add_free(index, blocks);
}

void LullListedSweepTask::make_recyclable(LullBlockIndex index, uint worker_id) {
  _blocks->make_owned(index, LullBlockRight::Sweep);
  _swept[worker_id]->add_recyclable(index);
}

void LullListedSweepTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  const ssize_t slack_before = (ssize_t)block->slack_lines();
  if (block->is_recyclable()) {
    _swept[worker_id]->take_off(index);
  }
  sweep(index, block, worker_id);
  _blocks->update_wasted(index);
  _swept[worker_id]->add_slack((ssize_t)block->slack_lines() - slack_before);
}

void LullListedSweepTask::finish(bool leaves_unswept) {
  size_t freed = 0;
  size_t taken_off = 0;
  for (uint i = 0; i < _workers; i++) {
    freed += _swept[i]->freed();
    taken_off += _swept[i]->taken_off();
  }
  const size_t seen = LullSweptBlocks::finish(_supply, _swept, _workers, leaves_unswept);
  log_debug(gc, heap)("Swept: %zu blocks of %u, those with something young; %zu got free; "
                      "%zu were recyclable, and %zu looked at for these",
                      visited(), _blocks->limit(), freed, taken_off, seen);
}

// In a block without an owner what has become alive was young, or is a copy.
void LullYoungSweepTask::sweep_young(LullBlockIndex index, LullBlock* block, uint worker_id) {
  const bool counts = block->has_lines() && _blocks->owner(index) == LullBlockTable::NoOwner;
  const size_t live_before = _blocks->live_words(index);
  sweep_any(index, block, worker_id);
  if (counts) {
    _swept[worker_id]->add_survived(_blocks->live_words(index) - MIN2(live_before, _blocks->live_words(index)));
  }
}

void LullYoungSweepTask::sweep(LullBlockIndex index, LullBlock* block, uint worker_id) {
  if (_blocks->has_survivors(index)) {
    sweep_survivors(index, block, worker_id);
  } else {
    sweep_young(index, block, worker_id);
  }
}

size_t LullYoungSweepTask::survived_words() const {
  size_t words = 0;
  for (uint i = 0; i < _workers; i++) {
    words += _swept[i]->survived();
  }
  return words;
}

#ifdef ASSERT

void LullSweepTask::assert_unmarked(LullBlockIndex index) const {
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const end = start + LullGeometry::WordsPerBlock;
  HeapWord* const marked = _mark_bitmap->get_next_marked_addr(start, end);
  assert(marked == end, "Marks: block %u: " PTR_FORMAT " is marked, and nothing there is alive", untype(index), p2i(marked));
}

#endif // ASSERT
