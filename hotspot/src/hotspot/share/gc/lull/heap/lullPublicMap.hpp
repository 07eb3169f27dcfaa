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

#ifndef SHARE_GC_LULL_HEAP_LULLPUBLICMAP_HPP
#define SHARE_GC_LULL_HEAP_LULLPUBLICMAP_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullLineSet.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

// Which heap words belong to public objects: a 32-bit word for each line of 256 B, a bit for each heap word.
//
//   line     | object A (public)      | object B (private)    | free   |
//   word       1 1 1 1 1 1 1 1 1 1 1 1  0 0 0 0 0 0 0 0 0 0 0   0 0 0 0
//
// All bits of an object are set, so any address in it answers for it: a field, an array element, the destination of a
// copy. A word of 0 says that the line holds nothing public. The barrier's fast path asks for no more than that.
//
// The sweep reads the same words. Marking sets all bits of the lines that a live object covers, since what survives a
// global collection in a block without an owner is public. A line whose word is 0 after marking is free. In blocks that
// hold something, free lines have word 0 until they are handed out. Words of Free blocks say nothing. Without tracking
// nobody else reads the words.
//
// In blocks with an owner private objects stay private. Marking leaves the words as they are, and the sweep clears the
// bits of dead public objects.
//
// Who may write a word:
//   the owner of its block        to publish its objects; to hand out a hole
//   any thread                    for an owner that it has stopped (handshake, VM operation)
//   workers in a collection       to mark: all write the same value; to clear: the one that has claimed the block
//
// While tracking is suspended all objects are public. The words then say only which lines have objects that the last
// collection has found alive.
//
// A reader needs no fence. It is the owner of a private object; or it has loaded the reference from a public object or
// root. Who stored it there had set the bits before, with a release fence in between.

class LullPublicMap : public CHeapObj<mtGC> {
private:
  static const uint32_t AllPublic = ~UINT32_C(0);

  // All objects are public, whatever the words say (LullTrackingSwitch). Written with all threads stopped.
  static bool _tracking_suspended;

  volatile uint32_t* const _words;

  static uint bit_of(const void* addr) {
    return (uint)(((size_t)addr / HeapWordSize) % LullGeometry::WordsPerLine);
  }

  volatile uint32_t* word_of(LullLineIndex line) const { return &_words[untype(line)]; }

  void set_bits(volatile uint32_t* word, uint32_t bits);

public:
  static const int LogBytesPerWord = 2;

  // storage holds one word for each line of the reserved heap.
  explicit LullPublicMap(char* storage) : _words((volatile uint32_t*)storage) {}

  static size_t storage_bytes(size_t heap_bytes) {
    return (heap_bytes >> LullGeometry::LogLineSize) << LogBytesPerWord;
  }

  static bool is_tracking_suspended()             { return _tracking_suspended; }
  static void set_tracking_suspended(bool value)  { _tracking_suspended = value; }

  // Does the heap word at this address belong to a public object?
  bool is_public(const void* addr) const {
    return _tracking_suspended || ((*word_of(LullGeometry::line_of(addr)) >> bit_of(addr)) & 1) != 0;
  }

  bool is_public(oop obj) const { return is_public(cast_from_oop<const void*>(obj)); }

  // Does the line hold anything public? After marking: anything live?
  bool is_in_use(LullLineIndex line) const { return *word_of(line) != 0; }

  // Of the line of this address; to prefetch it.
  void* address_of_word(const void* addr) const { return const_cast<uint32_t*>(word_of(LullGeometry::line_of(addr))); }

  // Are all bits of [start, start + words) set?
  bool is_extent_public(const HeapWord* start, size_t words) const;

  // Publishes exactly [start, start + words). Other bits of the first and last word may
  // be set by another thread at the same time: the owner is not alone when a thread that
  // has stopped it publishes for it, and one of them is still about to be stopped.
  void publish(const HeapWord* start, size_t words);

  // Marking: sets the words of all lines that [start, start + words) covers.
  void mark_lines(const HeapWord* start, size_t words) {
    assert(words > 0, "what covers no line has no last one");
    volatile uint32_t* word = word_of(LullGeometry::line_of(start));
    volatile uint32_t* const last = word_of(LullGeometry::line_of(start + words - 1));
    for (; word <= last; word++) {
      if (*word != AllPublic) {   // a line is shared by many objects: keep it clean in the cache
        *word = AllPublic;
      }
    }
  }

  // Whole lines: a hole that is handed out or given back.
  void set_lines(LullLineIndex first, size_t count, bool is_public);

  // All lines of so many blocks.
  void set_blocks(LullBlockIndex first, size_t count, bool is_public);

  // The words of a block whose objects have moved; all words of from become 0.
  void move_block(LullBlockIndex from, LullBlockIndex to);

  // Copies the words of a block, one for each of its lines, and clears those of these lines.
  void take_words(LullBlockIndex block, const LullLineSet& lines, uint32_t* words);

  // In the word of its line in such a copy: did the heap word belong to a public object?
  static bool is_public_in(uint32_t word, const HeapWord* addr) { return ((word >> bit_of(addr)) & 1) != 0; }

  // Is the word of each of these lines of the block 0?
  bool is_unused(LullBlockIndex block, uint start_line, uint length) const;

  // The lines of the block whose word is 0.
  void unused_lines(LullBlockIndex block, LullLineSet* lines) const;

  // Where the word of address 0 would be: compiled code finds the word of an address at
  // biased_base() + (address >> LogLineSize) * 4, and never looks up an address outside
  // of the heap.
  intptr_t biased_base() const {
    return (intptr_t)_words - (intptr_t)(((size_t)LullGeometry::heap_base() >> LullGeometry::LogLineSize) << LogBytesPerWord);
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLPUBLICMAP_HPP
