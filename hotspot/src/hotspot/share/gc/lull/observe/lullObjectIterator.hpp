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

#ifndef SHARE_GC_LULL_OBSERVE_LULLOBJECTITERATOR_HPP
#define SHARE_GC_LULL_OBSERVE_LULLOBJECTITERATOR_HPP

#include "gc/lull/observe/lullHeapWalker.hpp"
#include "gc/shared/collectedHeap.hpp"

// The walk as heap dumps and histograms want it: one call for each object.

class LullObjectIterator : public ParallelObjectIteratorImpl {
private:
  LullHeapWalker _walker;

public:
  LullObjectIterator(LullMemory* memory, uint workers) : _walker(memory, workers) {}

  // The part of one of the workers. Visits nothing if there is no memory for the walk.
  void object_iterate(ObjectClosure* cl, uint worker_id) override;
};

#endif // SHARE_GC_LULL_OBSERVE_LULLOBJECTITERATOR_HPP
