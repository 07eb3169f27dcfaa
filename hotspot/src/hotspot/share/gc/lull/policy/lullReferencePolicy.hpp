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

#ifndef SHARE_GC_LULL_POLICY_LULLREFERENCEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLREFERENCEPOLICY_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

// When is a pause due that is for java.lang.ref.References alone?
//
// Public references are processed in pauses. Where garbage dies in local collections memory does not run out, and no
// pause comes by itself; but behind references there are descriptors, threads, native memory and cache entries. So a
// pause is due
//
//   by garbage      after as much local garbage as another collector would have had a young collection for, if any
//                   reference was seen since the last pause: published, or private and not for its thread to clear
//   by references   after so many published references, however little garbage there is
//   by shortage     after the process has grown outside of the heap by a quarter, or has opened an eighth of the
//                   descriptors that it may have, or has started many threads, whatever was seen: few references may hold
//                   much, and a thread that has published few tells of them late
//   by time         after MaxWait and a few heaps of garbage, whatever was seen: not all ways to a reference are counted
//
// Such a pause looks at what is young. What has become old before it died needs a global one: when pauses have looked at
// many references since the last global one and not cleared them, or after so much garbage with any such; but only where
// that is expected to be short.
//
// Each pause is paid for from a credit, which grows by a share of the elapsed time (LullReferencePausePercent). What it
// clears pays, too: registering a reference and running its cleaner cost more than WorthOfReference, so such pauses
// bound what piles up, however fast it does. Pauses that clear nothing are in vain: each doubles the distance by garbage
// to the next, a few times.
//
// Who is short of something outside of the heap would wait for that credit too long: such a pause is urgent and has a
// credit of its own, ten times as large. Garbage and references alone are never urgent: they are of the heap, which has
// its own pauses when it is full.
//
// A pause for any other reason processes references, too, and begins anew. Global ones look at all of them, and use up
// the credit: a program that has them anyway needs no pauses beside, unless one is urgent.
//
// Pure; written by one thread at a time.
class LullReferencePolicy : public CHeapObj<mtGC> {
public:
  // Since the last pause: local garbage in bytes, references, nanoseconds; bytes, descriptors and threads that were taken
  // outside of the heap. And how many bytes the process has, and descriptors it may have (0: unknown).
  struct Seen {
    size_t _garbage;
    size_t _references;
    jlong  _elapsed_ns;
    size_t _native_growth = 0;
    size_t _resident = 0;
    size_t _descriptors = 0;
    size_t _descriptor_limit = 0;
    size_t _threads = 0;
  };

private:
  // The first young collection of G1 comes after 14 to 18 MB in heaps of 32 MB to 8 GB.
  static const size_t LargestBase = 12 * M;
  static const size_t SharesOfHeap = 4;           // in small heaps: a quarter

  static const size_t ManyReferences = 512;
  static const jlong  WorthOfReference = 2000;    // nanoseconds
  static const size_t WorthwhileReferences = 8;   // a pause that clears as many is not in vain at all
  static const uint   MaxDoublings = 3;
  static const size_t HeapsOfGarbage = 4;
  static const size_t LeastNativeGrowth = 64 * M;
  static const size_t NativeShare = 4;            // of what the process had before
  static const size_t DescriptorShare = 8;        // of those that it may have
  static const size_t ManyThreads = 256;          // each has a stack
  static const uint   UrgentFactor = 10;          // of credit
  static const jlong  MaxWait = 10 * (jlong)NANOSECS_PER_SEC;
  static const size_t HeapsUntilGlobal = 8;
  static const jlong  ManyUntilGlobal = NANOSECS_PER_SEC;             // at the earliest, however fast garbage comes
  static const jlong  AnyUntilGlobal = 5 * (jlong)NANOSECS_PER_SEC;
  static const jlong  MaxCredit = NANOSECS_PER_SEC / 10;
  static const jlong  MostDebtByOthers = NANOSECS_PER_SEC / 20;      // 5 s without a pause, at one percent
  static const jlong  LongestGlobal = NANOSECS_PER_SEC / 10;

  // Nanoseconds of pauses; 0 or less: none until it has grown.
  struct Credit {
    const double _share;     // of elapsed time
    double       _ns;

    explicit Credit(double share) : _share(share), _ns((double)MaxCredit) {}
    void grow(jlong elapsed_ns) { _ns = MIN2(_ns + _share * (double)elapsed_ns, (double)MaxCredit); }
    jlong wait_ns() const       { return _ns > 0 ? 0 : (jlong)(-_ns / _share) + 1; }
  };

  const uint _percent;       // of elapsed time
  Credit     _credit;
  Credit     _urgent_credit;
  jlong      _credited_at;
  uint       _doublings;

public:
  LullReferencePolicy(uint percent, jlong now_ns)
    : _percent(percent), _credit(percent / 100.0), _urgent_credit(MIN2(UrgentFactor * percent, 50u) / 100.0),
      _credited_at(now_ns), _doublings(0) {
    assert(percent <= 50, "%u percent of all time", percent);
  }

  // Garbage, and references, after which it is worth a question whether a pause is due. Bytes; SIZE_MAX: never.
  size_t garbage_due(size_t capacity) const;
  size_t references_due() const;

  bool is_due(const Seen& seen, size_t capacity) const;

  // Is the process short of something outside of the heap? A program that really needs more memory grows by steps that
  // get larger.
  bool is_urgent(const Seen& seen) const;

  // Should a pause that is due be a global one? Since the last of these: garbage, references that were published and not
  // cleared, and time; and how many of them a pause has looked at.
  static bool wants_global(const Seen& since_global, size_t looked_at, size_t capacity, jlong expected_global_ns);

  // Nanoseconds until there is credit for a pause; 0: there is some now.
  jlong wait_ns(jlong now_ns, bool urgent);

  // A pause that was for references has ended, and has cleared or enqueued so many. It is paid for by the larger credit
  // alone, if it was urgent: usual ones go on.
  void record_pause(jlong pause_ns, size_t cleared, bool urgent);

  // Global pauses that came for another reason have ended, and took so long together.
  void record_other_globals(jlong pause_ns);
};

#endif // SHARE_GC_LULL_POLICY_LULLREFERENCEPOLICY_HPP
