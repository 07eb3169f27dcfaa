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

#ifndef SHARE_GC_LULL_HEAP_LULLGEOMETRY_HPP
#define SHARE_GC_LULL_HEAP_LULLGEOMETRY_HPP

#include "utilities/globalDefinitions.hpp"

// Block and line arithmetic. This is the only place that shifts a heap address.
//
//   heap base                                                            heap end
//   | block 0           | block 1           | block 2           |  ...   |
//   |<---- 32 KB ------>|
//   | line 0 | line 1 | ...        | line 127 |
//   |<-256 B>|
//
// Line indexes run over the whole heap, so that line = 128 * block + line-in-block.
// An index is a type of its own: a block index cannot be passed for a line index.
//
// No HotSpot header but the basic types is included here and in the other data
// structures of the heap layout (line sets, run table, block states), so that
// their unit tests build without the VM.

enum class LullBlockIndex : uint32_t {};
enum class LullLineIndex  : uint32_t {};

inline constexpr uint32_t untype(LullBlockIndex index) { return static_cast<uint32_t>(index); }
inline constexpr uint32_t untype(LullLineIndex index)  { return static_cast<uint32_t>(index); }

inline constexpr LullBlockIndex to_block_index(size_t value) { return static_cast<LullBlockIndex>(value); }
inline constexpr LullLineIndex  to_line_index(size_t value)  { return static_cast<LullLineIndex>(value); }

class LullGeometry {
private:
  static char* _heap_base;

public:
  static const int    LogBlockSize     = 15;
  static const int    LogLineSize      = 8;
  static const int    LogLinesPerBlock = LogBlockSize - LogLineSize;

  static const size_t BlockSize        = size_t(1) << LogBlockSize;       // bytes
  static const size_t LineSize         = size_t(1) << LogLineSize;        // bytes
  static const uint   LinesPerBlock    = 1u << LogLinesPerBlock;
  static const size_t WordsPerBlock    = BlockSize / HeapWordSize;
  static const size_t WordsPerLine     = LineSize / HeapWordSize;

  // The largest object, in words, that the slow path places in a block. A larger
  // one becomes a run of whole blocks (Iso, section 4; Immix uses half a block too).
  static const size_t MaxBlockObjectWords = WordsPerBlock / 2;

  static bool is_large(size_t words) { return words > MaxBlockObjectWords; }

  // A straddler is an object that lies across borders of blocks, in blocks of lines. It has come there by sliding
  // (lullSlidingPlan.hpp): an array of 2 to 320 KB. What a shorter one leaves at the end of a block is less
  // than a sixteenth of it; what a longer one leaves at the end of blocks of its own is less than a tenth of them.
  // They are tied to each other by the blocks that they share, as far as about the next border of a span of 2 MB: what is
  // pinned keeps little more in its place (lullSlidingCursor.hpp).
  static const size_t MinStraddlerWords = WordsPerBlock / 16;
  static const size_t MaxStraddlerWords = 10 * WordsPerBlock;
  static const int    LogBlocksPerSpan  = 6;

  static bool is_straddler_size(size_t words) { return words >= MinStraddlerWords && words <= MaxStraddlerWords; }

  // Line indexes are 32 bits wide.
  static const size_t MaxHeapSize      = (size_t(1) << 32) * LineSize;

  // Set once, before the first conversion; never changes.
  static void initialize(char* heap_base) { _heap_base = heap_base; }

  static char* heap_base() { return _heap_base; }

  static LullBlockIndex block_of(const void* addr) {
    return to_block_index((size_t)((const char*)addr - _heap_base) >> LogBlockSize);
  }

  static LullLineIndex line_of(const void* addr) {
    return to_line_index((size_t)((const char*)addr - _heap_base) >> LogLineSize);
  }

  static LullBlockIndex block_of(LullLineIndex line) {
    return to_block_index(untype(line) >> LogLinesPerBlock);
  }

  static uint line_in_block(LullLineIndex line) {
    return untype(line) & (LinesPerBlock - 1);
  }

  static LullLineIndex first_line(LullBlockIndex block) {
    return to_line_index(untype(block) << LogLinesPerBlock);
  }

  static HeapWord* start_of(LullBlockIndex block) {
    return (HeapWord*)(_heap_base + ((size_t)untype(block) << LogBlockSize));
  }

  static HeapWord* start_of(LullLineIndex line) {
    return (HeapWord*)(_heap_base + ((size_t)untype(line) << LogLineSize));
  }

  static HeapWord* end_of(LullBlockIndex block) { return start_of(block) + WordsPerBlock; }

  // Of an object: its first word and its last one are in two blocks, or two spans.
  static bool leaves_block(const HeapWord* start, size_t words) {
    return block_of(start) != block_of(start + words - 1);
  }

  static bool leaves_span(const HeapWord* start, size_t words) {
    return (untype(block_of(start)) >> LogBlocksPerSpan) != (untype(block_of(start + words - 1)) >> LogBlocksPerSpan);
  }

  // Calls f(block, start of part, words of part) for the part of an object in each of its blocks, in order.
  template <typename Function>
  static void parts_do(HeapWord* start, size_t words, Function f) {
    HeapWord* const end = start + words;
    while (start < end) {
      const LullBlockIndex block = block_of(start);
      HeapWord* const part_end = end_of(block) < end ? end_of(block) : end;
      f(block, start, (size_t)(part_end - start));
      start = part_end;
    }
  }

  // Lines that hold words when the first one starts at a line boundary.
  static uint lines_for(size_t words) {
    return (uint)((words + WordsPerLine - 1) / WordsPerLine);
  }

  static size_t blocks_for(size_t words) {
    return (words + WordsPerBlock - 1) / WordsPerBlock;
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLGEOMETRY_HPP
