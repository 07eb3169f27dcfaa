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


#ifndef SHARE_GC_LULL_POLICY_LULLSWEEPESTIMATE_HPP
#define SHARE_GC_LULL_POLICY_LULLSWEEPESTIMATE_HPP

#include "utilities/globalDefinitions.hpp"

// How much of what a cycle of concurrent marking has found dead will be free when it is swept. Pure.
//
// A block in which nothing is alive gets free as a whole. Of others the cycle knows how many words are dead, but only
// lines get free: of small objects that die in random order hardly any, of a structure that dies as a whole nearly all.
// So the share that got free after the last cycle counts.
class LullSweepEstimate {
private:
  double _share;    // of what is dead in blocks in which something lives

public:
  // Before the first sweep nothing is known.
  LullSweepEstimate() : _share(0.5) {}

  double share() const { return _share; }

  // Of a block in which something lives. The same as long as nothing is recorded.
  size_t garbage_bytes(size_t dead_words) const { return (size_t)((double)dead_words * HeapWordSize * _share); }

  // All is swept: of so many bytes in such blocks so many got free. Ends of lines get free, too, that no object was on.
  void record(size_t dead_bytes, size_t freed_bytes) {
    if (dead_bytes > 0) {
      _share = MIN2(1.0, (double)freed_bytes / (double)dead_bytes);
    }
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLSWEEPESTIMATE_HPP
