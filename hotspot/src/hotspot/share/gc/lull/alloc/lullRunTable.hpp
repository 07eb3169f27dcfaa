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

#ifndef SHARE_GC_LULL_ALLOC_LULLRUNTABLE_HPP
#define SHARE_GC_LULL_ALLOC_LULLRUNTABLE_HPP

#include "gc/lull/alloc/lullRunCounters.hpp"
#include "gc/lull/alloc/lullRunIndex.hpp"
#include "utilities/globalDefinitions.hpp"

// A run of free units: lines of a block, or blocks of the heap. The storage of a
// run belongs to the user of the table, which knows it by its number (id) there.
struct LullRun {
  uint32_t _start;    // first unit
  uint32_t _length;   // units
  uint32_t _next;     // ids, LullRunTable::None at the end of the list
  uint32_t _prev;
};

// Finds the shortest free run that is long enough: segregated lists by length
// (thesis of 2005, chapter 3), with an index over them that tells the first one
// that is not empty. The collector's tables use a bitmap, whose upkeep costs least where
// lists become empty and non-empty all the time; the others are for comparison (docs/measurements/allocator-study.md).
//
//   list 1 .. N-1   runs of exactly that length, last in, first out
//   list N          runs of N units or more, searched for the best fit
//
// With LullRunSearch::FirstFit there is one list, number 1, first in, first out, and
// the run that is found is the first one that is long enough.
//
// A list that becomes empty or non-empty changes the index; a user that adds many runs
// at once adds them with add_batched() and rebuilds the index in one pass.
//
// Runs is what knows a run by its id: an array, or whatever has an operator[].
//
// Not synchronized: a table has one owner at a time.

template <uint32_t N, LullRunSearch Search = LullRunSearch::NextHit,
          typename Counters = LullNoRunCounters, typename Runs = LullRun*>
class LullRunTable : private Counters {
public:
  static const uint32_t None = UINT32_MAX;

  // The number of the last list.
  static const uint32_t LastList = Search == LullRunSearch::FirstFit ? 1 : N;

private:
  static const bool FirstFit = Search == LullRunSearch::FirstFit;

  typedef LullRunIndex<LastList, Search, Counters> Index;

  const Runs     _runs;               // by id; not owned
  uint32_t       _count;              // runs in all lists
  uint32_t       _heads[LastList + 1];    // [0] is the last run of the one list if there is one list, else unused
  Index          _index;

  static uint32_t list_of(uint32_t length) { return length < LastList ? length : LastList; }

  void link(uint32_t list, uint32_t id);
  void unlink(uint32_t list, uint32_t id);
  uint32_t best_fit_in_last_list(uint32_t length) const;
  uint32_t first_fit_in_last_list(uint32_t length) const;

public:
  explicit LullRunTable(Runs runs);

  // Forgets all runs.
  void clear();

  uint32_t count() const { return _count; }

  const Counters& counters() const { return *this; }

  // Adds the run with number id, whose _start and _length are set.
  void add(uint32_t id);
  void add_batched(uint32_t id);
  void rebuild();

  void remove(uint32_t id);

  // The shortest run of at least length units (length >= 1), or the first such one
  // (FirstFit); None if there is none. The run stays in the table.
  uint32_t find(uint32_t length) const;

  // The two steps of find(): the list in which to look; the run there.
  uint32_t find_list(uint32_t length) const;
  uint32_t find_in_list(uint32_t list, uint32_t length) const;

  // The longest run's length, 0 if there is none.
  uint32_t longest() const;

  // Calls f(run) for each run, in the order in which a search sees them; f must not
  // change the table.
  template <typename Function>
  void runs_do(Function f) const;

  // The first run of the last list, None if it is empty.
  uint32_t first_in_last_list() const { return _heads[LastList]; }

  // Returns nullptr, or what is wrong.
  const char* verify() const;
};

#endif // SHARE_GC_LULL_ALLOC_LULLRUNTABLE_HPP
