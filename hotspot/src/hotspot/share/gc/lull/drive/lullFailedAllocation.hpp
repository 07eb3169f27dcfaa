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

#ifndef SHARE_GC_LULL_DRIVE_LULLFAILEDALLOCATION_HPP
#define SHARE_GC_LULL_DRIVE_LULLFAILEDALLOCATION_HPP

#include "memory/allocation.hpp"

class LullBlockSupply;
class LullHeap;
class LullHeapSizer;
class LullYoungPolicy;
class Thread;
struct LullEvacuationRequest;

// An allocation for which there was no memory, and what is done about it, at a safepoint. If the largest heap could not
// hold the object, soft references are cleared and nothing more is done. Else the steps are, each more expensive, and
// tried only when the one before has failed:
//
//   what a cycle of concurrent marking has left to be swept
//   a young collection, while those pay, unless it leaves more than LullUseLimit allows
//   a larger heap, for a large object while the heap is far below its maximum
//   a global collection
//   a larger heap
//   the copy reserve, if only that is between a large object and a run of free blocks
//   for a large object that fits into what is free: a collection after which all objects slide together
//   for others: a collection that evacuates what there is room for; for an object of some KB then one that slides
//   the copy reserve
//   a collection that clears soft references, after which all slide together
//   the copy reserve
//   nullptr: OutOfMemoryError
//
// The collections of the seventh and eighth step clear soft references too, if little is free in all. If much is free,
// memory is not short: objects lie in the wrong places.

class LullFailedAllocation : public StackObj {
private:
  LullHeap* const        _heap;
  LullBlockSupply* const _supply;
  LullHeapSizer* const   _sizer;
  LullYoungPolicy* const _young_policy;
  Thread* const          _thread;
  const size_t           _words;

  bool may_wait_for_cycle() const;
  bool is_global_long() const;
  bool may_end_cycle() const;
  bool collect_young();
  HeapWord* allocate_swept();
  HeapWord* allocate_within_limit();
  HeapWord* allocate_in_what_is_left();
  HeapWord* grow_and_allocate();
  HeapWord* collect_young_and_retry();
  HeapWord* collect_by_cycle_and_retry();
  HeapWord* allocate();
  size_t free_bytes() const;
  bool is_in_one_run() const;
  bool must_slide() const;
  bool may_pack() const;
  bool is_little_free() const;
  HeapWord* collect_and_retry(const LullEvacuationRequest& request, bool clear_soft_references);
  HeapWord* allocate_with_reserve();
  HeapWord* compact_and_retry();

public:
  LullFailedAllocation(LullHeap* heap, LullBlockSupply* supply, LullHeapSizer* sizer, LullYoungPolicy* young_policy,
                       Thread* thread, size_t words)
    : _heap(heap), _supply(supply), _sizer(sizer), _young_policy(young_policy), _thread(thread), _words(words) {}

  // nullptr: give up.
  HeapWord* collect_and_allocate();
};

#endif // SHARE_GC_LULL_DRIVE_LULLFAILEDALLOCATION_HPP
