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

#include "gc/lull/stat/lullCounter.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "runtime/atomic.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/perfData.inline.hpp"
#include "runtime/safepoint.hpp"

static PerfVariable* create(const char* name) {
  return UsePerfData ? LullCounter::create("lull.pause", name, PerfData::U_Bytes) : nullptr;
}

LullPauseProgress::LullPauseProgress()
  : _expected(create("expected")),
    _work(create("work")),
    _done(create("done")),
    _forecast(),
    _pause(LullPauseForecast::Pause::Young),
    _start(0),
    _traced_at(0),
    _traced(0),
    _most_traced(0),
    _reported(0) {}

void LullPauseProgress::begin(LullPauseForecast::Pause pause, size_t used) {
  assert_at_safepoint();
  assert(Thread::current()->is_VM_thread(), "one pause at a time");
  _pause = pause;
  _start = _traced_at = os::javaTimeNanos();
  _traced = _reported = 0;
  const jlong work = MAX2((jlong)_forecast.begin(pause, (double)used), (jlong)1);
  _most_traced = MAX2(work - (jlong)_forecast.rest(pause), (jlong)0);
  if (_work != nullptr) {
    // In this order: whoever reads in between sees that nothing is done, not that all is.
    _done->set_value(0);
    OrderAccess::storestore();
    _expected->set_value(work);
    _work->set_value(work);
  }
}

void LullPauseProgress::add_traced(size_t words) {
  const size_t reported = Atomic::add(&_reported, words * HeapWordSize);
  if (_done != nullptr) {
    LullCounter::raise((volatile jlong*)_done->get_address(), MIN2((jlong)reported, _most_traced));
  }
}

void LullPauseProgress::end_tracing(size_t words, size_t old_words) {
  assert_at_safepoint();
  assert(old_words <= words, "%zu of %zu traced words are old", old_words, words);
  _traced_at = os::javaTimeNanos();
  _traced = words * HeapWordSize;
  _forecast.end_tracing(_pause, (double)_traced, (double)(old_words * HeapWordSize));
  if (_work != nullptr) {
    _work->set_value(MAX2((jlong)((double)_traced + _forecast.rest(_pause)), (jlong)1));
    _done->set_value((jlong)_traced);
  }
}

void LullPauseProgress::end(size_t used, jlong pause_ns) {
  assert_at_safepoint();
  assert(_start <= _traced_at && pause_ns >= 0, "a pause begins before it has traced");
  _forecast.end(_pause, (double)used, (double)_traced, (double)(_traced_at - _start), (double)(os::javaTimeNanos() - _traced_at));
  if (_pause == LullPauseForecast::Pause::Global) {
    _forecast.record_global_pace((double)pause_ns, (double)_traced);
  }
  if (_work != nullptr) {
    _done->set_value(_work->get_value());
  }
}
