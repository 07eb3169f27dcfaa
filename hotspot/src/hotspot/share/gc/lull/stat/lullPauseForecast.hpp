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

#ifndef SHARE_GC_LULL_STAT_LULLPAUSEFORECAST_HPP
#define SHARE_GC_LULL_STAT_LULLPAUSEFORECAST_HPP

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// How much a collection will have to do, before it has begun; in bytes to trace.
//
// A global collection finds alive what the last one did, and what young ones have made old since; of what was allocated since the last
// collection as large a share as at the last times. A young one finds such a share. What a pause does besides tracing (passes over
// blocks, code, weak references) takes a time that hardly depends on what is alive: it is taken as that of so many bytes more as
// at the last pauses of the kind. A pause that did something else, too (unloaded, slid, wrote a dump), counts for twice that at most.
//
// A remark does what a young one does, and looks at what a cycle has left to mark, at references, and at classes and code
// if it unloads. So it has a share and a rest of its own. Before the first one it is taken for a young one.
//
// Of what young collections have made old a global one finds much dead, if the last ones did: so much less than expected
// is likely (likely_global). Who waits for a pause is told of all.
//
// How long that takes is what the last global pauses took for each byte. A pause whose threads got no processor takes
// several times as long, and none might follow that would tell better, for cycles come where it would be long: so what
// is longer counts a quarter, what is shorter half.
//
// Written at safepoints.
class LullPauseForecast {
public:
  enum class Pause : int {
    Young,
    Remark,   // ends a cycle of concurrent marking
    Global    // the last one
  };

private:
  static constexpr int Pauses = static_cast<int>(Pause::Global) + 1;

  struct Kind {
    double _alive_share;   // of what was allocated, 0 to 1
    double _rest;          // what is done besides tracing, in bytes to trace; 0: not known yet
  };

  Kind   _kinds[Pauses];   // by Pause
  double _old;             // bytes of public objects found alive by the last global collection, and made old since
  double _used;            // bytes, when the last collection had ended
  double _allocated;       // bytes in use more than that when the running one began
  double _expected;        // of the running one
  double _likely_share;    // of what was expected of the last global ones, that they had to do; at most 1
  double _global_pace;     // nanoseconds that global pauses take for each byte, all in them; a guess before the first
  bool   _has_pace;

  static int index(Pause pause) {
    const int i = static_cast<int>(pause);
    assert(i >= 0 && i < Pauses, "%d is no pause", i);
    return i;
  }

  const Kind& kind(Pause pause) const { return _kinds[index(pause)]; }
  Kind& kind(Pause pause)             { return _kinds[index(pause)]; }

  // The last ones count most.
  static double mean(double before, double now) { return (before + now) / 2; }

public:
  LullPauseForecast()
    : _kinds{{0.1, 0}, {0.1, 0}, {0.5, 0}}, _old(0), _used(0), _allocated(0), _expected(0), _likely_share(1),
      _global_pace(1), _has_pace(false) {}

  // A collection begins, with so many bytes in use. Returns what it is expected to have to do.
  double begin(Pause pause, double used) {
    _allocated = MAX2(used - _used, 0.0);
    _expected = expected(pause, used);
    return _expected;
  }

  // The same, if one began now.
  double expected(Pause pause, double used) const {
    const double old = pause == Pause::Global ? _old : 0;
    return old + kind(pause)._alive_share * MAX2(used - _used, 0.0) + rest(pause);
  }

  // All is traced: so many bytes, of which so many are old now.
  void end_tracing(Pause pause, double traced, double old) {
    const bool is_global = pause == Pause::Global;
    if (is_global && _expected > 0) {
      _likely_share = mean(_likely_share, MIN2((traced + rest(Pause::Global)) / _expected, 1.0));
    }
    const double young = is_global ? MAX2(traced - _old, 0.0) : traced;
    if (_allocated > 0) {
      kind(pause)._alive_share = mean(kind(pause)._alive_share, MIN2(young / _allocated, 1.0));
    }
    _old = is_global ? old : _old + old;
  }

  // A cycle of concurrent marking has ended in this pause: so many bytes are old now.
  void end_cycle(double old) { _old = old; }

  // It is over, with so many bytes in use. Tracing has taken so many nanoseconds for so many bytes, the rest so many.
  void end(Pause pause, double used, double traced, double tracing_ns, double rest_ns) {
    assert(traced >= 0 && rest_ns >= 0, "%f bytes, and %f ns for the rest", traced, rest_ns);
    _used = used;
    if (tracing_ns > 0) {
      const double now = rest_ns * traced / tracing_ns;
      double& rest = kind(pause)._rest;
      rest = rest == 0 ? now : mean(rest, MIN2(now, 2 * rest));
    }
  }

  // A global one is over, and has taken so many nanoseconds for so many bytes, in all.
  void record_global_pace(double pause_ns, double traced) {
    const double pace = pause_ns / MAX2(traced + rest(Pause::Global), 1.0);
    _global_pace = !_has_pace ? pace : _global_pace + (pace - _global_pace) / (pace > _global_pace ? 4 : 2);
    _has_pace = true;
  }

  // A global one, if it began now, as the last ones were: in bytes to trace, and in nanoseconds.
  double likely_global(double used) const    { return _likely_share * expected(Pause::Global, used); }
  double likely_global_ns(double used) const { return likely_global(used) * _global_pace; }

  // What a pause has to do when all is traced.
  double rest(Pause pause) const {
    const bool is_first_remark = pause == Pause::Remark && kind(pause)._rest == 0;
    return kind(is_first_remark ? Pause::Young : pause)._rest;
  }
};

#endif // SHARE_GC_LULL_STAT_LULLPAUSEFORECAST_HPP
