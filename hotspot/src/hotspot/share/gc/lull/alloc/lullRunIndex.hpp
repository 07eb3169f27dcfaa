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

#ifndef SHARE_GC_LULL_ALLOC_LULLRUNINDEX_HPP
#define SHARE_GC_LULL_ALLOC_LULLRUNINDEX_HPP

#include "utilities/globalDefinitions.hpp"

// How a run table finds the first non-empty list at or behind a given one. Lists are
// numbered 1 .. N by the length of their runs; list N has the rest.
enum class LullRunSearch {
  Traverse,   // look at one list after the other
  NextHit,    // Next Hit Table (thesis of 2005, chapter 3): one load; costs an update of
              // all entries that point to a list when it becomes empty or non-empty
  Bitmap,     // a bit for each non-empty list and one for each word of them: two
              // find-first-set at most, updates of two words at most
  FirstFit    // one list for all lengths, searched in its order (thesis, section 2.4.1)
};

// The index for one way to search. heads are the first runs of the lists by their
// numbers, None where a list is empty; an index that keeps state of its own must be told
// of changes between empty and non-empty, and is right again after rebuild().
//
//   clear()                             all lists are empty
//   first_non_empty(list, heads)        the first one F with list <= F < N; N if there is
//                                       none, be list N empty or not. 1 <= list < N
//   became_empty(list), became_non_empty(list)
//                                       1 <= list < N: list N is where a search that
//                                       finds nothing ends, so it has no bit or entry
//   rebuild(heads)
//   verify(heads)                       nullptr, or what is wrong
template <uint32_t N, LullRunSearch Search, typename Counters>
class LullRunIndex;

template <uint32_t N, typename Counters>
class LullRunIndex<N, LullRunSearch::Traverse, Counters> {
public:
  void clear() {}
  uint32_t first_non_empty(uint32_t list, const uint32_t* heads, const Counters& counters) const;
  void became_empty(uint32_t, const Counters& counters)     { counters.list_became_empty(); }
  void became_non_empty(uint32_t, const Counters& counters) { counters.list_became_non_empty(); }
  void rebuild(const uint32_t*, const Counters&) {}
  const char* verify(const uint32_t*) const { return nullptr; }
};

// All runs are in list N, which needs no index.
template <uint32_t N, typename Counters>
class LullRunIndex<N, LullRunSearch::FirstFit, Counters> {
public:
  void clear() {}
  uint32_t first_non_empty(uint32_t, const uint32_t*, const Counters&) const { return N; }
  void became_empty(uint32_t, const Counters&) {}
  void became_non_empty(uint32_t, const Counters&) {}
  void rebuild(const uint32_t*, const Counters&) {}
  const char* verify(const uint32_t*) const { return nullptr; }
};

//   next_hit[s]     the smallest non-empty list F >= s, N if there is none
//
// The three conditions that verify() checks:
//   next_hit[s] >= s
//   next_hit never decreases with s
//   next_hit[s] == s if and only if list s is not empty (or s == N)
template <uint32_t N, typename Counters>
class LullRunIndex<N, LullRunSearch::NextHit, Counters> {
private:
  uint16_t _next_hit[N + 1];    // [0] is unused

public:
  void clear();
  uint32_t first_non_empty(uint32_t list, const uint32_t*, const Counters&) const { return _next_hit[list]; }
  void became_empty(uint32_t list, const Counters& counters);
  void became_non_empty(uint32_t list, const Counters& counters);
  void rebuild(const uint32_t* heads, const Counters& counters);
  const char* verify(const uint32_t* heads) const;
};

// Bit list % 64 of word list / 64 is set if and only if the list is not empty; bit w of the
// summary is set if and only if word w is not 0.
template <uint32_t N, typename Counters>
class LullRunIndex<N, LullRunSearch::Bitmap, Counters> {
private:
  static const uint32_t Words = N / 64 + 1;

  uint64_t _summary;
  uint64_t _words[Words];

public:
  void clear();
  uint32_t first_non_empty(uint32_t list, const uint32_t*, const Counters&) const;
  void became_empty(uint32_t list, const Counters& counters);
  void became_non_empty(uint32_t list, const Counters& counters);
  void rebuild(const uint32_t* heads, const Counters& counters);
  const char* verify(const uint32_t* heads) const;
};

#endif // SHARE_GC_LULL_ALLOC_LULLRUNINDEX_HPP
