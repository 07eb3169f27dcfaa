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

#ifndef SHARE_GC_LULL_ALLOC_LULLRUNINDEX_INLINE_HPP
#define SHARE_GC_LULL_ALLOC_LULLRUNINDEX_INLINE_HPP

#include "gc/lull/alloc/lullRunIndex.hpp"

#include "utilities/count_trailing_zeros.hpp"
#include "utilities/debug.hpp"

// Traverse

template <uint32_t N, typename Counters>
inline uint32_t LullRunIndex<N, LullRunSearch::Traverse, Counters>::first_non_empty(uint32_t list, const uint32_t* heads,
                                                                                    const Counters& counters) const {
  uint32_t found = list;
  while (found < N && heads[found] == UINT32_MAX) {
    found++;
  }
  counters.passed_lists(found - list);
  return found;
}

// Next Hit Table

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::NextHit, Counters>::clear() {
  static_assert(N <= UINT16_MAX, "a list number is 16 bits wide");
  for (uint32_t s = 0; s <= N; s++) {
    _next_hit[s] = N;
  }
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::NextHit, Counters>::became_non_empty(uint32_t list, const Counters& counters) {
  assert(list > 0 && list < N, "list %u has no entry that changes", list);
  // Entries from here down to the next smaller non-empty list now hit this one.
  uint32_t s = list;
  for (; s > 0 && _next_hit[s] != s; s--) {
    _next_hit[s] = (uint16_t)list;
  }
  counters.list_became_non_empty();
  counters.wrote_entries(list - s);
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::NextHit, Counters>::became_empty(uint32_t list, const Counters& counters) {
  assert(list > 0 && list < N, "list %u has no entry that changes", list);
  const uint16_t next = _next_hit[list + 1];
  uint32_t s = list;
  for (; s > 0 && _next_hit[s] == list; s--) {
    _next_hit[s] = next;
  }
  counters.list_became_empty();
  counters.wrote_entries(list - s);
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::NextHit, Counters>::rebuild(const uint32_t* heads, const Counters& counters) {
  uint16_t hit = N;
  for (uint32_t s = N; s > 0; s--) {
    if (heads[s] != UINT32_MAX) {
      hit = (uint16_t)s;
    }
    _next_hit[s] = hit;
  }
  counters.rebuilt();
}

template <uint32_t N, typename Counters>
inline const char* LullRunIndex<N, LullRunSearch::NextHit, Counters>::verify(const uint32_t* heads) const {
  uint32_t above = N;
  for (uint32_t s = N; s > 0; s--) {
    if (_next_hit[s] < s) {
      return "a next hit is shorter than asked for";
    }
    if (_next_hit[s] > above) {
      return "the next hits are not in order";
    }
    if (s < N && (_next_hit[s] == s) != (heads[s] != UINT32_MAX)) {
      return "a next hit does not agree with its list";
    }
    above = _next_hit[s];
  }
  return nullptr;
}

// Bitmap

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::Bitmap, Counters>::clear() {
  static_assert(Words <= 64, "the summary is one word");
  _summary = 0;
  for (uint32_t w = 0; w < Words; w++) {
    _words[w] = 0;
  }
}

template <uint32_t N, typename Counters>
inline uint32_t LullRunIndex<N, LullRunSearch::Bitmap, Counters>::first_non_empty(uint32_t list, const uint32_t*,
                                                                                  const Counters&) const {
  uint32_t w = list / 64;
  uint64_t lists = _words[w] & (~(uint64_t)0 << (list % 64));
  if (lists == 0) {
    // By two shifts, because one by 64 is undefined.
    const uint64_t words = _summary & (~(uint64_t)0 << w << 1);
    if (words == 0) {
      return N;
    }
    w = count_trailing_zeros(words);
    lists = _words[w];
  }
  return w * 64 + count_trailing_zeros(lists);
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::Bitmap, Counters>::became_empty(uint32_t list, const Counters& counters) {
  assert(list > 0 && list < N, "list %u has no bit", list);
  const uint32_t w = list / 64;
  _words[w] &= ~((uint64_t)1 << (list % 64));
  uint32_t written = 1;
  if (_words[w] == 0) {
    _summary &= ~((uint64_t)1 << w);
    written = 2;
  }
  counters.list_became_empty();
  counters.wrote_entries(written);
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::Bitmap, Counters>::became_non_empty(uint32_t list, const Counters& counters) {
  assert(list > 0 && list < N, "list %u has no bit", list);
  const uint32_t w = list / 64;
  _words[w] |= (uint64_t)1 << (list % 64);
  _summary |= (uint64_t)1 << w;
  counters.list_became_non_empty();
  counters.wrote_entries(2);
}

template <uint32_t N, typename Counters>
inline void LullRunIndex<N, LullRunSearch::Bitmap, Counters>::rebuild(const uint32_t* heads, const Counters& counters) {
  clear();
  for (uint32_t list = 1; list < N; list++) {
    if (heads[list] != UINT32_MAX) {
      _words[list / 64] |= (uint64_t)1 << (list % 64);
      _summary |= (uint64_t)1 << (list / 64);
    }
  }
  counters.rebuilt();
}

template <uint32_t N, typename Counters>
inline const char* LullRunIndex<N, LullRunSearch::Bitmap, Counters>::verify(const uint32_t* heads) const {
  for (uint32_t list = 0; list < Words * 64; list++) {
    const bool expected = list > 0 && list < N && heads[list] != UINT32_MAX;
    if (((_words[list / 64] >> (list % 64) & 1) != 0) != expected) {
      return "a bit does not agree with its list";
    }
  }
  for (uint32_t w = 0; w < 64; w++) {
    if ((_summary >> w & 1) != (uint64_t)(w < Words && _words[w] != 0)) {
      return "a bit of the summary does not agree with its word";
    }
  }
  return nullptr;
}

#endif // SHARE_GC_LULL_ALLOC_LULLRUNINDEX_INLINE_HPP
