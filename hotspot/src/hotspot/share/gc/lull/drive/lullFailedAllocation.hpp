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

class LullMutator;
struct LullComponents;
struct LullEvacuationRequest;

// An allocation for which there was no memory, and what is done about it. The steps are a ladder. Each costs more than
// the one before, and is tried only when that has failed.
//
// By the thread:
//
//    1  what a cycle of concurrent marking has left to be swept, some at a time
//    2  a local collection
//    3  what others' collections have freed meanwhile
//    4  a VM operation takes the steps that follow. If another pause comes before it, the thread begins anew
//
// By the VM thread, at a safepoint. If the largest heap could not hold the object, soft references are cleared and
// nothing more is done. Else:
//
//    5  what is still to be swept
//    6  a young collection, while those pay, unless it leaves more than LullUseLimit allows
//    7  a larger heap, for a large object while the heap is far below its maximum
//    8  if a global collection would be long: a larger heap, and a cycle of concurrent marking; a remark, if one is late
//    9  a global collection; OutOfMemoryError, if those take nearly all time and free nearly nothing
//   10  a larger heap
//   11  the copy reserve, if only that is between a large object and a run of free blocks
//   12  for a large object that fits into what is free: a collection after which all objects slide together
//       for others: a collection that evacuates what there is room for; for an object of some KB then one that slides
//   13  the copy reserve
//   14  a collection that clears soft references, after which all slide together
//   15  the copy reserve
//   16  nullptr: OutOfMemoryError
//
// The collections of step 12 clear soft references too, if little is free in all. Then step 13 is left out. If much is
// free, memory is not short: objects lie in the wrong places.

class LullFailedAllocation : public StackObj {
private:
  const LullComponents* const _components;
  LullMutator* const          _mutator;
  const size_t                _words;

  // By the thread.
  bool help_to_sweep() const;

  // By the VM thread.
  bool may_wait_for_cycle() const;
  bool is_cycle_better() const;
  bool may_end_cycle() const;
  bool collect_young();
  HeapWord* allocate_swept();
  HeapWord* allocate_within_limit();
  HeapWord* allocate_in_what_is_left();
  HeapWord* grow_and_allocate();
  void make_room_for_cycle();
  HeapWord* begin_cycle_and_retry();
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
  HeapWord* climb();

public:
  LullFailedAllocation(const LullComponents* components, LullMutator* mutator, size_t words)
    : _components(components), _mutator(mutator), _words(words) {}

  // The whole ladder, by the thread. nullptr: give up; *overhead: for the time that collections take.
  HeapWord* resolve(bool* overhead);

  // From step 5 on: by the VM operation.
  HeapWord* collect_and_allocate();
};

#endif // SHARE_GC_LULL_DRIVE_LULLFAILEDALLOCATION_HPP
