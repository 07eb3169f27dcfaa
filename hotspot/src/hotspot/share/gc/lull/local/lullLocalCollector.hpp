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

#ifndef SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTOR_HPP
#define SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTOR_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/policy/lullWalkBudget.hpp"
#include "gc/lull/stat/lullLocalStatistics.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

class JavaThread;
class LullAllocator;
class LullLocalCollection;

// Whom local collections are told to. By the thread that has collected; several at once.
class LullLocalListener {
public:
  // Less may be in use than before.
  virtual void on_local_collection() = 0;

  // So many references wait for a pause that somebody must ask whether one is due.
  virtual void on_many_references() = 0;
};

// Decides when its thread collects locally:
//
//   before it waits     A request has ended, as a rule: nearly nothing survives, and nobody waits for the thread. Where
//                       much survives, the request waits for others; the thread then looks less often.
//   at a request's end  The program says that it has ended. As before a wait.
//   at a refill         LullLocalBudget is used up, and the stack is about as shallow as before a wait. This is for
//                       threads that always have a next request, and never wait.
//   at a refill         LullLocalBudget was allocated before the last virtual thread was unmounted. What of it is not
//                       public is dead.
//   at a refill         The learned budget is used up, and memory is scarce. The stack may be deep.
//   for lack of memory  Before it asks for a global collection, unless most would survive: a global one then frees more
//                       in the time.
//
// In the middle of a request much survives, and is copied in vain. So a thread waits for the request's end while there
// is memory enough. If there is not, the budget learns how much a request needs:
//
//   it doubles   each time that much has survived at a refill, up to a share of the heap;
//   it halves    when nearly nothing has survived a few times in a row. Once may be by chance: the end of a request;
//   it is never less than a multiple of what has survived. So at most a share of what is allocated is copied.
//
// How deep a shallow stack may be is learned from waits. A depth at which more than nearly nothing has survived is too
// deep, for so many requests: a framework may handle requests at the depth at which it waits for them.
//
// Where the stack is very deep, a look at it must be worth it: the thread must have allocated so much (LullWalkBudget).
// Where memory lacks before that, a young or a global collection is next. That looks at the stack once, too, and frees
// more.
//
// Used by its thread alone, or for it by a worker while it is stopped.
class LullLocalCollector : public CHeapObj<mtGC> {
private:
  // Less than this is not worth a look at the stack.
  static const size_t MinBudget = 2 * LullGeometry::BlockSize;

  // Bytes to allocate for each byte that has survived.
  static const size_t BudgetPerSurvivor = 2;

  // Of what was allocated: more has survived than a request's end leaves, or less than its
  // middle.
  static const size_t ManySurvivorsPercent = 25;
  static const size_t FewSurvivorsPercent  = 5;

  // So often in a row.
  static const uint FewInARow = 4;

  // Ends of requests after which a depth that was too deep is tried again.
  static const uint EndsUntilForgotten = 64;

  // The largest budget, as a share of the heap.
  static const size_t BudgetsPerHeap = 8;

  // Memory is scarce if less than this share of the heap is free, below what use is bounded by. To collect in the middle of
  // a request costs copies, and a request that ends before memory lacks needs none.
  static const size_t ScarcePercent = 20;

  // So much is worth a look however much is free: a look at very much would keep all threads
  // waiting for the next safepoint.
  static const size_t LargestBudget = 64 * M;

  // And so much where the thread has not been seen to wait: about what G1 allocates before its first pause.
  static const size_t BudgetWithoutWaits = 14 * M;

  // Published references that it tells of between collections.
  static const size_t ManyPublished = 64;

  // What a thread in public mode allocates before it tells of it, and which share of it is told.
  static const size_t ToldInPublicMode = 256 * K;
  static const size_t PublicModeShare = 4;

  enum class Trigger { None, Wait, RequestEnd, Shallow, Unmount, Budget, NoMemory };

  JavaThread* const    _thread;
  LullAllocator* const _allocator;
  size_t               _learned_budget;
  size_t               _budget;
  size_t               _wait_budget;        // before waits
  LullWalkBudget       _walk_budget;
  size_t               _shallow_depth;      // bytes of stack
  size_t               _too_deep;           // more than nearly nothing has survived there; SIZE_MAX: nowhere
  uint                 _ends_since;         // of requests, since that was found
  uint                 _few_in_a_row;
  size_t               _survived_at_last;
  bool                 _many_at_last;       // of the collections at the end of a budget or for lack of memory
  Trigger              _last_trigger;       // None: there was no collection yet
  bool                 _takes_back;         // the next wait, by a collection, what LullThreadFields can make private again
  size_t               _last_allocated;
  size_t               _last_published;
  size_t               _told_published;     // references of which LullPendingReferences knows
  size_t               _told_kept;          // private ones, since the pause
  uint                 _told_at_pause;
  bool                 _keeps_references;   // that wait for a pause, after the last collection
  float                _references_per_byte;        // published of what was allocated; the last ones count most
  size_t               _allocated_in_public_mode;   // and not told
  size_t               _unmount_allocated;  // when a virtual thread was unmounted last
  size_t               _pause_allocated;    // when the last pause ended
  size_t               _pause_published;
  uint                 _request_depth;      // of nested begins
  DEBUG_ONLY(uint      _slow_allocations;)
  LullLocalStatistics  _statistics;

  // Of threads that have ended. Under Threads_lock.
  static LullLocalStatistics _ended;

  static LullLocalListener* _listener;

  static const char* to_string(Trigger trigger);
  size_t allocated_since_last() const;
  size_t published_since_last() const;
  void begin_anew();
  size_t blocks_to_keep() const;
  size_t tenure_size() const;
  bool is_possible() const;
  size_t stack_depth() const;
  bool is_worth_a_walk(size_t depth) const;
  bool is_memory_scarce() const;
  bool is_due(size_t depth, Trigger* trigger) const;
  void learn(Trigger trigger, size_t depth, size_t allocated, size_t survived);
  void tell_references(size_t garbage, size_t kept);
  void tell_in_public_mode();
  void tell_many_published();
  void collect(Trigger trigger, size_t depth);

public:
  LullLocalCollector(JavaThread* thread, LullAllocator* allocator);

  // Once, while the VM starts.
  static void set_listener(LullLocalListener* listener) {
    assert(_listener == nullptr, "one is told");
    _listener = listener;
  }

  // At the slow path of an allocation.
  void collect_if_due();

  // A virtual thread is about to leave the thread.
  void record_unmount();

  // The thread is about to wait for another one, or for work, and nobody waits for it:
  // collects if that frees more than it costs to look.
  static void before_wait(JavaThread* thread);

  // The same question, by the thread in any state.
  static bool is_worth_a_look_before_wait(JavaThread* thread);

  // What lull.Requests says. The end is that of a request if no other one is around it.
  void begin_request() { _request_depth++; }
  bool end_request();
  void collect_after_request();

  // There is no memory left. False if nothing can have been freed.
  bool collect_before_global();

  // The thread asks for a collection, whatever that frees.
  void collect_as_asked();

  // Do private References of it wait for a pause? Then that makes public what it has.
  bool keeps_references() const { return _keeps_references; }

  // Has it done next to nothing since it began to wait? Then what it has is not of a request
  // under way. By the VM thread at a safepoint.
  bool is_idle() const;

  // A pause has collected what this thread has, too, whether that stays private or not. At a safepoint, without a TLAB.
  void record_pause();

  // The thread ends. Under Threads_lock.
  void retire();

  const LullLocalStatistics& statistics() const { return _statistics; }

  // Any thread may ask.
  bool has_allocated() const;

  // Of all threads.
  static LullLocalStatistics total();
  static void log_total();
};

#endif // SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTOR_HPP
