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

#ifndef SHARE_GC_LULL_POLICY_LULLPAUSEGOAL_HPP
#define SHARE_GC_LULL_POLICY_LULLPAUSEGOAL_HPP

#include "gc/lull/policy/lullFittedLine.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

// How much more may be in use before a young pause, so that the pause is no longer than asked for.
//
// A young pause marks and copies what is alive of that. Where most dies that is next to nothing, and memory runs out long
// before the pause would be too long. Where a program fills a cache everything survives, and the pause must come early.
//
//   pause      = fixed + bytes that are looked at * cost of a byte
//   looked at  = share * bytes that have come into use since the pause before
//
// What is looked at is what is alive of the new bytes, and the lines of old objects that were written to: both grow until
// the pause comes. What is fixed costs the same however little is new: roots, the references, and what is private still,
// which each young pause marks anew. Where it is most of the goal, pauses that come more often
// would be shorter by little and cost much. So a pause works as long on what is alive as on that, at least.
//
// Most of the time in which a pause marks may have gone for roots. So what a byte costs is by how much pauses are
// longer that have looked at more. While all look at about as much the cost is what it was, times how much longer they take
// than they should. Before they have ever differed roots count as if bytes had cost it: budgets become smaller, and so
// they differ.
//
// Estimates go up at once and down slowly: a pause that is too long is worse than one more. But how long a pause may work
// on what is alive because of what is fixed, says a mean: one pause that the machine has held up is no reason for long
// ones after it.
//
// Before anything is known all is taken to be alive, and a byte to cost what it does on a slow processor: the first pause
// is a short one in any case, and tells.
//
// Pure. Written at safepoints.
class LullPauseGoal : public CHeapObj<mtGC> {
private:
  static const size_t MinBudget = 2 * M;           // less is decided by chance
  static const size_t MinSeen = 4 * M;             // less says nothing of what a byte costs: it is all fixed
  static constexpr double FirstNsPerByte = 4;
  static constexpr double MostSeen = 16;           // for each new byte: survivors of the pause before, and lines written to
  static constexpr double Aim = 0.75;              // of the goal: what survives differs from pause to pause
  static constexpr double LastWeight = 1.0 / 4;    // of a pause, where an estimate goes slowly
  static constexpr double LeastOfRatio = 1.0 / 8;

  const double   _goal_ns;        // 0: none
  LullFittedLine _pauses;         // by the bytes that they have looked at
  double         _slope;          // of it when it was known last; 0: never
  double         _base;           // and a pause without any
  double         _ns_per_byte;    // 0: unknown
  double         _most_fixed_ns;
  double         _mean_fixed_ns;  // less than 0: unknown
  double         _seen;           // bytes looked at for each new byte; less than 0: unknown

  static double slowly(double mean, double now) { return mean + LastWeight * (now - mean); }
  static double raised(double mean, double now) { return now > mean ? now : slowly(mean, now); }

  // As this pause says, and those before it: no more than if nothing was fixed, and not nothing by chance. 0: unknown.
  double cost_of_byte(jlong pause_ns, jlong mark_ns, size_t seen_bytes) {
    if (_pauses.has_slope()) {
      _slope = clamp(_pauses.slope(), LeastOfRatio * _pauses.ratio(), _pauses.ratio());
      _base = _pauses.mean_y() - _slope * _pauses.mean_x();
      return _slope;
    }
    if (_slope > 0) {
      return _slope * (double)pause_ns / MAX2(_base + _slope * (double)seen_bytes, 1.0);
    }
    return seen_bytes >= MinSeen ? (double)mark_ns / (double)seen_bytes : 0;
  }

public:
  // Milliseconds; 0: pauses come when memory has run out.
  explicit LullPauseGoal(size_t goal_ms)
    : _goal_ns((double)goal_ms * 1000000), _pauses(), _slope(0), _base(0), _ns_per_byte(0), _most_fixed_ns(0), _mean_fixed_ns(-1),
      _seen(-1) {}

  // A young pause has taken pause_ns, mark_ns of that to mark and copy, and to find what was written to; it has looked at
  // so many bytes, of which so many are private still; so many had come into use since the pause before.
  void record_young(jlong pause_ns, jlong mark_ns, size_t seen_bytes, size_t private_bytes, size_t new_bytes) {
    assert(mark_ns >= 0 && mark_ns <= pause_ns, "marks for " JLONG_FORMAT " of " JLONG_FORMAT " ns", mark_ns, pause_ns);
    _pauses.add((double)seen_bytes, (double)pause_ns);
    const size_t due_bytes = seen_bytes - MIN2(private_bytes, seen_bytes);
    const double ns_per_byte = cost_of_byte(pause_ns, mark_ns, seen_bytes);
    if (ns_per_byte > 0) {
      _ns_per_byte = _ns_per_byte == 0 ? ns_per_byte : raised(_ns_per_byte, ns_per_byte);
    }
    const double fixed_ns = MAX2((double)pause_ns - ns_per_byte * (double)due_bytes, 0.0);
    _most_fixed_ns = raised(_most_fixed_ns, fixed_ns);
    _mean_fixed_ns = _mean_fixed_ns < 0 ? fixed_ns : slowly(_mean_fixed_ns, fixed_ns);
    if (new_bytes >= MinBudget / 2) {
      const double seen = MIN2((double)due_bytes / (double)new_bytes, MostSeen);
      _seen = _seen < 0 ? seen : raised(_seen, seen);
    }
  }

  // Bytes that may come into use before the next pause. SIZE_MAX: as many as there are.
  size_t budget() const {
    const double ns_per_new_byte = (_seen < 0 ? 1 : _seen) * (_ns_per_byte == 0 ? FirstNsPerByte : _ns_per_byte);
    if (_goal_ns == 0 || ns_per_new_byte == 0) {
      return SIZE_MAX;
    }
    const double bytes = MAX2(Aim * _goal_ns - _most_fixed_ns, _mean_fixed_ns) / ns_per_new_byte;
    return bytes >= (double)(SIZE_MAX / 2) ? SIZE_MAX : MAX2((size_t)bytes, (size_t)MinBudget);
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLPAUSEGOAL_HPP
