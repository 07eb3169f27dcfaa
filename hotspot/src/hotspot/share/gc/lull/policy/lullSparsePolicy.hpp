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

#ifndef SHARE_GC_LULL_POLICY_LULLSPARSEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLSPARSEPOLICY_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "utilities/globalDefinitions.hpp"

// Which old blocks a cycle of concurrent marking empties: those in which least is alive, as much as one pause may copy.
// Pure: add() all candidates, decide(), then ask takes() for each of them again, in order.
//
// What is free in their holes nobody gets until they have moved. So that is bounded, too.
class LullSparsePolicy {
public:
  // More in a block costs more to copy than the block is worth.
  static const size_t MaxLiveWords = LullGeometry::WordsPerBlock / 4;

  // For fewer blocks the pause need not visit all class loaders and code.
  static const size_t MinBlocks = 16;

  struct Bounds {
    size_t _words;         // to copy
    size_t _free_lines;    // that mutators may lack until the blocks are empty

    // Of a heap of so many bytes, of which so many lines are free. A megabyte of small objects takes some milliseconds.
    // A smaller heap has a cycle more often, and a global collection that is no longer than that.
    static Bounds of(size_t capacity, size_t free_lines) {
      const size_t bytes = clamp(capacity / 64, 256 * K, M);
      return {bytes / HeapWordSize, free_lines / 8};
    }
  };

private:
  // By lines that the live words would fill if they were packed.
  static const uint Classes = MaxLiveWords / LullGeometry::WordsPerLine;

  struct Sum {
    size_t _words;
    size_t _free_lines;
  };

  Sum    _sums[Classes];
  Bounds _bounds;
  uint   _whole;     // classes that are taken as a whole: those before this one. Of this one some
  Sum    _taken;

  static uint class_of(size_t live_words) { return (uint)((live_words - 1) / LullGeometry::WordsPerLine); }

  bool fits(size_t words, size_t free_lines) const {
    return _taken._words + words <= _bounds._words && _taken._free_lines + free_lines <= _bounds._free_lines;
  }

  void take(size_t words, size_t free_lines) {
    _taken._words += words;
    _taken._free_lines += free_lines;
  }

public:
  explicit LullSparsePolicy(const Bounds& bounds) : _sums(), _bounds(bounds), _whole(0), _taken() {}

  static bool is_sparse(size_t live_words) { return live_words > 0 && live_words <= MaxLiveWords; }

  // A block that may be emptied, with so much alive, and so many lines in holes that mutators could have.
  void add(size_t live_words, uint free_lines) {
    assert(is_sparse(live_words), "%zu words are alive", live_words);
    Sum* const sum = &_sums[class_of(live_words)];
    sum->_words += live_words;
    sum->_free_lines += free_lines;
  }

  void decide() {
    while (_whole < Classes && fits(_sums[_whole]._words, _sums[_whole]._free_lines)) {
      take(_sums[_whole]._words, _sums[_whole]._free_lines);
      _whole++;
    }
  }

  bool takes(size_t live_words, uint free_lines) {
    const uint c = class_of(live_words);
    if (c != _whole || !fits(live_words, free_lines)) {
      return c < _whole;
    }
    take(live_words, free_lines);
    return true;
  }

  // Are so many blocks worth it?
  static bool is_worth(size_t blocks) { return blocks >= MinBlocks; }

  // So many lines outside of the block may refer to it, with so much alive. To visit more would cost more than to copy
  // what is there: something in it is popular.
  static size_t most_notes(size_t live_words) { return 64 + live_words / 2; }

  // Is a block in which something is popular a candidate again, at this choice?
  static bool forgets_popular(size_t choice) { return choice % 16 == 0; }
};

#endif // SHARE_GC_LULL_POLICY_LULLSPARSEPOLICY_HPP
