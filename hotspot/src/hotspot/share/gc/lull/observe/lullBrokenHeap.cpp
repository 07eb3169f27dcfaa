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

#ifdef ASSERT

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullBrokenHeap.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "logging/log.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"

#include <string.h>

// The heap's tables, and the ways to break them. False: there is nothing yet of what is to be broken.
class LullHeapBreaker : public StackObj {
private:
  typedef LullBlockState S;

  LullMemory* const      _memory;
  LullBlockTable* const  _blocks;
  LullBlockSupply* const _supply;

  // The first block of which the function says yes.
  template <typename Is>
  bool find(Is is, LullBlockIndex* index) const {
    for (uint32_t i = 0; i < _blocks->limit(); i++) {
      *index = to_block_index(i);
      if (is(*index, *_blocks->at(*index))) {
        return true;
      }
    }
    return false;
  }

  bool find_free(LullBlockIndex* index) const {
    return find([](LullBlockIndex i, const LullBlock& block) { return block.is_free(); }, index);
  }

  bool find_recyclable(LullBlockIndex* index) const {
    return find([](LullBlockIndex i, const LullBlock& block) { return block.is_recyclable(); }, index);
  }

  // What is known of a free block is changed by the function.
  template <typename Function>
  bool change_free(Function f) const {
    LullBlockIndex index;
    if (!find_free(&index)) {
      return false;
    }
    f(index, _blocks->at(index));
    return true;
  }

public:
  LullHeapBreaker(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply)
    : _memory(memory), _blocks(blocks), _supply(supply) {}

  bool memory()     { return change_free([](LullBlockIndex i, LullBlock* b) { b->_state = S::Uncommitted; }); }
  bool recyclable() { return change_free([](LullBlockIndex i, LullBlock* b) { b->free_lines().add_range(0, 1); }); }
  bool large()      { return change_free([](LullBlockIndex i, LullBlock* b) { b->_large = 3; }); }
  bool slack()      { return change_free([](LullBlockIndex i, LullBlock* b) { b->_slack_lines = 1; }); }
  bool idle()       { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->set_fate(i, LullFate::Move); }); }
  bool marks()      { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->set_marks(i); }); }
  bool live()       { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->add_live(i, 10); }); }
  bool young()      { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->set_young(i); }); }
  bool unswept()    { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->set_unswept(i); }); }
  bool waste()      { return change_free([&](LullBlockIndex i, LullBlock*) { _blocks->set_wasted(i, 5); }); }

  // One that would lie across the start of a free block.
  bool straddler() {
    return change_free([&](LullBlockIndex i, LullBlock* b) {
      const size_t words = LullGeometry::WordsPerLine * 8;
      _blocks->set_straddler(i, LullGeometry::start_of(i) - LullGeometry::WordsPerLine, words);
    });
  }

  bool used() {
    _supply->use_for_copies(1);
    return true;
  }

  // The block is still in its run of free ones; all else of it is as an Owned block's.
  bool runs() {
    _supply->use_for_copies(1);
    return change_free([&](LullBlockIndex i, LullBlock* b) {
      b->_state = LullBlockState::Owned;
      _blocks->set_young(i);
      _memory->public_map()->set_blocks(i, 1, false);
    });
  }

  bool words() {
    LullBlockIndex index;
    if (!find_recyclable(&index)) {
      return false;
    }
    _blocks->at(index)->free_lines().runs_do([&](uint start, uint length) {
      _memory->public_map()->set_lines(to_line_index(untype(LullGeometry::first_line(index)) + start), length, true);
    });
    return true;
  }

  bool survivors() {
    LullBlockIndex index;
    if (_memory->card_table() == nullptr || !find_recyclable(&index)) {
      return false;
    }
    _blocks->set_survivors(index);
    return true;
  }

  bool old_cards() {
    LullCardTable* const cards = _memory->card_table();
    return cards != nullptr &&
           change_free([&](LullBlockIndex i, LullBlock* b) { cards->set_old(i, 1, LullCardTable::Remembered::Forget); });
  }

  // Mutators have made cards dirty.
  bool stretches() {
    LullCardTable* const cards = _memory->card_table();
    LullBlockIndex index;
    if (cards == nullptr || !find([&](LullBlockIndex i, const LullBlock& block) {
          return block.is_committed() && cards->is_any_dirty(LullGeometry::start_of(i), LullGeometry::end_of(i) - 1);
        }, &index)) {
      return false;
    }
    cards->forget_touched(_blocks->limit());
    return true;
  }

  // An old object in a block of nothing else.
  bool marked() {
    LullBlockIndex index;
    if (!find([&](LullBlockIndex i, const LullBlock& block) {
          return block.has_lines() && _blocks->has_marks(i) && !_blocks->has_young(i) && !_blocks->has_straddler(i) &&
                 _blocks->leaving_words(i) == 0;
        }, &index)) {
      return false;
    }
    _memory->mark_bitmap()->clear_range_large(MemRegion(LullGeometry::start_of(index), LullGeometry::WordsPerBlock));
    return true;
  }

  // A thread that there is not.
  bool owners() {
    LullBlockIndex index;
    if (!LullTracking || !find_recyclable(&index)) {
      return false;
    }
    _blocks->_owners[untype(index)] = max_juint;
    _blocks->set_young(index);
    return true;
  }

  // A hole that begins in the block before.
  bool holes() {
    for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
      LullAllocator* const allocator = LullThreadLocalData::allocator(thread);
      for (uint32_t id = 0; id < LullAllocator::MaxRuns; id++) {
        if (allocator->is_listed(id) && allocator->_storage[id]._start >= LullGeometry::LinesPerBlock) {
          uint32_t* const start = &allocator->_storage[id]._start;
          *start -= LullGeometry::line_in_block(to_line_index(*start)) + 1;
          return true;
        }
      }
    }
    return false;
  }
};

static const struct {
  const char* _name;
  bool        _before_collection;
  bool        (LullHeapBreaker::*_break)();
} faults[] = {
  { "B",          false, &LullHeapBreaker::owners },
  { "H",          true,  &LullHeapBreaker::holes },
  { "Idle",       false, &LullHeapBreaker::idle },
  { "Large",      false, &LullHeapBreaker::large },
  { "Live",       false, &LullHeapBreaker::live },
  { "Marked",     false, &LullHeapBreaker::marked },
  { "Marks",      false, &LullHeapBreaker::marks },
  { "Memory",     false, &LullHeapBreaker::memory },
  { "R",          false, &LullHeapBreaker::old_cards },
  { "Recyclable", false, &LullHeapBreaker::recyclable },
  { "Runs",       false, &LullHeapBreaker::runs },
  { "Slack",      false, &LullHeapBreaker::slack },
  { "Straddler",  false, &LullHeapBreaker::straddler },
  { "Stretches",  true,  &LullHeapBreaker::stretches },
  { "Survivors",  false, &LullHeapBreaker::survivors },
  { "Unswept",    false, &LullHeapBreaker::unswept },
  { "Used",       false, &LullHeapBreaker::used },
  { "Waste",      false, &LullHeapBreaker::waste },
  { "Words",      false, &LullHeapBreaker::words },
  { "Young",      false, &LullHeapBreaker::young },
};

// What those leave out, or tell wrongly, that ask for their names themselves.
static const char* const parts[] = {
  "CleanGiveUp", "CleanHandshake", "CleanKinds", "CleanLate", "CleanLook",               // LullCardCleaner
  "CleanSparse", "CleanWhite",
  "FarForgets", "FarFree", "FarHolds", "FarTrims", "FarYoung",                           // LullFarHeap
  "FarAgain", "FarClean", "FarLines",                                                    // LullFarMarker
  "LateMarkers",                                                                         // LullOldMarker
  "LateRemark", "RemarkChunks", "RemarkLoaders", "RemarkStacks",                         // LullMarkWorker
  "NotesClasses", "NotesMarkers", "NotesPauses",                                         // LullSparseBlocks
  "SweepCards", "SweepLeave", "SweepLines", "SweepTaken", "SweepWords",                  // LullLaterSweep
  "SweepNew"                                                                             // LullYoungSweepTask
};

// A flag of no characters is a null pointer.
static bool is_none(const char* name) {
  return name == nullptr || *name == '\0';
}

bool LullBrokenHeap::is_known(const char* name) {
  if (is_none(name)) {
    return true;
  }
  for (const auto& fault : faults) {
    if (strcmp(fault._name, name) == 0) {
      return true;
    }
  }
  for (const char* part : parts) {
    if (strcmp(part, name) == 0) {
      return true;
    }
  }
  return false;
}

void LullBrokenHeap::break_if_asked(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply,
                                    bool before_collection) {
  assert_at_safepoint();
  if (is_none(LullBreakInvariant)) {
    return;
  }
  LullHeapBreaker breaker(memory, blocks, supply);
  for (const auto& fault : faults) {
    if (fault._before_collection == before_collection && strcmp(fault._name, LullBreakInvariant) == 0 &&
        (breaker.*fault._break)()) {
      log_info(gc, lull)("%s does not hold now", fault._name);
    }
  }
}

#endif // ASSERT
