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

#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullUnmount.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullVisitFramesMark.hpp"
#include "memory/iterator.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/continuation.hpp"
#include "runtime/continuationEntry.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/lockStack.inline.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/stackFrameStream.inline.hpp"

class LullPublishRootClosure final : public OopClosure {
private:
  template <typename T> void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    const oop obj = CompressedOops::decode(heap_oop);
    if (obj != nullptr) {
      LullStoreBarrier::publish(obj);
    }
  }

public:
  void do_oop(oop* p) override       { do_oop_work(p); }
  void do_oop(narrowOop* p) override { do_oop_work(p); }
};

void LullUnmount::publish_frames(JavaThread* carrier) {
  assert(carrier == Thread::current(), "a carrier unmounts what it carries");
  LullThreadFields::before_unmount(carrier);
  if (!LullPrivateCarriers) {
    LullBarrierSet::publish_all(carrier, "it carries virtual threads", true);
    return;
  }
  if (LullThreadLocalData::is_public_mode(carrier)) {
    return;
  }
  const ContinuationEntry* const entry = carrier->last_continuation();
  assert(entry != nullptr, "the carrier has no frames of a virtual thread");
  LullVisitFramesMark mark(carrier);
  LullPublishRootClosure closure;
  carrier->lock_stack().oops_do(&closure);    // moves with the frames
  for (StackFrameStream frames(carrier, true /* update */, false /* process_frames */);
       !frames.is_done() && Continuation::is_frame_in_continuation(entry, *frames.current());
       frames.next()) {
    frames.current()->oops_do(&closure, nullptr, frames.register_map(), DerivedPointerIterationMode::_ignore);
  }
  LullLocalCollector* const local_collector = LullThreadLocalData::local_collector(carrier);
  if (local_collector != nullptr) {
    local_collector->record_unmount();
  }
}

void LullUnmount::publish_chunk(oop chunk) {
  LullPublicMap* const map = LullTables::public_map();
  if (!map->is_public(chunk)) {
    map->publish(cast_from_oop<HeapWord*>(chunk), chunk->size());
    OrderAccess::storestore();
  }
}
