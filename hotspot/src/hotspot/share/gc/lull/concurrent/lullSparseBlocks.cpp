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
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullSparsePolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/allocation.inline.hpp"
#include "memory/universe.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"

bool LullSparseBlocks::is_left_out(LullSparseNotes::By by) {
  switch (by) {
    case LullSparseNotes::By::Marker: return lull_is_left_out("NotesMarkers");
    case LullSparseNotes::By::Pause:  return lull_is_left_out("NotesPauses");
  }
  ShouldNotReachHere();
  return false;
}

bool LullSparseBlocks::are_classes_left_out() { return lull_is_left_out("NotesClasses"); }

// ---- What a thread notes

void LullSparseNotes::add(const void* place, oop obj) {
  if (!_sparse->covers(place)) {
    return;
  }
  const uint32_t line = untype(LullGeometry::line_of(place));
  if (line == _last && !_lines.is_empty()) {
    return;
  }
  _last = line;
  _lines.append(line);
  _sparse->count_note(LullGeometry::block_of(cast_from_oop<void*>(obj)));
}

void LullSparseNotes::clear() { _lines.clear_and_deallocate(); }

LullSparseBlocks::LullSparseBlocks(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply)
  : _memory(memory),
    _blocks(blocks),
    _supply(supply),
    _kinds(MmapArrayAllocator<uint8_t>::allocate(blocks->count(), mtGC)),
    _notes_left(MmapArrayAllocator<uint16_t>::allocate(blocks->count(), mtGC)),
    _chosen(),
    _notes(),
    _state(State::None),
    _choices(0),
    _noted(0) {}

LullSparseNotes* LullSparseBlocks::new_notes() {
  LullSparseNotes* const notes = new LullSparseNotes(this);
  _notes.append(notes);
  return notes;
}

void LullSparseBlocks::set_on(bool value) {
  for (int i = 0; i < _notes.length(); i++) {
    _notes.at(i)->set_on(value);
  }
}

// Two threads may count as one: it is a bound on costs.
void LullSparseBlocks::count_note(LullBlockIndex index) {
  const uint16_t left = _notes_left[untype(index)];
  if (left > 0) {
    _notes_left[untype(index)] = left - 1;
  } else {
    _kinds[untype(index)] = Popular;
  }
}

// ---- The first pause of a cycle

// All old blocks are swept then. What lies across an end of the block does not move with it.
bool LullSparseBlocks::may_be_emptied(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  const bool has_holes = block->is_recyclable() && !block->is_in_reserve();
  return (has_holes || block->state() == LullBlockState::Full) && !block->is_pinned() && !_blocks->has_young(index) &&
         _blocks->owner(index) == LullBlockTable::NoOwner && _blocks->has_marks(index) &&
         !_blocks->has_straddler(index) && _blocks->leaving_words(index) == 0 && !_blocks->is_unswept(index);
}

// Stress: half of all blocks, whatever is alive there.
bool LullSparseBlocks::takes_any(LullBlockIndex index) const {
  return DEBUG_ONLY((LullEvacuateALot > 0 && Universe::heap()->total_collections() % LullEvacuateALot == 0) ||) false;
}

uint LullSparseBlocks::free_lines(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  return block->is_recyclable() ? block->free_lines().count() : 0;
}

// The dense table of live words first.
void LullSparseBlocks::find(GrowableArrayCHeap<uint32_t, mtGC>* candidates) const {
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlockIndex index = to_block_index(i);
    const bool is_sparse = LullSparsePolicy::is_sparse(_blocks->live_words(index)) ||
                           (_blocks->has_live(index) && takes_any(index));
    if (is_sparse && _kinds[i] == Other && may_be_emptied(index)) {
      candidates->append(i);
    }
  }
}

void LullSparseBlocks::select(const GrowableArrayCHeap<uint32_t, mtGC>& candidates) {
  const size_t capacity = _memory->capacity();
  const size_t free = (size_t)_supply->free_blocks() * LullGeometry::LinesPerBlock + _supply->recyclable_lines(capacity);
  LullSparsePolicy policy(LullSparsePolicy::Bounds::of(capacity, free));
  for (int i = 0; i < candidates.length(); i++) {
    const LullBlockIndex index = to_block_index(candidates.at(i));
    if (LullSparsePolicy::is_sparse(_blocks->live_words(index))) {
      policy.add(_blocks->live_words(index), free_lines(index));
    }
  }
  policy.decide();
  for (int i = 0; i < candidates.length(); i++) {
    const LullBlockIndex index = to_block_index(candidates.at(i));
    if (takes_any(index) ? (os::random() & 1) != 0 : policy.takes(_blocks->live_words(index), free_lines(index))) {
      _chosen.append(candidates.at(i));
    }
  }
  if (!LullSparsePolicy::is_worth((size_t)_chosen.length())) {
    _chosen.clear();
  }
}

// As a sweep that takes them off, and finds their lines in use.
void LullSparseBlocks::take() {
  bool is_any_listed = false;
  for (int i = 0; i < _chosen.length(); i++) {
    const LullBlockIndex index = to_block_index(_chosen.at(i));
    if (_blocks->at(index)->is_recyclable()) {
      _supply->own_recyclable(index);
      is_any_listed = true;
    }
  }
  if (is_any_listed) {
    _supply->drop_owned();
  }
  size_t slack_lines = 0;
  for (int i = 0; i < _chosen.length(); i++) {
    const LullBlockIndex index = to_block_index(_chosen.at(i));
    LullBlock* const block = _blocks->at(index);
    if (block->state() == LullBlockState::Owned) {
      const uint lines = block->free_lines().count();
      block->free_lines().clear_all();
      _blocks->make_full(index, lines, LullBlockRight::Sweep);
      slack_lines += lines;
    }
    const size_t most = takes_any(index) ? UINT16_MAX : LullSparsePolicy::most_notes(_blocks->live_words(index));
    _notes_left[untype(index)] = (uint16_t)MIN2(most, (size_t)UINT16_MAX);
    _kinds[untype(index)] = Sparse;
  }
  _supply->add_slack((ssize_t)slack_lines);
}

void LullSparseBlocks::forget_popular() {
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    if (_kinds[i] == Popular) {
      _kinds[i] = Other;
    }
  }
}

void LullSparseBlocks::choose(bool is_fragmented) {
  assert_at_safepoint();
  assert(_state == State::None && _chosen.is_empty(), "those of the cycle before have moved, or are forgotten");
  if (!LullEvacuation || !(is_fragmented || takes_any(to_block_index(0)))) {
    return;
  }
  if (LullSparsePolicy::forgets_popular(++_choices)) {
    forget_popular();
  }
  GrowableArrayCHeap<uint32_t, mtGC> candidates;
  find(&candidates);
  select(candidates);
  if (_chosen.is_empty()) {
    return;
  }
  take();
  _state = State::Chosen;
  set_on(true);
  log_debug(gc, marking)("Sparse: %d of %d blocks are chosen, about %zuK to copy", _chosen.length(), candidates.length(),
                         lines_to_copy() * LullGeometry::LineSize / K);
}

// ---- The remark, or a global collection

// Those of which a marker has said that they are popular are swept later, as all others.
void LullSparseBlocks::end_cycle() {
  assert_at_safepoint();
  set_on(false);
  int kept = 0;
  for (int i = 0; i < _chosen.length(); i++) {
    if (is_sparse(to_block_index(_chosen.at(i)))) {
      _chosen.at_put(kept++, _chosen.at(i));
    }
  }
  if (kept < _chosen.length()) {
    log_debug(gc, marking)("Sparse: too many refer to %d blocks", _chosen.length() - kept);
  }
  _chosen.trunc_to(kept);
  if (kept > 0) {
    _state = State::Left;
  } else {
    forget();
  }
}

void LullSparseBlocks::forget() {
  assert_at_safepoint();
  set_on(false);
  for (int i = 0; i < _chosen.length(); i++) {
    if (_kinds[_chosen.at(i)] == Sparse) {
      _kinds[_chosen.at(i)] = Other;
    }
  }
  _chosen.clear();
  for (int i = 0; i < _notes.length(); i++) {
    _notes.at(i)->clear();
  }
  _state = State::None;
}

// ---- The moving pause

size_t LullSparseBlocks::lines_to_copy() const {
  size_t lines = 0;
  for (int i = 0; i < _chosen.length(); i++) {
    lines += _blocks->packed_lines(to_block_index(_chosen.at(i)));
  }
  return lines;
}

// Its words say that all of it is public, as of any block of nobody.
void LullSparseBlocks::make_young(LullBlockIndex index, bool moves) {
  assert(_blocks->at(index)->state() == LullBlockState::Full && !_blocks->has_young(index) && !_blocks->is_unswept(index) &&
         _blocks->owner(index) == LullBlockTable::NoOwner, "block %u, which is %s, is used since it was chosen",
         untype(index), to_string(_blocks->at(index)->state()));
  _memory->mark_bitmap()->clear_range_large(MemRegion(LullGeometry::start_of(index), LullGeometry::WordsPerBlock));
  _blocks->clear_marks(index);
  _blocks->clear_live(index);
  _memory->card_table()->set_no_old(index, 1);
  _blocks->set_young(index);
  if (moves && !_blocks->at(index)->is_pinned()) {
    _blocks->set_fate(index, LullFate::Move);
  }
}

// A large object may have come to where a longer one was: nobody visits what is behind its end.
bool LullSparseBlocks::is_line_in_use(LullLineIndex line) const {
  const LullBlockIndex index = LullGeometry::block_of(line);
  const LullBlock* const block = _blocks->at(index);
  if (!block->is_committed()) {
    return false;    // nor are its cards
  }
  if (!block->is_large()) {
    return true;
  }
  HeapWord* const head = LullGeometry::start_of(_blocks->large_head_of(index));
  return _memory->mark_bitmap()->is_marked(head) &&
         LullGeometry::start_of(line) < head + cast_to_oop(head)->size();
}

// Those in sparse blocks are of what is young now. Its fields are visited where it is then.
void LullSparseBlocks::dirty_noted() {
  LullCardTable* const cards = _memory->card_table();
  _noted = 0;
  noted_do([&](LullLineIndex line) {
    if (is_line_in_use(line) && cards->has_old(line) && !cards->is_dirty(line)) {
      cards->dirty(LullGeometry::start_of(line));
      _noted++;
    }
  });
}

// Copies need as much as is alive, and the ends of what they are put into.
bool LullSparseBlocks::begin_move() {
  assert_at_safepoint();
  assert(is_left(), "nothing is to be moved");
  const size_t room = (size_t)_supply->free_blocks() * LullGeometry::LinesPerBlock;
  const bool moves = lines_to_copy() + lines_to_copy() / 8 <= room;
  for (int i = 0; i < _chosen.length(); i++) {
    make_young(to_block_index(_chosen.at(i)), moves);
  }
  dirty_noted();
  return moves;
}

void LullSparseBlocks::end_move(size_t moved_words) {
  assert_at_safepoint();
  size_t emptied = 0;
  for (int i = 0; i < _chosen.length(); i++) {
    emptied += _blocks->at(to_block_index(_chosen.at(i)))->is_free() ? 1 : 0;
  }
  log_info(gc, marking)("Sparse: %d blocks were chosen, %zu of them are empty, %zuK have moved, %zu lines refer to them",
                        _chosen.length(), emptied, moved_words * HeapWordSize / K, _noted);
  forget();
}
