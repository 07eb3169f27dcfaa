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

#include "gc/lull/policy/lullReferencePolicy.hpp"

size_t LullReferencePolicy::garbage_due(size_t capacity) const {
  if (_percent == 0) {
    return SIZE_MAX;
  }
  const size_t base = MIN2(capacity / SharesOfHeap, (size_t)LargestBase);
  return base << _doublings;
}

size_t LullReferencePolicy::references_due() const {
  return _percent == 0 ? SIZE_MAX : ManyReferences;
}

bool LullReferencePolicy::is_due(const Seen& seen, size_t capacity) const {
  if (_percent == 0) {
    return false;
  }
  const bool by_garbage = seen._references > 0 && seen._garbage >= garbage_due(capacity);
  const bool by_references = seen._references >= references_due();
  const bool by_time = seen._elapsed_ns >= MaxWait && seen._garbage >= HeapsOfGarbage * capacity;
  return by_garbage || by_references || by_time || is_urgent(seen);
}

bool LullReferencePolicy::is_urgent(const Seen& seen) const {
  const size_t before = seen._resident - MIN2(seen._native_growth, seen._resident);
  const bool by_memory = seen._native_growth >= MAX2((size_t)LeastNativeGrowth, before / NativeShare);
  const bool by_descriptors = seen._descriptor_limit > 0 && seen._descriptors >= seen._descriptor_limit / DescriptorShare;
  return _percent > 0 && (by_memory || by_descriptors || seen._threads >= ManyThreads);
}

bool LullReferencePolicy::wants_global(const Seen& since_global, size_t looked_at, size_t capacity, jlong expected_global_ns) {
  const bool many = looked_at >= ManyReferences && since_global._garbage >= capacity &&
                    since_global._elapsed_ns >= ManyUntilGlobal;
  const bool late = since_global._references > 0 && since_global._garbage >= HeapsUntilGlobal * capacity &&
                    since_global._elapsed_ns >= AnyUntilGlobal;
  return expected_global_ns <= LongestGlobal && (many || late);
}

jlong LullReferencePolicy::wait_ns(jlong now_ns, bool urgent) {
  if (_percent == 0) {
    return 0;
  }
  assert(now_ns >= _credited_at, "credit is not taken back");
  _credit.grow(now_ns - _credited_at);
  _urgent_credit.grow(now_ns - _credited_at);
  _credited_at = now_ns;
  return urgent ? MIN2(_urgent_credit.wait_ns(), _credit.wait_ns()) : _credit.wait_ns();
}

void LullReferencePolicy::record_pause(jlong pause_ns, size_t cleared, bool urgent) {
  assert(pause_ns >= 0, "a pause of " JLONG_FORMAT " ns", pause_ns);
  const double charged = MAX2((double)pause_ns - (double)cleared * (double)WorthOfReference, 0.0);
  (urgent ? _urgent_credit : _credit)._ns -= charged;
  if (cleared >= WorthwhileReferences) {
    _doublings = 0;
  } else if (cleared > 0) {
    _doublings = _doublings / 2;
  } else {
    _doublings = MIN2(_doublings + 1, MaxDoublings);
  }
}

void LullReferencePolicy::record_other_globals(jlong pause_ns) {
  assert(pause_ns >= 0, "pauses of " JLONG_FORMAT " ns", pause_ns);
  const double charged = MAX2(_credit._ns - (double)pause_ns, -(double)MostDebtByOthers);
  _credit._ns = MIN2(_credit._ns, charged);    // who has more debt keeps it
}
