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

#ifndef SHARE_GC_LULL_STUDY_LULLOBJECTCHUNKS_HPP
#define SHARE_GC_LULL_STUDY_LULLOBJECTCHUNKS_HPP

#include "gc/lull/study/lullSegregatedSpace.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "oops/oop.inline.hpp"
#include "utilities/bitMap.inline.hpp"

// The chunks of a segregated space of Java objects, whose headers are the VM's (see LullChunks):
// which of them are objects is in a bitmap at the side, which are alive in the collector's
// bitmap of marks, and how long an object is says its class. Dead objects have a class until the
// collection that frees them has unloaded classes and purges them: the sweep comes before that.
//
//   | object ......... | gap | free chunk | object |
//     ^ bit                    no bit        ^ bit
//
// A gap is the one word behind an object that is too short for a chunk; it says so itself. (A word
// behind an object of one word too: it is a part of the object here, and nobody reads it.)

class LullObjectChunks {
private:
  static const uint32_t Gap = UINT32_MAX;
  static const uint32_t MinWords = sizeof(LullRun) / sizeof(HeapWord);

  HeapWord* const   _bottom;
  const uint32_t    _words;
  BitMap* const     _objects;   // a bit at the first word of each object
  MarkBitMap* const _marks;

  bool is_gap(uint32_t word) const {
    return word < _words && !_objects->at(word) && (*this)[word]._start == Gap;
  }

public:
  LullObjectChunks(HeapWord* bottom, uint32_t words, BitMap* objects, MarkBitMap* marks)
    : _bottom(bottom), _words(words), _objects(objects), _marks(marks) {}

  LullRun& operator[](uint32_t word) const { return *reinterpret_cast<LullRun*>(_bottom + word); }

  bool is_object(uint32_t word) const   { return _objects->at(word); }
  bool is_marked(uint32_t word) const   { return _marks->is_marked(_bottom + word); }
  bool verify_free(uint32_t word) const { return (*this)[word]._start == word; }

  uint32_t length_of_object(uint32_t word) const {
    const uint32_t words = MAX2((uint32_t)cast_to_oop(_bottom + word)->size(), MinWords);
    return words + (is_gap(word + words) ? 1 : 0);
  }

  void make_object(uint32_t word, uint32_t length, uint32_t words) const {
    _objects->set_bit(word);
    if (length > words) {
      (*this)[word + words]._start = Gap;
    }
  }

  void unmake_object(uint32_t word) const { _objects->clear_bit(word); }

  // The next collection clears all marks before it marks.
  void unmark(uint32_t word) const {}
};

#endif // SHARE_GC_LULL_STUDY_LULLOBJECTCHUNKS_HPP
