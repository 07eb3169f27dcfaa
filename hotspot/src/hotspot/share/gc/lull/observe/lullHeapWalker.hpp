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

#ifndef SHARE_GC_LULL_OBSERVE_LULLHEAPWALKER_HPP
#define SHARE_GC_LULL_OBSERVE_LULLHEAPWALKER_HPP

#include "gc/shared/taskqueue.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

class LullMemory;
class MarkBitMap;
class Thread;

// Visits every object that can be reached, at a safepoint, by tracing: the heap cannot
// be parsed block by block, as the ends of holes hold what was there before. By one
// thread, or by several workers together.
//
// All reference fields count, those of soft, weak, final and phantom references too:
// whatever a visited object refers to is visited.

// Called for each reference before it is followed. With several workers the visitor is
// theirs alone, or it must be safe to share.
class LullWalkVisitor {
public:
  // A root: of this thread, in its frames and handles, or, nullptr, one that any thread
  // can read.
  virtual void visit_root(const void* field, oop target, Thread* thread) {
    visit_reference(field, nullptr, target);
  }
  virtual void visit_reference(const void* field, oop holder, oop target) {}
  virtual void visit_object(oop obj) = 0;
};

typedef OverflowTaskQueue<oop, mtGC>             LullWalkQueue;
typedef GenericTaskQueueSet<LullWalkQueue, mtGC> LullWalkQueueSet;

class LullHeapWalker : public CHeapObj<mtGC> {
private:
  // The kinds of roots, each visited by the worker that claims it.
  enum class Roots : uint {
    ClassLoaders,
    Threads,
    Storages,
    Code,
    End
  };

  LullMemory* const  _memory;
  MarkBitMap* const  _visited;        // nullptr: there was no memory for it
  const uint         _workers;
  LullWalkQueueSet   _queues;
  volatile uint      _next_roots;     // claimed by atomic add
  volatile uint      _busy;           // workers that have come and may find more to visit; atomic add

  bool wait_for_work();

public:
  LullHeapWalker(LullMemory* memory, uint workers);
  ~LullHeapWalker();
  NONCOPYABLE(LullHeapWalker);

  // False if there is no memory to walk the heap. Has logged that.
  bool is_possible() const { return _visited != nullptr; }

  // The part of one of the workers. Returns when all is visited, or is being visited by others that have come. Not all must come: one that
  // cannot open its file of a heap dump does not.
  void walk(uint worker_id, LullWalkVisitor* visitor);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLHEAPWALKER_HPP
