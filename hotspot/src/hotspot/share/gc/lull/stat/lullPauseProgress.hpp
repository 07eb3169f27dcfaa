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

#ifndef SHARE_GC_LULL_STAT_LULLPAUSEPROGRESS_HPP
#define SHARE_GC_LULL_STAT_LULLPAUSEPROGRESS_HPP

#include "gc/lull/stat/lullPauseForecast.hpp"
#include "memory/allocation.hpp"
#include "runtime/perfDataTypes.hpp"

// What a pause has to do and how much of it is done, for those outside who must know while it goes on when it will be over: the
// gate (native/gate), which tells requests that come meanwhile whether they can wait. Performance counters, which are
// memory that anybody may read at any time:
//
//   sun.gc.lull.pause.expected   what the running pause, or else the last one, was expected to have to do, in bytes to trace
//   sun.gc.lull.pause.work       the same, corrected when all is traced
//   sun.gc.lull.pause.done       what of it is done: less while a pause runs, as much between pauses
//
// They are written before JVMTI agents are told that the pause has begun, but where the VM itself has told them
// earlier (a collection for metadata): then they may still be those of the last pause, with all done.
class LullPauseProgress : public CHeapObj<mtGC> {
private:
  PerfVariable* const      _expected;      // nullptr without -XX:+UsePerfData
  PerfVariable* const      _work;
  PerfVariable* const      _done;
  LullPauseForecast        _forecast;
  LullPauseForecast::Pause _pause;         // the running one, or else the last
  jlong                    _start;         // of it, nanoseconds
  jlong                    _traced_at;
  size_t                   _traced;        // bytes, all
  jlong                    _most_traced;   // bytes; as far as is told before all is traced: the rest is still to be done
  volatile size_t          _reported;      // bytes, as far as workers have said; by all of them

public:
  LullPauseProgress();

  // VM thread: a pause begins, with so many bytes in use.
  void begin(LullPauseForecast::Pause pause, size_t used);

  // Workers: so many words more are traced. Now and then: it is for a clock of milliseconds.
  void add_traced(size_t words);

  // VM thread: all is traced; so many words, of which so many are old now.
  void end_tracing(size_t words, size_t old_words);

  // VM thread: the pause has ended a cycle of concurrent marking, and so many bytes are left.
  void end_cycle(size_t used) { _forecast.end_cycle((double)used); }

  // VM thread: it is over, and has taken so many nanoseconds, without what verifies it.
  void end(size_t used, jlong pause_ns);

  // How long a global pause is likely to take now, in nanoseconds. By any thread, which may be wrong by one pause.
  jlong expected_global_ns(size_t used) const {
    return (jlong)_forecast.likely_global_ns((double)used);
  }
};

#endif // SHARE_GC_LULL_STAT_LULLPAUSEPROGRESS_HPP
