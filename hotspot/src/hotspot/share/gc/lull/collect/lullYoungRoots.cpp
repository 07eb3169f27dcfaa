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
#include "gc/lull/collect/lullMarkWorker.inline.hpp"
#include "gc/lull/collect/lullYoungRoots.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/shared/oopStorageSetParState.inline.hpp"
#include "gc/shared/scavengableNMethods.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"

LullFindRememberedTask::LullFindRememberedTask(LullMarkWorker** workers, LullMemory* memory, LullBlockTable* blocks)
  : LullBlockTask("Lull Find Remembered", blocks),
    _workers(workers),
    _memory(memory),
    _dirty_cards(0),
    _objects(0) {}

bool LullFindRememberedTask::is_archive(uint32_t index) const {
  return index < _blocks->limit() && _blocks->at(to_block_index(index))->state() == LullBlockState::Archive;
}

// An array that lies across the start of the block. As of a large one, a card there tells of the elements on it: who
// has the block of its header finds what the card of that says.
objArrayOop LullFindRememberedTask::straddling_array(LullBlockIndex index) const {
  const oop obj = _blocks->has_straddler(index) ? cast_to_oop(_blocks->straddler(index)) : oop(nullptr);
  return obj != nullptr && obj->is_objArray() ? objArrayOop(obj) : objArrayOop(nullptr);
}

// Nothing says where the first object of a line begins: it is the last one marked before, if it ends behind the start of the line.
void LullFindRememberedTask::find_in_lines(LullBlockIndex first, size_t blocks, LullMarkWorker* worker) {
  LullCardTable* const cards = _memory->card_table();
  const LullMarkBitMap* const marks = _memory->mark_bitmap();
  const objArrayOop straddler = straddling_array(first);
  HeapWord* from = LullGeometry::start_of(first);   // objects that begin before are remembered, or on no dirty card from here on
  size_t dirty = 0;
  size_t objects = 0;
  auto remember = [&](HeapWord* addr) {
    assert(_memory->public_map()->is_public(addr), "old objects are public");
    worker->remember(cast_to_oop(addr));
    objects++;
  };
  cards->dirty_lines_do(first, blocks, [&](LullLineIndex line) {
    dirty++;
    HeapWord* const start = LullGeometry::start_of(line);
    HeapWord* const end = start + LullGeometry::WordsPerLine;
    HeapWord* const before = marks->get_last_marked_addr(from, start);
    if (before < start && before + cast_to_oop(before)->size() > start) {
      remember(before);
    }
    for (HeapWord* addr = marks->get_next_marked_addr(start, end); addr < end; addr = marks->get_next_marked_addr(addr + 1, end)) {
      remember(addr);
    }
    if (straddler != nullptr && cast_from_oop<HeapWord*>(straddler) + straddler->size() > start) {
      remember_line(straddler, line, worker);
      objects++;
    }
    from = end;
  });
  if (dirty == 0) {
    return;
  }
  cards->clean(first, blocks);
  Atomic::add(&_dirty_cards, dirty);
  Atomic::add(&_objects, objects);
}

// A card tells of an array's elements on it, and that of the header of all.
void LullFindRememberedTask::find_large(LullBlockIndex head, size_t blocks, LullMarkWorker* worker) {
  assert(_blocks->at(head)->state() == LullBlockState::LargeHead, "block %u is %s", untype(head),
         to_string(_blocks->at(head)->state()));
  LullCardTable* const cards = _memory->card_table();
  HeapWord* const start = LullGeometry::start_of(head);
  const oop obj = cast_to_oop(start);
  const bool all = cards->is_dirty(LullGeometry::line_of(start));
  size_t dirty = 0;
  cards->touched_do(untype(head), untype(head) + (uint32_t)blocks, [&](LullBlockIndex index) {
    cards->dirty_lines_do(index, 1, [&](LullLineIndex line) {
      assert(_memory->mark_bitmap()->is_marked(start), "only what is old has cards");
      dirty++;
      if (!all && obj->is_objArray()) {
        remember_line(objArrayOop(obj), line, worker);
      }
    });
    cards->clean(index, 1);
  });
  if (dirty == 0) {
    return;
  }
  if (all || !obj->is_objArray()) {
    worker->remember(obj);
  }
  Atomic::add(&_dirty_cards, dirty);
  Atomic::add(&_objects, (size_t)1);
}

// The line is behind that in which the array begins. Behind the last element there may be more lines of a large one,
// of which nobody has a card dirtied.
void LullFindRememberedTask::remember_line(objArrayOop array, LullLineIndex line, LullMarkWorker* worker) {
  const char* const base = (const char*)array->base();
  const char* const start = (const char*)LullGeometry::start_of(line);
  // The rest of a straddler's header may be on the line.
  const size_t first = start <= base ? 0 : pointer_delta(start, base, 1) / heapOopSize;
  const size_t end = MIN2(pointer_delta(start + LullGeometry::LineSize, base, 1) / heapOopSize,
                          (size_t)array->length());
  assert(first < end, "elements %zu to %zu of %d", first, end, array->length());
  worker->remember_part(array, first, end);
}

// Its objects may leave their blocks.
void LullFindRememberedTask::find_archive(uint32_t index, LullMarkWorker* worker) {
  uint32_t start = index;
  while (start > 0 && is_archive(start - 1)) {
    start--;
  }
  uint32_t end = index + 1;
  while (is_archive(end)) {
    end++;
  }
  if (!_memory->card_table()->is_any_touched(start, index)) {
    find_in_lines(to_block_index(start), end - start, worker);
  }
}

void LullFindRememberedTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  assert(_memory->card_table()->is_touched(index), "block %u was never asked for", untype(index));
  LullMarkWorker* const worker = _workers[worker_id];
  if (block->state() == LullBlockState::Archive) {
    find_archive(untype(index), worker);
    return;
  }
  const LullBlockIndex head = _blocks->large_head_of(index);
  if (!_blocks->has_marks(head)) {
    return;   // nothing old: no card is dirty
  }
  if (block->is_large()) {
    if (!_memory->card_table()->is_any_touched(untype(head), untype(index))) {
      find_large(head, _blocks->at(head)->large_blocks(), worker);
    }
  } else if (block->has_lines()) {
    find_in_lines(index, 1, worker);
  }
}

void LullFindRememberedTask::blocks_do(uint32_t start, uint32_t end, Visit* visit) {
  _memory->card_table()->touched_do(start, end, [&](LullBlockIndex index) { visit->block(index); });
}

LullMarkFromYoungRootsTask::LullMarkFromYoungRootsTask(LullMarkWorker** workers, uint active_workers,
                                                       LullMarkQueueSet* queues, bool visits_code,
                                                       const LullCycleMarks* cycle_marks)
  : WorkerTask("Lull Mark From Young Roots"),
    _workers(workers),
    _active_workers(active_workers),
    _visits_code(visits_code),
    _cycle_marks(cycle_marks),
    _storages(),
    _terminator(active_workers, queues) {}

// Marks from the handles of a class loader, and says whether they lead to survivors.
class LullMarkHandlesClosure final : public OopClosure {
private:
  LullMarkWorker* const _worker;
  bool                  _found_survivor;

public:
  explicit LullMarkHandlesClosure(LullMarkWorker* worker) : _worker(worker), _found_survivor(false) {}

  void do_oop(oop* p) override {
    _worker->mark_root(p);
    _found_survivor |= _worker->remember_survivor(p, RawAccess<>::oop_load(p));
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }

  bool take_found_survivor() {
    const bool found = _found_survivor;
    _found_survivor = false;
    return found;
  }
};

class LullMarkNewReferencesClosure : public CLDClosure {
private:
  LullMarkWorker* const  _worker;
  LullMarkHandlesClosure _handles;

public:
  explicit LullMarkNewReferencesClosure(LullMarkWorker* worker) : _worker(worker), _handles(worker) {}

  // Every worker comes to each, and visits those that it claims. What becomes alive by the trace of this pause is
  // visited as a whole then, whatever is decided here.
  void do_cld(ClassLoaderData* cld) override {
    if (!cld->has_modified_oops()) {
      return;
    }
    const bool is_alive = _worker->is_known_alive(cld);
    if (!is_alive && _worker->may_unload()) {
      return;
    }
    _worker->set_doubtful(!is_alive);
    cld->oops_do(&_handles, ClassLoaderData::_claim_stw_fullgc_mark, true /* clear modified oops */);
    _worker->set_doubtful(false);
    if (_handles.take_found_survivor()) {
      cld->record_modified_oops();
    }
  }
};

class LullMarkYoungThreadClosure : public ThreadClosure {
private:
  LullMarkWorker* const       _worker;
  const LullCycleMarks* const _cycle_marks;

  // Where code is no root, that on stacks is. Elsewhere code is visited below.
  NMethodClosure* code_closure() const {
    const bool is_root = _worker->may_unload() && !lull_is_left_out("RemarkStacks");
    return is_root ? _worker->code_closure() : nullptr;
  }

  // First the Thread object itself: in the place that it leaves, its fields would be visited for nothing, and what they refer to, new and no
  // root any more by the next collection perhaps, not remembered in the place where the object is then.
  void mark_fields(oop holder) {
    if (holder != nullptr) {
      _worker->root_closure()->do_oop(&holder);
      LullThreadFields::fields_do(holder, _worker->root_closure());
    }
  }

  // A virtual thread that is mounted has other roots. One that has ended may be dead: its carrier does not keep it. But
  // it is marked until a cycle ends, so what it refers to that is young stays, or moves. Where it is young itself its
  // fields are visited with it, if it is alive.
  void mark_mounted_fields(oop vthread) {
    if (vthread != nullptr && LullTables::is_old(vthread)) {
      _worker->set_doubtful(_cycle_marks != nullptr && !_cycle_marks->is_alive(vthread));
      LullThreadFields::fields_do(vthread, _worker->root_closure());
      _worker->set_doubtful(false);
    }
  }

public:
  LullMarkYoungThreadClosure(LullMarkWorker* worker, const LullCycleMarks* cycle_marks)
    : _worker(worker), _cycle_marks(cycle_marks) {}

  void do_thread(Thread* thread) override {
    ResourceMark rm;
    thread->oops_do(_worker->root_closure(), code_closure());
    if (thread->is_Java_thread()) {
      mark_fields(JavaThread::cast(thread)->threadObj());
      mark_mounted_fields(LullThreadFields::mounted(JavaThread::cast(thread)));
    }
    _worker->drain();
  }
};

void LullMarkFromYoungRootsTask::mark_from_classes(LullMarkWorker* worker) {
  if (worker->follows_classes()) {
    CLDToOopClosure clds(worker->root_closure(), worker->class_claim());
    ClassLoaderDataGraph::always_strong_cld_do(&clds);
  }
  LullMarkNewReferencesClosure clds(worker);
  ClassLoaderDataGraph::cld_do(&clds);
  worker->drain();
}

void LullMarkFromYoungRootsTask::work(uint worker_id) {
  assert(worker_id < _active_workers, "worker %u of %u", worker_id, _active_workers);
  LullMarkWorker* const worker = _workers[worker_id];
  worker->follow_remembered();
  mark_from_classes(worker);
  {
    LullMarkYoungThreadClosure threads(worker, _cycle_marks);
    Threads::possibly_parallel_threads_do(_active_workers > 1, &threads);
  }
  _storages.oops_do(worker->root_closure());
  if (worker_id == 0 && _visits_code && !worker->may_unload()) {
    MarkingNMethodClosure code(worker->root_closure(), NMethodToOopClosure::FixRelocations, false /* keepalive */);
    worker->set_doubtful(worker->follows_classes());
    ScavengableNMethods::nmethods_do(&code);
    worker->set_doubtful(false);
  }
  worker->drain_and_steal(worker_id, &_terminator);
}
