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

#ifndef SHARE_GC_LULL_POLICY_LULLYOUNGPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLYOUNGPOLICY_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

// When is a young collection the better one? Garbage among old objects stays until a global collection. So each
// young collection frees less than the one before.
//
// A cycle is a global collection and the young ones after it. It has cost some time for each byte that it has
// freed. When the last young collection has cost more for its bytes than the whole cycle did, another one would
// only make that worse. The next one is then global, and a new cycle begins. That is Charnov's marginal value
// theorem, which has nothing to tune. A young collection costs its time, but at most a mean of the cycle's last
// ones: that one was disturbed is no reason to end the cycle.
//
// Where most of what is young is alive, already the first young collection of a cycle does not pay. Then the next
// cycles have none: one cycle at first, and twice as many and one more after each vain attempt.
//
// Pauses that come early, for the pause goal, are not made for lack of memory, but free what the next one that is
// would have found: they count as a part of it.
//
// Written at safepoints.
class LullYoungPolicy : public CHeapObj<mtGC> {
private:
  double _cycle_ns;
  double _cycle_bytes;
  double _mean_ns;        // of the young ones in it, the last counting most; 0: there was none
  double _last_ns;        // of the last of them
  double _last_bytes;
  double _early_ns;       // of early ones since the last one of these, or the global one
  double _early_bytes;
  bool   _has_cycle;      // there was a global collection
  uint   _vain_cycles;    // after the last cycle in which the first young collection did not pay: how many have none
  uint   _cycles_to_skip; // of these, those that are still to come

  static const uint MaxVainCycles = 31;
  static constexpr double LastWeight = 1.0 / 8;    // in the mean

  // What has freed nothing has not, even if nothing else has freed anything either.
  bool has_paid() const;

public:
  LullYoungPolicy()
    : _cycle_ns(0), _cycle_bytes(0), _mean_ns(0), _last_ns(0), _last_bytes(0), _early_ns(0), _early_bytes(0),
      _has_cycle(false), _vain_cycles(0), _cycles_to_skip(0) {}

  void record_global(jlong ns, size_t freed_bytes);
  void record_young(jlong ns, size_t freed_bytes);
  void record_early(jlong ns, size_t freed_bytes);

  // What a cycle has found dead gets free after its remark, and is more, or less, than that has told.
  void correct_freed(ssize_t bytes) { _cycle_bytes = MAX2(_cycle_bytes + (double)bytes, 0.0); }

  // What the last global collection and the young ones since have cost for each byte; 0: there was none since.
  double ns_per_byte() const { return _mean_ns == 0 ? 0 : _cycle_ns / MAX2(_cycle_bytes, 1.0); }

  // Should the next collection for lack of memory be a young one?
  bool wants_young() const;
};

#endif // SHARE_GC_LULL_POLICY_LULLYOUNGPOLICY_HPP
