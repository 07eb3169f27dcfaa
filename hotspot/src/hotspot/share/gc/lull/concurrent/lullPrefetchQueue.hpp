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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLPREFETCHQUEUE_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLPREFETCHQUEUE_HPP

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"
#include "utilities/powerOfTwo.hpp"

// First in, first out, and short: what is between its prefetch and its use, while older entries are used. A
// stack alone gives memory no time to arrive, for what was pushed last is popped next (Cher, Hosking and
// Vitek, "Software prefetching for mark-sweep garbage collection", ASPLOS 2004).
//
// As long as a core can wait for cache lines at once, by how many of them an entry needs.

template <typename T>
class LullPrefetchQueue {
public:
  static const uint Capacity = 8;

private:
  static_assert(is_power_of_2(Capacity), "a remainder is a mask");

  T    _entries[Capacity];
  uint _first;    // index of the oldest, if there is one
  uint _length;

public:
  LullPrefetchQueue() : _entries(), _first(0), _length(0) {}

  bool is_empty() const { return _length == 0; }
  bool is_full() const  { return _length == Capacity; }

  void add(T entry) {
    assert(!is_full(), "take one first");
    _entries[(_first + _length) % Capacity] = entry;
    _length++;
  }

  T take() {
    assert(!is_empty(), "nothing to take");
    const T entry = _entries[_first];
    _first = (_first + 1) % Capacity;
    _length--;
    return entry;
  }
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLPREFETCHQUEUE_HPP
