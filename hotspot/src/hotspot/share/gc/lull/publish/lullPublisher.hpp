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

#ifndef SHARE_GC_LULL_PUBLISH_LULLPUBLISHER_HPP
#define SHARE_GC_LULL_PUBLISH_LULLPUBLISHER_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/policy/lullPublicModePolicy.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullPublicationStatistics.hpp"
#include "gc/lull/stat/lullStoreOutcome.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/atomic.hpp"
#include "utilities/stack.hpp"

class LullPublicMap;
class LullPublisher;
class Thread;

class LullPublishClosure final : public BasicOopIterateClosure {
private:
  LullPublisher* const _publisher;

  template <typename T> void do_oop_work(T* p);

public:
  explicit LullPublishClosure(LullPublisher* publisher) : _publisher(publisher) {}

  // Another thread can get() a referent: all fields count.
  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;
};

// How a thread makes private objects public, and whether it has any at all.
//
//   private mode   objects are born private. A store into a public object first publishes its value, with all that it
//                  leads to
//   public mode    objects are born public. There is nothing to publish
//
// P holds through every step. A closure is public as a whole before the store that needs it, and a thread in public
// mode has no private objects. Entering public mode publishes all of the thread's blocks without a trace. Leaving it
// means that the next objects are private: they get new memory, so no object changes back.
//
// Used by its thread, which meanwhile allocates nothing and reaches no safepoint; and by another thread that has
// stopped it.

class LullPublisher : public CHeapObj<mtGC> {
  friend class LullPublishClosure;

private:
  Thread* const                   _thread;
  const LullBlockTable::Owner     _owner;
  LullPublicMap* const            _public_map;
  LullBlockTable* const           _blocks;

  // Published objects whose fields are still to be visited; empty between publications.
  Stack<oop, mtGC>                _stack;
  LullPublishClosure              _closure;
  size_t                          _objects_in_closure;
  bool                            _is_bounded;   // by LullPublicationLimit: all of the closure is this thread's

  LullPublicModePolicy            _policy;
  const char*                     _mode_reason;   // why the mode was changed last; nullptr: it never was
  LullPublicationStatistics       _statistics;
  LullTrackingSwitch::Work        _work;          // for the switch alone

  // Samples of who publishes what (LullPublicationSampling), by words published so far:
  // by when the next is due, and at the last one.
  size_t                          _sample_due;
  size_t                          _sampled;
  intptr_t*                       _leaf_frame;   // in a slow call: the frame pointer of its routine

  // Of threads that have ended. Under Threads_lock.
  static LullPublicationStatistics _ended;

  void visit(oop obj);
  bool is_long() const { return _is_bounded && _objects_in_closure > LullPublicationLimit; }
  void enter_public_mode(const char* reason);
  void leave_public_mode(const char* reason);
  void choose_next_sample();
  void take_sample(oop obj, size_t words);

public:
  LullPublisher(Thread* thread, LullPublicMap* map, LullBlockTable* blocks);
  ~LullPublisher();

  // The thread ends: its counts become those of ended threads. Under Threads_lock.
  void retire();

  // The publisher of this thread.
  static LullPublisher* of(Thread* thread);

  // Publishes a private object and all private objects that it leads to. A closure over
  // LullPublicationLimit puts the thread into public mode instead.
  void publish(oop obj);

  // Publishes everything that the thread has; until the policy leaves public mode, or, if
  // it is for good, until the thread ends.
  void publish_all(const char* reason, bool for_good);

  // Publishes everything that a thread has which is stopped, as a global collection would. What it allocates from here on is private again.
  void publish_present();

  // At a safepoint: a collection makes all public that the thread has.
  void private_objects_lost();

  // At a refill, when the thread has no TLAB: public or private mode from here on?
  void choose_mode();

  // Around each call from code and stubs, which leaves no anchor for the stack: where the
  // called routine's frame is.
  void begin_slow_call(intptr_t* frame);
  void end_slow_call(LullStoreOutcome outcome);

  void count_allocated(size_t bytes)  { _statistics._allocated += bytes; }
  const LullPublicationStatistics& statistics() const { return _statistics; }

  // Why the thread is in the mode that it is in: a literal, nullptr if it has always been. Any thread may ask.
  const char* mode_reason() const     { return Atomic::load(&_mode_reason); }

  LullTrackingSwitch::Work* work()    { return &_work; }

  // Of what it allocated in the last window in private mode, published.
  float published_share() const       { return _policy.share(); }

  // Of all threads, those that have ended too.
  static LullPublicationStatistics total();
};

#endif // SHARE_GC_LULL_PUBLISH_LULLPUBLISHER_HPP
