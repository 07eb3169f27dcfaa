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

#ifndef SHARE_GC_LULL_HEAP_LULLCARDTABLE_HPP
#define SHARE_GC_LULL_HEAP_LULLCARDTABLE_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullLineSet.hpp"
#include "gc/lull/heap/lullSparseBytes.hpp"
#include "memory/allocation.hpp"

// R, the remembered set: an old object that refers to a young one covers a dirty card. A card is a byte
// for each line of 256 B; an object is old if it was public and alive at the last global or young
// collection, and young otherwise.
//
//   line     | object A (old)         | object B (young)  | free
//   card       Clean  Dirty   Clean     NoOld   NoOld       NoOld
//                       ^ a field of A was stored to
//
// Who stores a reference to an object that may be public dirties the card of the field before, whatever is
// stored there: the collection looks. C1 knows the object only, and dirties the card of its header. So a
// dirty card says that any field of the objects on it may refer to a young object; but for a large array, and one
// that lies across the start of a block, of which a card that is not its header's tells of the elements on it. A card
// of a line without
// old objects stays as it is: most stores are to new objects. Private objects that share their line with
// an old one have its card dirtied in vain.
//
// When a collection ends a card is NoOld exactly if the word of its line in the public map is 0 or the line is one of survivors, and the
// only dirty cards are those of old objects that refer to survivors. New objects and copies in free lines have nothing to do with
// cards, therefore.
//
// While a young collection marks, the second bit of a card says that a field on its line refers to a survivor, whatever is on that line. The
// sweep, which knows where there is something old, makes that Dirty or NoOld.
//
// Who makes a card Dirty, or remembers a survivor there, touches its stretch after it: a second byte, one for the
// cards of a block. Nobody stops for a collection in between. So a young collection looks at the cards of stretches
// that are touched, and the invariant is: the stretch of a dirty card is touched. Cards become clean one by one,
// stretches all at once, when no card is dirty any more.
//
// Mutators write Dirty only, all the same value. Workers write the others, at safepoints, the one that has
// claimed the block. Who cleans cards beside the program (LullCardCleaner) writes Clean to dirty ones, and only then looks
// at what is on them. Who sweeps a block beside the program (LullLaterSweep) makes cards of lines NoOld in which nothing
// is alive: no mutator stores to these.

class LullCardTable : public CHeapObj<mtGC> {
public:
  static const uint8_t NoOld = 0;   // as fresh memory is
  static const uint8_t Clean = 1;
  static const uint8_t Dirty = 3;   // Clean and one bit more

  static const uint8_t Touched = 1; // a stretch

  // At the end of a collection, what it has remembered of fields that refer to survivors
  enum class Remembered {
    Forget,   // there are none
    Keep
  };

private:
  static const uint8_t SurvivorBit = 2;

  static const uint64_t AllClean      = UINT64_C(0x0101010101010101);
  static const uint64_t AllDirtyBits  = UINT64_C(0x0202020202020202);
  static const uint32_t CardsPerWord  = sizeof(uint64_t);

  uint8_t* const _cards;
  uint8_t* const _stretches;

  uint8_t* card_of(LullLineIndex line) const { return &_cards[untype(line)]; }

  uint64_t* word_of(LullLineIndex line) const {
    assert(untype(line) % CardsPerWord == 0, "line %u", untype(line));
    return (uint64_t*)card_of(line);
  }

public:
  // storage holds one byte for each line of the reserved heap, and stretches one for each block, both at a multiple
  // of 8, all 0.
  LullCardTable(char* storage, char* stretches) : _cards((uint8_t*)storage), _stretches((uint8_t*)stretches) {}

  static size_t storage_bytes(size_t heap_bytes)   { return heap_bytes >> LullGeometry::LogLineSize; }
  static size_t stretches_bytes(size_t heap_bytes) { return heap_bytes >> LullGeometry::LogBlockSize; }

  // A card that is dirty is not written again: many threads store to the same objects.
  void dirty(const void* field) {
    volatile uint8_t* const card = card_of(LullGeometry::line_of(field));
    if (*card == Clean) {
      *card = Dirty;
      touch(LullGeometry::block_of(field));
    }
  }

  void touch(LullBlockIndex index) {
    uint8_t* const stretch = &_stretches[untype(index)];
    if (*stretch != Touched) {
      *stretch = Touched;
    }
  }

  bool is_touched(LullBlockIndex index) const { return _stretches[untype(index)] != 0; }

  // Is any from start to end, which is not asked for?
  bool is_any_touched(uint32_t start, uint32_t end) const {
    return LullSparseBytes::has_non_zero(_stretches, start, end);
  }

  // Calls f(LullBlockIndex) for each touched stretch of the blocks from start to end.
  template <typename Function>
  void touched_do(uint32_t start, uint32_t end, Function f) const {
    LullSparseBytes::non_zero_do(_stretches, start, end, [&](uint32_t i) { f(to_block_index(i)); });
  }

  // No card is dirty of so many blocks, or remembers anything.
  void forget_touched(uint32_t blocks) {
    LullSparseBytes::non_zero_do(_stretches, 0, blocks, [&](uint32_t i) { _stretches[i] = 0; });
  }

  // The card, which is dirty, becomes clean; and no card of the block is said to be dirty. A mutator may make dirty what
  // it finds clean, at any time: LullCardCleaner.
  void clean_line(LullLineIndex line)   { *(volatile uint8_t*)card_of(line) = Clean; }
  void untouch(LullBlockIndex index)    { *(volatile uint8_t*)&_stretches[untype(index)] = 0; }

  bool has_dirty(LullBlockIndex index) const {
    const volatile uint64_t* const words = word_of(LullGeometry::first_line(index));
    uint64_t dirty = 0;
    for (uint i = 0; i < LullGeometry::LinesPerBlock / CardsPerWord; i++) {
      dirty |= words[i] & AllDirtyBits;
    }
    return dirty != 0;
  }

  // All cards from that of first to that of last.
  void dirty_all(const void* first, const void* last) {
    assert(first <= last, PTR_FORMAT " lies behind " PTR_FORMAT, p2i(first), p2i(last));
    const uint32_t end = untype(LullGeometry::line_of(last));
    for (uint32_t line = untype(LullGeometry::line_of(first)); line <= end; line++) {
      dirty(LullGeometry::start_of(to_line_index(line)));
    }
  }

  bool has_old(LullLineIndex line) const  { return *card_of(line) != NoOld; }

  // The same while a young collection marks: the line may be that of a field that refers to a survivor.
  bool had_old(LullLineIndex line) const  { return (*(volatile uint8_t*)card_of(line) & Clean) != 0; }

  bool is_dirty(LullLineIndex line) const { return *card_of(line) == Dirty; }

  // Is any card dirty from the line of first to that of last?
  bool is_any_dirty(const void* first, const void* last) const {
    assert(first <= last, PTR_FORMAT " lies behind " PTR_FORMAT, p2i(first), p2i(last));
    const uint8_t* const end = card_of(LullGeometry::line_of(last)) + 1;
    for (const uint8_t* card = card_of(LullGeometry::line_of(first)); card < end; card++) {
      if (*card == Dirty) {
        return true;
      }
    }
    return false;
  }

  // The field refers to a survivor of the collection that runs. By any worker, while none asks for other bits of the card: all write
  // the same value.
  void remember_survivor(const void* field) {
    volatile uint8_t* const card = card_of(LullGeometry::line_of(field));
    const uint8_t value = *card;
    if ((value & SurvivorBit) == 0) {
      *card = value | SurvivorBit;
      touch(LullGeometry::block_of(field));
    }
  }

  // Calls f(LullLineIndex) for each dirty card of so many blocks, in order.
  template <typename Function>
  void dirty_lines_do(LullBlockIndex first, size_t blocks, Function f) const {
    const uint32_t start = untype(LullGeometry::first_line(first));
    const uint32_t end = start + (uint32_t)blocks * LullGeometry::LinesPerBlock;
    for (uint32_t line = start; line < end; line += CardsPerWord) {
      if ((*word_of(to_line_index(line)) & AllDirtyBits) == 0) {
        continue;
      }
      for (uint32_t i = line; i < line + CardsPerWord; i++) {
        if (is_dirty(to_line_index(i))) {
          f(to_line_index(i));
        }
      }
    }
  }

  // What is dirty becomes clean.
  void clean(LullBlockIndex first, size_t blocks) {
    const uint32_t start = untype(LullGeometry::first_line(first));
    const uint32_t end = start + (uint32_t)blocks * LullGeometry::LinesPerBlock;
    for (uint32_t line = start; line < end; line += CardsPerWord) {
      *word_of(to_line_index(line)) &= AllClean;
    }
  }

  // The end of a collection: these lines of the block have no old objects; the cards of all others are clean, or dirty if that is kept.
  void set_lines(LullBlockIndex index, const LullLineSet& without_old, Remembered remembered) {
    const LullLineIndex first = LullGeometry::first_line(index);
    set_old(index, 1, remembered);
    without_old.runs_do([&](uint start, uint length) {
      memset(card_of(first) + start, NoOld, length);
    });
  }

  // Eight cards at a time: the lowest bit of a card says whether there is something old.
  void lines_without_old(LullBlockIndex index, LullLineSet* lines) const {
    const uint64_t* const words = word_of(LullGeometry::first_line(index));
    for (uint w = 0; w < LullGeometry::LinesPerBlock / 64; w++) {
      uint64_t old = 0;
      for (uint i = 0; i < 64 / CardsPerWord; i++) {
        old |= LullLineSet::gather_lowest_bits(words[w * (64 / CardsPerWord) + i]) << (i * CardsPerWord);
      }
      lines->set_word(w, ~old);
    }
  }

  // The same of blocks of which all is old, or nothing.
  void set_old(LullBlockIndex first, size_t blocks, Remembered remembered) {
    const uint64_t kept = remembered == Remembered::Keep ? AllDirtyBits : 0;
    uint64_t* const words = word_of(LullGeometry::first_line(first));
    for (size_t i = 0; i < blocks * LullGeometry::LinesPerBlock / CardsPerWord; i++) {
      words[i] = (words[i] & kept) | AllClean;
    }
  }

  // These lines of the block, and no others. Mutators may be dirtying those beside them.
  void set_lines_no_old(LullBlockIndex index, const LullLineSet& lines) {
    uint8_t* const first = card_of(LullGeometry::first_line(index));
    lines.runs_do([&](uint start, uint length) { memset(first + start, NoOld, length); });
  }

  void set_no_old(LullBlockIndex first, size_t blocks) {
    memset(card_of(LullGeometry::first_line(first)), NoOld, blocks * LullGeometry::LinesPerBlock);
  }

  // The cards of a block whose objects have moved, none of them dirty; from has no old objects any more.
  void move_block(LullBlockIndex from, LullBlockIndex to) {
    assert(from != to, "block %u would lose its cards", untype(from));
    memcpy(card_of(LullGeometry::first_line(to)), card_of(LullGeometry::first_line(from)), LullGeometry::LinesPerBlock);
    set_no_old(from, 1);
  }

  // Where the card of address 0 would be: compiled code finds that of an address at biased_base() +
  // (address >> LogLineSize), and never looks up an address outside of the heap.
  intptr_t biased_base() const {
    return (intptr_t)_cards - (intptr_t)((size_t)LullGeometry::heap_base() >> LullGeometry::LogLineSize);
  }

  // The same of stretches, by blocks.
  intptr_t biased_stretches() const {
    return (intptr_t)_stretches - (intptr_t)((size_t)LullGeometry::heap_base() >> LullGeometry::LogBlockSize);
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLCARDTABLE_HPP
