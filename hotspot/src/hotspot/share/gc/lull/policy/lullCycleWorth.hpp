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
// A remark is a young pause. Where most of the heap is young, or private, it takes about as long as a global one.
//
// A cycle moves next to nothing, and leaves what died meanwhile. In a heap with little room that makes young pauses come
// often. So what a cycle, or a global collection, and the young ones after it have cost for each byte that they have
// freed counts, too (LullYoungPolicy).
//
// In either case global ones come. Now and then a cycle shows whether that is still so; it counts more than others, for
// what was before is long ago.
//
// A heap whose global pause is long has cycles in any case. Where cycles cost twice as much, pauses of twice that length
// are paid for it: remarks of cycles that were late are no shorter there, and young pauses come twice as often.
//
// Written in pauses.
class LullCycleWorth {
private:
  static const jlong ShortNs = 10 * NANOSECS_PER_MILLISEC;    // a global pause that is always preferred
  static const jlong LongNs = 100 * NANOSECS_PER_MILLISEC;    // and one that never is,
  static const uint  MostLonger = 250;       // or one of at most so many percent of that, where cycles cost so much more
  static const uint  PoorPercent = 67;       // a remark that takes more of a global pause is in vain
  static const uint  DearPercent = 125;      // of what global collections cost: so much is paid for short pauses

  // Cycles that were in vain for one reason.
  class Vain {
    static const uint LeastInSequence = 2;   // one may have been an accident
    static const uint MostDoublings = 4;
    uint _in_sequence;
  public:
    Vain() : _in_sequence(0) {}

    // One more has ended. Returns how many global collections are to come in place of the next ones.
    uint record(bool is_vain) {
      _in_sequence = is_vain ? _in_sequence + 1 : 0;
      return _in_sequence < LeastInSequence ? 0 : 4u << MIN2(_in_sequence - LeastInSequence, MostDoublings);
    }
  };

  Vain   _poor;
  Vain   _dear;
  double _cycle_cost;    // nanoseconds for each byte, the last ones counting most; 0: none was seen
  double _global_cost;
  uint   _left_out;      // global collections that come in place of a cycle, from now on
  bool   _after_break;   // the next cycle is the first one since some were left out

  // Longer global pauses are never better.
  jlong longest_ns() const {
    if (_cycle_cost <= _global_cost || _global_cost == 0) {
      return LongNs;
    }
    return LongNs / 100 * (jlong)MIN2(_cycle_cost / _global_cost * 100, (double)MostLonger);
  }

public:
  LullCycleWorth() : _poor(), _dear(), _cycle_cost(0), _global_cost(0), _left_out(0), _after_break(false) {}

  // Is a cycle better than a global pause that would take so long?
  bool is_better(jlong global_ns) const {
    return global_ns > ShortNs && (_left_out == 0 || global_ns > longest_ns());
  }

  // A cycle has ended in such a remark.
  void record_remark(jlong remark_ns, jlong global_ns) {
    _left_out = MAX2(_left_out, _poor.record(remark_ns > global_ns / 100 * PoorPercent));
  }

  // What began with a cycle's remark, or with a global collection, and the young ones after it have cost.
  void record_period(bool by_cycle, double ns_per_byte) {
    double* const mean = by_cycle ? &_cycle_cost : &_global_cost;
    const double weight = *mean == 0 ? 1 : by_cycle && _after_break ? 1.0 / 2 : 1.0 / 4;
    *mean += (ns_per_byte - *mean) * weight;
    if (by_cycle) {
      _after_break = false;
      if (_global_cost > 0) {
        _left_out = MAX2(_left_out, _dear.record(_cycle_cost > _global_cost / 100 * DearPercent));
      }
    }
  }

  // For the log.
  double cost(bool by_cycle) const { return by_cycle ? _cycle_cost : _global_cost; }
  uint left_out() const            { return _left_out; }

  void record_global() {
    _after_break = _after_break || _left_out == 1;
    _left_out -= MIN2(_left_out, 1u);
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLCYCLEWORTH_HPP
