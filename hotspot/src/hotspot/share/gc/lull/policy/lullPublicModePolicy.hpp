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

#ifndef SHARE_GC_LULL_POLICY_LULLPUBLICMODEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLPUBLICMODEPOLICY_HPP

#include "gc/lull/stat/lullPublicationStatistics.hpp"
#include "utilities/globalDefinitions.hpp"

class Thread;
struct LullLocalStatistics;

// Is it worth while to know which objects of a thread are private? Decides for one thread,
// at its refills. Not if a large share of what it allocates is published anyway, and not if
// its local collections free too little for what publication costs; a thread
// that was found so tries again after a while, and each time it fails it waits twice as
// long. A thread that leaves public mode in the middle of a request stores what is private now
// into what was public before: it is judged from the request's end on. So does one that has lost to a
// collection what it had, unless it was not worth while anyway.
//
// Threads whose objects are not of requests, or are seen by others past all barriers, are
// in public mode always: while the VM starts, compiler and other hidden threads, carriers of virtual threads.
class LullPublicModePolicy {
public:
  // What the thread has done so far.
  struct Statistics {
    const LullPublicationStatistics& _publication;
    const LullLocalStatistics*       _local;        // nullptr: it does not collect
  };

private:
  // A thread of whose allocated bytes a larger share is published, in percent, stops tracking for a while.
  static const size_t MostPublishedPercent = 40;

  // How many windows a thread stays in public mode at most before it tries again.
  static const size_t MaxWait = 1024;

  // Bytes that local collections must free for each byte that is published: to publish it costs about
  // as much as a global collection in a heap of twice the live size spends on freeing two.
  static const size_t FreedPerPublished = 2;

  size_t _window_allocated;   // the statistics when the window began
  size_t _window_words;
  size_t _local_allocated;    // the statistics of local collections when their window began
  size_t _local_freed;
  size_t _local_published;
  float  _share;              // of what was allocated in the last window in private mode, published
  bool   _is_settled;         // a request has ended since private mode was entered, or private objects were lost
  bool   _has_paid;           // as the last window says, of those since then
  size_t _entered_ends;       // ends of requests when private mode was entered
  size_t _wait;               // windows to stay in public mode, when it is entered next
  size_t _waited;             // windows since it was entered
  bool   _for_good;
  bool   _by_share;           // in public mode because of the share, not forced

  // A thread that allocates as many windows without a wait is judged all the same.
  static const size_t WindowsToSettle = 16;

  enum class Verdict { NotYet, Pays, PaysNot };

  const char* forced(Thread* thread) const;
  void begin_share_window(const LullPublicationStatistics& statistics);
  void begin_local_window(const LullLocalStatistics* local);
  void enter_private_mode(const Statistics& statistics);
  bool is_settled(const Statistics& statistics);
  Verdict judge_share(const LullPublicationStatistics& statistics);
  Verdict judge_local_collections(const LullLocalStatistics* local);

public:
  LullPublicModePolicy();

  float share() const { return _share; }

  // In private mode: all that the thread has is public from here on.
  void private_objects_lost(const Statistics& statistics);

  // The thread has entered public mode without being asked.
  void entered(bool for_good);

  bool wants_public_mode(Thread* thread, bool is_public, const Statistics& statistics, const char** reason);
};

#endif // SHARE_GC_LULL_POLICY_LULLPUBLICMODEPOLICY_HPP
