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

#ifndef SHARE_GC_LULL_HEAP_LULLLINESET_HPP
#define SHARE_GC_LULL_HEAP_LULLLINESET_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "utilities/count_leading_zeros.hpp"
#include "utilities/count_trailing_zeros.hpp"
#include "utilities/debug.hpp"
#include "utilities/population_count.hpp"

// A set of lines of one block: 128 bits. Used for the free lines of a block, whose
// maximal runs are its holes (invariant H: a hole is whole lines).

class LullLineSet {
private:
  static const uint WordBits  = 64;
  static const uint WordCount = LullGeometry::LinesPerBlock / WordBits;

  uint64_t _bits[WordCount];

  static uint64_t mask_from(uint bit) { return ~uint64_t(0) << bit; }

public:
  static const uint Size = LullGeometry::LinesPerBlock;

  LullLineSet() : _bits() {}

  void clear_all() {
    for (uint i = 0; i < WordCount; i++) {
      _bits[i] = 0;
    }
  }

  void set_all() {
    for (uint i = 0; i < WordCount; i++) {
      _bits[i] = ~uint64_t(0);
    }
  }

  bool contains(uint line) const {
    assert(line < Size, "line %u", line);
    return (_bits[line / WordBits] >> (line % WordBits)) & 1;
  }

  void add(uint line) {
    assert(line < Size, "line %u", line);
    _bits[line / WordBits] |= uint64_t(1) << (line % WordBits);
  }

  void add_range(uint start, uint length) {
    assert(start + length <= Size, "range [%u, %u)", start, start + length);
    for (uint line = start; line < start + length; line++) {
      add(line);
    }
  }

  void remove(const LullLineSet& other) {
    for (uint i = 0; i < WordCount; i++) {
      _bits[i] &= ~other._bits[i];
    }
  }

  // For workers that add lines at the same time, with an atomic instruction.
  volatile uint64_t* word_addr(uint line)       { return &_bits[line / WordBits]; }
  static uint64_t bit_in_word(uint line)        { return uint64_t(1) << (line % WordBits); }

  // The lowest bit of each of eight bytes, in their order: the product has them in its highest byte.
  static uint64_t gather_lowest_bits(uint64_t bytes) {
    return ((bytes & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
  }

  // Replaces 64 lines at once; word w covers lines [64 w, 64 w + 64).
  void set_word(uint w, uint64_t bits) {
    assert(w < WordCount, "word %u", w);
    _bits[w] = bits;
  }

  bool is_empty() const {
    return (_bits[0] | _bits[1]) == 0;
  }

  uint count() const {
    return population_count(_bits[0]) + population_count(_bits[1]);
  }

  // The first member at or after from, Size if there is none.
  uint next_member(uint from) const {
    for (uint w = from / WordBits; w < WordCount; w++) {
      uint64_t word = _bits[w];
      if (w == from / WordBits) {
        word &= mask_from(from % WordBits);
      }
      if (word != 0) {
        return w * WordBits + count_trailing_zeros(word);
      }
    }
    return Size;
  }

  // The first line at or after from that is not a member, Size if there is none.
  uint next_gap(uint from) const {
    for (uint w = from / WordBits; w < WordCount; w++) {
      uint64_t word = ~_bits[w];
      if (w == from / WordBits) {
        word &= mask_from(from % WordBits);
      }
      if (word != 0) {
        return w * WordBits + count_trailing_zeros(word);
      }
    }
    return Size;
  }

  // Calls f(start, length) for each maximal run of members, in line order.
  template <typename Function>
  void runs_do(Function f) const {
    uint start = next_member(0);
    while (start < Size) {
      const uint end = next_gap(start);
      f(start, end - start);
      start = end < Size ? next_member(end) : Size;
    }
  }

  // The length of the longest run of members, 0 if there is none.
  uint longest_run() const {
    uint longest = 0;
    runs_do([&](uint start, uint length) { longest = MAX2(longest, length); });
    return longest;
  }

  // Is there a run of so many members, at least one? Without a loop over the runs: bit i of the set stays while a run of that length
  // starts there, and the length doubles with each shift.
  bool has_run(uint length) const {
    assert(length > 0 && length <= Size, "run of %u", length);
    uint64_t low = _bits[0];
    uint64_t high = _bits[1];
    for (uint known = 1; known < length && (low | high) != 0; ) {
      const uint shift = MIN2(known, length - known);
      if (shift < WordBits) {
        low &= (low >> shift) | (high << (WordBits - shift));
        high &= high >> shift;
      } else {
        low &= high >> (shift - WordBits);
        high = 0;
      }
      known += shift;
    }
    return (low | high) != 0;
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLLINESET_HPP
