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

#include "gc/lull/lull_globals.hpp"
#include "gc/lull/study/lullObjectChunks.hpp"
#include "gc/lull/study/lullObjectSpace.hpp"
#include "gc/lull/study/lullSegregatedSpace.inline.hpp"
#include "utilities/bitMap.hpp"

#include <string.h>

LullObjectSpace* LullObjectSpace::_of_heap = nullptr;

template <typename Space>
class LullObjectSpaceOf final : public LullObjectSpace {
private:
  HeapWord* const _bottom;
  CHeapBitMap     _objects;
  Space           _space;

public:
  LullObjectSpaceOf(HeapWord* bottom, uint32_t words, MarkBitMap* marks)
    : _bottom(bottom),
      _objects(words, mtGC),
      _space(LullObjectChunks(bottom, words, &_objects, marks), words) {}

  HeapWord* allocate(size_t words) override {
    if (words > _space.words()) {
      return nullptr;
    }
    const uint32_t word = _space.allocate(MAX2((uint32_t)words, Space::MinWords));
    return word == Space::None ? nullptr : _bottom + word;
  }

  void sweep() override                                   { _space.sweep(); }
  bool coalesce() override                                { return _space.coalesce(); }
  size_t used_bytes() const override                      { return (size_t)(_space.words() - _space.free_words()) * HeapWordSize; }
  bool is_object(const HeapWord* addr) const override     { return addr < _bottom + _space.words() && _objects.at(pointer_delta(addr, _bottom)); }
  const LullRunCounters& counters() const override        { return _space.counters(); }
  const char* verify() const override                     { return _space.verify(); }
};

static const char* const SearchNames[] = { "traverse", "next-hit", "bitmap", "first-fit" };       // as LullRunSearch
static const char* const CoalescingNames[] = { "never", "deferred", "immediate" };                // as LullCoalescing

template <size_t Count>
static int index_of(const char* const (&names)[Count], const char* name) {
  for (size_t i = 0; i < Count; i++) {
    if (strcmp(names[i], name) == 0) {
      return (int)i;
    }
  }
  return -1;
}

const size_t LullObjectSpace::MaxBytes =
  LullSegregatedSpace<128, LullRunSearch::NextHit, LullCoalescing::Immediate>::MaxWords * sizeof(HeapWord);

bool LullObjectSpace::is_search(const char* name)      { return index_of(SearchNames, name) >= 0; }
bool LullObjectSpace::is_coalescing(const char* name)  { return index_of(CoalescingNames, name) >= 0; }

bool LullObjectSpace::is_number_of_lists(uint lists) {
  return lists == 32 || lists == 64 || lists == 128 || lists == 256 || lists == 512;
}

template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing>
static LullObjectSpace* make_space(HeapWord* bottom, uint32_t words, MarkBitMap* marks) {
  return new LullObjectSpaceOf<LullSegregatedSpace<N, Search, Coalescing, LullRunCounters, LullObjectChunks>>(bottom, words, marks);
}

template <uint32_t N, LullRunSearch Search>
static LullObjectSpace* make_by_coalescing(HeapWord* bottom, uint32_t words, MarkBitMap* marks) {
  switch ((LullCoalescing)index_of(CoalescingNames, LullSegregatedCoalescing)) {
    case LullCoalescing::Never:     return make_space<N, Search, LullCoalescing::Never>(bottom, words, marks);
    case LullCoalescing::Deferred:  return make_space<N, Search, LullCoalescing::Deferred>(bottom, words, marks);
    case LullCoalescing::Immediate: return make_space<N, Search, LullCoalescing::Immediate>(bottom, words, marks);
  }
  return nullptr;
}

template <LullRunSearch Search>
static LullObjectSpace* make_by_lists(HeapWord* bottom, uint32_t words, MarkBitMap* marks) {
  switch (LullSegregatedLists) {
    case 32:  return make_by_coalescing<32, Search>(bottom, words, marks);
    case 64:  return make_by_coalescing<64, Search>(bottom, words, marks);
    case 128: return make_by_coalescing<128, Search>(bottom, words, marks);
    case 256: return make_by_coalescing<256, Search>(bottom, words, marks);
    case 512: return make_by_coalescing<512, Search>(bottom, words, marks);
  }
  return nullptr;
}

LullObjectSpace* LullObjectSpace::make(HeapWord* bottom, size_t words, MarkBitMap* marks) {
  assert(words * sizeof(HeapWord) <= MaxBytes, "%zu words", words);
  const uint32_t count = (uint32_t)words;
  switch ((LullRunSearch)index_of(SearchNames, LullSegregatedSearch)) {
    case LullRunSearch::Traverse: return make_by_lists<LullRunSearch::Traverse>(bottom, count, marks);
    case LullRunSearch::NextHit:  return make_by_lists<LullRunSearch::NextHit>(bottom, count, marks);
    case LullRunSearch::Bitmap:   return make_by_lists<LullRunSearch::Bitmap>(bottom, count, marks);
    // One list, whatever their number is said to be.
    case LullRunSearch::FirstFit: return make_by_coalescing<2, LullRunSearch::FirstFit>(bottom, count, marks);
  }
  return nullptr;
}
