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

#ifndef SHARE_GC_LULL_HEAP_LULLZAP_HPP
#define SHARE_GC_LULL_HEAP_LULLZAP_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullLineSet.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allStatic.hpp"
#include "utilities/copy.hpp"

// Fills what a collection has freed, in debug builds, so that stale references become visible:
// whoever follows one finds no class.
class LullZap : public AllStatic {
public:
  static void words(HeapWord* start, size_t count) {
#ifdef ASSERT
    if (ZapUnusedHeapArea) {
      Copy::fill_to_words(start, count, badHeapWord);
    }
#endif
  }

  static void lines(LullBlockIndex index, const LullLineSet& lines) {
#ifdef ASSERT
    lines.runs_do([&](uint start, uint length) {
      words(LullGeometry::start_of(index) + start * LullGeometry::WordsPerLine, length * LullGeometry::WordsPerLine);
    });
#endif
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLZAP_HPP
