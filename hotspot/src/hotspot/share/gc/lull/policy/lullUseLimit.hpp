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


#ifndef SHARE_GC_LULL_POLICY_LULLUSELIMIT_HPP
#define SHARE_GC_LULL_POLICY_LULLUSELIMIT_HPP

#include "utilities/globalDefinitions.hpp"

// A collection begins before 90 % of the largest heap are in use. Circuit breakers of servers refuse requests when
// use, as beans tell it, is over 90 or 95 % of -Xmx. They take it for want of memory, but it may be garbage that nobody
// had to collect yet.
//
// Mutators get no memory beyond the limit, as if there was none; what a collection copies, and the allocation that has
// led to one, do. Where much is alive the limit would leave little between two collections, and yields: the smallest
// heap in which a program runs stays what it is. It returns a little below: a heap with about that much alive is not to
// change with each collection.
//
// A young collection says nothing of what is alive. If it has left so much that the next one would be near, that is a
// global one.
//
// Written at safepoints.
class LullUseLimit {
private:
  // Of the largest heap. A little below 90 %: threads that take blocks with holes at the same time are not counted one
  // by one.
  static const size_t UsePerMille = 895;

  // What a global collection has left. Where collections take more than their share of the time, there is less to give.
  static const size_t YieldPercent = 80;
  static const size_t YieldIfCostlyPercent = 70;
  static const size_t ReturnsBelow = 5;

  // What a young one has left.
  static const size_t YoungPercent = 85;

  bool _yields;
  bool _young_left_much;

  static bool is_more_than(size_t used, size_t max, size_t percent) { return used / percent > max / 100; }

public:
  LullUseLimit() : _yields(false), _young_left_much(false) {}

  bool yields() const { return _yields; }

  // Bytes of a heap of at most so many.
  size_t bytes(size_t max) const { return _yields ? SIZE_MAX : max / 1000 * UsePerMille; }

  // Should the next collection be a global one?
  bool young_left_much() const { return _young_left_much; }

  void record_global(size_t left, size_t max, bool costly) {
    const size_t percent = costly ? YieldIfCostlyPercent : YieldPercent;
    _yields = is_more_than(left, max, _yields ? percent - ReturnsBelow : percent);
    _young_left_much = false;
  }

  void record_young(size_t left, size_t max) {
    _young_left_much = !_yields && is_more_than(left, max, YoungPercent);
  }

  // After all that a collection does, and the allocation that it was for: what is over the limit then is alive, or new.
  void record_allocation(size_t used, size_t max) {
    _yields = _yields || used > bytes(max);
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLUSELIMIT_HPP
