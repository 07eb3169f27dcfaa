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

#ifndef SHARE_GC_LULL_PUBLISH_LULLTRACKINGSWITCH_HPP
#define SHARE_GC_LULL_PUBLISH_LULLTRACKINGSWITCH_HPP

#include "gc/lull/policy/lullTrackingPolicy.hpp"
#include "memory/allocation.hpp"

class JavaThread;
class LullPublisher;
class outputStream;

// Carries out what LullTrackingPolicy decides: suspends tracking for all threads, and resumes it.
//
// While it is suspended all objects are public, whatever the public map says of them (LullPublicMap::is_public), no block has
// an owner, and memory is handed out with words of 0. Barriers are as always, and now say something else: the word
// of a line is not 0 if the last collection has found something alive there. So a store into an object that is newer ends at
// the fast path; one into an old object goes to the stub, which dirties its card, as R asks.
//
// Both changes are made at the end of a collection, with all threads stopped, when no thread has memory to allocate in, and
//
//   to suspend   nothing is private: that collection has published everything, as System.gc() does
//   to resume    all that is alive has the bits of a public object: this or an earlier collection has marked it. What
//                is allocated from here on is private or public by its thread's mode again
//
// Threads follow at their next refill (LullPublicModePolicy). Until then nothing depends on the mode that they are in.
class LullTrackingSwitch : public CHeapObj<mtGC> {
private:
  LullTrackingPolicy _policy;
  uint               _collections;      // names intervals
  jlong              _since;            // when tracking was suspended or resumed last; 0: never

  void add_thread(LullPublisher* publisher, JavaThread* thread, bool with_costs, LullTrackingPolicy::Interval* interval) const;
  bool wants_suspension() const;
  void log_decision(LullTrackingPolicy::State before) const;

public:
  // What a thread had done when the last collection ended. Of its publisher; written at safepoints.
  struct Work {
    uint   _collections;    // when that was; of use for the next interval only
    jlong  _processor_time; // -1: not asked
    size_t _allocated;
    size_t _published;
    size_t _freed;

    Work() : _collections(0), _processor_time(-1), _allocated(0), _published(0), _freed(0) {}
  };

  LullTrackingSwitch();

  // Must the collection that begins leave nothing private?
  bool publishes_all() const;

  // A collection, which has taken that many nanoseconds because memory was lacking or references were due, has ended; all
  // threads are still stopped.
  void end_collection(jlong pause, bool by_references);

  void print_on(outputStream* st) const;
};

#endif // SHARE_GC_LULL_PUBLISH_LULLTRACKINGSWITCH_HPP
