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

#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"

bool LullYoungPolicy::has_paid() const {
  return _mean_ns == 0 || (_last_bytes > 0 && MIN2(_last_ns, _mean_ns) * _cycle_bytes <= _cycle_ns * _last_bytes);
}

void LullYoungPolicy::record_global(jlong ns, size_t freed_bytes) {
  _cycle_ns = (double)ns;
  _cycle_bytes = (double)freed_bytes;
  _mean_ns = 0;
  _last_ns = 0;
  _last_bytes = 0;
  _early_ns = 0;
  _early_bytes = 0;
  _has_cycle = true;
  if (_cycles_to_skip > 0) {
    _cycles_to_skip--;
  }
}

void LullYoungPolicy::record_early(jlong ns, size_t freed_bytes) {
  assert(LullYoungCollections && ns >= 0, "an early one of " JLONG_FORMAT " ns", ns);
  _early_ns += (double)ns;
  _early_bytes += (double)freed_bytes;
}

void LullYoungPolicy::record_young(jlong ns, size_t freed_bytes) {
  assert(LullYoungCollections, "there are global ones alone");
  const bool is_first = _mean_ns == 0;
  _last_ns = (double)MAX2(ns, (jlong)1) + _early_ns;
  _last_bytes = (double)freed_bytes + _early_bytes;
  _early_ns = 0;
  _early_bytes = 0;
  _mean_ns = is_first ? _last_ns : _mean_ns + LastWeight * (_last_ns - _mean_ns);
  _cycle_ns += _last_ns;
  _cycle_bytes += _last_bytes;
  if (is_first) {
    _vain_cycles = has_paid() ? 0 : MIN2(2 * _vain_cycles + 1, MaxVainCycles);
    // The global collection that ends this cycle counts one down.
    _cycles_to_skip = _vain_cycles == 0 ? 0 : _vain_cycles + 1;
  }
  log_debug(gc, ergo)("Young collection: %.3f ns for each byte freed; global collection and the young ones since: %.3f",
                      _last_ns / MAX2(_last_bytes, 1.0), _cycle_ns / MAX2(_cycle_bytes, 1.0));
}

bool LullYoungPolicy::wants_young() const {
#ifdef ASSERT
  if (LullYoungALot) {
    return LullYoungCollections;
  }
#endif
  return LullYoungCollections && _has_cycle && _cycles_to_skip == 0 && has_paid();
}
