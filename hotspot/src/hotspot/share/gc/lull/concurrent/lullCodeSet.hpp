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


#ifndef SHARE_GC_LULL_CONCURRENT_LULLCODESET_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCODESET_HPP

#include "memory/allocation.hpp"
#include "utilities/resizeableResourceHash.hpp"

class nmethod;

// Compiled code that a cycle of concurrent marking has met in frames of stack chunks, each method once. A million
// chunks have the same few methods in their frames.
//
// By one thread at a time: a marker, or a worker of a pause.
class LullCodeSet {
private:
  typedef ResizeableResourceHashtable<nmethod*, bool, AnyObj::C_HEAP, mtGC> Set;

  Set _methods;

public:
  LullCodeSet() : _methods(107, 307261) {}

  bool is_empty() const { return _methods.number_of_entries() == 0; }

  void add(nmethod* nm) {
    bool added;
    _methods.put_if_absent(nm, true, &added);
    if (added) {
      _methods.maybe_grow();
    }
  }

  // Calls f(nmethod*) for each, and forgets it.
  template <typename Function>
  void take_all(Function f) {
    if (is_empty()) {
      return;
    }
    struct Take {
      Function _f;

      bool do_entry(nmethod* const& nm, bool const& value) {
        _f(nm);
        return true;
      }
    } take = {f};
    _methods.unlink(&take);
  }

  void clear() { take_all([](nmethod*) {}); }
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLCODESET_HPP
