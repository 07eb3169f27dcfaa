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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullMarkBitMap.hpp"
#include "memory/allocation.hpp"

class LullMemory;

// What the running cycle has found alive of the old objects: a second bitmap, and what its sweep has to know of lines
// and blocks. The bitmap of the heap says what is old; it does not change but in pauses. Only at the end of a cycle
// this one takes its place.
//
// What is said of lines and blocks lasts until all blocks are swept. Only then the next cycle clears it.
//
// Written by markers, and by the workers of pauses; cleared by the thread of the cycle. All writers of a byte write
// the same value.
class LullCycleMarks : public CHeapObj<mtGC> {
private:
  LullMemory* const     _memory;
  LullBlockTable* const _blocks;
  const uint32_t        _blocks_per_granule;
  LullMarkBitMap* const _old;         // the heap's own
  LullMarkBitMap* const _alive;
  volatile uint8_t* const _lines;     // by line: does an object that is alive cover it? In blocks of lines
  volatile uint16_t* const _live;     // by block: words of what is alive, about; none of large objects. After the end
                                      // of the cycle, of blocks that are to be swept: of what is dead
  volatile bool* const  _marked;      // by block: is anything alive in it, or does what is alive lie across it?
  volatile bool* const  _to_clear;    // by granule: may anything be marked there in the bitmap that the next cycle uses?
                                      // By pauses that end a cycle, well or not, and by who clears

  void note_part(LullBlockIndex block, const HeapWord* start, size_t words);

public:
  LullCycleMarks(LullMemory* memory, LullBlockTable* blocks);

  const LullMarkBitMap* alive() const { return _alive; }

  inline bool is_old(oop obj) const;
  inline bool is_alive(oop obj) const;
  inline bool par_mark(oop obj);    // true: this call has marked it
  inline void prefetch(oop obj) const;

  // A marked object has so many words, which stay where they are.
  inline void note(oop obj, size_t words);

  // One that becomes old within its block, which only the caller marks in and has in its cache: the worker that
  // sweeps it.
  inline void mark_new(HeapWord* obj, size_t words);

  void note_straddler(HeapWord* obj, size_t words);

  // The same of what memory servers have found: the marks in this word of the bitmap; a line; so many words of a block. By the
  // thread of the cycle, which has joined, while no marker runs.
  void add_marks(size_t word, uint64_t marks);
  void add_line(LullLineIndex line);
  void add_live(LullBlockIndex block, size_t words);

  // A private one, in the last pause of a cycle. Its lines are known otherwise.
  void note_private(LullBlockIndex block, size_t words);

  // The objects of the block have marks that are not those of the cycle, which ends: the next one clears them. Or what
  // it has marked is of no use: all.
  void note_to_clear(LullBlockIndex index);
  void all_to_clear();
  bool is_to_clear(size_t granule) const { return _to_clear[granule]; }
  void set_cleared(size_t granule)       { _to_clear[granule] = false; }

  // Forgets what is said of a granule's blocks; and of the lines and objects of some blocks that are committed.
  void clear_blocks(size_t granule);
  void clear_marks(uint32_t first, uint32_t blocks);

  // The block's live words, marks and lines become those of the cycle. Its old mark bits are not touched: the bitmaps
  // change places, by flip(). All threads are stopped.
  void give_to_block(LullBlockIndex index);
  void flip();

  // The same in parts, for a block without an owner that is swept later (LullLaterSweep). In the pause only its live
  // words become those of the cycle; returns by how many lines more it wastes. Then it is known what is dead in it.
  ssize_t give_counts(LullBlockIndex index);
  size_t dead_words(LullBlockIndex index) const { return _live[untype(index)]; }

  // Is anything alive there? And on which lines is nothing?
  bool is_any_alive(LullBlockIndex index) const { return _marked[untype(index)]; }
  void unused_lines(LullBlockIndex index, LullLineSet* lines) const;
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLCYCLEMARKS_HPP
