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
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/reservedSpace.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/globals.hpp"
#include "runtime/java.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/formatBuffer.hpp"

#include <string.h>

bool                  LullFarHeap::_is_far = false;
const LullFarPager*   LullFarHeap::_pager = nullptr;
const LullFarTracer*  LullFarHeap::_tracer = nullptr;
const LullBlockTable* LullFarHeap::_blocks = nullptr;
volatile uint32_t     LullFarHeap::_slides = 0;
LullFarStatistics     LullFarHeap::_at_pause;
volatile uint64_t     LullFarHeap::_fetched_in_pauses = 0;
volatile uint64_t     LullFarHeap::_waits_in_pauses = 0;

// Of a library that was loaded before the program.
template <typename Function>
static Function look_up(const char* name) {
  return CAST_TO_FN_PTR(Function, os::dll_lookup(os::get_default_process_handle(), name));
}

static bool is_far_address(const void* address) {
  const auto contains = look_up<int (*)(const void*)>("lull_far_contains");
  return contains != nullptr && contains(address) != 0;
}

// Older pagers do not count what is remote.
static bool counts_remote(const LullFarPager* pager) {
  return pager->_size >= sizeof(LullFarPager);
}

// The kernel's frame of a signal takes 12 KB, and the handler 12 KB at most (lull_far.h). Compiled code looks for room
// before it calls.
int LullFarHeap::more_shadow_pages() {
  const bool may_be_far = AllocateHeapAt != nullptr && look_up<void*>("lull_far_contains") != nullptr;
  return may_be_far ? (int)(32 * K / os::vm_page_size()) : 0;
}

static void refuse_if(bool is_set, const char* flag, const char* why) {
  if (is_set) {
    vm_exit_during_initialization(err_msg("%s cannot be used with a heap on memory servers (lull-far run): %s. "
                                          "Leave it out.", flag, why));
  }
}

void LullFarHeap::find(const ReservedSpace& heap) {
  _is_far = is_far_address(heap.base());
  if (!_is_far) {
    return;
  }
  const char* const one_by_one = "its pages come and leave one by one, of 4 KB each";
  refuse_if(UseTransparentHugePages, "-XX:+UseTransparentHugePages", one_by_one);
  refuse_if(UseLargePages, "-XX:+UseLargePages", one_by_one);
  refuse_if(UseNUMA, "-XX:+UseNUMA", "a page that comes back is on the node of the thread that needs it");
  refuse_if(AlwaysPreTouch, "-XX:+AlwaysPreTouch", "each page that is touched has another one leave");
}

void LullFarHeap::attach(const ReservedSpace& heap, const LullBlockTable* blocks) {
  if (!_is_far) {
    return;
  }
  _blocks = blocks;
  const auto get_owner = look_up<const LullFarPager* (*)(void)>("lull_far_get_owner");
  const LullFarPager* const pager = get_owner == nullptr ? nullptr : get_owner();
  char error[256] = "it is older than this JVM";
  const bool attached = pager != nullptr && pager->_size >= offsetof(LullFarPager, _count_remote) &&
                        pager->_attach(heap.base(), heap.size(), use_of, error, sizeof(error)) == 0;
  if (!attached) {
    log_warning(gc)("The pager of the far heap does not ask which pages are young or free: %s", error);
    return;
  }
  _pager = pager;
  const auto get_tracer = look_up<const LullFarTracer* (*)(void)>("lull_far_get_tracer");
  const LullFarTracer* const tracer = get_tracer == nullptr ? nullptr : get_tracer();
  if (tracer != nullptr && tracer->_size >= sizeof(LullFarTracer)) {
    _tracer = tracer;
    log_info(gc, init)("Far heap: memory servers mark what is old (lull-far run --trace)");
  }
  log_info(gc, init)("Far heap: %zuM on memory servers, of which %zuM may be local; tables are local",
                     heap.size() / M, local_limit() / M);
}

// By the pager's thread, at any time. Others change the block's fields meanwhile: what is read is a hint, but for that
// the block is free.
uint32_t LullFarHeap::use_of(const void* page) {
  const uint32_t slides = Atomic::load_acquire(&_slides);
  LullBlockIndex index = LullGeometry::block_of(page);
  const LullBlock block = *_blocks->at(index);    // its checks are for those who may look
  OrderAccess::loadload();
  if (block.state() == LullBlockState::Free || block.state() == LullBlockState::Uncommitted) {
    const bool slid = (slides & 1) != 0 || Atomic::load(&_slides) != slides;
    return slid ? LullFarOther : LullFarUnused;
  }
  if (block.state() == LullBlockState::Owned && lull_is_left_out("FarFree")) {
    return LullFarUnused;
  }
  if (block.state() == LullBlockState::LargeTail) {
    index = to_block_index(block.large_head());
  }
  return _blocks->has_young(index) && !lull_is_left_out("FarYoung") ? LullFarYoung : LullFarOther;
}

LullFarHeap::Sliding::Sliding() {
  assert_at_safepoint();
  Atomic::inc(&_slides);
}

LullFarHeap::Sliding::~Sliding() {
  Atomic::inc(&_slides);
}

void LullFarHeap::forget_blocks(LullBlockIndex first, size_t blocks) {
  if (lull_is_left_out("FarForgets")) {
    return;
  }
  _pager->_forget(LullGeometry::start_of(first), blocks * LullGeometry::BlockSize);
}

void LullFarHeap::trim() {
  if (_pager != nullptr && !lull_is_left_out("FarTrims")) {
    _pager->_trim();
  }
}

void LullFarHeap::hold_object(oop obj) {
  if (lull_is_left_out("FarHolds")) {
    return;
  }
  _pager->_hold(cast_from_oop<void*>(obj), obj->size() * HeapWordSize);
}

void LullFarHeap::release_object(oop obj) {
  if (lull_is_left_out("FarHolds")) {
    return;
  }
  _pager->_release(cast_from_oop<void*>(obj), obj->size() * HeapWordSize);
}

bool LullFarHeap::statistics(LullFarStatistics* statistics) {
  memset(statistics, 0xff, sizeof(*statistics));    // Unknown, but for what the pager tells
  return _pager != nullptr && _pager->_get_statistics(statistics, sizeof(LullFarStatistics)) == 0;
}

size_t LullFarHeap::local_limit() {
  LullFarStatistics now;
  return statistics(&now) ? (size_t)now._local_limit * os::vm_page_size() : SIZE_MAX;
}

// A third: a quarter has been unmapped and waits for a second chance, and what is old needs some.
size_t LullFarHeap::young_budget() {
  const size_t limit = local_limit();
  return limit == SIZE_MAX ? SIZE_MAX : limit / 3;
}

uint64_t LullFarHeap::remote_pages() {
  return _pager != nullptr && counts_remote(_pager) ? _pager->_count_remote() : Unknown;
}

void LullFarHeap::begin_pause() {
  assert_at_safepoint();
  statistics(&_at_pause);
}

// What differs of a count that may be unknown.
static uint64_t since(uint64_t before, uint64_t now) {
  return now == LullFarHeap::Unknown ? 0 : now - before;
}

void LullFarHeap::end_pause() {
  assert_at_safepoint();
  LullFarStatistics now;
  if (!statistics(&now)) {
    return;
  }
  const uint64_t fetched = since(_at_pause._fetched, now._fetched);
  const uint64_t waits = since(_at_pause._fetch_faults, now._fetch_faults);
  Atomic::store(&_fetched_in_pauses, _fetched_in_pauses + fetched);
  Atomic::store(&_waits_in_pauses, _waits_in_pauses + waits);
  const size_t page = os::vm_page_size();
  log_debug(gc, heap)("Far: %zuM of %zuM local; this pause has fetched %zuM in %zu waits; so far fetched %zuM, "
                      "sent %zuM, of it young %zuM; not sent for being free %zuM, not fetched for that %zuM",
                      (size_t)now._local * page / M, (size_t)now._local_limit * page / M, (size_t)fetched * page / M,
                      (size_t)waits, (size_t)now._fetched * page / M, (size_t)now._written * page / M,
                      (size_t)now._young_written * page / M, (size_t)now._dropped_unused * page / M,
                      (size_t)now._forgotten * page / M);
}
