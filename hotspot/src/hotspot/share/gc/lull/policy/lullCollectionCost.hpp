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


#ifndef SHARE_GC_LULL_POLICY_LULLCOLLECTIONCOST_HPP
#define SHARE_GC_LULL_POLICY_LULLCOLLECTIONCOST_HPP

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// What some collections in a row have cost: how long the program ran from one to the next, how much memory it has
// consumed meanwhile, and how long they took. How long one takes, and how fast memory is consumed, do not depend on the
// heap's size; how often they come does. So the room that collections need, in order to take no more than a given
// share of the time, follows from a heap of any size.
class LullCollectionCost {
private:
  // More of them are halved: what was longer ago counts less.
  static const uint MostCollections = 16;

  jlong  _time_ns;          // from the first one's beginning of the wait to the last one's end
  jlong  _collection_ns;    // of it, in collections
  size_t _consumed;         // bytes, by mutators
  uint   _collections;

public:
  LullCollectionCost() : _time_ns(0), _collection_ns(0), _consumed(0), _collections(0) {}

  void clear() { *this = LullCollectionCost(); }

  // One that has ended so long after the one before, and took so much of it.
  void add(jlong interval_ns, jlong ns, size_t consumed) {
    assert(ns >= 0 && ns <= MAX2(interval_ns, (jlong)0), "a collection of " JLONG_FORMAT " ns in " JLONG_FORMAT, ns, interval_ns);
    _time_ns += MAX2(interval_ns, (jlong)1);
    _collection_ns += ns;
    _consumed += consumed;
    _collections++;
    if (_collections > MostCollections) {
      _time_ns /= 2;
      _collection_ns /= 2;
      _consumed /= 2;
      _collections /= 2;
    }
  }

  uint collections() const { return _collections; }
  jlong time_ns() const    { return _time_ns; }

  // The share of the time.
  double share() const {
    return _collections == 0 ? 0 : MIN2((double)_collection_ns / (double)MAX2(_time_ns, (jlong)1), 1.0);
  }

  // Bytes to consume between two collections, with which these take one part of the time and the program time_ratio.
  double needed_room(size_t time_ratio) const {
    if (_collections == 0) {
      return 0;
    }
    const double rest_ns = (double)MAX2(_time_ns - _collection_ns, (jlong)1);
    return (double)_consumed / _collections * (double)time_ratio * (double)_collection_ns / rest_ns;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLCOLLECTIONCOST_HPP
