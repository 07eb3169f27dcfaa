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

#ifndef SHARE_GC_LULL_LULLRUNTABLE_HPP
#define SHARE_GC_LULL_LULLRUNTABLE_HPP

#include "utilities/globalDefinitions.hpp"

// A run of free units: lines of a block, or blocks of the heap. The storage of a
// run belongs to the user of the table, which knows it by its number (id) there.
struct LullRun {
  uint32_t _start;    // first unit
  uint32_t _length;   // units
  uint32_t _next;     // ids, LullRunTable::None at the end of the list
  uint32_t _prev;
};

// Finds the shortest free run that is long enough in one look-up: segregated lists
// by length with a Next Hit Table over them (thesis of 2005, chapter 3).
//
//   list 1 .. N-1   runs of exactly that length
//   list N          runs of N units or more, searched for the best fit
//
//   next_hit[s]     the smallest non-empty list F >= s, N if there is none
//
// The three conditions that verify() checks:
//   next_hit[s] >= s
//   next_hit never decreases with s
//   next_hit[s] == s if and only if list s is not empty (or s == N)
//
// A look-up is one load. A list that becomes empty or non-empty changes the run of
// entries that point to it; a user that adds many runs at once adds them with
// add_batched() and rebuilds the table in one pass.
//
// Not synchronized: a table has one owner at a time.

template <uint32_t N>
class LullRunTable {
public:
  static const uint32_t None = UINT32_MAX;

private:
  LullRun* const _runs;               // by id; not owned
  uint32_t       _count;              // runs in all lists
  uint32_t       _heads[N + 1];       // [0] is unused
  uint16_t       _next_hit[N + 1];    // [0] is unused

  static uint32_t list_of(uint32_t length) { return length < N ? length : N; }

  void link(uint32_t list, uint32_t id);
  void unlink(uint32_t list, uint32_t id);
  void list_became_empty(uint32_t list);
  void list_became_non_empty(uint32_t list);
  uint32_t best_fit_in_last_list(uint32_t length) const;

public:
  explicit LullRunTable(LullRun* runs);

  // Forgets all runs.
  void clear();

  uint32_t count() const { return _count; }

  // Adds the run with number id, whose _start and _length are set.
  void add(uint32_t id);
  void add_batched(uint32_t id);
  void rebuild();

  void remove(uint32_t id);

  // The shortest run of at least length units (length >= 1), None if there is none.
  // The run stays in the table.
  uint32_t find(uint32_t length) const;

  // The longest run's length, 0 if there is none.
  uint32_t longest() const;

  // Calls f(run) for each run; f must not change the table.
  template <typename Function>
  void runs_do(Function f) const;

  // Returns nullptr, or what is wrong.
  const char* verify() const;
};

#endif // SHARE_GC_LULL_LULLRUNTABLE_HPP
