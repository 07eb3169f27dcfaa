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

#include "gc/lull/concurrent/lullCycleMarks.hpp"
#include "gc/lull/concurrent/lullLaterSweep.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullZap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/workerThread.hpp"
#include "logging/log.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/safepoint.hpp"

LullLaterSweep::LullLaterSweep(LullMemory* memory, LullBlockTable* blocks, LullCycleMarks* marks,
                               const LullSparseBlocks* sparse, LullBlockSupply* supply)
  : _blocks(blocks),
    _marks(marks),
    _sparse(sparse),
    _supply(supply),
    _public_map(memory->public_map()),
    _card_table(memory->card_table()),
    _mark_bitmap(memory->mark_bitmap()),
    _estimate(),
    _is_open(false),
    _next(0),
    _limit(0),
    _left(0),
    _dead_bytes(0),
    _freed_bytes(0),
    _all_freed_bytes(0),
    _swept_in_pauses(0),
    _swept_by_takers(0),
    _blocks_at_begin(0),
    _expected_bytes(0),
    _surplus(0),
    _gc_id(0) {
  supply->set_left_sweeper(this);
}

// ---- The pause that ends a cycle

// The dense tables by block alone are read, but of blocks in which nothing is alive.
class LullLeaveUnsweptTask : public WorkerTask {
private:
  static const uint32_t BlocksPerClaim = 4096;

  LullLaterSweep* const  _sweep;
  LullBlockTable* const  _blocks;
  LullBlockSupply* const _supply;
  volatile uint32_t      _next;
  volatile size_t        _left;

public:
  LullLeaveUnsweptTask(LullLaterSweep* sweep, LullBlockTable* blocks, LullBlockSupply* supply)
    : WorkerTask("Lull Leave Unswept"), _sweep(sweep), _blocks(blocks), _supply(supply), _next(0), _left(0) {}

  size_t left() const { return _left; }

  void work(uint worker_id) override {
    const uint32_t limit = _blocks->limit();
    size_t left = 0;
    ssize_t wasted_lines = 0;
    size_t garbage_bytes = 0;
    for (;;) {
      const uint32_t start = Atomic::fetch_then_add(&_next, BlocksPerClaim);
      if (start >= limit) {
        break;
      }
      for (uint32_t i = start; i < MIN2(start + BlocksPerClaim, limit); i++) {
        left += _sweep->leave(to_block_index(i), &wasted_lines, &garbage_bytes) ? 1 : 0;
      }
    }
    _blocks->add_wasted(wasted_lines);
    _supply->add_unswept_garbage((ssize_t)garbage_bytes);
    Atomic::add(&_left, left);
  }
};

bool LullLaterSweep::leave(LullBlockIndex index, ssize_t* wasted_lines, size_t* garbage_bytes) {
  if (_blocks->has_marks(index)) {
    _marks->note_to_clear(index);
  }
  if (_blocks->has_young(index)) {
    return false;
  }
  if (_blocks->has_straddler(index) && !_mark_bitmap->is_marked(_blocks->straddler(index))) {
    _blocks->clear_straddler(index);    // before something else can be where it begins
  }
  if (!_blocks->has_marks(index)) {
    return false;   // nothing is there
  }
  *wasted_lines += _marks->give_counts(index);
  if (_sparse->is_sparse(index) || lull_is_left_out("SweepLeave")) {
    return false;
  }
  _blocks->set_unswept(index);
  *garbage_bytes += garbage_in(index);
  return true;
}

void LullLaterSweep::begin(WorkerThreads* workers, uint gc_id) {
  assert_at_safepoint();
  assert(!is_open() && left() == 0 && _supply->unswept_garbage() == 0, "the last sweep has ended");
  LullLeaveUnsweptTask task(this, _blocks, _supply);
  workers->run_task(&task);
  _limit = _blocks->limit();
  _gc_id = gc_id;
  _dead_bytes = _freed_bytes = _all_freed_bytes = _swept_in_pauses = _swept_by_takers = 0;
  _blocks_at_begin = task.left();
  _expected_bytes = _supply->unswept_garbage();
  Atomic::store(&_next, (uint32_t)0);
  Atomic::store(&_left, task.left());
  Atomic::store(&_is_open, true);
  log_debug(gc, heap)("Left to be swept: %zu blocks of %u; %zuK of them are garbage, if of what is dead beside what "
                      "lives %.0f%% get free", task.left(), _limit, _supply->unswept_garbage() / K,
                      100 * _estimate.share());
}

// ---- The sweep of a block

// Of large objects and of the archive nothing is known but whether something is alive.
size_t LullLaterSweep::garbage_in(LullBlockIndex index) const {
  if (_marks->is_any_alive(index)) {
    return _estimate.garbage_bytes(_marks->dead_words(index));
  }
  const LullBlock* const block = _blocks->at(index);
  switch (block->state()) {
    case LullBlockState::LargeHead:
      return (size_t)block->large_blocks() * LullGeometry::BlockSize;
    case LullBlockState::Archive:
      return 0;
    default:
      return LullGeometry::BlockSize - block->free_lines().count() * LullGeometry::LineSize;
  }
}

// The block is not swept any more: what it was said to give is free, or will not be.
void LullLaterSweep::count(LullBlockIndex index, size_t garbage, size_t freed_bytes, Done* done) {
  if (_marks->is_any_alive(index)) {
    done->_dead_bytes += _marks->dead_words(index) * HeapWordSize;
    done->_freed_bytes += freed_bytes;
  }
  done->_all_freed_bytes += freed_bytes;
  done->_blocks++;
  _supply->add_unswept_garbage(-(ssize_t)garbage);
  _blocks->set_swept(index);
}

// Not before its blocks are swept: who finds none left may clear what the cycle knows.
void LullLaterSweep::record(const Done& done) {
  if (done._blocks == 0) {
    return;
  }
  Atomic::add(&_dead_bytes, done._dead_bytes, memory_order_relaxed);
  Atomic::add(&_freed_bytes, done._freed_bytes, memory_order_relaxed);
  Atomic::add(&_all_freed_bytes, done._all_freed_bytes, memory_order_relaxed);
  if (SafepointSynchronize::is_at_safepoint()) {
    Atomic::add(&_swept_in_pauses, done._blocks, memory_order_relaxed);
  }
  Atomic::sub(&_left, done._blocks);
}

// Nothing is alive there. The words of a free block say nothing.
void LullLaterSweep::forget_dead(LullBlockIndex index, uint32_t blocks) {
  _card_table->set_no_old(index, blocks);
  _blocks->clear_marks(index);
  LullZap::words(LullGeometry::start_of(index), blocks * LullGeometry::WordsPerBlock);
}

// Of an Owned block: finds the lines that hold nothing.
void LullLaterSweep::sweep_lines(LullBlockIndex index, LullLineSet* free_lines, Done* done) {
  assert(!_blocks->has_young(index) && _blocks->owner(index) == LullBlockTable::NoOwner,
         "Unswept: block %u has something young, or an owner", untype(index));
  LullLineSet& free_before = _blocks->at(index)->free_lines();
  const size_t garbage = garbage_in(index);
  const uint count_before = free_before.count();
  if (lull_is_left_out("SweepLines")) {
    *free_lines = free_before;
  } else if (!_marks->is_any_alive(index)) {
    forget_dead(index, 1);
    free_lines->set_all();
  } else {
    _marks->unused_lines(index, free_lines);
    LullLineSet new_lines = *free_lines;
    new_lines.remove(free_before);
    if (!lull_is_left_out("SweepCards")) {
      _card_table->set_lines_no_old(index, new_lines);
    }
    if (!lull_is_left_out("SweepWords")) {
      const uint32_t first = untype(LullGeometry::first_line(index));
      new_lines.runs_do([&](uint start, uint length) {
        _public_map->set_lines(to_line_index(first + start), length, false);
      });
    }
    LullZap::lines(index, new_lines);
  }
  // Else the block is Full, or becomes Full.
  const bool has_hole = !free_lines->is_empty() && free_lines->has_run(_supply->min_hole_lines());
  const uint freed_lines = has_hole ? free_lines->count() - count_before : 0;
  count(index, garbage, freed_lines * LullGeometry::LineSize, done);
}

void LullLaterSweep::sweep_full(LullBlockIndex index, Done* done) {
  _supply->add_slack(-(ssize_t)_blocks->at(index)->slack_lines());
  _blocks->make_owned(index, LullBlockRight::LaterSweep);
  LullLineSet free_lines;
  sweep_lines(index, &free_lines, done);
  _supply->give_back_swept(index, free_lines);
}

void LullLaterSweep::sweep_large(LullBlockIndex head, Done* done) {
  const bool is_alive = _marks->is_any_alive(head);
  const size_t garbage = garbage_in(head);
  if (!is_alive) {
    forget_dead(head, _blocks->at(head)->large_blocks());
  }
  count(head, garbage, is_alive ? 0 : garbage, done);
  if (!is_alive) {
    _supply->give_back_large_swept(head);
  }
}

// The state first: who has taken a recyclable block, and has given it back Full, had said before that it is swept.
void LullLaterSweep::sweep_claimed(LullBlockIndex index, Done* done) {
  const LullBlockState state = _blocks->at(index)->state();
  OrderAccess::loadload();
  if (!_blocks->is_unswept(index)) {
    return;
  }
  switch (state) {
    case LullBlockState::Full:
      sweep_full(index, done);
      break;
    case LullBlockState::LargeHead:
      sweep_large(index, done);
      break;
    case LullBlockState::Archive:    // stays what it is
      count(index, 0, 0, done);
      break;
    case LullBlockState::Recyclable:
    case LullBlockState::Owned:      // in its stack, or of somebody who has just taken it from there
      break;
    default:
      fatal("Unswept: block %u is %s", untype(index), to_string(state));
  }
}

bool LullLaterSweep::sweep_recyclable(Done* done) {
  LullBlockIndex index;
  if (!_supply->take_unswept(&index)) {
    return false;
  }
  assert(_blocks->is_unswept(index), "block %u is swept", untype(index));
  LullLineSet free_lines;
  sweep_lines(index, &free_lines, done);
  _supply->give_back_swept(index, free_lines);
  return true;
}

bool LullLaterSweep::sweep_some(uint32_t blocks) {
  if (left() == 0) {
    return false;
  }
  Done done = {0, 0, 0, 0};
  bool has_some = true;
  const uint32_t start = Atomic::load(&_next) < _limit ? Atomic::fetch_then_add(&_next, blocks) : _limit;
  if (start < _limit) {
    _blocks->unswept_do(start, MIN2(start + blocks, _limit), [&](LullBlockIndex index) {
      sweep_claimed(index, &done);
    });
  } else {
    for (uint i = 0; i < BlocksTaken && has_some; i++) {
      has_some = sweep_recyclable(&done);
    }
  }
  record(done);
  return has_some;
}

void LullLaterSweep::sweep_taken(LullBlockIndex index) {
  if (lull_is_left_out("SweepTaken")) {
    return;
  }
  Done done = {0, 0, 0, 0};
  LullLineSet free_lines;
  sweep_lines(index, &free_lines, &done);
  if (free_lines.count() == LullGeometry::LinesPerBlock) {
    _public_map->set_blocks(index, 1, false);    // free lines of a block that is in use
  }
  _blocks->at(index)->free_lines() = free_lines;
  Atomic::inc(&_swept_by_takers, memory_order_relaxed);
  record(done);
}

// ---- Its end, and pauses

void LullLaterSweep::end() {
  if (!is_open() || left() > 0) {
    return;
  }
  assert(_supply->unswept_garbage() == 0, "%zu bytes are left", _supply->unswept_garbage());
  _estimate.record(_dead_bytes, _freed_bytes);
  log_info(gc, marking)("Swept after the cycle: %zu blocks, %zu of them in pauses, and %zu when they were taken; "
                        "%zuK got free", _blocks_at_begin, _swept_in_pauses, _swept_by_takers, _all_freed_bytes / K);
  _surplus = (ssize_t)_all_freed_bytes - (ssize_t)_expected_bytes;
  Atomic::store(&_is_open, false);
}

ssize_t LullLaterSweep::take_surplus() {
  assert_at_safepoint();
  const ssize_t result = _surplus;
  _surplus = 0;
  return result;
}

class LullSweepMoreTask : public WorkerTask {
private:
  LullLaterSweep* const _sweep;
  const size_t          _blocks;
  volatile size_t       _done;

public:
  LullSweepMoreTask(LullLaterSweep* sweep, size_t blocks)
    : WorkerTask("Lull Sweep More"), _sweep(sweep), _blocks(blocks), _done(0) {}

  void work(uint worker_id) override {
    const uint32_t BlocksAtOnce = 256;
    while (Atomic::load(&_done) < _blocks && _sweep->sweep_some(BlocksAtOnce)) {
      Atomic::add(&_done, (size_t)BlocksAtOnce, memory_order_relaxed);
    }
  }
};

bool LullLaterSweep::sweep_more(WorkerThreads* workers, size_t blocks) {
  assert_at_safepoint();
  if (!is_open()) {
    return false;
  }
  LullSweepMoreTask task(this, blocks);
  workers->run_task(&task);
  end();
  return true;
}

void LullLaterSweep::verify() const {
  assert_at_safepoint();
  size_t unswept = 0;
  size_t garbage = 0;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlockIndex index = to_block_index(i);
    if (!_blocks->is_unswept(index)) {
      continue;
    }
    const LullBlockState state = _blocks->at(index)->state();
    const bool may_be = state == LullBlockState::Recyclable ||
                        ((state == LullBlockState::Full || state == LullBlockState::LargeHead ||
                          state == LullBlockState::Archive) && i >= Atomic::load(&_next));
    guarantee(is_open() && may_be, "Unswept: block %u, which is %s, is to be swept, and %s", i, to_string(state),
              is_open() ? "nobody will" : "all are");
    guarantee(!_blocks->has_young(index) && _blocks->owner(index) == LullBlockTable::NoOwner &&
              _blocks->has_marks(index), "Unswept: block %u, which is %s, of thread %u, is to be swept, and has "
              "something young, or is said to have no marks", i, to_string(state), _blocks->owner(index));
    unswept++;
    garbage += garbage_in(index);
  }
  guarantee(unswept == left() && garbage == _supply->unswept_garbage(),
            "Unswept: %zu blocks with %zu bytes of garbage are to be swept, and %zu with %zu are accounted",
            unswept, garbage, left(), _supply->unswept_garbage());
}
