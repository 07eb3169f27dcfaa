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


#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "memory/universe.hpp"
#include "oops/oop.hpp"
#include "runtime/atomic.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.hpp"
#include "utilities/debug.hpp"

LullStoreOutcome LullStoreBarrier::publish(oop value) {
  assert(oopDesc::is_oop(value), "not an object: " PTR_FORMAT, p2i(value));
  // What survives a collection is public, and what it stores does survive. Until the
  // sweep the bits say something else.
  if (LullTables::public_map()->is_public(value) || Universe::heap()->is_stw_gc_active()) {
    return LullStoreOutcome::PublicValue;
  }
  LullPublisher::of(Thread::current())->publish(value);
  return LullStoreOutcome::Published;
}

#ifdef ASSERT
// Who cleans cards meanwhile has to wait for the store.
static void wait_before_store() {
  static volatile uint stores = 0;
  const uint StoresPerWait = 512;
  if (LullCleanALot && Atomic::fetch_then_add(&stores, 1u) % StoresPerWait == 0) {
    os::naked_short_sleep(1);
  }
}
#endif

void LullStoreBarrier::dirty_card(const void* field) {
  dirty_cards(field, field);
}

void LullStoreBarrier::dirty_cards(const void* first, const void* last) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropCards) {
    return;
  }
#endif
  assert(first <= last, "from " PTR_FORMAT " to " PTR_FORMAT, p2i(first), p2i(last));
  LullCardTable* const cards = LullTables::card_table();
  if (cards != nullptr && LullTables::blocks()->covers(first)) {
    cards->dirty_all(first, last);
    DEBUG_ONLY(wait_before_store();)
  }
}
