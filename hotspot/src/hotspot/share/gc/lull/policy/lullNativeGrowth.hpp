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

#ifndef SHARE_GC_LULL_POLICY_LULLNATIVEGROWTH_HPP
#define SHARE_GC_LULL_POLICY_LULLNATIVEGROWTH_HPP

#include "utilities/globalDefinitions.hpp"

// How much memory outside of the heap the process has taken since the last pause, as far as its resident size tells.
//
// Buffers, arenas, deflaters and mapped files are of some hundred bytes in the heap, whatever they hold outside. Who
// drops them leaves no garbage that anybody counts; their cleaners free that memory after a pause has found them dead.
//
// Looks come now and then, so the last one before the pause is the mark: what was taken between the two counts, too.
// Objects that were allocated since then may be the first on their pages, so as many bytes count as the heap's. What
// remains is no more than what was taken outside. Pages that went back meanwhile lower the mark.
//
// Pure; by one thread.
class LullNativeGrowth {
private:
  struct Look {
    size_t _resident;     // bytes of the process; 0: unknown
    size_t _allocated;    // in the heap, since any time before
  };

  Look _mark;
  Look _last;
  uint _pauses;           // at the last look

public:
  LullNativeGrowth() : _mark({0, 0}), _last({0, 0}), _pauses(0) {}

  // Bytes since the mark. After so many pauses; resident: the process' bytes, 0 if unknown; allocated: in the heap.
  size_t look(uint pauses, size_t resident, size_t allocated) {
    const Look now = {resident, allocated};
    assert(pauses >= _pauses, "%u pauses, and %u before", pauses, _pauses);
    if (pauses != _pauses) {
      _mark = _last;
      _pauses = pauses;
    }
    if (_mark._resident == 0 || now._resident < _mark._resident) {
      _mark = now;
    }
    _last = now;
    const size_t growth = now._resident - _mark._resident;
    const size_t in_heap = now._allocated - MIN2(_mark._allocated, now._allocated);
    return growth - MIN2(in_heap, growth);
  }
};

// The same of things that are counted: descriptors, threads. The count may be of what is in use in any order; only its
// growth is asked for.
class LullCountGrowth {
private:
  size_t _mark;
  size_t _last;
  uint   _pauses;           // at the last look
  bool   _has_mark;

public:
  LullCountGrowth() : _mark(0), _last(0), _pauses(0), _has_mark(false) {}

  // How many more there are than at the look before the last pause. After so many pauses; count: there are now.
  size_t look(uint pauses, size_t count) {
    assert(pauses >= _pauses, "%u pauses, and %u before", pauses, _pauses);
    if (pauses != _pauses) {
      _mark = _last;
      _pauses = pauses;
    }
    if (!_has_mark || count < _mark) {
      _mark = count;
      _has_mark = true;
    }
    _last = count;
    return count - _mark;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLNATIVEGROWTH_HPP
