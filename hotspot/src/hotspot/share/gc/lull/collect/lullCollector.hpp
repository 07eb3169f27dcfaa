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

#ifndef SHARE_GC_LULL_COLLECT_LULLCOLLECTOR_HPP
#define SHARE_GC_LULL_COLLECT_LULLCOLLECTOR_HPP

#include "gc/lull/collect/lullMarkWorker.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/lull/policy/lullUnloadingPolicy.hpp"
#include "gc/shared/gcTimer.hpp"
#include "gc/shared/gcTrace.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"

class LullBlockSupply;
class LullBlockTable;
class LullCode;
class LullCycle;
class LullMemory;
class LullPauseProgress;
class LullSweepTask;
class ReferenceProcessor;
class WorkerThreads;

// The global collection. All threads are stopped, all objects are traced.
//
//   prepare      chooses the blocks to evacuate; clears marks
//   mark         from the strong roots. Objects in evacuated blocks are copied when they are met; each reference that
//                is visited is updated
//   classes      if few are dead (LullUnloadingPolicy): marks from them and from all code, which are kept
//   references   soft, weak, final, phantom; the VM's weak storages
//   code         if classes are not kept: updates references in all compiled code, and sees whether any is to a dead
//                object
//   unload       dead classes, and code that refers to them or to dead objects; if there are such, or if it was asked
//                for
//   sweep        free lines and free blocks, from the marks
//   slide        only if it was asked for: LullSlidingCompaction
//
// There is no second pass over the heap to update references, but for sliding. An object moves before the first
// reference to it is stored back, and each live reference is visited once.

// The young collection (LullYoungCollections). All threads are stopped. It traces what no earlier collection has found
// alive. Marks of earlier collections stay ("sticky mark bits", Demers et al., POPL 1990).
//
// Young objects in blocks without an owner are evacuated, even beside old ones: as in a global collection, all
// references to them are visited. Old objects do not move. No class and no code is unloaded.
//
// An object that is copied for the first time is a survivor: it stays young for one collection more (LullAgeSurvivors).
// Much of that is dead by then, and else only a global collection would find it. Survivors have blocks of their own
// (LullSurvivorAllocator). Between collections they have no marks, and their lines no old objects. Old objects that
// refer to survivors at the end of the collection are remembered anew:
//
//   fields               on cards
//   class loaders        by their flag
//   code                 stays on the list of code with young references
//
// Objects that survive in their place become old at once: large ones, those in blocks with an owner or pinned, and
// those for whose copy there was no room.
//
//   prepare      chooses the blocks to evacuate; forgets which lines private objects are on
//   remembered   old objects on dirty cards
//   mark         from these and from the roots that are new: LullMarkFromYoungRootsTask
//   references   as above
//   sweep        blocks in which there is something young
//
// While a cycle of concurrent marking runs, young collections mark for it (lullCycle.hpp). The last one, the remark, is
// also what a global collection is, but that it does not trace again what the cycle has found, and moves nothing old:
//
//   mark         with the code on stacks; then what the cycle has left
//   classes      as in a global collection. Without ClassUnloadingWithConcurrentMark all are kept
//   references   those that the cycle has found, too
//   code         as in a global collection
//   unload       as well
//   flip         the marks of the cycle become those of the heap
//   sweep        blocks in which there may be something young; all others later (lullLaterSweep.hpp)
//
// The young collection after that moves what is in sparse old blocks, as if it was young: lullSparseBlocks.hpp.

class LullYoungTracer : public YoungGCTracer, public CHeapObj<mtGC> {
public:
  LullYoungTracer() : YoungGCTracer(LullYoung) {}
};

class LullGlobalTracer : public OldGCTracer, public CHeapObj<mtGC> {
public:
  LullGlobalTracer() : OldGCTracer(LullGlobal) {}
};

// Is this object, given by its address before the collection, alive?
class LullIsAliveClosure final : public BoolObjectClosure {
private:
  LullBlockTable* const _blocks;
  const LullMarkBitMap* _mark_bitmap;

public:
  LullIsAliveClosure(LullBlockTable* blocks, LullMarkBitMap* mark_bitmap)
    : _blocks(blocks), _mark_bitmap(mark_bitmap) {}

  // In this bitmap what is alive and does not move has marks.
  void set_marks(const LullMarkBitMap* mark_bitmap) { _mark_bitmap = mark_bitmap; }

  bool do_object_b(oop obj) override;
};

class LullCollector : public CHeapObj<mtGC> {
private:
  LullCode* const             _code;
  LullPauseProgress* const    _progress;
  LullMemory* const           _memory;
  LullBlockTable* const       _blocks;
  LullBlockSupply* const      _supply;
  LullEvacuationPolicy* const _evacuation_policy;
  WorkerThreads* const        _workers;

  LullMarkQueueSet            _queues;
  PartialArrayStateManager    _array_states;
  AlwaysTrueClosure           _always_true;
  LullIsAliveClosure          _is_alive;
  ReferenceProcessor* const   _reference_processor;
  LullMarkWorker**            _mark_workers;

  STWGCTimer                  _timer;
  LullGlobalTracer            _tracer;
  LullYoungTracer             _young_tracer;
  jlong                       _young_mark_ns;
  size_t                      _remembered_bytes;    // on dirty cards, in the last young collection
  LullMarkStatistics          _statistics;
  LullUnloadingPolicy         _unloading_policy;
  LullCycle* const            _cycle;     // nullptr without concurrent marking

  void prepare(const LullEvacuationRequest& request);
  void prepare_young(bool ages, bool moves_sparse);
  void prepare_cycle(bool remark);
  void mark_from_classes();
  void follow_left();
  void give_grey_to_cycle();
  void flip();
  void sweep_what_is_left();
  void clean_cards();
  void trace_young(bool from_classes);
  bool trace_remark(bool follows_classes, bool unload_always);
  void end_young_trace();
  void mark();
  bool keep_classes();
  void find_remembered();
  void mark_young();
  void process_references(ReferenceProcessor* processor, GCTracer* tracer);
  void process_weak_roots();
  bool update_code(bool find_dead);
  bool has_code_grown() const;
  bool must_unload(bool found_dead_in_code);
  void unload_classes();
  void unload_dead(bool unload_always);
  void finish_marking();
  void sweep(LullSweepTask* task);
  void end_evacuation();
  void slide();
  void log_statistics() const;

public:
  LullCollector(LullCode* code, LullPauseProgress* progress, LullMemory* memory, LullBlockTable* blocks,
                LullBlockSupply* supply, LullEvacuationPolicy* evacuation_policy, WorkerThreads* workers,
                LullCycle* cycle);

  STWGCTimer* timer()           { return &_timer; }

  // Of the last pause: how long it has marked and copied for, and found what was written to, if it was a young one; how
  // many bytes it has looked at for that, and how many of these are private still.
  jlong young_mark_ns() const   { return _young_mark_ns; }
  size_t seen_bytes() const     { return _statistics._marked_words * HeapWordSize + _remembered_bytes; }
  size_t private_bytes() const  { return _statistics._private_words * HeapWordSize; }
  LullGlobalTracer* tracer()    { return &_tracer; }
  LullYoungTracer* young_tracer() { return &_young_tracer; }
  BoolObjectClosure* is_alive() { return &_is_alive; }

  // Of the last collection, or the one that is about to end.
  size_t cleared_references() const { return _statistics._cleared_references; }

  // Does such a collection slide at its end?
  static bool must_slide(const LullEvacuationRequest& request);

  // Collects. Allocators are empty, and stay so until the caller has rebuilt the supply, of a global collection. What
  // is private in blocks with an owner stays private, and does not move: then it may not slide. Unloads
  // what is dead of classes and code; if told so, looks for it even where no object or class loader says that there is any.
  void collect(const LullEvacuationRequest& request, bool clear_soft_references, bool unload_always);

  // The same for what is young. The supply is right when it ends.
  void collect_young();

  // The same, and ends the cycle that runs. The caller has a ClassUnloadingContext.
  void remark();
};

#endif // SHARE_GC_LULL_COLLECT_LULLCOLLECTOR_HPP
