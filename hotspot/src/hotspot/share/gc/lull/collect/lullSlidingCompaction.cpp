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
#include "code/codeCache.hpp"
#include "compiler/oopMap.hpp"
#include "gc/lull/collect/lullSlidingCompaction.hpp"
#include "gc/lull/collect/lullSlidingPlan.inline.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullProtection.inline.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullZap.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/oopStorageSet.inline.hpp"
#include "gc/shared/weakProcessor.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "utilities/copy.hpp"

LullSlidingCompaction::LullSlidingCompaction(LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers)
  : _memory(memory),
    _blocks(blocks),
    _workers(workers),
    _plan(blocks, memory->mark_bitmap()),
    _emptied(0),
    _moved_objects(0),
    _moved_words(0) {
  assert_at_safepoint();
}

// ---- Update

class LullSlideClosure final : public BasicOopIterateClosure {
private:
  const LullSlidingPlan* const _plan;

  template <typename T>
  void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return;
    }
    HeapWord* const addr = cast_from_oop<HeapWord*>(CompressedOops::decode_not_null(heap_oop));
    HeapWord* const new_addr = _plan->new_address(addr);
    if (new_addr != addr) {
      RawAccess<IS_NOT_NULL>::oop_store(p, cast_to_oop(new_addr));
    }
  }

public:
  explicit LullSlideClosure(const LullSlidingPlan* plan) : _plan(plan) {}

  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override       { do_oop_work(p); }
  void do_oop(narrowOop* p) override { do_oop_work(p); }
};

// The references of all roots.
class LullSlideRootsTask : public WorkerTask {
private:
  enum class Roots : uint {
    Code,
    Threads,
    ClassLoaders,
    Storages,
    WeakStorages,
    End
  };

  const LullSlidingPlan* const _plan;
  volatile uint                _next;        // claimed by atomic add

public:
  explicit LullSlideRootsTask(const LullSlidingPlan* plan)
    : WorkerTask("Lull Slide Roots"), _plan(plan), _next(0) {}

  void work(uint worker_id) override {
    ResourceMark rm;
    LullSlideClosure closure(_plan);
    for (;;) {
      const uint roots = Atomic::fetch_then_add(&_next, 1u);
      if (roots >= (uint)Roots::End) {
        return;
      }
      switch ((Roots)roots) {
        case Roots::Code: {
          NMethodToOopClosure code(&closure, NMethodToOopClosure::FixRelocations);
          CodeCache::nmethods_do(&code);
          break;
        }
        case Roots::Threads:
          Threads::oops_do(&closure, nullptr);
          break;
        case Roots::ClassLoaders: {
          CLDToOopClosure clds(&closure, ClassLoaderData::_claim_none);
          ClassLoaderDataGraph::cld_do(&clds);
          break;
        }
        case Roots::Storages:
          OopStorageSet::strong_oops_do(&closure);
          break;
        case Roots::WeakStorages:
          WeakProcessor::oops_do(&closure);
          break;
        case Roots::End:
          ShouldNotReachHere();
      }
    }
  }
};

// The fields of live objects, which are where they were.
class LullSlideFieldsTask : public LullBlockTask {
private:
  const LullSlidingPlan* const _plan;
  const MarkBitMap* const      _mark_bitmap;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    if (block->state() == LullBlockState::LargeTail) {
      return;
    }
    ResourceMark rm;
    LullSlideClosure closure(_plan);
    HeapWord* const end = LullGeometry::start_of(index) + LullGeometry::WordsPerBlock;
    HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(index), end);
    while (addr < end) {
      cast_to_oop(addr)->oop_iterate(&closure);
      addr = _mark_bitmap->get_next_marked_addr(addr + MinObjAlignment, end);
    }
  }

public:
  LullSlideFieldsTask(const LullSlidingPlan* plan, const MarkBitMap* mark_bitmap, LullBlockTable* blocks)
    : LullBlockTask("Lull Slide Fields", blocks), _plan(plan), _mark_bitmap(mark_bitmap) {}
};

void LullSlidingCompaction::update() {
  // The trace has recorded all derived pointers. They are set from their bases when the
  // collection ends, and are not to be recorded again with these half-way.
  COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::set_active(false);)
  LullSlideRootsTask roots(&_plan);
  _workers->run_task(&roots);
  LullSlideFieldsTask fields(&_plan, _memory->mark_bitmap(), _blocks);
  _workers->run_task(&fields);
}

// ---- Move

// What is known of these blocks is of the objects that are about to leave them: it is dropped before any object
// comes. Their marks stay, by which these objects are found.
void LullSlidingCompaction::empty_up_to(uint32_t end) {
  for (; _emptied < end; _emptied++) {
    const LullBlockIndex index = to_block_index(_emptied);
    LullBlock* const block = _blocks->at(index);
    if (!_plan.moves(index)) {
      continue;
    }
    assert(block->has_lines(), "block %u is %s", _emptied, to_string(block->state()));
    if (_memory->card_table() != nullptr) {
      _memory->card_table()->set_no_old(index, 1);
    }
    _blocks->clear_live(index);
    _blocks->clear_marks(index);    // those that are left until their objects have moved are looked for here only
    _blocks->clear_straddler(index);
    block->free_lines().clear_all();
    _blocks->make_free(index, LullBlockRight::Slide);
  }
}

// The mark of an object that has moved, and what else is known of it.
void LullSlidingCompaction::take_over(HeapWord* obj, size_t words) {
  LullGeometry::parts_do(obj, words, [&](LullBlockIndex index, HeapWord* part, size_t part_words) {
    LullBlock* const block = _blocks->at(index);
    if (block->is_free()) {
      _blocks->make_full(index, 0, LullBlockRight::Slide);    // has lines: the sweep finds which are free
      _memory->public_map()->set_blocks(index, 1, false);
    }
    assert(block->has_lines(), "block %u is %s", untype(index), to_string(block->state()));
    if (part != obj) {
      _blocks->set_straddler(index, obj, words);
    }
    _blocks->set_marks(index);
    _memory->public_map()->mark_lines(part, part_words);
    _blocks->add_live(index, part_words);
  });
  _memory->mark_bitmap()->mark(obj);
}

void LullSlidingCompaction::move_object(HeapWord* from, HeapWord* to, size_t words) {
  assert(to <= from, PTR_FORMAT " would move up, to " PTR_FORMAT, p2i(from), p2i(to));
  _memory->mark_bitmap()->clear(from);
  if (to != from) {
    Copy::aligned_conjoint_words(from, to, words);
    _moved_objects++;
    _moved_words += words;
  }
  take_over(to, words);
}

// The objects leave the block one by one; some of them may come back to its beginning.
void LullSlidingCompaction::move_lines(LullBlockIndex index) {
  const MarkBitMap* const marks = _memory->mark_bitmap();
  HeapWord* const end = LullGeometry::end_of(index);
  size_t live_before = 0;
  for (HeapWord* addr = marks->get_next_marked_addr(LullGeometry::start_of(index), end); addr < end; ) {
    const size_t words = cast_to_oop(addr)->size();    // not there any more when it has moved
    HeapWord* const next = addr + words;
    // A straddler may go to the blocks in which it was: all of them are without what was known.
    empty_up_to(untype(LullGeometry::block_of(next - 1)) + 1);
    move_object(addr, _plan.new_address(index, live_before), words);
    if (next >= end) {
      break;
    }
    live_before += words;
    addr = marks->get_next_marked_addr(next, end);
  }
  empty_up_to(untype(index) + 1);    // nothing was there but what lies across it
}

// Its blocks become free, and some have lines again.
void LullSlidingCompaction::pack_large(LullBlockIndex from, uint32_t blocks) {
  HeapWord* const start = LullGeometry::start_of(from);
  const size_t words = cast_to_oop(start)->size();
  if (_memory->card_table() != nullptr) {
    _memory->card_table()->set_no_old(from, blocks);
  }
  _blocks->clear_marks(from);
  for (uint32_t i = untype(from); i < untype(from) + blocks; i++) {
    _blocks->make_free(to_block_index(i), LullBlockRight::Slide);
  }
  move_object(start, _plan.new_address(start), words);
}

void LullSlidingCompaction::move_large(LullBlockIndex from, uint32_t blocks) {
  HeapWord* const start = LullGeometry::start_of(from);
  HeapWord* const new_start = _plan.new_address(start);
  const LullBlockIndex to = LullGeometry::block_of(new_start);
  const size_t words = (size_t)blocks * LullGeometry::WordsPerBlock;
  Copy::aligned_conjoint_words(start, new_start, words);
  _moved_objects++;
  _moved_words += words;
  _memory->mark_bitmap()->clear(start);
  _memory->mark_bitmap()->mark(new_start);
  _blocks->clear_marks(from);
  _blocks->set_marks(to);
  _blocks->move_large(from, to, blocks);
  // From low addresses up: it may move by less than its length.
  for (uint32_t i = 0; i < blocks; i++) {
    _memory->public_map()->move_block(to_block_index(untype(from) + i), to_block_index(untype(to) + i));
    if (_memory->card_table() != nullptr) {
      _memory->card_table()->move_block(to_block_index(untype(from) + i), to_block_index(untype(to) + i));
    }
  }
}

void LullSlidingCompaction::move() {
  uint32_t blocks;
  for (uint32_t i = 0; i < _blocks->limit(); i += blocks) {
    const LullBlockIndex index = to_block_index(i);
    const LullBlock* const block = _blocks->at(index);
    const bool is_large = block->state() == LullBlockState::LargeHead;
    blocks = is_large ? block->large_blocks() : 1;
    if (is_large) {
      _emptied = i + blocks;    // what moves frees its blocks itself
    }
    if (!_plan.moves(index)) {
      continue;
    }
    if (_plan.packs(index)) {
      pack_large(index, blocks);
    } else if (is_large) {
      move_large(index, blocks);
    } else {
      move_lines(index);
    }
  }
  DEBUG_ONLY(zap_free_blocks();)
}

#ifdef ASSERT

void LullSlidingCompaction::zap_free_blocks() const {
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    if (_blocks->at(to_block_index(i))->is_free()) {
      LullZap::words(LullGeometry::start_of(to_block_index(i)), LullGeometry::WordsPerBlock);
    }
  }
}

#endif // ASSERT

bool LullSlidingCompaction::compact() {
  assert_at_safepoint();
  assert(Thread::current()->is_VM_thread(), "one thread moves objects, in order");
  if (!_plan.make(_workers)) {
    return false;
  }
  LullProtection::allow_free(_blocks);    // the supply forbids what is left of them when it is rebuilt
  const LullFarHeap::Sliding sliding;
  update();
  move();
  return true;
}
