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

#include "gc/lull/lullLineMarks.hpp"

#include <string.h>

void LullLineMarks::clear(LullBlockIndex block) {
  memset(&_marks[untype(LullGeometry::first_line(block))], 0, LullGeometry::LinesPerBlock);
}

void LullLineMarks::move(LullBlockIndex from, LullBlockIndex to) {
  memcpy(&_marks[untype(LullGeometry::first_line(to))], &_marks[untype(LullGeometry::first_line(from))],
         LullGeometry::LinesPerBlock);
  clear(from);
}

// Eight marks, each 0 or 1, to eight bits: the multiplication moves byte i's bit to
// bit 56 + i, and no two of its partial products meet.
static uint8_t gather(uint64_t marks) {
  return (uint8_t)((marks * UINT64_C(0x0102040810204080)) >> 56);
}

void LullLineMarks::unmarked_lines(LullBlockIndex block, LullLineSet* lines) const {
  const uint8_t* marks = &_marks[untype(LullGeometry::first_line(block))];
  for (uint w = 0; w < LullGeometry::LinesPerBlock / 64; w++) {
    uint64_t marked = 0;
    for (uint byte = 0; byte < 8; byte++) {
      uint64_t eight;
      memcpy(&eight, marks, sizeof(eight));
      marked |= (uint64_t)gather(eight) << (8 * byte);
      marks += sizeof(eight);
    }
    lines->set_word(w, ~marked);
  }
}
