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

#include "gc/lull/concurrent/lullCardCleaner.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "logging/log.hpp"
#include "memory/allocation.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/universe.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/init.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"

bool LullCardCleaner::is_on() { return LullYoungCollections && (LullCleanCards DEBUG_ONLY(|| LullCleanALot)); }

LullCardCleaner::LullCardCleaner(LullMemory* memory, LullBlockTable* blocks, const LullCycleMarks* cycle_marks,
                                 const LullSparseBlocks* sparse)
  : _cards(memory->card_table()),
    _blocks(blocks),
    _marks(memory->mark_bitmap()),
    _cycle_marks(cycle_marks),
    _sparse(sparse),
    _policy(),
    _is_taken(false),
    _lines(NEW_C_HEAP_ARRAY(uint32_t, MostLines + LullGeometry::LinesPerBlock, mtGC)),
    _line_count(0),
    _looked_at(0),
    _stretches(NEW_C_HEAP_ARRAY(uint32_t, MostStretches, mtGC)),
    _stretch_count(0),
    _last(nullptr),
    _last_is_clean(false),
    _is_marking(false),
    _pass(),
    _asks(0),
    _taken_up(0),
    _answered(0),
    _passes(0),
    _all_taken(0),
    _all_kept(0) {}

// ---- Take

// Only old objects have dirty cards. So a block of which one is dirty is of such, and nobody frees it before the next
// pause.
bool LullCardCleaner::may_take(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  if (block->is_large()) {
    return _blocks->has_marks(_blocks->large_head_of(index));
  }
  return block->has_lines() && _blocks->has_marks(index) && !_blocks->has_straddler(index);
}

void LullCardCleaner::take_block(LullBlockIndex index) {
  if (!may_take(index)) {
    return;   // stays as it is
  }
  _stretches[_stretch_count++] = untype(index);
  _cards->dirty_lines_do(index, 1, [&](LullLineIndex line) {
    _cards->clean_line(line);
    _lines[_line_count++] = untype(line);
  });
  DEBUG_ONLY(if (LullCleanALot && untype(index) % 8 == 0) { os::naked_yield(); })
  _cards->untouch(index);    // though another card may be dirty since: end_batch()
}

// Of the blocks from start on; returns at which it has stopped.
uint32_t LullCardCleaner::take(uint32_t start, uint32_t limit) {
  const uint32_t BlocksAtOnce = 64;
  STATIC_ASSERT(MostStretches > BlocksAtOnce);
  assert(!_is_taken, "the last batch has ended");
  _is_taken = true;
  _line_count = _looked_at = _stretch_count = 0;
  uint32_t next = start;
  while (next < limit && _line_count < MostLines && _stretch_count + BlocksAtOnce <= MostStretches) {
    const uint32_t end = MIN2(next + BlocksAtOnce, limit);
    uint32_t stopped_at = end;
    _cards->touched_do(next, end, [&](LullBlockIndex index) {
      if (_line_count < MostLines) {
        take_block(index);
      } else {
        stopped_at = MIN2(stopped_at, untype(index));
      }
    });
    next = stopped_at;
  }
  return next;
}

// ---- Handshake

class LullCleaningHandshake : public HandshakeClosure {
public:
  LullCleaningHandshake() : HandshakeClosure("Lull Clean Cards") {}
  void do_thread(Thread* thread) override {}
};

void LullCardCleaner::handshake() {
  if (lull_is_left_out("CleanHandshake")) {
    return;
  }
  SuspendibleThreadSetLeaver leaver;    // the VM thread does it, and may make a safepoint before
  LullCleaningHandshake closure;
  Handshake::execute(&closure);
}

// ---- Look

// A field for which the card of its holder stays dirty.
class LullFindDirtyClosure final : public BasicOopIterateClosure {
private:
  const LullCardCleaner* const _cleaner;
  const bool                   _is_black;
  bool                         _found;

  // Mutators write to the field.
  template <typename T> void visit(T* p) {
    const T value = RawAccess<MO_RELAXED>::oop_load(p);
    if (!_found && !CompressedOops::is_null(value)) {
      _found = _cleaner->needs_dirty(CompressedOops::decode_not_null(value), _is_black);
    }
  }

public:
  LullFindDirtyClosure(const LullCardCleaner* cleaner, oop holder)
    : _cleaner(cleaner), _is_black(cleaner->is_black(holder)), _found(false) {}

  bool found() const { return _found; }
  void do_oop(oop* p) override       { visit(p); }
  void do_oop(narrowOop* p) override { visit(p); }
};

// What is not old may move in the next pause, and is not looked at. The table of blocks is in the cache rather than the
// marks.
inline bool LullCardCleaner::needs_dirty(oop target, bool is_black) const {
  const LullBlockIndex index = LullGeometry::block_of(cast_from_oop<void*>(target));
  if (_blocks->has_young(index) && !_marks->is_marked(target)) {
    return true;
  }
  return is_black && ((!_cycle_marks->is_alive(target) && !lull_is_left_out("CleanWhite")) ||
                      (_sparse->is_sparse(index) && !lull_is_left_out("CleanSparse")));
}

inline bool LullCardCleaner::is_black(oop holder) const { return _is_marking && _cycle_marks->is_alive(holder); }

static const size_t ElementsAtOnce = 4096;

// A long one part by part: no safepoint waits for all of it. What is not looked at counts as not clean.
bool LullCardCleaner::is_clean_array(oop array, size_t start, size_t end) const {
  LullFindDirtyClosure closure(this, array);
  for (size_t from = start; from < end && !closure.found(); from += ElementsAtOnce) {
    if (from > start && SuspendibleThreadSet::should_yield()) {
      return false;
    }
    objArrayOop(array)->oop_iterate_range(&closure, (int)from, (int)MIN2(from + ElementsAtOnce, end));
  }
  return !closure.found();
}

bool LullCardCleaner::is_clean_object(oop obj) const {
  switch (obj->klass()->kind()) {
    case Klass::TypeArrayKlassKind:
      return true;
    case Klass::ObjArrayKlassKind:
      return is_clean_array(obj, 0, (size_t)objArrayOop(obj)->length());
    case Klass::InstanceKlassKind: {
      LullFindDirtyClosure closure(this, obj);
      obj->oop_iterate(&closure);
      return !closure.found();
    }
    default:
      return lull_is_left_out("CleanKinds");
  }
}

// A card of one line after the other tells of a long object. What was seen of it holds for the batch: a store since then
// has made a card dirty.
bool LullCardCleaner::look_at_object(oop obj) {
  if (obj != _last) {
    _last = obj;
    _last_is_clean = lull_is_left_out("CleanLook") || is_clean_object(obj);
  }
  return _last_is_clean;
}

// As a pause does it (LullFindRememberedTask): the card of an array's header tells of all elements.
bool LullCardCleaner::is_clean_line_of_large(LullBlockIndex head, LullLineIndex line) {
  HeapWord* const start = LullGeometry::start_of(head);
  assert(_marks->is_marked(start), "only what is old has cards");
  const oop obj = cast_to_oop(start);
  if (!obj->is_objArray() || line == LullGeometry::line_of(start)) {
    return look_at_object(obj);
  }
  const size_t before = pointer_delta(LullGeometry::start_of(line), objArrayOop(obj)->base(), 1) / heapOopSize;
  const size_t length = (size_t)objArrayOop(obj)->length();
  return is_clean_array(obj, MIN2(before, length), MIN2(before + LullGeometry::LineSize / heapOopSize, length));
}

// The last object that begins before the line may reach into it.
bool LullCardCleaner::is_clean_line(LullLineIndex line) {
  const LullBlockIndex index = LullGeometry::block_of(line);
  if (_blocks->at(index)->is_large()) {
    return is_clean_line_of_large(_blocks->large_head_of(index), line);
  }
  HeapWord* const start = LullGeometry::start_of(line);
  HeapWord* const end = start + LullGeometry::WordsPerLine;
  HeapWord* const before = _marks->get_last_marked_addr(LullGeometry::start_of(index), start);
  if (before < start && before + cast_to_oop(before)->size() > start && !look_at_object(cast_to_oop(before))) {
    return false;
  }
  for (HeapWord* addr = _marks->get_next_marked_addr(start, end); addr < end;
       addr = _marks->get_next_marked_addr(addr + 1, end)) {
    if (!look_at_object(cast_to_oop(addr))) {
      return false;
    }
  }
  return true;
}

// Returns false if a safepoint waits before all is looked at.
bool LullCardCleaner::look() {
  const size_t LinesPerLook = 16;
  _last = nullptr;
  for (; _looked_at < _line_count; _looked_at++) {
    if (_looked_at % LinesPerLook == 0 && SuspendibleThreadSet::should_yield()) {
      return false;
    }
    const LullLineIndex line = to_line_index(_lines[_looked_at]);
    if (!is_clean_line(line)) {
      _cards->dirty(LullGeometry::start_of(line));
      _lines[_looked_at] = KeptDirty;
      _pass._kept++;
    }
  }
  return true;
}

// ---- Touch

void LullCardCleaner::end_batch() {
  for (size_t i = 0; i < _stretch_count; i++) {
    const LullBlockIndex index = to_block_index(_stretches[i]);
    if (_cards->has_dirty(index)) {
      _cards->touch(index);
    }
  }
  if (lull_is_left_out("CleanLate")) {
    for (size_t i = 0; i < _line_count; i++) {
      if (_lines[i] != KeptDirty) {
        _cards->clean_line(to_line_index(_lines[i]));
      }
    }
  }
  _is_taken = false;
}

void LullCardCleaner::give_up() {
  if (!_is_taken) {
    return;
  }
  _is_taken = false;
  if (lull_is_left_out("CleanGiveUp")) {
    return;
  }
  for (size_t i = _looked_at; i < _line_count; i++) {
    _cards->dirty(LullGeometry::start_of(to_line_index(_lines[i])));
  }
  for (size_t i = 0; i < _stretch_count; i++) {
    _cards->touch(to_block_index(_stretches[i]));
  }
  _pass._given_up += _line_count - _looked_at;
}

// ---- A pass

size_t LullCardCleaner::touched() const {
  size_t count = 0;
  _cards->touched_do(0, _blocks->limit(), [&](LullBlockIndex) { count++; });
  return count;
}

void LullCardCleaner::run_pass(bool (*may_go_on)()) {
  const uint pause = Universe::heap()->total_collections();
  for (uint32_t next = 0; next < _blocks->limit(); ) {
    next = take(next, _blocks->limit());
    _pass._taken += _line_count;
    _pass._stretches += _stretch_count;
    _pass._batches++;
    if (_stretch_count > 0) {
      handshake();
    }
    if (_is_taken && look()) {    // else a safepoint came first
      end_batch();
    }
    SuspendibleThreadSet::yield();
    if (!may_go_on() || Universe::heap()->total_collections() != pause) {
      break;
    }
  }
  assert(!_is_taken, "a batch is left");
}

void LullCardCleaner::record(jlong ns) {
  Atomic::store(&_passes, _passes + 1);
  Atomic::store(&_all_taken, _all_taken + _pass._taken);
  Atomic::store(&_all_kept, _all_kept + _pass._kept + _pass._given_up);
  _policy.record(_pass._taken, _pass._kept);
  log_info(gc, marking)("Dirty cards: %zu of %zu have been cleaned, in %zu stretches, %zu are kept, %zu given up, "
                        "%zu handshakes, %.3fms", _pass._taken - _pass._kept - _pass._given_up, _pass._taken,
                        _pass._stretches, _pass._kept, _pass._given_up, _pass._batches,
                        (double)ns / NANOSECS_PER_MILLISEC);
}

void LullCardCleaner::clean(bool (*may_go_on)(), bool is_marking) {
  Atomic::store(&_taken_up, Atomic::load(&_asks));
  const bool always = DEBUG_ONLY(LullCleanALot ||) false;
  if (is_init_completed() && may_go_on() && (always || (_policy.may_clean() && is_worth()))) {
    const jlong start = os::javaTimeNanos();
    _pass = Pass();
    _is_marking = is_marking;
    run_pass(may_go_on);
    if (_pass._stretches > 0) {
      record(os::javaTimeNanos() - start);
    }
  }
  Atomic::store(&_answered, _taken_up);
}
