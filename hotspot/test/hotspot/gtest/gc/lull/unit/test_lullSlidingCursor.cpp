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

// Links: gc/lull/heap/lullGeometry.cpp

#include "gc/lull/collect/lullSlidingCursor.hpp"
#include "gc/lull/unit/lullTestHeapBase.hpp"
#include "unittest.hpp"

#include <random>
#include <vector>

// Copies, because test macros take references to their arguments.
static const size_t   BlockWords = LullGeometry::WordsPerBlock;
static const size_t   MaxStraddler = LullGeometry::MaxStraddlerWords;
static const uint32_t SpanBlocks = 1u << LullGeometry::LogBlocksPerSpan;

class LullSlidingCursorTest : public ::testing::Test {
protected:
  const LullTestHeapBase _heap_base;

  static HeapWord* start_of(uint32_t block) { return LullGeometry::start_of(to_block_index(block)); }
};

TEST_F(LullSlidingCursorTest, a_straddler_goes_on_in_the_next_block) {
  LullSlidingCursor cursor;
  EXPECT_FALSE(cursor.can_straddle());
  cursor.take_block(BlockWords - 100);
  EXPECT_EQ(cursor.room(), 100u);
  ASSERT_TRUE(cursor.can_straddle());
  cursor.take_across(600);
  EXPECT_EQ(cursor.top(), start_of(1) + 500);
  EXPECT_EQ(cursor.next(), 2u);
  // A long one, over several.
  EXPECT_EQ(cursor.place_straddler(MaxStraddler, start_of(20)), start_of(1) + 500);
  EXPECT_EQ(cursor.top(), start_of(11) + 500);
  EXPECT_EQ(cursor.next(), 12u);
}

TEST_F(LullSlidingCursorTest, what_stays_is_not_straddled) {
  LullSlidingCursor cursor;
  cursor.take_block(BlockWords - 100);
  cursor.skip_to(5);
  EXPECT_FALSE(cursor.can_straddle());
  EXPECT_EQ(cursor.place_straddler(600, start_of(7)), start_of(5));
  // What fits before it goes there: this block is full from here on, the other one is not.
  cursor = LullSlidingCursor();
  cursor.take_block(BlockWords - 700);
  cursor.skip_to(5);
  EXPECT_EQ(cursor.place_straddler(600, start_of(7)), start_of(1) - 700);
  // Nor are large objects.
  EXPECT_EQ(cursor.take_blocks(3), 5u);
  EXPECT_FALSE(cursor.can_straddle());
  EXPECT_EQ(cursor.room(), 100u);
}

TEST_F(LullSlidingCursorTest, behind_the_border_of_a_span_the_chain_breaks) {
  LullSlidingCursor cursor;
  cursor.skip_to(SpanBlocks - 1);
  cursor.take_block(BlockWords - 300);
  EXPECT_EQ(cursor.place_straddler(600, start_of(SpanBlocks + 9)), start_of(SpanBlocks) - 300);
  EXPECT_FALSE(cursor.can_straddle());
  cursor.take(200);                   // shorter objects go on
  EXPECT_EQ(cursor.place_straddler(BlockWords, start_of(SpanBlocks + 9)), start_of(SpanBlocks + 1));
  cursor.take_block(100);
  EXPECT_TRUE(cursor.can_straddle());
  // But nothing moves up for that.
  cursor = LullSlidingCursor();
  cursor.skip_to(SpanBlocks - 1);
  cursor.take_block(BlockWords - 300);
  cursor.take_across(600);
  EXPECT_EQ(cursor.place_straddler(BlockWords, start_of(SpanBlocks) + 400), start_of(SpanBlocks) + 300);
  EXPECT_TRUE(cursor.can_straddle());
}

TEST_F(LullSlidingCursorTest, what_would_move_up_is_not_placed) {
  LullSlidingCursor cursor;
  cursor.take_block(BlockWords - 100);
  cursor.skip_to(5);
  EXPECT_EQ(cursor.place_straddler(600, start_of(4)), nullptr);
  EXPECT_EQ(cursor.next(), 5u);
}

// A heap of objects, in order of addresses.
struct SlidingObject {
  HeapWord* _start;
  size_t    _words;
  bool      _may_straddle;
  bool      _is_large;       // in blocks of its own
};

struct SlidingHeap {
  std::vector<bool>          _stays;      // by block
  std::vector<SlidingObject> _objects;    // none in blocks that stay

  size_t words() const {
    size_t words = 0;
    for (const SlidingObject& object : _objects) {
      words += object._words;
    }
    return words;
  }
};

class LullRandomSlidingTest : public LullSlidingCursorTest {
protected:
  static const uint32_t Blocks = 400;

  std::mt19937 _random;

  LullRandomSlidingTest() : _random(4711) {}

  size_t random(size_t from, size_t upto) { return from + _random() % (upto - from + 1); }

  bool is_free(const SlidingHeap& heap, HeapWord* start, size_t words) const {
    const uint32_t last = untype(LullGeometry::block_of(start + words - 1));
    for (uint32_t i = untype(LullGeometry::block_of(start)); i <= last; i++) {
      if (i >= Blocks || heap._stays[i]) {
        return false;
      }
    }
    return true;
  }

  // Objects of all kinds, and straddlers of an earlier slide.
  SlidingHeap make_heap(bool with_what_stays) {
    SlidingHeap heap;
    for (uint32_t i = 0; i < Blocks; i++) {
      heap._stays.push_back(with_what_stays && random(0, 15) == 0);
    }
    HeapWord* top = start_of(0);
    while (top < start_of(Blocks)) {
      const LullBlockIndex block = LullGeometry::block_of(top);
      if (heap._stays[untype(block)] || random(0, 20) == 0) {
        top = LullGeometry::end_of(block);
      } else if (random(0, 9) == 0) {
        top += random(1, 3000);    // dead
      } else if (top == LullGeometry::start_of(block) && random(0, 2) == 0) {
        const size_t words = random(2049, 14 * BlockWords);
        if (is_free(heap, top, words)) {
          heap._objects.push_back({top, words, random(0, 1) == 0 && words <= MaxStraddler, true});
          top = LullGeometry::end_of(LullGeometry::block_of(top + words - 1));
        }
      } else {
        const bool may_straddle = random(0, 3) == 0;
        const size_t words = may_straddle ? random(256, random(0, 5) == 0 ? MaxStraddler : 2000) : random(2, 600);
        if (is_free(heap, top, words) &&
            (may_straddle || !LullGeometry::leaves_block(top, words))) {
          heap._objects.push_back({top, words, may_straddle, false});
          top += words;
        } else {
          top += random(1, 100);
        }
      }
    }
    return heap;
  }

  // As LullSlidingPlan, but one object after the other.
  static HeapWord* place(LullSlidingCursor* cursor, SlidingObject* object) {
    if (object->_is_large) {
      HeapWord* const to = object->_may_straddle ? cursor->place_straddler(object->_words, object->_start) : nullptr;
      object->_is_large = to == nullptr;
      return to != nullptr ? to : start_of(cursor->take_blocks((uint32_t)LullGeometry::blocks_for(object->_words)));
    }
    if (LullGeometry::leaves_block(object->_start, object->_words)) {
      return cursor->place_straddler(object->_words, object->_start);
    }
    if (object->_words <= cursor->room()) {
      cursor->take(object->_words);
    } else if (object->_may_straddle && cursor->can_straddle()) {
      cursor->take_across(object->_words);
    } else {
      cursor->take_block(object->_words);
    }
    return cursor->top() - object->_words;
  }

  SlidingHeap slide(const SlidingHeap& heap) {
    SlidingHeap result = heap;
    LullSlidingCursor cursor;
    uint32_t block = 0;
    for (SlidingObject& object : result._objects) {
      for (; block <= untype(LullGeometry::block_of(object._start)); block++) {
        if (heap._stays[block]) {
          cursor.skip_to(block + 1);
        }
      }
      object._start = place(&cursor, &object);
      EXPECT_NE(object._start, nullptr);
    }
    return result;
  }

  void check(const SlidingHeap& before, const SlidingHeap& after) {
    const HeapWord* end = start_of(0);
    for (size_t i = 0; i < after._objects.size(); i++) {
      const SlidingObject& object = after._objects[i];
      const SlidingObject& old = before._objects[i];
      ASSERT_LE(object._start, old._start) << "object " << i << " moves up";
      ASSERT_TRUE(is_free(after, object._start, object._words)) << "object " << i << " lies on what stays";
      ASSERT_TRUE(object._is_large || !LullGeometry::leaves_block(object._start, object._words) ||
                  object._may_straddle) << "object " << i;
      ASSERT_TRUE(!object._is_large || object._start == LullGeometry::start_of(LullGeometry::block_of(object._start)));
      // A large object may leave room before it, to which smaller ones go.
      if (!object._is_large && object._start < end) {
        for (size_t j = 0; j < i; j++) {
          const SlidingObject& other = after._objects[j];
          ASSERT_TRUE(other._start + other._words <= object._start || object._start + object._words <= other._start)
            << "objects " << j << " and " << i;
        }
      }
      end = MAX2(end, (const HeapWord*)object._start + object._words);
    }
  }
};

TEST_F(LullRandomSlidingTest, all_objects_move_down_and_none_lies_where_it_must_not) {
  for (int i = 0; i < 200; i++) {
    const SlidingHeap heap = make_heap(i % 2 == 0);
    const SlidingHeap slid = slide(heap);
    check(heap, slid);
    check(slid, slide(slid));
    if (HasFatalFailure()) {
      FAIL() << "heap " << i;
    }
  }
}

// Arrays of 16 KB and a header, each in a block of its own, of which it fills half.
TEST_F(LullRandomSlidingTest, arrays_of_half_a_block_fill_all) {
  SlidingHeap heap;
  heap._stays.assign(Blocks, false);
  for (uint32_t i = 0; i < Blocks; i++) {
    heap._objects.push_back({start_of(i), BlockWords / 2 + 2, true, true});
  }
  const SlidingHeap slid = slide(heap);
  check(heap, slid);
  const SlidingObject& last = slid._objects.back();
  const size_t blocks = untype(LullGeometry::block_of(last._start + last._words - 1)) + 1;
  EXPECT_LE(blocks * BlockWords, heap.words() + heap.words() / 50);
}

// Of ten blocks each, without any slack: no block is left free between two of them, wherever borders of spans are.
TEST_F(LullRandomSlidingTest, long_arrays_leave_one_run) {
  SlidingHeap heap;
  heap._stays.assign(Blocks, false);
  for (uint32_t i = 10; i + 10 <= Blocks; i += 10) {
    heap._objects.push_back({start_of(i) + (i == 10 ? 0 : 1), MaxStraddler, true, i == 10});
  }
  heap._objects.pop_back();    // it would lie across the end of the heap
  const SlidingHeap slid = slide(heap);
  check(heap, slid);
  const SlidingObject* before = nullptr;
  for (const SlidingObject& object : slid._objects) {
    if (before != nullptr) {
      const uint32_t last = untype(LullGeometry::block_of(before->_start + before->_words - 1));
      EXPECT_LE(untype(LullGeometry::block_of(object._start)), last + 1);
    }
    before = &object;
  }
}

// Arrays that fill the heap without a gap: what is pinned in the middle keeps some spans, not all.
TEST_F(LullRandomSlidingTest, chains_of_straddlers_are_short) {
  SlidingHeap heap;
  heap._stays.assign(Blocks, false);
  for (uint32_t i = 0; i < Blocks; i++) {
    heap._objects.push_back({start_of(i), BlockWords / 2 + 2, true, true});
  }
  const SlidingHeap slid = slide(slide(heap));
  uint32_t chain = 1;
  for (size_t i = 1; i < slid._objects.size(); i++) {
    const SlidingObject& last = slid._objects[i - 1];
    const bool is_tied = LullGeometry::block_of(slid._objects[i]._start) == LullGeometry::block_of(last._start + last._words - 1);
    const uint32_t blocks = untype(LullGeometry::block_of(slid._objects[i]._start + slid._objects[i]._words - 1)) -
                            untype(LullGeometry::block_of(slid._objects[i]._start));
    chain = is_tied ? chain + blocks : 1;
    ASSERT_LE(chain, SpanBlocks + 2) << "array " << i;
  }
}
