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

#ifndef SHARE_GC_LULL_STUDY_LULLOBJECTSPACE_HPP
#define SHARE_GC_LULL_STUDY_LULLOBJECTSPACE_HPP

#include "gc/lull/alloc/lullRunCounters.hpp"
#include "memory/allocation.hpp"

class MarkBitMap;

// A segregated space of Java objects, whatever its policy is: the interface behind which the
// instantiations of LullSegregatedSpace are. Not synchronized.

class LullObjectSpace : public CHeapObj<mtGC> {
private:
  static LullObjectSpace* _of_heap;

public:
  // The space that has all objects of the heap, in the allocator study; else nullptr. Set while the VM starts.
  static LullObjectSpace* of_heap()                { return _of_heap; }
  static void set_of_heap(LullObjectSpace* space)  { _of_heap = space; }

  // What a flag may say, from which make() chooses.
  static const size_t MaxBytes;
  static bool is_search(const char* name);
  static bool is_coalescing(const char* name);
  static bool is_number_of_lists(uint lists);

  // Of the policy that LullSegregatedSearch, LullSegregatedCoalescing and LullSegregatedLists name.
  static LullObjectSpace* make(HeapWord* bottom, size_t words, MarkBitMap* marks);

  // nullptr if no free chunk is long enough.
  virtual HeapWord* allocate(size_t words) = 0;

  // When all live objects are marked, and before the classes of others are purged.
  virtual void sweep() = 0;

  // See LullSegregatedSpace.
  virtual bool coalesce() = 0;

  virtual size_t used_bytes() const = 0;

  // Does an object, dead or alive, start there?
  virtual bool is_object(const HeapWord* addr) const = 0;

  virtual const LullRunCounters& counters() const = 0;

  // Returns nullptr, or what is wrong. Looks at all chunks.
  virtual const char* verify() const = 0;
};

#endif // SHARE_GC_LULL_STUDY_LULLOBJECTSPACE_HPP
