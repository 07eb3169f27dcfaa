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
#include "gc/lull/stat/lullPublicationCounters.hpp"
#include "gc/lull/stat/lullPublicationStatistics.hpp"
#include "runtime/perfData.inline.hpp"

static PerfVariable* create(const char* name, PerfData::Units units) {
  return LullCounter::create("lull.publication", name, units);
}

LullPublicationCounters::LullPublicationCounters()
  : _allocated(create("allocated", PerfData::U_Bytes)),
    _published(create("published", PerfData::U_Bytes)),
    _objects(create("objects", PerfData::U_Events)),
    _closures(create("closures", PerfData::U_Events)),
    _longest_closure(create("longestClosure", PerfData::U_Events)),
    _slow_calls(create("slowCalls", PerfData::U_Events)),
    _public_mode_entered(create("publicModeEntered", PerfData::U_Events)),
    _public_mode_left(create("publicModeLeft", PerfData::U_Events)) {}

void LullPublicationCounters::update(const LullPublicationStatistics& total) {
  _allocated->set_value((jlong)total._allocated);
  _published->set_value((jlong)total.published_bytes());
  _objects->set_value((jlong)total._objects);
  _closures->set_value((jlong)total._closures);
  _longest_closure->set_value((jlong)total._longest);
  _slow_calls->set_value((jlong)total._slow_calls);
  _public_mode_entered->set_value((jlong)total._public_mode_entered);
  _public_mode_left->set_value((jlong)total._public_mode_left);
}
