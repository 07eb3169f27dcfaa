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

#ifndef SHARE_GC_LULL_STAT_LULLPUBLICATIONSTATISTICS_HPP
#define SHARE_GC_LULL_STAT_LULLPUBLICATIONSTATISTICS_HPP

#include "utilities/globalDefinitions.hpp"

// What publication costs one thread, or all of them. Written by the thread itself, read at
// safepoints, and by others for logs, counters and events, where a count may be one behind.
struct LullPublicationStatistics {
  size_t _closures;                   // publications, each of one object and what it leads to
  size_t _objects;
  size_t _words;
  size_t _longest;                    // objects of the longest closure
  size_t _references;                 // of the objects, java.lang.ref.References
  size_t _slow_calls;                 // calls from code and stubs, of which
  size_t _calls_private_destination;  //   the store was into a private object
  size_t _calls_public_value;         //   what was stored was public already
  size_t _calls_published;            //   something was published
  size_t _public_mode_entered;        // changes from private to public mode
  size_t _public_mode_left;           // and back
  size_t _allocated;                  // bytes of holes and large objects taken

  LullPublicationStatistics()
    : _closures(0), _objects(0), _words(0), _longest(0), _references(0),
      _slow_calls(0), _calls_private_destination(0), _calls_public_value(0), _calls_published(0),
      _public_mode_entered(0), _public_mode_left(0), _allocated(0) {}

  // Has the thread allocated or published?
  bool is_empty() const { return _allocated == 0 && _objects == 0 && _slow_calls == 0; }

  void add(const LullPublicationStatistics& other) {
    _closures                  += other._closures;
    _objects                   += other._objects;
    _words                     += other._words;
    _longest                    = MAX2(_longest, other._longest);
    _references                += other._references;
    _slow_calls                += other._slow_calls;
    _calls_private_destination += other._calls_private_destination;
    _calls_public_value        += other._calls_public_value;
    _calls_published           += other._calls_published;
    _public_mode_entered       += other._public_mode_entered;
    _public_mode_left          += other._public_mode_left;
    _allocated                 += other._allocated;
  }

  size_t published_bytes() const { return _words * HeapWordSize; }

  // What is published of what is allocated.
  float share() const { return _allocated == 0 ? 0.0f : (float)published_bytes() / (float)_allocated; }
};

#endif // SHARE_GC_LULL_STAT_LULLPUBLICATIONSTATISTICS_HPP
