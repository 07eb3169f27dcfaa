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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLCYCLE_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCYCLE_HPP

#include "gc/lull/concurrent/lullCardCleaner.hpp"
#include "gc/lull/concurrent/lullCycleMarks.hpp"
#include "gc/lull/concurrent/lullFarMarker.hpp"
#include "gc/lull/concurrent/lullLaterSweep.hpp"
#include "gc/lull/concurrent/lullOldMarker.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/policy/lullCycleWorth.hpp"
#include "gc/shared/gcCause.hpp"
#include "gc/shared/referenceProcessor.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"
#include "utilities/stack.inline.hpp"

class LullBlockSupply;
class LullBlockTable;
class LullMarkThread;
class LullMemory;
class WorkerThreads;

// A cycle of concurrent marking (LullConcurrentMarking): finds what of the old objects is alive while the program
// runs, by cards (incremental update), and ends in a young pause.
//
//   Idle --policy--> Clearing --> Ready --young pause--> Marking --queues empty--> Marked --young pause--> Idle
//     ^                                                     |                         ^
//     +-------------------- global collection --------------+-------------------------+
//
//   Clearing   the thread of the cycle sweeps what the cycle before has left, and forgets the marks of that
//   Ready      the next young pause is the cycle's first: what its roots and all that is traced in it refer to and is
//              old is marked
//   Marking    markers trace old objects. Young pauses go on: each marks what it finds of old objects from roots and
//              from what is not old, and has old objects that were written to looked at again
//   Marked     no marker has anything left. The next young pause is the remark
//   remark     a young pause in which all that can be reached is marked; then marks change places (flip), and blocks
//              are swept in which there may be something young, all others later (LullLaterSweep). May come before
//              Marked: what is left is then marked in the pause
//
// Young pauses come when memory is needed. For a cycle that somebody waits for (is_driven) they are made: needs_pause().
//
// Invariants:
//   Black   while marking, an object that was looked at refers to an old one without a mark of the cycle by a field on
//           a dirty card only. R has the card dirtied before each store to an old object, whatever is stored. Cards
//           are cleaned in pauses, in which who is on them is looked at again, and by LullCardCleaner if no such field
//           is on them.
//   Found   when a cycle ends, all that can be reached has a mark. Roots, private and young objects are traced in that
//           pause; old ones by Black, with no dirty card and no task left.
//
// The remark may unload classes and code, which are no roots then: an object leads to its class's loader, which is
// claimed (_claim_strong) as an object is marked. A loader that has new handles is one with a dirty card. In a cycle
// without ClassUnloadingWithConcurrentMark they are roots, in its first pause and its last. What that asks for, Loaded
// and Frames, is in lullUnloadingCheck.hpp.
//
// State: written in pauses, and by the thread of the cycle while it has joined the suspendible threads.
class LullCycle : public CHeapObj<mtGC> {
public:
  enum class State { Idle, Clearing, Ready, Marking, Marked };

  // Values of LullDropMarking: what is left out. What pauses mark beside these only helps the markers.
  static const uint DropDirty    = 1;   // objects on dirty cards are not looked at again
  static const uint DropClasses  = 2;   // objects do not lead to their classes; where these are roots, they are none
  static const uint DropEnqueued = 3;   // References that are linked for the Java program are not marked
  static const uint DropLines    = 4;   // lines of what is alive are not noted

private:
  // Is what a Reference refers to alive? While markers run, what is not old counts as alive.
  class IsAlive final : public BoolObjectClosure {
  private:
    const LullCycle* const      _cycle;
    const LullBlockTable* const _blocks;

  public:
    IsAlive(const LullCycle* cycle, const LullBlockTable* blocks) : _cycle(cycle), _blocks(blocks) {}
    bool do_object_b(oop obj) override;
  };

  LullMemory* const         _memory;
  LullCycleMarks            _marks;
  LullSparseBlocks          _sparse;
  LullLaterSweep            _later_sweep;
  LullCardCleaner           _cleaner;
  LullFarMarker             _far;
  AlwaysTrueClosure         _always_true;
  IsAlive                   _is_alive;
  ReferenceProcessor* const _references;
  const uint                _markers_count;
  LullOldQueueSet           _queues;
  LullOldMarker**           _markers;
  LullMarkThread*           _thread;

  volatile State            _state;
  bool                      _in_remark;
  bool                      _was_enough_left; // free by the last pause, for another young one
  bool                      _was_vain;        // a late cycle has ended, and memory was lacking all the same; in pauses
  bool                      _is_asked_for;    // the next pause begins a cycle, whatever the policy says; in pauses, and by
                                              // Java threads in the VM, which no pause runs beside
  volatile bool             _is_driven;       // somebody waits for the end of a cycle; by who does, and in pauses
  volatile GCCause::Cause   _cause;           // what for
  volatile bool             _needs_begin;     // the control thread makes the pause that begins one; by who asks, and
                                              // in pauses
  volatile bool             _must_unload;     // until a remark, or a global collection, has; the same
  volatile bool             _is_for_idle;     // the next one, or the running one, is for a program that allocates
                                              // little, but whose threads work; by the control thread, and in pauses
  bool                      _follows_classes; // the running one; by its first pause
  LullCodeSet               _chunk_code;      // that its pauses have met in stack chunks
  bool                      _is_held;         // the thread of the cycle is at a breakpoint: it does not get Marked
  uint                      _next_marker;     // gets the next task of a pause
  jlong                     _start_ns;
  volatile uint             _gc_id;          // of the pause that began the cycle
  volatile jlong            _last_ns;        // of the last cycle that has ended, from its begin to its end,
  volatile bool             _was_given_up;   // well or for a global collection
  volatile jlong            _mark_ns;         // of the markers, pauses meanwhile and all; by the thread of the cycle
  LullCycleWorth            _worth;
  size_t                    _last_used;       // of the heap: after the last pause; how much more than before
  size_t                    _growth;          // the last young one has left
  bool                      _last_was_cycle;  // not a global collection
  volatile size_t           _used_at_last;    // after the last cycle or global collection
  volatile jlong            _marking_ns;      // since when markers run; 0: they do not
  volatile size_t           _begun;           // cycles
  volatile size_t           _ended;           // of them, well or given up
  volatile size_t           _done;            // the last of them that was not in vain, by _begun then
  volatile size_t           _cycles;          // that have ended well
  volatile size_t           _late;            // of them, in whose remark markers had tasks left
  volatile size_t           _given_up;        // for a global collection
  DEBUG_ONLY(uint           _pauses;)         // of the running one

  void set_state(State state);
  void start(const char* why);
  void become_idle(bool given_up);
  void record_remark(jlong pause_ns, jlong expected_global_ns);
  void abort_far();
  void begin_classes();
  bool may_start() const;

public:
  LullCycle(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply, uint workers);

  void start_thread();
  void stop_thread();
  void threads_do(ThreadClosure* closure) const;

  LullCycleMarks* marks()           { return &_marks; }
  LullSparseBlocks* sparse()        { return &_sparse; }
  LullLaterSweep* later_sweep()     { return &_later_sweep; }
  const LullLaterSweep* later_sweep() const { return &_later_sweep; }
  LullCardCleaner* cleaner()        { return &_cleaner; }
  const LullCardCleaner* cleaner() const { return &_cleaner; }
  LullFarMarker* far()              { return &_far; }
  ReferenceProcessor* references()  { return _references; }
  uint markers() const              { return _markers_count; }
  LullOldMarker* marker(uint i)     { return _markers[i]; }
  State state() const               { return Atomic::load(&_state); }
  static const char* to_string(State state);

  // Counts, for who looks on. Written in pauses.
  size_t cycles() const             { return Atomic::load(&_cycles); }
  size_t late() const               { return Atomic::load(&_late); }
  size_t given_up() const           { return Atomic::load(&_given_up); }
  uint gc_id() const                { return Atomic::load(&_gc_id); }
  jlong last_ns() const             { return Atomic::load(&_last_ns); }
  bool was_given_up() const         { return Atomic::load(&_was_given_up); }
  size_t begun() const              { return Atomic::load(&_begun); }

  // Bytes that the markers of the running cycle have marked, about: they go on. And how many it may be in the end: what
  // the last cycle or global collection has left.
  size_t marked_bytes() const;
  size_t expected_bytes() const     { return Atomic::load(&_used_at_last); }

  // From the begin of the marking. 0: nothing is marked now.
  jlong marking_for_ns(jlong now_ns) const;
  size_t ended() const              { return Atomic::load(&_ended); }

  // The last one that freed what was dead when it began, or a global collection in its place did; by begun() then.
  size_t done() const               { return Atomic::load(&_done); }

  // ---- Of who wants a cycle

  // The next pause begins a cycle, if none runs, and the one that runs then is driven.
  void drive(GCCause::Cause cause);

  // Metaspace or the code cache fills. The next remark unloads what is dead, and somebody has to make the pauses to
  // it. The caller does not wait for that: who needs more takes more meanwhile.
  void unload_soon(GCCause::Cause cause);

  // Nobody allocates, but threads work (LullIdlePolicy): no pause comes of itself, and nobody waits for one. By the
  // control thread. Whether the cycle finds all that is dead now: one that marks already is only driven to its end.
  bool begin_for_idle();
  bool is_for_idle() const          { return Atomic::load(&_is_for_idle); }

  // Why pauses are made for it.
  GCCause::Cause cause() const {
    return is_driven() || must_unload() ? Atomic::load(&_cause) :
           is_for_idle() ? GCCause::_lull_idle : GCCause::_wb_breakpoint;
  }

  bool is_driven() const            { return Atomic::load(&_is_driven); }

  // None runs, and somebody who does not make the pause that begins one wants it. By the control thread.
  bool needs_begin() const;

  // Does a cycle run that somebody waits for, and can it go on in a young pause only? Or in one that does not come of
  // itself? By the control thread.
  bool is_waited_for() const;
  bool needs_pause() const;

  // Waits until more cycles have ended, or a second. By a Java thread in the VM.
  void wait_for_end(size_t ended_before);

  // Dirty cards are to be cleaned, if they may. The caller does not wait for that; has_cleaned() of the number that it
  // gets says when it is done.
  size_t clean_soon();
  bool has_cleaned(size_t wish) const { return _cleaner.has_answered(wish); }

  // Would that pay now? By a thread that is in no suspendible set.
  bool needs_cleaning() const;

  // ---- Of pauses

  // Does a young pause mark old objects?
  bool is_marking() const { return state() == State::Marking || state() == State::Marked; }
  bool must_remark() const;   // is the next young pause the remark?

  // Do memory servers mark, so that nobody here knows what is marked, and no pause can end the cycle well?
  bool is_far() const { return _far.is_on(); }

  bool was_enough_left() const { return _was_enough_left; }

  // What a late cycle had left was marked in the pause, for nothing: a global collection follows in the same pause, and
  // marks all once more. The next one that is late is given up at once, until one has ended in time.
  void record_vain()           { _was_vain = true; }
  bool was_vain() const        { return _was_vain; }

  // Memory is lacking for a global collection: the pause that begins is to end with the start of a cycle, if none runs.
  void ask_for() { _is_asked_for = true; }

  // Does one run, or will one from the end of this pause on?
  bool is_under_way() const { return _is_asked_for || state() != State::Idle; }

  // A young pause begins. Returns whether it is the first one of the cycle.
  bool begin_young();

  // Are classes and code no roots, so that the remark may unload them? Each object that is looked at leads to its
  // class.
  bool follows_classes() const { return _follows_classes; }

  // Code in the frames of chunks that a pause has looked at; then f(nmethod*) for all that was met in chunks.
  void add_chunk_code(nmethod* nm) { _chunk_code.add(nm); }
  template <typename Function>
  void take_chunk_code(Function f) {
    _chunk_code.take_all(f);
    for (uint i = 0; i < _markers_count; i++) {
      _markers[i]->code()->take_all(f);
    }
  }

  // Does somebody want the next remark, or global collection, to unload whatever is dead? It has done that.
  bool must_unload() const { return Atomic::load(&_must_unload); }
  void record_unloading()  { Atomic::store(&_must_unload, false); }

  // It is the last one: what is left is handed out by take().
  void begin_remark();
  bool in_remark() const { return _in_remark; }
  bool take(LullOldTask* task);

  // Calls f(const LullOldTask&) for each task of the markers. In a pause.
  template <typename Function>
  void tasks_do(Function f) const {
    for (uint i = 0; i < _markers_count; i++) {
      _markers[i]->queue()->iterate(f);
      StackIterator<LullOldTask, mtGC> iterator(*_markers[i]->queue()->overflow_stack());
      while (!iterator.is_empty()) {
        f(iterator.next());
      }
    }
  }

  // A task that a pause leaves to the markers.
  void add(const LullOldTask& task);

  // What the cycle costs beside pauses, as if all workers of a pause had done it.
  jlong mark_ns(uint workers) const { return Atomic::load(&_mark_ns) * (jlong)_markers_count / MAX2(workers, 1u); }

  // The pause has marked all. Marks change places.
  void flip();
  void end_remark();

  // A global collection comes: what has been found is forgotten.
  void abort();

  // Is a cycle better than a global pause that would take so long?
  bool is_better(jlong global_ns) const { return _worth.is_better(global_ns); }

  enum class Ended { Young, Remark, Global };

  // What the last cycle has found dead is swept now: so many bytes more than estimated got free. In each pause, before it
  // is recorded.
  ssize_t take_sweep_surplus();

  // The pause is a remark, or global: what the last one of these and the young ones since have cost for each byte that
  // they have freed. Before end_pause().
  void end_period(double ns_per_byte);

  // A pause has ended, after so long, and has left so much in use.
  void end_pause(Ended ended, jlong pause_ns, size_t used, size_t capacity, jlong expected_global_ns);

  // ---- Of the thread of the cycle, which has joined the suspendible threads

  void clear_granules(bool (*should_stop)());
  void end_clearing();
  bool may_clean() const; // is it known what dirty cards say, and is all swept?
  void clean_cards(bool (*may_go_on)());    // as long as that says yes; no marker runs
  bool has_tasks() const; // has a marker something left?
  void end_marking();     // unless tasks were added
  void hold(bool held);
  void add_mark_time(jlong ns) { Atomic::store(&_mark_ns, _mark_ns + ns); }
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLCYCLE_HPP
