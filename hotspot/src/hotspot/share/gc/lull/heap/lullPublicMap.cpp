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

#include "gc/lull/heap/lullPublicMap.hpp"
#include "runtime/atomic.hpp"

bool LullPublicMap::_tracking_suspended = false;

void LullPublicMap::set_bits(volatile uint32_t* word, uint32_t bits) {
  if ((*word & bits) != bits) {
    Atomic::fetch_then_or(word, bits, memory_order_relaxed);
  }
}

void LullPublicMap::publish(const HeapWord* start, size_t words) {
  assert(words > 0, "an object has words");
  volatile uint32_t* word = word_of(LullGeometry::line_of(start));
  volatile uint32_t* const last = word_of(LullGeometry::line_of(start + words - 1));
  const uint32_t from = AllPublic << bit_of(start);
  const uint32_t upto = AllPublic >> (31 - bit_of(start + words - 1));
  if (word == last) {
    set_bits(word, from & upto);
    return;
  }
  set_bits(word, from);
  for (word++; word < last; word++) {
    *word = AllPublic;
  }
  set_bits(last, upto);
}

bool LullPublicMap::is_extent_public(const HeapWord* start, size_t words) const {
  if (_tracking_suspended) {
    return true;
  }
  volatile uint32_t* word = word_of(LullGeometry::line_of(start));
  volatile uint32_t* const last = word_of(LullGeometry::line_of(start + words - 1));
  const uint32_t from = AllPublic << bit_of(start);
  const uint32_t upto = AllPublic >> (31 - bit_of(start + words - 1));
  if (word == last) {
    return (~*word & from & upto) == 0;
  }
  if ((~*word & from) != 0 || (~*last & upto) != 0) {
    return false;
  }
  for (word++; word < last; word++) {
    if (*word != AllPublic) {
      return false;
    }
  }
  return true;
}

void LullPublicMap::set_lines(LullLineIndex first, size_t count, bool is_public) {
  // Nobody else writes them meanwhile, and other words are the only ones that others read. Not volatile, so that many are written at once.
  memset(const_cast<uint32_t*>(word_of(first)), is_public ? 0xff : 0, count * sizeof(uint32_t));
}

void LullPublicMap::set_blocks(LullBlockIndex first, size_t count, bool is_public) {
  set_lines(LullGeometry::first_line(first), count * LullGeometry::LinesPerBlock, is_public);
}

void LullPublicMap::move_block(LullBlockIndex from, LullBlockIndex to) {
  assert(from != to, "block %u would lose its words", untype(from));
  volatile uint32_t* const from_words = word_of(LullGeometry::first_line(from));
  volatile uint32_t* const to_words = word_of(LullGeometry::first_line(to));
  for (uint i = 0; i < LullGeometry::LinesPerBlock; i++) {
    to_words[i] = from_words[i];
    from_words[i] = 0;
  }
}

void LullPublicMap::take_words(LullBlockIndex block, const LullLineSet& lines, uint32_t* words) {
  memcpy(words, const_cast<uint32_t*>(word_of(LullGeometry::first_line(block))), LullGeometry::LinesPerBlock * sizeof(uint32_t));
  lines.runs_do([&](uint start, uint length) {
    set_lines(to_line_index(untype(LullGeometry::first_line(block)) + start), length, false);
  });
}

bool LullPublicMap::is_unused(LullBlockIndex block, uint start_line, uint length) const {
  assert(start_line + length <= LullGeometry::LinesPerBlock, "lines %u to %u of block %u", start_line, start_line + length,
         untype(block));
  // Nobody writes them meanwhile.
  const uint32_t* const words = (const uint32_t*)word_of(LullGeometry::first_line(block)) + start_line;
  uint32_t bits = 0;
  for (uint i = 0; i < length; i++) {
    bits |= words[i];
  }
  return bits == 0;
}

// First a byte for each word, by vector instructions; then eight of these at a time.
void LullPublicMap::unused_lines(LullBlockIndex block, LullLineSet* lines) const {
  // Nobody writes them meanwhile.
  const uint32_t* const words = (const uint32_t*)word_of(LullGeometry::first_line(block));
  alignas(uint64_t) uint8_t unused[LullGeometry::LinesPerBlock];
  for (uint i = 0; i < LullGeometry::LinesPerBlock; i++) {
    unused[i] = words[i] == 0 ? 1 : 0;
  }
  for (uint w = 0; w < LullGeometry::LinesPerBlock / 64; w++) {
    uint64_t bits = 0;
    for (uint i = 0; i < 64; i += 8) {
      uint64_t eight;
      memcpy(&eight, unused + w * 64 + i, sizeof(eight));
      bits |= LullLineSet::gather_lowest_bits(eight) << i;
    }
    lines->set_word(w, bits);
  }
}
