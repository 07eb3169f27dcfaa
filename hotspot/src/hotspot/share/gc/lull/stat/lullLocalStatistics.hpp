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

#ifndef SHARE_GC_LULL_STAT_LULLLOCALSTATISTICS_HPP
#define SHARE_GC_LULL_STAT_LULLLOCALSTATISTICS_HPP

#include "utilities/globalDefinitions.hpp"

// What one local collection has done, or those of a thread, or of all. Bytes, nanoseconds. A
// thread's are written by itself, and read by others for logs, counters and events, where the
// latest collection may be there in part.
struct LullLocalStatistics {
  size_t _collections;
  size_t _allocated;    // by the thread, up to its last collection
  size_t _published;    // by the thread, up to then; by stores
  size_t _judged_allocated;   // of the two, what came after the last pause: that has freed what was there before
  size_t _judged_published;
  size_t _freed;        // whole lines that were in use before, less what copies take
  size_t _survived;
  size_t _copied;       // of what survived
  size_t _tenured;      // of what survived
  size_t _before_wait;  // of the collections
  size_t _shallow;      // of the collections
  size_t _frames;       // visited
  size_t _requests;     // that lull.Requests has said to have ended
  jlong  _time;         // elapsed: that of a thread which waits for a processor goes on
  jlong  _longest;
  jlong  _cpu_time;     // what the collections have cost
  jlong  _longest_cpu_time;   // most of it of one collection, which need not be the longest

  LullLocalStatistics()
    : _collections(0), _allocated(0), _published(0), _judged_allocated(0), _judged_published(0), _freed(0), _survived(0), _copied(0),
      _tenured(0), _before_wait(0), _shallow(0), _frames(0), _requests(0), _time(0), _longest(0), _cpu_time(0), _longest_cpu_time(0) {}

  void add(const LullLocalStatistics& other) {
    _collections += other._collections;
    _allocated   += other._allocated;
    _published   += other._published;
    _judged_allocated += other._judged_allocated;
    _judged_published += other._judged_published;
    _freed       += other._freed;
    _survived    += other._survived;
    _copied      += other._copied;
    _tenured     += other._tenured;
    _before_wait += other._before_wait;
    _shallow     += other._shallow;
    _frames      += other._frames;
    _requests    += other._requests;
    _time        += other._time;
    _cpu_time    += other._cpu_time;
    _longest      = MAX2(_longest, other._longest);
    _longest_cpu_time = MAX2(_longest_cpu_time, other._longest_cpu_time);
  }
};

#endif // SHARE_GC_LULL_STAT_LULLLOCALSTATISTICS_HPP
