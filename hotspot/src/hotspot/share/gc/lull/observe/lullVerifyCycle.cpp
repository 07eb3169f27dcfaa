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

#include "classfile/classLoaderDataGraph.hpp"
#include "classfile/javaClasses.inline.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/observe/lullHeapWalker.hpp"
#include "gc/lull/observe/lullVerifyCycle.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "utilities/bitMap.inline.hpp"

class LullVerifyBlackClosure final : public BasicOopIterateClosure {
private:
  const LullCycleMarks* const _marks;
  const oop                   _holder;

  template <typename T> void verify(T* p) {
    const oop target = RawAccess<>::oop_load(p);
    guarantee(target == nullptr || !_marks->is_old(target) || _marks->is_alive(target),
              "Black: field " PTR_FORMAT " of " PTR_FORMAT " (%s), which was looked at, refers to old " PTR_FORMAT
              " (%s) without a mark of the cycle", p2i(p), p2i(_holder), _holder->klass()->external_name(),
              p2i(target), target->klass()->external_name());
  }

public:
  LullVerifyBlackClosure(const LullCycleMarks* marks, oop holder) : _marks(marks), _holder(holder) {}

  // What is only weakly reachable gets no mark.
  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS_EXCEPT_REFERENT; }

  void do_oop(oop* p) override       { verify(p); }
  void do_oop(narrowOop* p) override { verify(p); }
};

class LullVerifyBlackTask : public LullBlockTask {
private:
  const LullCycleMarks* const _marks;
  const MarkBitMap* const     _tasks;
  const bool                  _follows_classes;

  // By objects: those of an archive may have a class that is not loaded yet.
  void verify_class(oop obj) const {
    const ClassLoaderData* const cld = obj->klass()->class_loader_data();
    guarantee(!_follows_classes || cld == nullptr || cld->claimed(ClassLoaderData::_claim_strong),
              "Black: " PTR_FORMAT " was looked at, and the loader of its class %s is not claimed",
              p2i(obj), obj->klass()->external_name());
  }

  // A referent gets no mark by a Reference that was discovered. All others lead to theirs.
  void verify_referent(oop obj) const {
    if (!obj->klass()->is_reference_instance_klass() || java_lang_ref_Reference::discovered(obj) != nullptr) {
      return;
    }
    const oop referent = java_lang_ref_Reference::unknown_referent_no_keepalive(obj);
    guarantee(referent == nullptr || !_marks->is_old(referent) || _marks->is_alive(referent),
              "Black: " PTR_FORMAT " (%s), which was looked at and not discovered, refers to old " PTR_FORMAT
              " without a mark of the cycle", p2i(obj), obj->klass()->external_name(), p2i(referent));
  }

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    ResourceMark rm;    // for a message
    HeapWord* const end = LullGeometry::end_of(index);
    for (HeapWord* addr = _marks->alive()->get_next_marked_addr(LullGeometry::start_of(index), end); addr < end;
         addr = _marks->alive()->get_next_marked_addr(addr + 1, end)) {
      const oop obj = cast_to_oop(addr);
      guarantee(_marks->is_old(obj), "Black: " PTR_FORMAT " has a mark of the cycle, and is not old", p2i(addr));
      if (!_tasks->is_marked(addr)) {
        verify_class(obj);
        LullVerifyBlackClosure closure(_marks, obj);
        obj->oop_iterate(&closure);
        verify_referent(obj);
      }
    }
  }

public:
  LullVerifyBlackTask(LullBlockTable* blocks, const LullCycleMarks* marks, const MarkBitMap* tasks,
                      bool follows_classes)
    : LullBlockTask("Lull Verify Black", blocks), _marks(marks), _tasks(tasks), _follows_classes(follows_classes) {}
};

// A loader is looked at with its object, or when an object of one of its classes is.
class LullVerifyBlackLoaders final : public CLDClosure {
private:
  class Handles final : public OopClosure {
  private:
    const LullCycleMarks* const  _marks;
    const ClassLoaderData* const _cld;

  public:
    Handles(const LullCycleMarks* marks, const ClassLoaderData* cld) : _marks(marks), _cld(cld) {}

    void do_oop(oop* p) override {
      const oop target = RawAccess<>::oop_load(p);
      guarantee(target == nullptr || !_marks->is_old(target) || _marks->is_alive(target),
                "Black: handle " PTR_FORMAT " of class loader data " PTR_FORMAT ", which was looked at, refers to old "
                PTR_FORMAT " (%s) without a mark of the cycle", p2i(p), p2i(_cld), p2i(target),
                target->klass()->external_name());
    }
    void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
  };

  const LullCycleMarks* const _marks;
  const MarkBitMap* const     _tasks;

  bool was_looked_at(const ClassLoaderData* cld) const {
    const oop holder = cld->holder_no_keepalive();
    return cld->claimed(ClassLoaderData::_claim_strong) ||
           (holder != nullptr && _marks->is_alive(holder) && !_tasks->is_marked(holder));
  }

public:
  LullVerifyBlackLoaders(const LullCycleMarks* marks, const MarkBitMap* tasks) : _marks(marks), _tasks(tasks) {}

  void do_cld(ClassLoaderData* cld) override {
    if (was_looked_at(cld)) {
      Handles handles(_marks, cld);
      cld->oops_do(&handles, ClassLoaderData::_claim_none);
    }
  }
};

void LullVerifyCycle::verify_black(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks,
                                   WorkerThreads* workers) {
  assert_at_safepoint();
  MarkBitMap* const tasks = memory->acquire_walk_bitmap();
  if (tasks == nullptr) {
    return;   // it has said so
  }
  cycle->tasks_do([&](const LullOldTask& task) { tasks->mark(task.obj()); });
  LullVerifyBlackTask task(blocks, cycle->marks(), tasks, cycle->follows_classes());
  workers->run_task(&task);
  if (cycle->follows_classes()) {
    ResourceMark rm;    // for a message
    LullVerifyBlackLoaders loaders(cycle->marks(), tasks);
    ClassLoaderDataGraph::cld_do(&loaders);
  }
  memory->release_walk_bitmap();
}

class LullVerifySweptTask : public LullBlockTask {
private:
  const LullPublicMap* const  _public_map;
  const MarkBitMap* const     _mark_bitmap;
  const LullCycleMarks* const _cycle_marks;
  const LullSparseBlocks* const _sparse;

  // The part of it that lies in the block which begins at start.
  static void cover(HeapWord* start, HeapWord* from, HeapWord* to, LullLineSet* lines) {
    HeapWord* const first = MAX2(start, from);
    HeapWord* const last = MIN2(start + LullGeometry::WordsPerBlock, to) - 1;
    const uint first_line = (uint)(pointer_delta(first, start) / LullGeometry::WordsPerLine);
    lines->add_range(first_line, (uint)(pointer_delta(last, start) / LullGeometry::WordsPerLine) - first_line + 1);
  }

  // Lines on which something marked lies.
  void find_covered(LullBlockIndex index, LullLineSet* covered) const {
    HeapWord* const start = LullGeometry::start_of(index);
    HeapWord* const end = LullGeometry::end_of(index);
    if (_blocks->has_straddler(index)) {
      HeapWord* const straddler = _blocks->straddler(index);
      cover(start, straddler, straddler + _blocks->straddler_words(index), covered);
    }
    for (HeapWord* addr = _mark_bitmap->get_next_marked_addr(start, end); addr < end; ) {
      HeapWord* const behind = addr + cast_to_oop(addr)->size();
      cover(start, addr, behind, covered);
      addr = behind < end ? _mark_bitmap->get_next_marked_addr(behind, end) : end;
    }
  }

  void verify_unswept(LullBlockIndex index, const LullLineSet& covered) const {
    LullLineSet free;
    _cycle_marks->unused_lines(index, &free);
    LullLineSet kept;
    kept.set_all();
    kept.remove(free);
    LullLineSet lost = covered;
    lost.remove(kept);
    guarantee(lost.is_empty() && (covered.is_empty() || _cycle_marks->is_any_alive(index)),
              "Unswept: line %u of block %u will be free, and something marked lies there", lost.next_member(0),
              untype(index));
  }

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    if (!block->has_lines() || _blocks->has_young(index)) {
      return;
    }
    if (_sparse->is_left() && _sparse->is_sparse(index)) {
      return;    // the next young pause sweeps it
    }
    LullLineSet covered;
    find_covered(index, &covered);
    if (_blocks->is_unswept(index)) {
      verify_unswept(index, covered);
      return;
    }
    LullLineSet unused;
    _public_map->unused_lines(index, &unused);
    LullLineSet dead;
    dead.set_all();
    dead.remove(unused);
    dead.remove(covered);
    guarantee(dead.is_empty(), "Swept: line %u of block %u, which is %s, is in use, and nothing marked lies there",
              dead.next_member(0), untype(index), to_string(block->state()));
  }

public:
  LullVerifySweptTask(LullBlockTable* blocks, LullMemory* memory, LullCycle* cycle)
    : LullBlockTask("Lull Verify Swept", blocks),
      _public_map(memory->public_map()),
      _mark_bitmap(memory->mark_bitmap()),
      _cycle_marks(cycle->marks()),
      _sparse(cycle->sparse()) {}
};

void LullVerifyCycle::verify_swept(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks,
                                   WorkerThreads* workers) {
  assert_at_safepoint();
  cycle->later_sweep()->verify();
  LullVerifySweptTask task(blocks, memory, cycle);
  workers->run_task(&task);
}

// By all workers: it has no state that changes.
class LullVerifyRecordedVisitor : public LullWalkVisitor {
private:
  const LullSparseBlocks* const _sparse;
  const LullBlockTable* const   _blocks;
  const LullCardTable* const    _cards;
  const MarkBitMap* const       _marks;
  const BitMap&                 _noted;    // by line

  bool is_sparse(oop obj) const { return _sparse->is_sparse(LullGeometry::block_of(cast_from_oop<void*>(obj))); }

  bool is_visited(LullLineIndex line) const {
    return _cards->is_dirty(line) || (_cards->has_old(line) && _noted.at(untype(line)));
  }

  bool is_any_visited(LullLineIndex first, LullLineIndex last) const {
    for (uint32_t line = untype(first); line <= untype(last); line++) {
      if (is_visited(to_line_index(line))) {
        return true;
      }
    }
    return false;
  }

public:
  LullVerifyRecordedVisitor(const LullSparseBlocks* sparse, const LullBlockTable* blocks, LullMemory* memory,
                            const BitMap& noted)
    : _sparse(sparse), _blocks(blocks), _cards(memory->card_table()), _marks(memory->mark_bitmap()), _noted(noted) {}

  void visit_object(oop obj) override {}

  void visit_reference(const void* field, oop holder, oop target) override {
    if (!is_sparse(target) || holder == nullptr || is_sparse(holder) || !_marks->is_marked(holder) ||
        LullThreadFields::is_root(field, holder)) {
      return;
    }
    HeapWord* const start = cast_from_oop<HeapWord*>(holder);
    const size_t words = holder->size();
    const LullLineIndex header_line = LullGeometry::line_of(start);
    const bool has_parts = holder->is_objArray() &&
                           (_blocks->block_of(start)->state() == LullBlockState::LargeHead ||
                            LullGeometry::leaves_block(start, words));
    guarantee(has_parts ? is_visited(header_line) || is_visited(LullGeometry::line_of(field))
                        : is_any_visited(header_line, LullGeometry::line_of(start + words - 1)),
              "Recorded: field " PTR_FORMAT " of old " PTR_FORMAT " (%s) refers to " PTR_FORMAT " (%s) in a sparse block, "
              "and its card is not dirty, nor was its line noted", p2i(field), p2i(holder),
              holder->klass()->external_name(), p2i(target), target->klass()->external_name());
  }
};

class LullVerifyRecordedTask : public WorkerTask {
private:
  LullHeapWalker* const  _walker;
  LullWalkVisitor* const _visitor;

public:
  LullVerifyRecordedTask(LullHeapWalker* walker, LullWalkVisitor* visitor)
    : WorkerTask("Lull Verify Recorded"), _walker(walker), _visitor(visitor) {}

  void work(uint worker_id) override { _walker->walk(worker_id, _visitor); }
};

void LullVerifyCycle::verify_recorded(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks,
                                      WorkerThreads* workers) {
  assert_at_safepoint();
  assert(cycle->sparse()->is_left(), "nothing is to be moved");
  CHeapBitMap noted((BitMap::idx_t)blocks->limit() * LullGeometry::LinesPerBlock, mtGC);
  cycle->sparse()->noted_do([&](LullLineIndex line) { noted.set_bit(untype(line)); });
  LullVerifyRecordedVisitor visitor(cycle->sparse(), blocks, memory, noted);
  LullHeapWalker walker(memory, workers->active_workers());
  if (walker.is_possible()) {
    LullVerifyRecordedTask task(&walker, &visitor);
    workers->run_task(&task);
  }
}
