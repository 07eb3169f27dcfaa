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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullYoungSchedule.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/atomic.hpp"
#include "runtime/init.hpp"
#include "runtime/safepoint.hpp"

void LullYoungSchedule::plan(size_t used) {
  assert(SafepointSynchronize::is_at_safepoint() || !is_init_completed(), "what is in use must not change meanwhile");
  _used_at_pause = used;
  const size_t goal = _is_kept ? _goal.budget() : SIZE_MAX;
  // Of a far heap, what is new must be collected while it is local.
  const size_t budget = LullYoungCollections ? MIN2(goal, LullFarHeap::young_budget()) : goal;
  const size_t due_at = budget == SIZE_MAX ? SIZE_MAX : used + budget;
  Atomic::store(&_due_at, due_at);
  Atomic::store(&_pause_at, MIN2(due_at, used + (size_t)_supply->free_blocks() * LullGeometry::BlockSize));
  plan_cleaning(used, 0);
  _supply->set_notification(MIN2(due_at, _clean_at));
  if (budget != SIZE_MAX) {
    log_debug(gc, ergo)("%s: a young pause is due after %zuM more", budget == goal ? "Pause goal" : "Far heap",
                        budget / M);
  }
}

void LullYoungSchedule::record_young(jlong pause_ns, jlong mark_ns, size_t seen_bytes, size_t private_bytes,
                                     size_t used_before) {
  assert_at_safepoint();
  _goal.record_young(pause_ns, mark_ns, seen_bytes, private_bytes, used_before - MIN2(_used_at_pause, used_before));
}

void LullYoungSchedule::plan_cleaning(size_t used, uint cleanings) {
  const bool is_on = _cycle != nullptr && LullCardCleaner::is_on();
  Atomic::store(&_cleanings, cleanings);
  Atomic::store(&_clean_at, is_on ? LullCleaningPolicy::next_at(used, Atomic::load(&_pause_at), cleanings) : SIZE_MAX);
}

bool LullYoungSchedule::is_due(size_t used) {
  const size_t due_at = Atomic::load(&_due_at);
  if (used > due_at) {
    return true;
  }
  if (used > Atomic::load(&_clean_at)) {
    _cycle->clean_soon();
    plan_cleaning(used, Atomic::load(&_cleanings) + 1);
  }
  _supply->renew_notification(MIN2(due_at, Atomic::load(&_clean_at)));
  return false;
}
