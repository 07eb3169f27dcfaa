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


#ifndef SHARE_GC_LULL_HEAP_LULLFARHEAP_HPP
#define SHARE_GC_LULL_HEAP_LULLFARHEAP_HPP

#include "gc/lull/heap/lullFarPager.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "memory/allStatic.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/atomic.hpp"

class LullBlockTable;
class ReservedSpace;

// A heap whose pages are on memory servers. `lull-far run` has put a pager into the process, which maps the file of
// -XX:AllocateHeapAt. Its functions are looked up by name, and no flag says that it is there. The heap alone is far:
// all tables are local.
//
// What the heap tells the pager:
//
//   what a page is    when the pager asks, by the block's state and by the table of what is young. The pager's thread
//                     pays for it, and nobody else
//   taken blocks      what was in them is not fetched
//   given back        what is local of it is dropped
//   pinned arrays     they stay where the kernel finds them
//
// That a free block's page is of no use is exact (lull_far.h): nothing is written to a block before it is taken, and a
// block is taken by a change of its state. But for sliding, which moves objects into blocks that are Free, and frees
// blocks whose objects have still to move. Meanwhile no page is said to be of no use.
//
// Everything is set while the VM starts, before there is a second thread, but for what counts slides.
class LullFarHeap : public AllStatic {
private:
  static bool                  _is_far;
  static const LullFarPager*   _pager;      // nullptr: there is none, or it asks nobody
  static const LullFarTracer*  _tracer;     // nullptr: servers do not trace
  static const LullBlockTable* _blocks;
  static volatile uint32_t     _slides;     // odd while objects slide; written by the VM thread at a safepoint

  // What the VM thread does in pauses, for who reads it at any time.
  static LullFarStatistics     _at_pause;            // when the running or the last pause began; the VM thread's alone
  static volatile uint64_t     _fetched_in_pauses;   // pages
  static volatile uint64_t     _waits_in_pauses;

  static uint32_t use_of(const void* page);
  static void forget_blocks(LullBlockIndex first, size_t blocks);
  static void hold_object(oop obj);
  static void release_object(oop obj);

public:
  // What a fault may take of a thread's stack, in pages. LullArguments asks, before there are threads. 0: no heap will
  // be far.
  static int more_shadow_pages();

  // Is the heap, which was just reserved, far? Ends the VM if a flag is set that cannot be had with that.
  static void find(const ReservedSpace& heap);

  // From now on the pager asks.
  static void attach(const ReservedSpace& heap, const LullBlockTable* blocks);

  static bool is_far() { return _is_far; }

  // What servers that have the heap can be asked to do. nullptr: they do not trace it.
  static const LullFarTracer* tracer() { return _tracer; }

  // Bytes of the heap that may be local; SIZE_MAX: it is not far.
  static size_t local_limit();

  // So much may come into use before what is new is collected, so that it is still local then.
  static size_t young_budget();

  // A count that the pager does not tell, as it is older.
  static const uint64_t Unknown = UINT64_MAX;

  // False: it is not far, or nothing is known.
  static bool statistics(LullFarStatistics* statistics);

  // Pages that are on servers only. Looks at each page.
  static uint64_t remote_pages();

  // VM thread, at a safepoint: between these, what is fetched is for a pause.
  static void begin_pause();
  static void end_pause();

  static uint64_t fetched_in_pauses() { return Atomic::load(&_fetched_in_pauses); }
  static uint64_t waits_in_pauses() { return Atomic::load(&_waits_in_pauses); }

  // By who has taken these blocks, before anything is written there, or by who has uncommitted them.
  static void forget(LullBlockIndex first, size_t blocks) {
    if (_pager != nullptr) {
      forget_blocks(first, blocks);
    }
  }

  // Blocks have become uncommitted.
  static void trim();

  // Native code gets the address of an array, and may give it to the kernel.
  static void hold(oop obj) {
    if (_pager != nullptr) {
      hold_object(obj);
    }
  }
  static void release(oop obj) {
    if (_pager != nullptr) {
      release_object(obj);
    }
  }

  // While objects slide. VM thread, at a safepoint.
  class Sliding : public StackObj {
  public:
    Sliding();
    ~Sliding();
  };
};

#endif // SHARE_GC_LULL_HEAP_LULLFARHEAP_HPP
