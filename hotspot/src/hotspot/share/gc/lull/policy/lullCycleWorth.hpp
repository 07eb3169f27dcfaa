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

#ifndef SHARE_GC_LULL_POLICY_LULLCYCLEWORTH_HPP
#define SHARE_GC_LULL_POLICY_LULLCYCLEWORTH_HPP

#include "utilities/globalDefinitions.hpp"

// Is a cycle of concurrent marking better than the global pause in whose place it comes? Pure.
//
// A heap that is marked in a few milliseconds is better served by that pause. It also moves what lies sparsely, and
// needs no thread beside the program.
//
// A remark is a young pause. Where most of the heap is young, or private, it takes about as long as a global one; then
// global ones come. Now and then a cycle shows whether that is still so. A heap whose global pause is long has cycles in
// any case.
//
// Written in pauses.
class LullCycleWorth {
private:
  static const jlong ShortNs = 10 * NANOSECS_PER_MILLISEC;    // a global pause that is always preferred
  static const jlong LongNs = 100 * NANOSECS_PER_MILLISEC;    // and one that never is
  static const uint  PoorPercent = 67;       // a remark that takes more of a global pause is in vain
  static const uint  PoorInSequence = 2;     // one may have been an accident
  static const uint  MostDoublings = 4;

  uint _poor;         // remarks in sequence
  uint _left_out;     // global pauses that come in place of a cycle, from now on

public:
  LullCycleWorth() : _poor(0), _left_out(0) {}

  // Is a cycle better than a global pause that would take so long?
  bool is_better(jlong global_ns) const {
    return global_ns > ShortNs && (global_ns > LongNs || _left_out == 0);
  }

  // A cycle has ended in such a remark.
  void record_remark(jlong remark_ns, jlong global_ns) {
    if (remark_ns <= global_ns / 100 * PoorPercent) {
      _poor = 0;
    } else if (++_poor >= PoorInSequence) {
      _left_out = 4u << MIN2(_poor - PoorInSequence, MostDoublings);
    }
  }

  void record_global() { _left_out -= MIN2(_left_out, 1u); }
};

#endif // SHARE_GC_LULL_POLICY_LULLCYCLEWORTH_HPP
