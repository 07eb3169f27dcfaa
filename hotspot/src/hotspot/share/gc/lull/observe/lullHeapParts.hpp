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

#ifndef SHARE_GC_LULL_OBSERVE_LULLHEAPPARTS_HPP
#define SHARE_GC_LULL_OBSERVE_LULLHEAPPARTS_HPP

#include "utilities/globalDefinitions.hpp"

// The heap in two parts, for those who look at it from outside: what the last young or global collection has left and
// is still in use (old), and what is in use since (new). The parts are amounts, not places: both lie in the same
// blocks.
//
// The two parts together have what is in use and what is committed of the heap, whatever the three numbers. What is free
// counts as committed for what is old: who compares the old part's use with what is committed, or asks of it how much a
// collection has left free, gets the heap's. New objects are allocated in what is free all the same.
class LullHeapParts {
private:
  const size_t _old;
  const size_t _new;
  const size_t _committed;

public:
  // The heap may have grown or shrunk since one of these was read: never is more in use than committed.
  LullHeapParts(size_t used, size_t left, size_t committed)
    : _old(MIN2(used, left)), _new(used - _old), _committed(MAX2(used, committed)) {}

  size_t old_used() const      { return _old; }
  size_t old_committed() const { return _committed - _new; }
  size_t new_used() const      { return _new; }
  size_t new_committed() const { return _new; }
  size_t committed() const     { return _committed; }

  // How much may be new before all that is committed is in use.
  size_t room_for_new() const  { return _committed - _old; }
};

#endif // SHARE_GC_LULL_OBSERVE_LULLHEAPPARTS_HPP
