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

#include "gc/lull/heap/lullBlockState.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullLineSet.hpp"

// What is known of one block. Its state is changed by LullBlockTable alone, which asserts who may.
class LullBlock {
  friend class LullBlockTable;
  friend class LullHeapBreaker;    // of debug builds

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

  void set_state(LullBlockState state) {
    _state = state;
    _slack_lines = 0;
  }

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

public:
  LullBlockState state() const              { return _state; }
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

  // The object, of so many words, is known.
  void set_large_words(size_t words) {
    assert(_state == LullBlockState::LargeHead && LullGeometry::blocks_for(words) == _large,
           "%zu words in %u blocks", words, _large);
    _slack_lines = (uint8_t)(_large * LullGeometry::LinesPerBlock - LullGeometry::lines_for(words));
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLBLOCK_HPP
