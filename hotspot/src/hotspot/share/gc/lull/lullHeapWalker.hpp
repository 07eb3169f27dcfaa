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

#ifndef SHARE_GC_LULL_LULLHEAPWALKER_HPP
#define SHARE_GC_LULL_LULLHEAPWALKER_HPP

#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/stack.hpp"

class LullMemory;
class MarkBitMap;

// Visits every object that can be reached, at a safepoint, by tracing: the heap cannot
// be parsed block by block, as the ends of holes hold what was there before.
//
// All reference fields count, those of soft, weak, final and phantom references too:
// whatever a visited object refers to is visited.

// Called for each reference before it is followed. Roots have no holder.
class LullWalkVisitor {
public:
  virtual void visit_reference(const void* field, oop holder, oop target) {}
  virtual void visit_object(oop obj) = 0;
};

class LullHeapWalker : public StackObj {
  friend class LullWalkClosure;

private:
  LullMemory* const      _memory;
  MarkBitMap* const      _visited;      // nullptr: there was no memory for it
  LullWalkVisitor* const _visitor;
  Stack<oop, mtGC>       _stack;
  oop                    _holder;

  template <typename T> void follow(T* p);
  void drain();

public:
  LullHeapWalker(LullMemory* memory, LullWalkVisitor* visitor);
  ~LullHeapWalker();

  // False if there is no memory to walk the heap: nothing was visited.
  bool walk();
};

#endif // SHARE_GC_LULL_LULLHEAPWALKER_HPP
