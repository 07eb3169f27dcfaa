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

#ifndef SHARE_GC_LULL_HEAP_LULLSPARSEBYTES_HPP
#define SHARE_GC_LULL_HEAP_LULLSPARSEBYTES_HPP

#include "utilities/globalDefinitions.hpp"

// Goes through a table that has a byte for each block, of which most are 0: eight at a time. So a young pause
// finds the few blocks that it has to look at, by a byte of each 32 KB of the heap, in order of their addresses.
class LullSparseBytes {
private:
  static const uint32_t BytesPerWord = sizeof(uint64_t);

public:
  // Calls f(index) for each byte from start to end that is not 0, in order. The table begins at a multiple of 8.
  // What f, or another thread, writes to this byte or the seven beside it meanwhile is seen or not.
  template <typename Function>
  static void non_zero_do(const uint8_t* bytes, uint32_t start, uint32_t end, Function f) {
    uint32_t i = start;
    while (i < end) {
      if (i % BytesPerWord == 0 && end - i >= BytesPerWord && *(const uint64_t*)(bytes + i) == 0) {
        i += BytesPerWord;
        continue;
      }
      // The rest of the word, or what there is of it.
      const uint32_t rest = BytesPerWord - i % BytesPerWord;
      for (const uint32_t stop = end - i < rest ? end : i + rest; i < stop; i++) {
        if (bytes[i] != 0) {
          f(i);
        }
      }
    }
  }

  // Is any byte from start to end not 0?
  static bool has_non_zero(const uint8_t* bytes, uint32_t start, uint32_t end) {
    // From the end: who asks has come to a byte, and asks for the nearest one before it.
    for (uint32_t i = end; i > start; i--) {
      if (bytes[i - 1] != 0) {
        return true;
      }
    }
    return false;
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLSPARSEBYTES_HPP
