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

#ifndef SHARE_GC_LULL_COLLECT_LULLYOUNGROOTS_HPP
#define SHARE_GC_LULL_COLLECT_LULLYOUNGROOTS_HPP

#include "gc/lull/collect/lullMarkWorker.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/shared/oopStorageSetParState.hpp"
#include "gc/shared/taskTerminator.hpp"
#include "gc/shared/workerThread.hpp"

class LullCycleMarks;
class LullMemory;

// The old objects, and parts of large arrays, on dirty cards (R), found before anything is marked: then what is
// marked is old. The cards become clean: what they refer to will be old, too, or remembered anew.
//
// Visits the blocks whose stretches of cards are touched. They stay so while it runs, for of an object of more than
// one block the worker that has the first of these sees to all.
class LullFindRememberedTask : public LullBlockTask {
private:
  LullMarkWorker** const _workers;
  LullMemory* const      _memory;
  volatile size_t        _dirty_cards;
  volatile size_t        _objects;

  bool is_archive(uint32_t index) const;
  void find_archive(uint32_t index, LullMarkWorker* worker);
  objArrayOop straddling_array(LullBlockIndex index) const;
  void find_in_lines(LullBlockIndex first, size_t blocks, LullMarkWorker* worker);
  void find_large(LullBlockIndex index, size_t blocks, LullMarkWorker* worker);
  void remember_line(objArrayOop array, LullLineIndex line, LullMarkWorker* worker);
  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override;
  void blocks_do(uint32_t start, uint32_t end, Visit* visit) override;

public:
  LullFindRememberedTask(LullMarkWorker** workers, LullMemory* memory, LullBlockTable* blocks);

  size_t dirty_cards() const { return _dirty_cards; }
  size_t objects() const     { return _objects; }
};

// Then marks young and private objects from all that may refer to them, in parallel, until all queues are
// empty. Old objects are marked already, so the trace ends at them. Roots:
//
//   remembered objects                      see above
//   thread stacks                           without the code on them, see below
//   thread-local and scoped values          which hang on Thread objects that are old
//   strong storages of the VM
//   class loaders with a new reference      those of others lead to old objects; those that lead to survivors stay such
//   code with a reference to a young one    as ScavengableNMethods lists it, unless all code is visited after it
//
// A cycle that may unload classes also marks from class loaders that always live. For it what hangs on the last two
// kinds of roots alone is not alive: old objects do not get its mark by them. In its remark they are no roots, but code
// on stacks is.
//
// The caller holds a StrongRootsScope.
class LullMarkFromYoungRootsTask : public WorkerTask {
private:
  LullMarkWorker** const                      _workers;
  const uint                                  _active_workers;
  const bool                                  _visits_code;
  const LullCycleMarks* const                 _cycle_marks;    // nullptr: no cycle marks in this pause
  OopStorageSetStrongParState<false, false>   _storages;
  TaskTerminator                              _terminator;

  void mark_from_classes(LullMarkWorker* worker);

public:
  LullMarkFromYoungRootsTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues, bool visits_code,
                             const LullCycleMarks* cycle_marks);

  void work(uint worker_id) override;
};

#endif // SHARE_GC_LULL_COLLECT_LULLYOUNGROOTS_HPP
