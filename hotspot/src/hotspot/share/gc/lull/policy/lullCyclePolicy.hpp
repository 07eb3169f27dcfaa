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

#ifndef SHARE_GC_LULL_POLICY_LULLCYCLEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLCYCLEPOLICY_HPP

#include "gc/lull/policy/lullCycleWorth.hpp"
#include "utilities/globalDefinitions.hpp"

// When a cycle of concurrent marking begins. Pure.
//
// What is old and dead stays until a cycle, or a global collection. A cycle should have ended before memory is lacking
// for it: it begins when half of what was free after the last one has become old, or will have after the next young
// pause, if that leaves as much more as the last one. After one that came too late, when a quarter has. Where a global
// pause is better, none begins (LullCycleWorth).
class LullCyclePolicy {
public:
  struct Seen {
    size_t _used;               // bytes, after a pause
    size_t _used_at_last;       // after the last cycle or global collection
    size_t _growth;             // that the last young pause has left more in use than the pause before
    size_t _capacity;
    jlong  _expected_global_ns; // that a global collection would take; 0: none was seen yet
    bool   _was_vain;           // the last cycle was late, and a global collection had to follow it at once
  };

  // A sixth of the heap: a young collection that leaves less has been in vain. Use is bounded below the heap's size.
  static bool is_enough_left(size_t used, size_t capacity) { return used < capacity - capacity / 6; }

  // A sixteenth: the next young collection comes at once.
  static bool is_nearly_full(size_t used, size_t capacity) { return used > capacity - capacity / 16; }

  static bool wants_cycle(const Seen& seen, const LullCycleWorth& worth) {
    const size_t room = seen._capacity - MIN2(seen._used_at_last, seen._capacity);
    const size_t begins_at = seen._was_vain ? room / 4 : room / 2;
    return worth.is_better(seen._expected_global_ns) && seen._used + seen._growth > seen._used_at_last + begins_at;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLCYCLEPOLICY_HPP
