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

#ifndef SHARE_GC_LULL_ALLOC_LULLRECYCLABLEBLOCKS_HPP
#define SHARE_GC_LULL_ALLOC_LULLRECYCLABLEBLOCKS_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/growableArray.hpp"

// The recyclable blocks that are nobody's, by their longest hole, so that one look finds one whose longest hole is the
// longest there is, or long enough:
//
//   class 0 .. 15   blocks whose longest hole has from 8 * class lines to 7 more: a stack, for what a thread has given
//                   back last is warm
//
// There are three such sets: what mutators may take; the reserve; and what a cycle of concurrent marking has left to be
// swept, which is swept when it is taken.
//
// Any thread may take and give back at any time, without a lock. What is in a block is written before it is given back, and read
// after it was taken; compare-and-swap orders both. Blocks move from set to set at safepoints only.
class LullRecyclableBlocks {
public:
  static const uint LinesPerClass = 8;
  static const uint Classes = LullGeometry::LinesPerBlock / LinesPerClass;

  enum class Part { Mutators, Reserve, Unswept };

private:
  static const uint32_t None = UINT32_MAX;
  static const uint Parts = 3;

  LullBlockTable* const _blocks;
  uint32_t* const       _next;    // by block: the next one in its stack

  // The first block, and above it a number that each change raises: a block that was taken and has come back meanwhile
  // is not taken for the same stack.
  volatile uint64_t     _stacks[Parts][Classes];

  static uint32_t first_of(uint64_t stack) { return (uint32_t)stack; }
  static uint64_t changed(uint64_t stack, uint32_t first) { return (((stack >> 32) + 1) << 32) | first; }

  uint class_of(LullBlockIndex index) const;
  bool pop(Part part, uint hole_class, LullBlockIndex* index);
  void add_at_safepoint(Part part, LullBlockIndex index);

  void clear(Part part);

  // Calls f(part, class, index) for each block. Safepoint only.
  template <typename Function>
  void blocks_do(Function f) const;

public:
  explicit LullRecyclableBlocks(LullBlockTable* table);

  // Safepoint only.
  void clear();

  // What a sweep has found; in the part of those to be swept if it is. Safepoint only, one thread.
  void add_at_safepoint(LullBlockIndex index) {
    add_at_safepoint(_blocks->is_unswept(index) ? Part::Unswept : Part::Mutators, index);
  }

  // All that mutators may take is to be swept; nothing else is any more. Safepoint only, one thread.
  void set_unswept();

  // The same for blocks in order of their addresses, that of the first one lowest: each comes before those of its
  // stack with higher addresses. What is in the stacks lies so, but for what a thread has given back since the last
  // collection. Safepoint only, one thread.
  void merge_at_safepoint(const GrowableArrayCHeap<uint32_t, mtGC>& blocks);

  // Drops what is not recyclable any more; returns how many blocks it has looked at. Safepoint only, one thread.
  size_t drop_owned();

  // A thread gives a block back, which is recyclable now.
  void give_back(LullBlockIndex index);

  // One whose longest hole is the longest there is, if that has at least so many lines rounded down to those of a class.
  bool take_longest(Part part, uint lines, LullBlockIndex* index);

  // One with a hole of so many lines rounded up to those of a class: of these the one with the shortest, or about that.
  bool take_fit(Part part, uint lines, LullBlockIndex* index);

  // As take_fit(), but not rounded: searches one stack. Safepoint only.
  bool take_fit_at_safepoint(Part part, uint lines, LullBlockIndex* index);

  // Puts the blocks with the most free lines, so many that they have about that many together, into the reserve; those
  // that are there already are mutators' again. Returns their number. Safepoint only.
  uint32_t set_reserve(size_t lines);

  // Returns nullptr, or what is wrong. Safepoint only, or while nobody takes or gives back.
  const char* verify() const;
};

#endif // SHARE_GC_LULL_ALLOC_LULLRECYCLABLEBLOCKS_HPP
