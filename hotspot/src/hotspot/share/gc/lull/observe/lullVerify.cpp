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

#include "classfile/classLoaderData.hpp"
#include "classfile/classLoaderDataGraph.hpp"
#include "classfile/javaClasses.inline.hpp"
#include "code/codeCache.hpp"
#include "code/nmethod.hpp"
#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullSlidingPlan.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullHeapWalker.hpp"
#include "gc/lull/observe/lullVerify.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/weakProcessor.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/metaspace.hpp"
#include "memory/resourceArea.hpp"
#include "memory/universe.hpp"
#include "oops/access.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/continuationJavaClasses.inline.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "utilities/bitMap.inline.hpp"
#include "utilities/growableArray.hpp"
#include "utilities/resourceHash.hpp"

void LullVerify::verify_block(LullBlockIndex index, size_t* used) const {
  const LullBlock* const block = _blocks->at(index);
  const uint32_t i = untype(index);
  const char* const state = to_string(block->state());

  guarantee(block->is_committed() == _memory->is_committed(LullGeometry::start_of(index)),
            "Memory: block %u is %s, its memory is not", i, state);
  guarantee(!_blocks->is_evacuated(index), "Idle: block %u (%s) is evacuated", i, state);

  if (block->is_recyclable()) {
    guarantee(block->free_lines().has_run(LullBlockSupply::MinHoleLines),
              "Recyclable: block %u has no hole of %u lines", i, LullBlockSupply::MinHoleLines);
  } else if (block->state() != LullBlockState::Owned) {
    guarantee(block->free_lines().is_empty(), "Recyclable: block %u is %s and has free lines", i, state);
  }

  guarantee(block->slack_lines() == 0 || block->state() == LullBlockState::LargeHead ||
            block->state() == LullBlockState::Full,
            "Slack: block %u is %s and has %u lines that nobody gets", i, state, block->slack_lines());
  guarantee(!LullPublicMap::is_tracking_suspended() || _blocks->owner(index) == LullBlockTable::NoOwner,
            "B: tracking is suspended, and block %u is of thread %u", i, _blocks->owner(index));
  switch (block->state()) {
    case LullBlockState::LargeHead: {
      const uint32_t blocks = block->large_blocks();
      guarantee(blocks > 0 && i + blocks <= _blocks->count(), "Large: head %u of %u blocks", i, blocks);
      for (uint32_t tail = i + 1; tail < i + blocks; tail++) {
        guarantee(_blocks->at(to_block_index(tail))->state() == LullBlockState::LargeTail,
                  "Large: block %u of the large object at %u is %s",
                  tail, i, to_string(_blocks->at(to_block_index(tail))->state()));
      }
      break;
    }
    case LullBlockState::LargeTail: {
      const uint32_t head = untype(_blocks->large_head_of(index));
      guarantee(_blocks->at(to_block_index(head))->state() == LullBlockState::LargeHead &&
                i < head + _blocks->at(to_block_index(head))->large_blocks(),
                "Large: tail %u is not of the large object at %u", i, head);
      break;
    }
    default:
      guarantee(block->large_blocks() == 0, "Large: block %u is %s and has a length", i, state);
      break;
  }

  if (block->is_committed() && !block->is_free()) {
    *used += LullGeometry::BlockSize;
    if (block->is_recyclable()) {
      *used -= block->free_lines().count() * LullGeometry::LineSize;
    }
  }
}

void LullVerify::verify_words(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  if (!block->is_free() && !block->has_lines()) {
    return;
  }
  LullLineSet unused;
  _memory->public_map()->unused_lines(index, &unused);
  block->free_lines().runs_do([&](uint start, uint length) {
    guarantee(unused.next_gap(start) >= start + length, "Words: line %u of block %u is free and its word is not 0",
              unused.next_gap(start), untype(index));
  });
  guarantee(_moment != Moment::AfterCollection || block->state() != LullBlockState::Full ||
            unused.count() == block->slack_lines(), "Slack: %u lines of block %u hold nothing, %u are said to",
            unused.count(), untype(index), block->slack_lines());
  HeapWord* const end = LullGeometry::end_of(index);
  guarantee(_blocks->has_marks(index) || _memory->mark_bitmap()->get_next_marked_addr(LullGeometry::start_of(index), end) == end,
            "Marks: block %u has marks, and is said to have none", untype(index));
  guarantee(!block->is_free() || !_blocks->has_marks(index), "Marks: block %u is free and has marks", untype(index));
  guarantee(!block->is_free() || _blocks->packed_lines(index) == 0, "Live: block %u is free and %u lines of it are alive",
            untype(index), _blocks->packed_lines(index));
}

// What begins in another block and lies across the start of this one.
void LullVerify::verify_straddler(LullBlockIndex index) const {
  if (!_blocks->has_straddler(index)) {
    return;
  }
  HeapWord* const obj = _blocks->straddler(index);
  HeapWord* const start = LullGeometry::start_of(index);
  guarantee(_blocks->at(index)->has_lines() && _memory->mark_bitmap()->is_marked(obj) &&
            LullSlidingPlan::may_straddle(cast_to_oop(obj)),
            "Straddler: " PTR_FORMAT " in block %u, which is %s, is none, or is not old", p2i(obj), untype(index),
            to_string(_blocks->at(index)->state()));
  const size_t words = cast_to_oop(obj)->size();
  guarantee(obj + words > start && words == _blocks->straddler_words(index),
            "Straddler: " PTR_FORMAT " of %zu words does not reach block %u, or %zu are said to be there",
            p2i(obj), words, untype(index), _blocks->straddler_words(index));
  guarantee(_blocks->has_marks(index), "Straddler: block %u has one, and is said to have no marks", untype(index));
  const size_t words_here = MIN2(pointer_delta(obj + words, start), LullGeometry::WordsPerBlock);
  guarantee(!LullTracking || _memory->public_map()->is_extent_public(start, words_here),
            "Straddler: " PTR_FORMAT " is not public in block %u", p2i(obj), untype(index));
}

bool LullVerify::verify_survivors(LullBlockIndex index) const {
  if (!_blocks->has_survivors(index)) {
    return false;
  }
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const end = start + LullGeometry::WordsPerBlock;
  guarantee(_blocks->at(index)->state() == LullBlockState::Full && _blocks->owner(index) == LullBlockTable::NoOwner,
            "Survivors: block %u has some, and is %s, of thread %u", untype(index), to_string(_blocks->at(index)->state()), _blocks->owner(index));
  guarantee(_memory->mark_bitmap()->get_next_marked_addr(start, end) == end && !_blocks->has_live(index),
            "Survivors: block %u has some, and marks or objects that count as old", untype(index));
  LullLineSet without_old;
  _memory->card_table()->lines_without_old(index, &without_old);
  guarantee(without_old.count() == LullGeometry::LinesPerBlock, "Survivors: block %u has some, and lines with old objects", untype(index));
  return true;
}

// What is not said to have something young is no business of a young collection. After one nothing is said of free
// blocks.
void LullVerify::verify_young(LullBlockIndex index) const {
  if (_memory->card_table() == nullptr) {
    return;
  }
  const LullBlock* const block = _blocks->at(index);
  guarantee(_blocks->has_young(index) || _blocks->owner(index) == LullBlockTable::NoOwner,
            "Young: block %u, which is %s, is of thread %u, and is said to have nothing young", untype(index),
            to_string(block->state()), _blocks->owner(index));
  const bool may_have_young = block->is_committed() && !block->is_free() && block->state() != LullBlockState::LargeTail;
  guarantee(!_blocks->has_young(index) || may_have_young,
            "Young: block %u, which is %s, is said to have something young", untype(index), to_string(block->state()));
  if (_moment != Moment::AfterCollection || _blocks->has_young(index)) {
    return;
  }
  guarantee(block->state() != LullBlockState::LargeHead || _blocks->is_unswept(index) ||
            _memory->mark_bitmap()->is_marked(LullGeometry::start_of(index)),
            "Young: the large object at block %u is not old, and is said not to be young", untype(index));
  guarantee(block->state() != LullBlockState::Owned,
            "Young: block %u is of a thread, and is said to have nothing young", untype(index));
}

// What was wasted when the block was swept is so when the collection ends, also of blocks that it has left alone.
void LullVerify::verify_waste(LullBlockIndex index) const {
  guarantee(_moment != Moment::AfterCollection || _blocks->wasted(index) == _blocks->waste_of(index),
            "Waste: block %u, which is %s, wastes %u lines, and is said to waste %u", untype(index),
            to_string(_blocks->at(index)->state()), _blocks->waste_of(index), _blocks->wasted(index));
}

// What a young collection relies on to leave a line or a block alone.
void LullVerify::verify_cards(LullBlockIndex index, bool may_be_dirty) const {
  const LullCardTable* const cards = _memory->card_table();
  if (cards == nullptr || _moment != Moment::AfterCollection || !_blocks->at(index)->is_committed()) {
    return;
  }
  const uint32_t start = untype(LullGeometry::first_line(index));
  for (uint32_t i = start; i < start + LullGeometry::LinesPerBlock; i++) {
    const LullLineIndex line = to_line_index(i);
    const bool has_old = !_blocks->at(index)->is_free() && _memory->public_map()->is_in_use(line) && !_blocks->has_survivors(index);
    guarantee((may_be_dirty || !cards->is_dirty(line)) && cards->has_old(line) == has_old,
              "R: line %u of block %u, which is %s, has %s objects, and its card is %s", i - start, untype(index),
              to_string(_blocks->at(index)->state()), has_old ? "old" : "no old",
              cards->is_dirty(line) ? "Dirty" : cards->has_old(line) ? "Clean" : "NoOld");
  }
}

// Where no stretch is touched no young collection looks for dirty cards.
void LullVerify::verify_stretches() const {
  const LullCardTable* const cards = _memory->card_table();
  if (cards == nullptr) {
    return;
  }
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlockIndex index = to_block_index(i);
    const void* const start = LullGeometry::start_of(index);
    guarantee(cards->is_touched(index) || !_blocks->at(index)->is_committed() ||
              !cards->is_any_dirty(start, LullGeometry::end_of(index) - 1),
              "Stretches: a card of block %u, which is %s, is dirty, and its stretch is not touched", i,
              to_string(_blocks->at(index)->state()));
  }
}

void LullVerify::verify_blocks() const {
  size_t used = 0;
  size_t slack_lines = 0;
  size_t wasted_lines = 0;
  bool has_survivors = false;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    verify_block(to_block_index(i), &used);
    verify_words(to_block_index(i));
    verify_straddler(to_block_index(i));
    verify_young(to_block_index(i));
    verify_waste(to_block_index(i));
    slack_lines += _blocks->at(to_block_index(i))->slack_lines();
    wasted_lines += _blocks->wasted(to_block_index(i));
    has_survivors |= verify_survivors(to_block_index(i));
  }
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    verify_cards(to_block_index(i), has_survivors);
  }
  guarantee(slack_lines * LullGeometry::LineSize == _supply->slack_bytes(),
            "Slack: blocks have %zu lines that nobody gets, %zu bytes are accounted",
            slack_lines, _supply->slack_bytes());
  guarantee(wasted_lines == _blocks->all_wasted(),
            "Waste: blocks waste %zu lines, %zu are accounted", wasted_lines, _blocks->all_wasted());
  const size_t used_now = used - MIN2(used, _supply->unswept_garbage());
  guarantee(used_now == _supply->used_bytes(), "Used: blocks hold %zu bytes, of which %zu are garbage, %zu are accounted",
            used, _supply->unswept_garbage(), _supply->used_bytes());
  const char* const error = _supply->verify();
  guarantee(error == nullptr, "Runs: %s", error);
}

class LullVerifyHolesClosure : public ThreadClosure {
private:
  const LullBlockTable* const _blocks;
  CHeapBitMap                 _lines;    // in a hole that was looked at

  void verify_hole(const LullRun& hole, LullBlockTable::Owner thread) {
    const LullBlockIndex index = LullGeometry::block_of(to_line_index(hole._start));
    const uint first = LullGeometry::line_in_block(to_line_index(hole._start));
    const LullBlock* const block = _blocks->at(index);
    guarantee(first + hole._length <= LullGeometry::LinesPerBlock,
              "H: the hole of %u lines at line %u of block %u does not end there", hole._length, first, untype(index));
    guarantee(block->state() == LullBlockState::Owned,
              "H: thread %u has a hole in block %u, which is %s", thread, untype(index), to_string(block->state()));
    guarantee(_blocks->owner(index) == LullBlockTable::NoOwner || _blocks->owner(index) == thread,
              "H: thread %u has a hole in block %u, which is of thread %u", thread, untype(index), _blocks->owner(index));
    for (uint line = first; line < first + hole._length; line++) {
      guarantee(!block->free_lines().contains(line), "H: line %u of block %u is in a hole of thread %u, and free",
                line, untype(index), thread);
      guarantee(_lines.par_set_bit(hole._start + line - first), "H: line %u of block %u is in two holes", line, untype(index));
    }
  }

public:
  explicit LullVerifyHolesClosure(const LullBlockTable* blocks)
    : _blocks(blocks), _lines((BitMap::idx_t)blocks->limit() * LullGeometry::LinesPerBlock, mtGC) {}

  void do_thread(Thread* thread) override {
    const LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
    const LullBlockTable::Owner owner = LullThreadLocalData::owner(thread);
    guarantee(is_aligned(allocator->bump_end(), LullGeometry::LineSize), "H: thread %u allocates up to " PTR_FORMAT
              ", which is in a line", owner, p2i(allocator->bump_end()));
    allocator->holes_do([&](const LullRun& hole) { verify_hole(hole, owner); });
  }
};

void LullVerify::verify_holes() const {
  assert_at_safepoint();
  assert(_moment == Moment::BeforeCollection, "a collection takes the holes away");
  LullVerifyHolesClosure holes(_blocks);
  Threads::threads_do(&holes);
}

class LullVerifyVisitor : public LullWalkVisitor {
private:
  const LullVerify* const _verify;

public:
  explicit LullVerifyVisitor(const LullVerify* verify) : _verify(verify) {}

  void visit_reference(const void* field, oop holder, oop target) override {
    _verify->verify_reference(field, holder, target);
  }
  void visit_object(oop obj) override {
    _verify->verify_object(obj);
  }
};

// The target's header may be read only after its place has been checked.
void LullVerify::verify_reference(const void* field, oop holder, oop target) const {
  HeapWord* const addr = cast_from_oop<HeapWord*>(target);
  guarantee(is_object_aligned(addr) && _memory->is_committed(addr),
            "Reach: field " PTR_FORMAT " of " PTR_FORMAT " refers to " PTR_FORMAT ", which is not in the heap",
            p2i(field), p2i(holder), p2i(addr));
  const LullBlockIndex index = LullGeometry::block_of(addr);
  const LullBlock* const block = _blocks->at(index);
  const uint line = LullGeometry::line_in_block(LullGeometry::line_of(addr));
  guarantee(block->has_lines() || block->state() == LullBlockState::Archive ||
            (block->state() == LullBlockState::LargeHead && addr == LullGeometry::start_of(index)),
            "Reach: field " PTR_FORMAT " of " PTR_FORMAT " refers to " PTR_FORMAT " in block %u, which is %s",
            p2i(field), p2i(holder), p2i(addr), untype(index), to_string(block->state()));
  guarantee(!block->has_lines() || !block->free_lines().contains(line),
            "Reach: field " PTR_FORMAT " of " PTR_FORMAT " refers to " PTR_FORMAT " in free line %u of block %u",
            p2i(field), p2i(holder), p2i(addr), line, untype(index));
  // With young collections private objects and survivors have no marks when one has ended.
  guarantee(_moment != Moment::AfterCollection || _memory->mark_bitmap()->is_marked(addr) ||
            (_memory->card_table() != nullptr && (!_memory->public_map()->is_public(addr) || _blocks->has_survivors(index))),
            "Marked: field " PTR_FORMAT " of " PTR_FORMAT " refers to " PTR_FORMAT ", which is not marked",
            p2i(field), p2i(holder), p2i(addr));
  guarantee(_memory->card_table() == nullptr || _blocks->has_young(index) || _memory->mark_bitmap()->is_marked(addr),
            "R: field " PTR_FORMAT " of " PTR_FORMAT " refers to young " PTR_FORMAT " in block %u, which has no young objects",
            p2i(field), p2i(holder), p2i(addr), untype(index));
}

void LullVerify::verify_object(oop obj) const {
  guarantee(!obj->is_forwarded(), "Idle: " PTR_FORMAT " is forwarded", p2i(obj));
  guarantee(Metaspace::contains(obj->klass()), "Reach: " PTR_FORMAT " has no class", p2i(obj));
  HeapWord* const addr = cast_from_oop<HeapWord*>(obj);
  const size_t words = obj->size();
  const LullBlockIndex first = LullGeometry::block_of(addr);
  const LullBlock* const block = _blocks->at(first);
  switch (block->state()) {
    case LullBlockState::Archive:
      return;
    case LullBlockState::LargeHead:
      guarantee(LullGeometry::blocks_for(words) == block->large_blocks(),
                "Large: " PTR_FORMAT " of %zu words has %u blocks", p2i(obj), words, block->large_blocks());
      guarantee(block->large_blocks() * LullGeometry::LinesPerBlock ==
                LullGeometry::lines_for(words) + block->slack_lines(),
                "Slack: %u lines are said to be behind " PTR_FORMAT " of %zu words",
                block->slack_lines(), p2i(obj), words);
      return;
    default:
      break;
  }
  LullGeometry::parts_do(addr, words, [&](LullBlockIndex index, HeapWord* part, size_t part_words) {
    guarantee(part == addr || (_blocks->has_straddler(index) && _blocks->straddler(index) == addr),
              "Straddler: " PTR_FORMAT " of %zu words reaches block %u, which does not know that",
              p2i(obj), words, untype(index));
    verify_lines(obj, index, part, part_words);
  });
}

// The part of the object in one of its blocks.
void LullVerify::verify_lines(oop obj, LullBlockIndex index, HeapWord* part, size_t words) const {
  const LullBlock* const block = _blocks->at(index);
  const uint first_line = LullGeometry::line_in_block(LullGeometry::line_of(part));
  const uint last_line = LullGeometry::line_in_block(LullGeometry::line_of(part + words - 1));
  for (uint line = first_line; line <= last_line; line++) {
    guarantee(!block->has_lines() || !block->free_lines().contains(line),
              "Reach: " PTR_FORMAT " covers free line %u of block %u", p2i(obj), line, untype(index));
    guarantee(_moment != Moment::AfterCollection ||
              _blocks->owner(index) != LullBlockTable::NoOwner ||   // then it is not in a free line
              _memory->public_map()->is_in_use(to_line_index(untype(LullGeometry::first_line(index)) + line)),
              "Marked: " PTR_FORMAT " covers unmarked line %u of block %u", p2i(obj), line, untype(index));
  }
}

class LullVerifyTask : public WorkerTask {
private:
  LullHeapWalker* const  _walker;
  LullWalkVisitor* const _visitor;

public:
  LullVerifyTask(LullHeapWalker* walker, LullWalkVisitor* visitor)
    : WorkerTask("Lull Verify"), _walker(walker), _visitor(visitor) {}

  void work(uint worker_id) override { _walker->walk(worker_id, _visitor); }
};

class LullVerifyPublicationVisitor : public LullWalkVisitor {
private:
  const LullVerify* const _verify;

  const LullPublicMap* map() const          { return _verify->_memory->public_map(); }
  bool is_public(oop obj) const             { return map()->is_public(obj); }
  LullBlockTable::Owner owner(oop obj) const { return _verify->_blocks->owner_of(cast_from_oop<void*>(obj)); }

public:
  explicit LullVerifyPublicationVisitor(const LullVerify* verify) : _verify(verify) {}

  void visit_root(const void* field, oop target, Thread* thread) override {
    if (is_public(target) || (thread == nullptr && LullThreadFields::may_have_private(field, owner(target)))) {
      return;
    }
    guarantee(thread != nullptr, "P: root " PTR_FORMAT " refers to private " PTR_FORMAT " (%s) of thread %u",
              p2i(field), p2i(target), target->klass()->external_name(), owner(target));
    // The VM thread's handles are of the threads for which it works.
    guarantee(!thread->is_Java_thread() || owner(target) == LullThreadLocalData::owner(thread),
              "B: thread %u has private " PTR_FORMAT " (%s) of thread %u in " PTR_FORMAT,
              LullThreadLocalData::owner(thread), p2i(target), target->klass()->external_name(), owner(target), p2i(field));
  }

  void verify_remembered(const void* field, oop holder, oop target) const {
    const LullCardTable* const cards = _verify->_memory->card_table();
    const MarkBitMap* const marks = _verify->_memory->mark_bitmap();
    if (cards == nullptr || holder == nullptr || !is_public(holder) || !marks->is_marked(holder) || !is_public(target) || marks->is_marked(target) ||
        LullThreadFields::is_root(field, holder)) {
      return;
    }
    HeapWord* const start = cast_from_oop<HeapWord*>(holder);
    const bool has_parts = holder->is_objArray() &&
                           (_verify->_blocks->block_of(start)->state() == LullBlockState::LargeHead ||
                            LullGeometry::leaves_block(start, holder->size()));
    guarantee(has_parts ? cards->is_dirty(LullGeometry::line_of(start)) || cards->is_dirty(LullGeometry::line_of(field))
                        : cards->is_any_dirty(start, start + holder->size() - 1),
              "R: field " PTR_FORMAT " of old " PTR_FORMAT " (%s) refers to young " PTR_FORMAT " (%s), and its card is not dirty",
              p2i(field), p2i(holder), holder->klass()->external_name(), p2i(target), target->klass()->external_name());
  }

  void visit_reference(const void* field, oop holder, oop target) override {
    verify_remembered(field, holder, target);
    if (is_public(target) || LullThreadFields::may_have_private(field, owner(target))) {
      return;
    }
    guarantee(!is_public(holder), "P: field " PTR_FORMAT " of public " PTR_FORMAT " (%s) refers to private " PTR_FORMAT " (%s) of thread %u",
              p2i(field), p2i(holder), holder->klass()->external_name(), p2i(target), target->klass()->external_name(), owner(target));
    guarantee(owner(holder) == owner(target), "B: private " PTR_FORMAT " (%s) of thread %u refers to private " PTR_FORMAT " (%s) of thread %u",
              p2i(holder), holder->klass()->external_name(), owner(holder), p2i(target), target->klass()->external_name(), owner(target));
  }

  void visit_object(oop obj) override {
    guarantee(is_public(obj) ? map()->is_extent_public(cast_from_oop<HeapWord*>(obj), obj->size())
                             : owner(obj) != LullBlockTable::NoOwner,
              "P: " PTR_FORMAT " (%s) is %s", p2i(obj), obj->klass()->external_name(),
              is_public(obj) ? "public in part" : "private and of no thread");
  }
};

// Weak roots are of all threads, too. What they lead to may be dead, and is not looked into.
class LullVerifyWeakRootClosure : public OopClosure {
private:
  const LullPublicMap* const _map;

public:
  explicit LullVerifyWeakRootClosure(const LullPublicMap* map) : _map(map) {}

  void do_oop(oop* p) override {
    const oop obj = RawAccess<>::oop_load(p);
    guarantee(obj == nullptr || _map->is_public(obj), "P: weak root " PTR_FORMAT " refers to private " PTR_FORMAT,
              p2i(p), p2i(obj));
  }

  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
};

void LullVerify::verify_publication() const {
  assert_at_safepoint();
  verify_stretches();
  ResourceMark rm;
  LullVerifyWeakRootClosure weak_roots(_memory->public_map());
  WeakProcessor::oops_do(&weak_roots);
  LullVerifyPublicationVisitor visitor(this);   // has no state
  LullHeapWalker walker(_memory, _workers->active_workers());
  if (walker.is_possible()) {
    LullVerifyTask task(&walker, &visitor);
    _workers->run_task(&task);
  }
}

void LullVerify::verify_reachable() const {
  LullVerifyVisitor visitor(this);    // has no state
  LullHeapWalker walker(_memory, _workers->active_workers());
  if (walker.is_possible()) {
    LullVerifyTask task(&walker, &visitor);
    _workers->run_task(&task);
  }
}

// With young collections code with references to young objects is in the list of it.
void LullVerify::verify_code() const {
  NMethodIterator methods(NMethodIterator::all);
  while (methods.next()) {
    methods.method()->verify_oop_relocations();
    if (_memory->card_table() != nullptr) {
      Universe::heap()->verify_nmethod(methods.method());
    }
  }
}

class LullVerifyOldHandlesClosure final : public OopClosure {
private:
  const MarkBitMap* const _mark_bitmap;

public:
  explicit LullVerifyOldHandlesClosure(const MarkBitMap* mark_bitmap) : _mark_bitmap(mark_bitmap) {}

  void do_oop(oop* p) override {
    const oop obj = RawAccess<>::oop_load(p);
    guarantee(obj == nullptr || _mark_bitmap->is_marked(obj),
              "R: handle " PTR_FORMAT " of a class loader refers to young " PTR_FORMAT ", and the loader has no new references", p2i(p), p2i(obj));
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
};

class LullVerifyLoadersClosure final : public CLDClosure {
private:
  OopClosure* const _closure;

public:
  explicit LullVerifyLoadersClosure(OopClosure* closure) : _closure(closure) {}

  void do_cld(ClassLoaderData* cld) override {
    if (!cld->has_modified_oops()) {
      cld->oops_do(_closure, ClassLoaderData::_claim_none);
    }
  }
};

// A young collection leaves out those without new references.
void LullVerify::verify_class_loaders() const {
  if (_memory->card_table() != nullptr) {
    LullVerifyOldHandlesClosure handles(_memory->mark_bitmap());
    LullVerifyLoadersClosure loaders(&handles);
    ClassLoaderDataGraph::cld_do(&loaders);
  }
}

class LullVerifyNamesClosure : public ThreadClosure {
private:
  ResourceHashtable<LullBlockTable::Owner, bool> _names;

public:
  void do_thread(Thread* thread) override {
    const LullBlockTable::Owner name = LullThreadLocalData::owner(thread);
    guarantee(_names.put(name, true), "B: two threads are thread %u", name);
  }

  bool contains(LullBlockTable::Owner name) const { return _names.contains(name); }
};

// B says little if two threads have the same name, or if one has the name of another that has ended and has left its blocks.
void LullVerify::verify_names() const {
  ResourceMark rm;
  LullVerifyNamesClosure names;
  Threads::threads_do(&names);
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    const LullBlockTable::Owner owner = _blocks->owner(to_block_index(i));
    guarantee(owner == LullBlockTable::NoOwner || names.contains(owner), "B: block %u is of thread %u, which there is not", i, owner);
  }
}

class LullVerifyMountedClosure : public ThreadClosure {
private:
  GrowableArray<oop> _mounted;

public:
  void do_thread(Thread* thread) override {
    if (!thread->is_Java_thread()) {
      return;
    }
    const JavaThread* const carrier = JavaThread::cast(thread);
    const oop vthread = LullThreadFields::mounted(carrier);
    if (vthread == nullptr) {
      return;
    }
    guarantee(!_mounted.contains(vthread), "B: virtual thread " PTR_FORMAT " has private objects of two threads", p2i(vthread));
    _mounted.append(vthread);
    guarantee(java_lang_VirtualThread::carrier_thread(vthread) == carrier->threadObj() ||
              jdk_internal_vm_Continuation::done(java_lang_VirtualThread::continuation(vthread)),
              "B: virtual thread " PTR_FORMAT " may have private objects of thread %u, which does not carry it",
              p2i(vthread), LullThreadLocalData::owner(thread));
  }
};

// Another carrier may come to what is in the fields of a virtual thread that is not mounted.
void LullVerify::verify_mounted() const {
  ResourceMark rm;
  LullVerifyMountedClosure mounted;
  Threads::threads_do(&mounted);
}

void LullVerify::verify() const {
  assert_at_safepoint();
  verify_blocks();
  verify_reachable();
  if (LullTracking) {
    verify_names();
    verify_mounted();
    verify_publication();
  }
  verify_code();
  verify_class_loaders();
}

class LullCodeIsPublicClosure final : public OopClosure {
private:
  const LullPublicMap* const _map;
  const nmethod* const       _nm;

public:
  LullCodeIsPublicClosure(const LullPublicMap* map, const nmethod* nm) : _map(map), _nm(nm) {}

  void do_oop(oop* p) override {
    const oop obj = RawAccess<>::oop_load(p);
    guarantee(obj == nullptr || _map->is_public(obj),
              "P: code " PTR_FORMAT " refers to private object " PTR_FORMAT, p2i(_nm), p2i(obj));
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
};

void LullVerify::verify_new_code(nmethod* nm) {
  LullCodeIsPublicClosure cl(LullTables::public_map(), nm);
  nm->oops_do(&cl);
}
