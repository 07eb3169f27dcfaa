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

#ifndef SHARE_GC_LULL_POLICY_LULLHOLEUSE_HPP
#define SHARE_GC_LULL_POLICY_LULLHOLEUSE_HPP

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// How much of what is free in holes has room for copies. Free blocks take all. A hole takes only what fits: beside
// objects of five lines die objects that leave holes of four. A policy that counts on such holes selects too much for
// evacuation. What finds no room then stays in nearly all selected blocks, and all their copies are in vain.
//
// Learned from evacuations that were bounded by room: down at once, up by halves.
class LullHoleUse {
private:
  double _share;     // of the lines in holes, 0 to 1

public:
  // What to expect first.
  LullHoleUse() : _share(0.5) {}

  double share() const { return _share; }

  // Lines.
  double room_in(size_t hole_lines) const { return _share * (double)hole_lines; }

  // So many lines were copied, and so many left for want of room, when so many were free in blocks and in holes; of those in blocks,
  // so many have been used.
  void record(size_t copied, size_t left, size_t in_blocks, size_t in_holes, size_t blocks_used) {
    if (in_holes == 0 || copied + left == 0) {
      return;
    }
    assert(blocks_used <= in_blocks, "%zu lines of %zu in blocks", blocks_used, in_blocks);
    double could;    // be copied
    if (left > 0) {
      could = (double)copied * (double)copied / (double)(copied + left);
    } else if (blocks_used > 0) {
      could = (double)copied * (double)in_blocks / (double)blocks_used;
    } else {
      could = (double)(in_blocks + in_holes);
    }
    // What fits first may be what fits best: not more than twice what has been seen to fit.
    could = MIN2(could, (double)in_blocks + 2 * ((double)copied - MIN2((double)copied, (double)blocks_used)));
    const double seen = clamp((could - (double)in_blocks) / (double)in_holes, 0.0, 1.0);
    _share = seen < _share ? seen : left > 0 ? _share : (_share + seen) / 2;
    assert(_share >= 0 && _share <= 1, "a share of %f", _share);
  }

  // Nothing could be selected: perhaps that is not so any more.
  void record_no_room() { _share = MIN2(_share + 1.0 / 16, 1.0); }
};

#endif // SHARE_GC_LULL_POLICY_LULLHOLEUSE_HPP
