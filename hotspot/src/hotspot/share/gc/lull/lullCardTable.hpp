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

#ifndef SHARE_GC_LULL_LULLCARDTABLE_HPP
#define SHARE_GC_LULL_LULLCARDTABLE_HPP

#include "gc/lull/lullGeometry.hpp"
#include "memory/allocation.hpp"

// R, the remembered set: an old object that refers to a young one covers a dirty card. A card is a byte
// for each line of 256 B; an object is old if it was public and alive at the last global or young
// collection, which is when all cards became clean, and young otherwise.
//
//   line     | object A (old)         | object B  | ...
//   card       clean  dirty   clean     clean
//                       ^ a field of A was stored to
//
// Who stores a reference to an object that may be public dirties the card of the field before, whatever is
// stored there and however old the object is: the collection looks. C1 knows the object only, and dirties
// the card of its header. So a dirty card says that any field of the objects on it may refer to a young
// object.
//
// Cards are written by mutators, all with the same value, and cleaned at safepoints, by the worker that has
// claimed the block.

class LullCardTable : public CHeapObj<mtGC> {
public:
  static const uint8_t Clean = 0;   // as fresh memory is
  static const uint8_t Dirty = 1;

private:
  uint8_t* const _cards;

  uint8_t* card_of(LullLineIndex line) const { return &_cards[untype(line)]; }

public:
  // storage holds one byte for each line of the reserved heap.
  explicit LullCardTable(char* storage) : _cards((uint8_t*)storage) {}

  static size_t storage_bytes(size_t heap_bytes) { return heap_bytes >> LullGeometry::LogLineSize; }

  // A card that is dirty is not written again: many threads store to the same objects.
  void dirty(const void* field) {
    volatile uint8_t* const card = card_of(LullGeometry::line_of(field));
    if (*card == Clean) {
      *card = Dirty;
    }
  }

  bool is_dirty(LullLineIndex line) const { return *card_of(line) != Clean; }

  // Is any card dirty from the line of first to that of last?
  bool is_any_dirty(const void* first, const void* last) const {
    const uint8_t* const end = card_of(LullGeometry::line_of(last)) + 1;
    for (const uint8_t* card = card_of(LullGeometry::line_of(first)); card < end; card++) {
      if (*card != Clean) {
        return true;
      }
    }
    return false;
  }

  // Calls f(LullLineIndex) for each dirty card of so many blocks.
  template <typename Function>
  void dirty_lines_do(LullBlockIndex first, size_t blocks, Function f) const {
    const uint32_t start = untype(LullGeometry::first_line(first));
    const uint32_t end = start + (uint32_t)blocks * LullGeometry::LinesPerBlock;
    for (uint32_t line = start; line < end; line += sizeof(uint64_t)) {
      if (*(const uint64_t*)&_cards[line] == 0) {
        continue;
      }
      for (uint32_t i = line; i < line + sizeof(uint64_t); i++) {
        if (is_dirty(to_line_index(i))) {
          f(to_line_index(i));
        }
      }
    }
  }

  bool is_any_dirty(LullBlockIndex first, size_t blocks) const {
    bool found = false;
    dirty_lines_do(first, blocks, [&](LullLineIndex line) { found = true; });
    return found;
  }

  void clean(LullBlockIndex first, size_t blocks) {
    memset(card_of(LullGeometry::first_line(first)), Clean, blocks * LullGeometry::LinesPerBlock);
  }

  // Where the card of address 0 would be: compiled code finds that of an address at biased_base() +
  // (address >> LogLineSize), and never looks up an address outside of the heap.
  intptr_t biased_base() const {
    return (intptr_t)_cards - (intptr_t)((size_t)LullGeometry::heap_base() >> LullGeometry::LogLineSize);
  }
};

#endif // SHARE_GC_LULL_LULLCARDTABLE_HPP
