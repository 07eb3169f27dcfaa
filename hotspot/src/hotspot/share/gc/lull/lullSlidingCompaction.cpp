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
#include "gc/lull/lullBlockTable.inline.hpp"
#include "gc/lull/lullCardTable.hpp"
#include "gc/lull/lullMemory.hpp"
#include "gc/lull/lullPublicMap.hpp"
#include "gc/lull/lullSlidingCompaction.hpp"
#include "gc/lull/lullSweep.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/oopStorageSet.inline.hpp"
#include "gc/shared/weakProcessor.hpp"
#include "memory/allocation.inline.hpp"
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
    _distances(NEW_C_HEAP_ARRAY_RETURN_NULL(uint32_t, blocks->limit(), mtGC)),
    _limit(blocks->limit()) {
  assert_at_safepoint();
}

LullSlidingCompaction::~LullSlidingCompaction() {
  FREE_C_HEAP_ARRAY(uint32_t, _distances);
}

// ---- Plan

bool LullSlidingCompaction::stays(LullBlockIndex index) const {
  const LullBlock* const block = _blocks->at(index);
  return !block->is_committed() || block->state() == LullBlockState::Archive || block->is_pinned();
}

uint32_t LullSlidingCompaction::plan() {
  if (_distances == nullptr) {
    return 0;
  }
  uint32_t to = 0;
  uint32_t moved = 0;
  uint32_t blocks;
  for (uint32_t i = 0; i < _limit; i += blocks) {
    const LullBlock* const block = _blocks->at(to_block_index(i));
    assert(block->state() != LullBlockState::LargeTail && block->state() != LullBlockState::Owned,
           "block %u is %s", i, to_string(block->state()));
    blocks = block->state() == LullBlockState::LargeHead ? block->large_blocks() : 1;
    uint32_t distance = 0;
    if (stays(to_block_index(i))) {
      to = i + blocks;
    } else if (!block->is_free()) {
      distance = i - to;
      to += blocks;
      moved += distance > 0 ? blocks : 0;
    }
    for (uint32_t j = i; j < i + blocks; j++) {
      _distances[j] = distance;
    }
  }
  return moved;
}

// ---- Update

class LullSlideClosure final : public BasicOopIterateClosure {
private:
  const uint32_t* const _distances;

  template <typename T>
  void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return;
    }
    HeapWord* const addr = cast_from_oop<HeapWord*>(CompressedOops::decode_not_null(heap_oop));
    const uint32_t distance = _distances[untype(LullGeometry::block_of(addr))];
    if (distance > 0) {
      RawAccess<IS_NOT_NULL>::oop_store(p, cast_to_oop(addr - (size_t)distance * LullGeometry::WordsPerBlock));
    }
  }

public:
  explicit LullSlideClosure(const uint32_t* distances) : _distances(distances) {}

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

  const uint32_t* const _distances;
  volatile uint         _next;        // claimed by atomic add

public:
  explicit LullSlideRootsTask(const uint32_t* distances)
    : WorkerTask("Lull Slide Roots"), _distances(distances), _next(0) {}

  void work(uint worker_id) override {
    ResourceMark rm;
    LullSlideClosure closure(_distances);
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
  const uint32_t* const   _distances;
  const MarkBitMap* const _mark_bitmap;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    if (block->state() == LullBlockState::LargeTail) {
      return;
    }
    ResourceMark rm;
    LullSlideClosure closure(_distances);
    HeapWord* const end = LullGeometry::start_of(index) + LullGeometry::WordsPerBlock;
    HeapWord* addr = _mark_bitmap->get_next_marked_addr(LullGeometry::start_of(index), end);
    while (addr < end) {
      cast_to_oop(addr)->oop_iterate(&closure);
      addr = _mark_bitmap->get_next_marked_addr(addr + MinObjAlignment, end);
    }
  }

public:
  LullSlideFieldsTask(const uint32_t* distances, const MarkBitMap* mark_bitmap, LullBlockTable* blocks)
    : LullBlockTask("Lull Slide Fields", blocks), _distances(distances), _mark_bitmap(mark_bitmap) {}
};

void LullSlidingCompaction::update() {
  // The trace has recorded all derived pointers. They are set from their bases when the
  // collection ends, and are not to be recorded again with these half-way.
  COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::set_active(false);)
  LullSlideRootsTask roots(_distances);
  _workers->run_task(&roots);
  LullSlideFieldsTask fields(_distances, _memory->mark_bitmap(), _blocks);
  _workers->run_task(&fields);
}

// ---- Move

void LullSlidingCompaction::move_marks(LullBlockIndex from, LullBlockIndex to) {
  MarkBitMap* const marks = _memory->mark_bitmap();
  HeapWord* const start = LullGeometry::start_of(from);
  HeapWord* const end = start + LullGeometry::WordsPerBlock;
  HeapWord* const new_start = LullGeometry::start_of(to);
  // Blocks below have moved or are free: nothing is marked there any more.
  assert(marks->get_next_marked_addr(new_start, new_start + LullGeometry::WordsPerBlock) ==
         new_start + LullGeometry::WordsPerBlock, "block %u has marks", untype(to));
  HeapWord* addr = marks->get_next_marked_addr(start, end);
  while (addr < end) {
    marks->mark(new_start + pointer_delta(addr, start));
    addr = marks->get_next_marked_addr(addr + MinObjAlignment, end);
  }
  marks->clear_range_large(MemRegion(start, end));
  _blocks->move_live(from, to);
}

void LullSlidingCompaction::move_unit(uint32_t start, uint32_t blocks) {
  const uint32_t to = start - _distances[start];
  Copy::conjoint_words(LullGeometry::start_of(to_block_index(start)), LullGeometry::start_of(to_block_index(to)),
                       (size_t)blocks * LullGeometry::WordsPerBlock);
  move_marks(to_block_index(start), to_block_index(to));
  _blocks->at(to_block_index(to))->move_from(_blocks->at(to_block_index(start)));
  // From low addresses up: a unit may move by less than its length.
  for (uint32_t i = 0; i < blocks; i++) {
    _memory->public_map()->move_block(to_block_index(start + i), to_block_index(to + i));
    if (_memory->card_table() != nullptr) {
      _memory->card_table()->move_block(to_block_index(start + i), to_block_index(to + i));
    }
  }
  for (uint32_t i = 1; i < blocks; i++) {
    _blocks->at(to_block_index(start + i))->set_free();
    _blocks->at(to_block_index(to + i))->set_large_tail(to);
  }
}

void LullSlidingCompaction::move() {
  uint32_t blocks;
  for (uint32_t i = 0; i < _limit; i += blocks) {
    const LullBlock* const block = _blocks->at(to_block_index(i));
    blocks = block->state() == LullBlockState::LargeHead ? block->large_blocks() : 1;
    if (_distances[i] > 0) {
      move_unit(i, blocks);
    }
  }
#ifdef ASSERT
  if (ZapUnusedHeapArea) {
    for (uint32_t i = 0; i < _limit; i++) {
      if (_blocks->at(to_block_index(i))->is_free()) {
        Copy::fill_to_words(LullGeometry::start_of(to_block_index(i)), LullGeometry::WordsPerBlock, badHeapWord);
      }
    }
  }
#endif
}
