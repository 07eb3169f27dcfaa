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

#ifndef SHARE_GC_LULL_POLICY_LULLIDLEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLIDLEPOLICY_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

// What is done for a program that needs less memory than it has, or is idle. Looks are made in regular intervals
// (LullLookInterval).
//
//   give back   what was free at each look of the last Window, but a part that new load would ask for at once.
//               Collects nothing; the heap gets smaller by a step.
//   collect     when next to nothing was allocated between the last QuietLooks, and garbage may have piled up since
//               the last such collection: of the whole heap, if the pause is expected to be short, else of what is
//               young. After a long quiet time a longer pause is no matter. Or when little was allocated, and
//               most of the heap is in use: after a peak there is no lack of memory that would bring a collection.
//               Where next to nothing was allocated since the last one, something may have died: it is tried once
//               more after a long time, and then after twice that, up to MostPatience looks.
//   begin a cycle
//               in place of that, whatever it would take, when most of the last QuietLooks have found threads at work.
//               Such a program does not wait: it computes, or it lacks processors, and then a pause takes many times
//               as long as is expected. Where there are no cycles only what is young is collected, and after a long
//               time all, if that is expected to be short.
//   slide       when little was allocated, and what is alive lies everywhere: much of the heap is neither used nor in
//               free blocks, or less than half of what was to go back could. Not again for what a slide leaves, and
//               not while threads are at work.
//
// Pure; written by one thread.
class LullIdlePolicy : public CHeapObj<mtGC> {
public:
  // Bytes, nanoseconds.
  struct Look {
    size_t _allocated;          // since the VM's start, or about so much
    size_t _used;
    size_t _free;               // in whole blocks
    size_t _capacity;
    size_t _min_capacity;
    jlong  _expected_global_ns; // how long a pause for the whole heap would take
    uint   _threads_at_work;    // Java threads that are in Java or in the VM, whether they have a processor or not
    bool   _has_cycles;         // of concurrent marking
  };

  enum class Action { None, GiveBack, CollectYoung, BeginCycle, CollectGlobal, Slide };

  struct Decision {
    Action _action;
    size_t _bytes;       // to give back
  };

private:
  static const uint   Window = 12;                                  // looks
  static const uint   QuietLooks = 6;
  static const size_t QuietShare = 16;                              // of the capacity, allocated in that time
  static const size_t LittleShare = 4;                              // the same, of a program that does little
  static const size_t LittleGainShare = 2;                          // of the capacity, in use
  static const uint   LongQuietLooks = 60;                          // after so many it is tried once more for any gain
  static const uint   MostPatience = 64 * LongQuietLooks;           // the longest wait until it is tried again
  static const size_t SparseShare = 4;                              // of the capacity, in holes
  static const jlong  SlideFactor = 4;                              // it takes so many times as long, one thread moving
  static const size_t LeastGain = 4 * M;
  static const size_t LeastStepShare = 32;                          // of the capacity
  static const size_t KeptShare = 4;                                // of what was free
  static const jlong  LongestPause = NANOSECS_PER_SEC / 5;
  static const jlong  LongestPauseAfterLong = 2 * (jlong)NANOSECS_PER_SEC;

  Look   _looks[Window];         // the last ones, in a ring
  uint   _number;                // since the last collection when idle, or the VM's start
  uint   _looks_since;           // the same, all of them
  uint   _looks_since_try;       // the same, of what is young, too
  uint   _patience;              // after so many looks it is tried once more, though nothing was allocated
  bool   _is_asked;              // the last look has asked for a collection, and none is recorded: the next one does not
  bool   _has_grown;             // what is in use had, when a collection was asked for last
  size_t _used_after;            // the last collection when idle, or the least since; 0: there was none
  bool   _may_slide;             // the last look was followed by a collection of the whole heap
  size_t _holes_left;            // by the last slide
  bool   _is_stuck;              // memory that was to go back could not
  bool   _is_slid;               // no memory went back since the last slide

  const Look& before(uint looks) const {
    assert(looks < Window && looks < _number, "the look before %u of %u", looks, _number);
    return _looks[(_number - 1 - looks) % Window];
  }
  bool is_at_work() const;
  bool has_allocated_less(size_t share) const;
  bool has_grown(const Look& now, size_t share) const;
  bool may_gain(const Look& now, size_t share) const;
  bool wants_collection(const Look& now) const;
  Action collection(const Look& now) const;
  static size_t holes(const Look& look) { return look._capacity - MIN2(look._used + look._free, look._capacity); }
  void begin_again(size_t used, bool global);
  bool wants_to_slide(const Look& now) const;
  size_t unused() const;

public:
  LullIdlePolicy() : _looks(), _number(0), _looks_since(0), _looks_since_try(0), _patience(LongQuietLooks), _is_asked(false),
      _has_grown(false), _used_after(0), _may_slide(false), _holes_left(0), _is_stuck(false), _is_slid(false) {}

  Decision look(const Look& now);

  // What was decided has been done, and has left so much in use, or the heap like that; of the bytes that were asked
  // for, so many have gone back.
  void record_collection(size_t used, bool global);
  void record_cycle_begun(size_t used);
  void record_slide(const Look& left);
  void record_given_back(size_t asked, size_t bytes);
};

#endif // SHARE_GC_LULL_POLICY_LULLIDLEPOLICY_HPP
