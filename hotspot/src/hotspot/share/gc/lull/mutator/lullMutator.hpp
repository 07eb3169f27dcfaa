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

#ifndef SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP
#define SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"

class LullAllocator;
class LullLocalCollector;
class Thread;

// A thread as one that allocates: what it does before it asks for memory, and where it gets that without a collection of
// others. Used by the thread itself; at a safepoint by the VM thread for it.
class LullMutator : public StackObj {
private:
  Thread* const           _thread;

  static LullBlockSupply* _supply;

  LullAllocator* allocator() const;
  HeapWord* allocate_large(size_t words, LullReserveUse use) const;
  void count_allocated(size_t before) const;
  void collect_if_due() const;

public:
  explicit LullMutator(Thread* thread) : _thread(thread) {}

  // While the VM starts.
  static void initialize(LullBlockSupply* supply) { _supply = supply; }

  Thread* thread() const { return _thread; }

  // nullptr if the thread does not collect by itself.
  LullLocalCollector* local_collector() const;

  // Before it allocates outside of a TLAB: perhaps it collects what it has.
  void prepare() const;

  // Memory for an object that is outside of a TLAB; nullptr if there is none without a collection.
  HeapWord* allocate(size_t words) const;

  // A TLAB of at least so many words; sets *actual_words. Perhaps it collects what it has before.
  HeapWord* allocate_tlab(size_t min_words, size_t* actual_words) const;

  // For lack of memory. False if nothing can have been freed.
  bool collect_before_global() const;

  // The thread asks for a collection of what it has, whatever that frees.
  void collect_as_asked() const;

  // ---- At a safepoint

  HeapWord* allocate_at_safepoint(size_t words, LullReserveUse use) const;

  // Of all threads, before the first mark: TLABs are retired. Some may keep private objects, if any.
  static void begin_collection(bool keep_private, GCCause::Cause cause);

  // After the last one, when it is known what is free.
  static void end_collection();

  // How those that have ended, and those that run, got medium objects.
  static void log_medium_requests();
};

#endif // SHARE_GC_LULL_MUTATOR_LULLMUTATOR_HPP
