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

#ifndef SHARE_GC_LULL_DRIVE_LULLCONTROLTHREAD_HPP
#define SHARE_GC_LULL_DRIVE_LULLCONTROLTHREAD_HPP

#include "gc/lull/policy/lullIdlePolicy.hpp"
#include "gc/lull/policy/lullNativeGrowth.hpp"
#include "gc/lull/policy/lullReferencePolicy.hpp"
#include "gc/shared/concurrentGCThread.hpp"
#include "runtime/mutex.hpp"

class CollectedHeap;
enum class LullExtent;
struct LullComponents;

// Begins the collections that no allocation waits for.
//
// For references (LullReferencePolicy):
//   mutators        say after a local collection that a limit is passed (LullPendingReferences), and go on
//   this thread     asks the policy, waits for credit, collects; sets new limits
//   each pause      whoever has begun it, begins the counts anew
//
// For pauses that would get too long (LullPauseGoal): a young one comes early. Who takes memory wakes this thread.
//
// A pause for references can wait: where the program has dirtied many cards they are cleaned first (LullCleaningPolicy).
//
// For programs that need less memory than they have, or are idle (LullIdlePolicy): looks at the heap now and then,
// gives memory back, or collects.
class LullControlThread : public ConcurrentGCThread {
private:
  Monitor             _monitor;
  bool                _is_woken;       // under the monitor
  const LullComponents* const _components;
  CollectedHeap* const _heap;
  LullReferencePolicy _references;     // this and what follows by this thread alone
  jlong               _globals_ns;     // of all global pauses whose time the policy knows
  LullNativeGrowth    _native_growth;
  LullCountGrowth     _descriptor_growth;
  LullCountGrowth     _thread_growth;
  LullIdlePolicy      _idle;
  jlong               _last_look;
  size_t              _allocated;      // of the idle policy's looks
  size_t              _last_used;
  size_t              _last_garbage;
  uint                _last_collections;   // of others
  uint                _own_collections;
  volatile jlong      _last_pause_end; // this and what follows is written at safepoints
  volatile jlong      _all_looked_at_end;  // of the last pause that has looked at all references
  volatile size_t     _cleared;        // by the last pause

  LullReferencePolicy::Seen seen_references(jlong now);
  void set_limits();
  jlong expected_global_ns() const;
  LullExtent extent_for_references(const LullReferencePolicy::Seen& since_all, bool has_usual_credit) const;
  void collect_references(const LullReferencePolicy::Seen& seen, bool urgent, jlong now);
  bool wait_for_cleaning(size_t wish, uint pauses, jlong until);
  bool clean_cards_first();
  void charge_other_globals();
  jlong process_references();
  size_t allocated();
  size_t give_back(size_t bytes);
  LullIdlePolicy::Look heap_now();
  void collect_idle(LullExtent extent);
  void begin_idle_cycle();
  void keep_pause_goal();
  bool drive_cycle();
  void look();
  void wait(jlong ns);

protected:
  void run_service() override;
  void stop_service() override;

public:
  explicit LullControlThread(const LullComponents* components);

  // By any thread in the VM, which does not wait.
  void wake();

  // A pause has ended, which has cleared or enqueued so many references, perhaps of all. At a safepoint.
  void record_pause(bool all_looked_at, size_t cleared);
};

#endif // SHARE_GC_LULL_DRIVE_LULLCONTROLTHREAD_HPP
