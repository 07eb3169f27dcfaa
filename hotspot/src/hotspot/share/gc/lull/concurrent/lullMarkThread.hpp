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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLMARKTHREAD_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLMARKTHREAD_HPP

#include "gc/shared/concurrentGCThread.hpp"
#include "runtime/mutex.hpp"

class LullCycle;
class ThreadClosure;
class WorkerThreads;

// Does of a cycle what is done beside the program: clears, has the markers trace, and sweeps after it. Between cycles it
// cleans cards. In pauses all of them stand still: they are suspendible threads.
class LullMarkThread : public ConcurrentGCThread {
private:
  Monitor              _monitor;
  bool                 _is_woken;    // under the monitor
  Monitor              _end;         // who waits for the end of a cycle
  size_t               _begun;       // cycles whose begin, and
  size_t               _ended;       // end it has seen
  LullCycle* const     _cycle;
  WorkerThreads* const _workers;

  void wait(int64_t ms);    // 0: until it is woken
  bool must_sweep() const;
  void sweep();
  void clean();
  void do_default();
  void clear();
  bool clean_between();
  void mark();
  void tell_of_end();

protected:
  void run_service() override;
  void stop_service() override;

public:
  explicit LullMarkThread(LullCycle* cycle);

  // Has somebody asked for clean cards? And may it go on with them?
  bool must_clean() const;
  bool may_clean() const;

  // Has the markers do all that there is to do. By this thread.
  void run_markers();

  // Tests stop it there, while pauses go on: none of them ends the marking meanwhile. By this thread, which has not
  // joined.
  void pass_breakpoint(const char* breakpoint);

  // There may be something to do.
  void wake();

  // Until more cycles have ended, or a second has passed. By a Java thread in the VM.
  void wait_for_end(size_t ended_before);

  void all_threads_do(ThreadClosure* closure);
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLMARKTHREAD_HPP
