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

#ifndef SHARE_GC_LULL_HEAP_LULLMARKBITMAP_HPP
#define SHARE_GC_LULL_HEAP_LULLMARKBITMAP_HPP

#include "gc/shared/markBitMap.hpp"

// HotSpot's bitmap of marks, and what a tracer needs beside it.

class LullMarkBitMap : public MarkBitMap {
private:
  const char* _storage;

public:
  LullMarkBitMap() : MarkBitMap(), _storage(nullptr) {}

  void initialize(MemRegion heap, MemRegion storage);

  // The address of the last mark in [start, end); end if there is none.
  HeapWord* get_last_marked_addr(const HeapWord* start, HeapWord* end) const;

  // The marks of both change places; of the same memory. Nobody else reads or writes them meanwhile.
  void swap(LullMarkBitMap* other);

  // The marks of 64 words of the heap, the lowest bit for the first: those of this number, from the begin of the heap on.
  // Memory for them is there. Who sets some is the only one that writes to that word.
  uint64_t word_at(size_t index) const;
  void add_to_word(size_t index, uint64_t marks);

  // The mark of this object is about to be read or set.
  void prefetch(oop obj) const;
};

#endif // SHARE_GC_LULL_HEAP_LULLMARKBITMAP_HPP
