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

#ifndef SHARE_GC_LULL_HEAP_LULLBLOCK_HPP
#define SHARE_GC_LULL_HEAP_LULLBLOCK_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullLineSet.hpp"

// The states of a block and who may change them:
//
//                        commit (heap grows; supply lock or safepoint)
//        Uncommitted ------------------------------------------> Free
//             ^                                                   | |
//             |  uncommit (heap shrinks; safepoint)               | |
//             +---------------------------------------------------+ |
//                                                                   |
//    Free -> Owned          an allocator takes a whole block (supply lock)
//    Free -> LargeHead,     a large object takes a run of blocks (supply lock)
//            LargeTail ...
//    Free -> Archive        CDS heap objects are loaded (start-up, supply lock)
//    Recyclable -> Owned    an allocator takes the block's free lines (supply)
//    Owned -> Recyclable,   a thread ends, or its local collection has left nothing private
//             Full, Free    in the block (Free: supply lock; else its owner)
//    LargeHead -> Free      a local collection has found the object private and dead (supply lock)
//
//    the sweep of a global collection (safepoint, one worker per block):
//    Owned                   -> Owned        private objects are alive in it, and stay private
//    Owned, Recyclable, Full -> Free         no line is marked
//                            -> Recyclable   some lines are free
//                            -> Full         no hole is long enough to be used, or it has survivors of a young collection
//    LargeHead, LargeTail    -> Free         the object is not marked
//
//    that of a young one, the same of blocks in which there may be something young; but what gets Free or Recyclable, or
//    was Recyclable and is in a stack yet, is Owned in between, until the supply's lists are right (LullSweptBlocks)
//
//    the sliding compaction after it, if there is one (safepoint, one thread; then a second sweep):
//    Free -> Full                 objects of higher blocks have moved in
//    Recyclable, Full -> Free     all of its objects have moved, before others move in
//    Free -> LargeHead, LargeTail, and these -> Free    a large object has moved
//
// Archive blocks stay: their objects are marked through but neither moved nor swept.

enum class LullBlockState : uint8_t {
  Uncommitted,
  Free,
  Owned,
  Recyclable,
  Full,
  LargeHead,
  LargeTail,
  Archive
};

inline const char* to_string(LullBlockState state) {
  switch (state) {
    case LullBlockState::Uncommitted: return "uncommitted";
    case LullBlockState::Free:        return "free";
    case LullBlockState::Owned:       return "owned";
    case LullBlockState::Recyclable:  return "recyclable";
    case LullBlockState::Full:        return "full";
    case LullBlockState::LargeHead:   return "large head";
    case LullBlockState::LargeTail:   return "large tail";
    case LullBlockState::Archive:     return "archive";
  }
  return "unknown";
}

class LullBlock {
private:
  // Lines that were free at the last sweep and have not been handed out since. All
  // others hold objects, or belong to an allocator. Only Recyclable blocks have any, and
  // Owned ones that a collection has left to their thread. While a collection traces, an
  // Owned block's lines of private objects that stay.
  LullLineSet       _free_lines;

  // Objects of this block that native code holds by address (JNI critical). Changed
  // by mutators, read at safepoints. A pinned block is never evacuated.
  volatile uint32_t _pin_count;

  // LargeHead: blocks of the large object that starts here. LargeTail: the index of its
  // head. Else 0.
  uint32_t          _large;

  LullBlockState    _state;

  // Recyclable, and only a collection may copy into its holes until the next one has
  // ended. Set at safepoints; cleared by the one who takes the block or makes it recyclable, too.
  bool              _in_reserve;

  // Recyclable: lines of the longest run of free lines. Written by the one who makes the block recyclable, before anybody can find it
  // (LullRecyclableBlocks), and not changed while it is.
  uint8_t           _longest_hole;

  // Lines that nobody can use though they hold nothing: of a LargeHead, those behind the end of the object, in its
  // last block; of a Full block, those in holes that are too short to be handed out. Else 0. Written with the state;
  // read by anybody, as a figure.
  uint8_t           _slack_lines;

public:
  LullBlockState state() const              { return _state; }
  void set_state(LullBlockState state) {
    _state = state;
    _slack_lines = 0;
  }

  bool is_free() const                      { return _state == LullBlockState::Free; }
  bool is_committed() const                 { return _state != LullBlockState::Uncommitted; }
  bool is_recyclable() const                { return _state == LullBlockState::Recyclable; }
  bool is_in_reserve() const                { return _in_reserve && is_recyclable(); }
  uint longest_hole() const                 { return _longest_hole; }
  uint slack_lines() const                  { return _slack_lines; }
  void set_in_reserve(bool value)           { _in_reserve = value; }
  bool is_large() const                     { return _state == LullBlockState::LargeHead || _state == LullBlockState::LargeTail; }

  // A block of lines holds objects and is swept by lines.
  bool has_lines() const {
    return _state == LullBlockState::Owned ||
           _state == LullBlockState::Recyclable ||
           _state == LullBlockState::Full;
  }

  LullLineSet& free_lines()                 { return _free_lines; }
  const LullLineSet& free_lines() const     { return _free_lines; }

  volatile uint32_t* pin_count_addr()       { return &_pin_count; }
  bool is_pinned() const                    { return _pin_count > 0; }

  uint32_t large_blocks() const             { assert(_state != LullBlockState::LargeTail, "ask its head"); return _large; }
  uint32_t large_head() const               { assert(_state == LullBlockState::LargeTail, "only a tail has a head"); return _large; }

  void set_recyclable() {
    STATIC_ASSERT(LullGeometry::LinesPerBlock <= UINT8_MAX);
    _longest_hole = (uint8_t)_free_lines.longest_run();
    assert(_longest_hole > 0, "a recyclable block has free lines");
    _in_reserve = false;   // it may have been, before it was free
    set_state(LullBlockState::Recyclable);
  }

  // So many of its lines hold nothing.
  void set_full(uint slack_lines) {
    assert(slack_lines < LullGeometry::LinesPerBlock, "it would be free");
    set_state(LullBlockState::Full);
    _slack_lines = (uint8_t)slack_lines;
  }

  void set_large_head(uint32_t blocks) {
    set_state(LullBlockState::LargeHead);
    _large = blocks;
  }

  // The object, of so many words, is known.
  void set_large_words(size_t words) {
    assert(_state == LullBlockState::LargeHead && LullGeometry::blocks_for(words) == _large,
           "%zu words in %u blocks", words, _large);
    _slack_lines = (uint8_t)(_large * LullGeometry::LinesPerBlock - LullGeometry::lines_for(words));
  }

  void set_large_tail(uint32_t head) {
    set_state(LullBlockState::LargeTail);
    _large = head;
  }

  void set_free() {
    set_state(LullBlockState::Free);
    _large = 0;
  }

  // Takes over the state of a block whose objects have been moved here; that is Free then.
  void move_from(LullBlock* from) {
    assert(is_free() && !from->is_pinned(), "objects move to free blocks, and pinned ones stay");
    _free_lines = from->_free_lines;
    _state = from->_state;
    _slack_lines = from->_slack_lines;
    _large = from->_large;
    _in_reserve = false;
    _longest_hole = from->_longest_hole;
    from->_free_lines.clear_all();
    from->set_free();
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLBLOCK_HPP
