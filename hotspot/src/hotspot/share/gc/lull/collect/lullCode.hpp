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

#ifndef SHARE_GC_LULL_COLLECT_LULLCODE_HPP
#define SHARE_GC_LULL_COLLECT_LULLCODE_HPP

#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/growableArray.hpp"
#include "utilities/resizeableResourceHash.hpp"

class nmethod;
class OopClosure;

// All compiled code, and where each method has references in its instructions. HotSpot finds these among all relocations of
// the method, which must be decoded one after the other and are calls and classes for the most part; a global collection visits
// the references of all code.
//
// Written under CodeCache_lock: by who makes a method, and at safepoints that unload. Read at safepoints.

class LullCode : public CHeapObj<mtGC> {
private:
  struct Method {
    nmethod* _nmethod;
    int      _first;    // of its references in _in_instructions
    int      _count;
  };

  typedef ResizeableResourceHashtable<nmethod*, int, AnyObj::C_HEAP, mtGC> Index;

  GrowableArrayCHeap<Method, mtGC> _methods;
  GrowableArrayCHeap<oop*, mtGC>   _in_instructions;
  Index                            _index;              // of a method in _methods

  Method scan(nmethod* nm);

public:
  LullCode();

  // A method of the code cache. It may be there already: C1 registers again what it has patched, and the place that was patched
  // has a reference only since.
  void add(nmethod* nm);

  // Forgets methods that have been unlinked, before their memory is freed.
  void remove_unlinked();

  int length() const { return _methods.length(); }
  nmethod* method(int i) const { return _methods.at(i)._nmethod; }

  // What nmethod::oops_do visits.
  void oops_do(int i, OopClosure* closure) const;

  void verify() const NOT_DEBUG_RETURN;
};

#endif // SHARE_GC_LULL_COLLECT_LULLCODE_HPP
