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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLSPARSENOTES_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLSPARSENOTES_HPP

#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/growableArray.hpp"

class LullSparseBlocks;

// What one marker, or one worker of pauses, has found in a cycle: lines with fields that refer to sparse blocks. By that
// thread; read and cleared in pauses, by one thread.
class LullSparseNotes : public CHeapObj<mtGC> {
private:
  LullSparseBlocks* const            _sparse;
  bool                               _is_on;    // written in pauses
  uint32_t                           _last;
  GrowableArrayCHeap<uint32_t, mtGC> _lines;    // some more than once, but not one after the other

  void add(const void* place, oop obj);

public:
  // Who notes. Each of them can be left out, to see that it is noticed. Referents of discovered References are no fields to
  // markers: the remark visits those that live, when it processes the References.
  enum class By { Marker, Pause };

  explicit LullSparseNotes(LullSparseBlocks* sparse) : _sparse(sparse), _is_on(false), _last(0), _lines() {}

  bool is_on() const     { return _is_on; }
  void set_on(bool value) { _is_on = value; }

  // A field refers to this object. Places outside of the heap are none of its business: they are roots.
  inline void note(const void* place, oop obj, By by);

  const GrowableArrayCHeap<uint32_t, mtGC>& lines() const { return _lines; }
  void clear();
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLSPARSENOTES_HPP
