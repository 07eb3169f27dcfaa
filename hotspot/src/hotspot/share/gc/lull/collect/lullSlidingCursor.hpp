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

#ifndef SHARE_GC_LULL_COLLECT_LULLSLIDINGCURSOR_HPP
#define SHARE_GC_LULL_COLLECT_LULLSLIDINGCURSOR_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// Where the next object goes when all slide to low addresses: how far blocks are filled. Knows nothing of objects but
// their sizes.
//
//   block 0    1          2          3          4
//   | ####### | ######## | stays    | ###.... | ....
//                                      top  end  next
//
// The block that is being filled ends at end(), where that of another one begins that nothing has gone to yet -
// unless something stays between the two, or a large object has just gone there. Then an object that is too long for
// the rest of the block cannot lie across its end.
//
// What is pinned keeps in place all that is tied to it by straddlers. So behind one that crosses a border of spans no
// other one leaves the block, unless it would have to move up. What is left of that block is for shorter objects.
class LullSlidingCursor {
private:
  uint32_t  _next;      // the first block that nothing has been moved to yet; only what stays is in between
  HeapWord* _top;       // in the block that is being filled,
  HeapWord* _end;       // which ends here; both nullptr: there is none
  bool      _breaks;    // the chain of straddlers ends in that block

  bool is_contiguous() const {
    return _end != nullptr && untype(LullGeometry::block_of(_end - 1)) + 1 == _next;
  }

  // What begins at start lies across the end of that block, or begins another one.
  void go_on(HeapWord* start, size_t words) {
    _top = start + words;
    _next = untype(LullGeometry::block_of(_top - 1)) + 1;
    _end = LullGeometry::start_of(to_block_index(_next));
    _breaks = LullGeometry::leaves_span(start, words);
  }

public:
  LullSlidingCursor() : _next(0), _top(nullptr), _end(nullptr), _breaks(false) {}

  uint32_t next() const  { return _next; }
  HeapWord* top() const  { return _top; }
  size_t room() const    { return (size_t)(_end - _top); }

  // What is in the blocks before this one stays.
  void skip_to(uint32_t block) { _next = block; }

  // In the block that is being filled.
  void take(size_t words) {
    assert(words <= room(), "%zu words, room for %zu", words, room());
    _top += words;
  }

  // From the start of the next block on.
  void take_block(size_t words) {
    assert(words <= LullGeometry::WordsPerBlock, "%zu words", words);
    _top = LullGeometry::start_of(to_block_index(_next));
    _end = _top + LullGeometry::WordsPerBlock;
    _breaks = false;
    _next++;
    _top += words;
  }

  // May an object begin at top() and lie across the end of its block?
  bool can_straddle() const { return room() > 0 && is_contiguous() && !_breaks; }

  // From top() on into the next blocks; the first object of these words crosses.
  void take_across(size_t words) {
    assert(is_contiguous() && words > room() && room() > 0, "something is in between, or it fits");
    go_on(_top, words);
  }

  // For a straddler, which was at this address: where it is to be, nullptr if that would be behind it.
  HeapWord* place_straddler(size_t words, const HeapWord* from) {
    if (words <= room()) {
      take(words);
      return _top - words;
    }
    HeapWord* start = can_straddle() ? _top : LullGeometry::start_of(to_block_index(_next));
    if (start > from && is_contiguous()) {
      start = _top;
    }
    if (start > from) {
      return nullptr;
    }
    go_on(start, words);
    return start;
  }

  // Whole blocks. What is left of the block that is being filled remains.
  uint32_t take_blocks(uint32_t count) {
    _next += count;
    return _next - count;
  }
};

#endif // SHARE_GC_LULL_COLLECT_LULLSLIDINGCURSOR_HPP
