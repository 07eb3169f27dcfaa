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

#ifndef SHARE_GC_LULL_LULLLINEMARKS_HPP
#define SHARE_GC_LULL_LULLLINEMARKS_HPP

#include "gc/lull/lullGeometry.hpp"
#include "gc/lull/lullLineSet.hpp"
#include "memory/allocation.hpp"

// One byte for each line of the reserved heap: does a live object cover a part of it?
// Written while marking, by the worker that scans the object; workers that write the
// same byte write the same value. Read by the sweep. Cleared when a collection starts.

class LullLineMarks : public CHeapObj<mtGC> {
private:
  uint8_t* const _marks;

public:
  // storage holds one byte for each line of the reserved heap.
  explicit LullLineMarks(char* storage) : _marks((uint8_t*)storage) {}

  static size_t storage_bytes(size_t heap_bytes) { return heap_bytes >> LullGeometry::LogLineSize; }

  // Marks every line that [start, start + words) covers: the exact extent.
  void mark(HeapWord* start, size_t words) {
    uint8_t* const first = &_marks[untype(LullGeometry::line_of(start))];
    uint8_t* const last  = &_marks[untype(LullGeometry::line_of(start + words - 1))];
    for (uint8_t* mark = first; mark <= last; mark++) {
      if (*mark == 0) {   // a line is shared by many objects: keep it clean in the cache
        *mark = 1;
      }
    }
  }

  bool is_marked(LullLineIndex line) const { return _marks[untype(line)] != 0; }

  void clear(LullBlockIndex block);

  // The block's objects have been moved to another block.
  void move(LullBlockIndex from, LullBlockIndex to);

  // The lines of the block that are not marked.
  void unmarked_lines(LullBlockIndex block, LullLineSet* lines) const;
};

#endif // SHARE_GC_LULL_LULLLINEMARKS_HPP
