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

#ifndef SHARE_GC_LULL_LULLSEGREGATEDHEAP_HPP
#define SHARE_GC_LULL_LULLSEGREGATEDHEAP_HPP

#include "gc/lull/lullHeap.hpp"
#include "runtime/mutex.hpp"

class LullObjectSpace;

// The heap of the thesis of 2005, for the allocator study (docs/measurements/allocator-study.md): all objects in one
// segregated space, one lock, a stop-the-world mark-sweep collection in which nothing moves. It is the Lull heap
// with all blocks in state Segregated: marking, references, class unloading are the collector's; where objects are, and
// the sweep, are those of the space. -XX:LullAllocation=segregated; slow by design, and measured:
//
//   allocation time   in the space's allocate(), by the processor's counter. An allocation of more than
//                     a millisecond was interrupted, and is counted apart.
//   collection time   from the first mark to the end of the sweep; processor time of the VM thread and the
//                     workers, so that other processes do not count.

class LullSegregatedHeap : public LullHeap {
private:
  static LullSegregatedHeap* _of_study;

  LullObjectSpace* _space;
  mutable Mutex    _lock;                   // guards the space and what follows

  size_t           _allocations;
  size_t           _allocated_words;
  jlong            _allocation_ticks;
  size_t           _interrupted;            // allocations that are not in the ticks
  size_t           _collections;
  jlong            _collection_ns;
  jlong            _sweep_ns;               // in that; coalescing of all chunks too
  jlong            _collection_start_ns;

  size_t bytes() const;
  bool coalesce();

public:
  LullSegregatedHeap();

  // nullptr: the VM's heap is another one.
  static LullSegregatedHeap* of_study() { return _of_study; }

  jint initialize() override;
  size_t used() const override;

  // In the place of what LullMutator and LullFailedAllocation do.
  HeapWord* allocate(size_t words);
  HeapWord* collect_and_allocate(size_t words);

  // Before the first mark, and when all is marked.
  void begin_collection();
  void end_collection();

  // Its archive would be blocks that are not the space's.
  bool can_load_archived_objects() const override { return false; }

  // A line of what was counted and measured, at the end of the VM.
  void print_tracing_info() const override;
};

#endif // SHARE_GC_LULL_LULLSEGREGATEDHEAP_HPP
