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

#ifndef SHARE_GC_LULL_COLLECT_LULLSWEEP_HPP
#define SHARE_GC_LULL_COLLECT_LULLSWEEP_HPP

#include "gc/lull/collect/lullSweptBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/shared/workerThread.hpp"

class LullBlockSupply;
class LullCycleMarks;
class LullMemory;
class LullPublicMap;
class MarkBitMap;

// A task over blocks: each worker claims some neighbours at a time.
class LullBlockTask : public WorkerTask {
private:
  static const uint32_t BlocksPerClaim = 256;

  volatile uint32_t _next;
  volatile size_t   _visited;

protected:
  // What a worker comes to.
  class Visit : public StackObj {
  private:
    LullBlockTask* const _task;
    const uint           _worker_id;
    size_t               _blocks;

  public:
    Visit(LullBlockTask* task, uint worker_id) : _task(task), _worker_id(worker_id), _blocks(0) {}

    void block(LullBlockIndex index);
    size_t blocks() const { return _blocks; }
  };

  LullBlockTable* const _blocks;

  // Visits what there is from start to end: all blocks. A task that is about few of them has a table that tells which.
  virtual void blocks_do(uint32_t start, uint32_t end, Visit* visit);

  // The worker finds no more blocks.
  virtual void end_work(uint worker_id) {}

  // Called for every block but the Uncommitted and Free ones.
  virtual void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) = 0;

  // Before marking: what has survived a young collection is young as all else.
  void forget_survivors(LullBlockIndex index);

public:
  LullBlockTask(const char* name, LullBlockTable* blocks);
  void work(uint worker_id) final;

  size_t visited() const { return _visited; }
};

// Before marking: clears the marks of blocks that are in use. The words of large objects
// and of the archive stay: they are not read while marking, and those of a live object
// would only be set again. Those of blocks with an owner stay too: they say what is private.
class LullClearMarksTask : public LullBlockTask {
private:
  LullPublicMap* const _public_map;
  MarkBitMap* const    _mark_bitmap;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override;

public:
  LullClearMarksTask(LullBlockTable* blocks, LullMemory* memory);
};

// The same before the marking of a young collection: marks stay, and so do the words of all blocks. Visits those in
// which there may be something young: any that has an owner, or survivors, is one of them.
class LullPrepareYoungTask : public LullBlockTask {
private:
  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override;
  void blocks_do(uint32_t start, uint32_t end, Visit* visit) override;

public:
  explicit LullPrepareYoungTask(LullBlockTable* blocks) : LullBlockTask("Lull Prepare Young", blocks) {}
};

// After marking: sets the state and the free lines of each block from its marks. A block in
// which private objects are alive keeps its owner; all others have none from here on.
//
// With young collections marked means old, between collections: private objects lose their marks, so that
// they are young when they are published. All cards become clean, or NoOld, but for those of what has been remembered.
class LullSweepTask : public LullBlockTask {
protected:
  LullPublicMap* const _public_map;
  MarkBitMap* const    _mark_bitmap;
  LullCardTable* const _card_table;   // nullptr without young collections

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override;
  void assert_unmarked(LullBlockIndex index) const NOT_DEBUG_RETURN;

  // The block alone, whatever it is.
  void sweep_any(LullBlockIndex index, LullBlock* block, uint worker_id) {
    LullSweepTask::do_block(index, block, worker_id);
  }

  // Blocks that hold nothing any more, and are filled with what says so; one with holes, its free lines. The caller
  // of a global collection builds the supply's lists from their states.
  virtual void make_free(LullBlockIndex index, uint32_t blocks, uint worker_id);
  virtual void make_recyclable(LullBlockIndex index, uint worker_id);

private:
  const LullCardTable::Remembered _remembered;
  const uint                      _min_hole_lines;    // of a Recyclable block

  // Of a block with an owner, and of one without.
  virtual void forget_dead_public_objects(LullBlockIndex index, const LullBlock* block);
  virtual void forget_dead_objects(LullBlockIndex index) {}   // marking has set the words of what is alive

  // May something have died in this collection that was old before?
  virtual bool may_have_been_old() const { return true; }

  // Does nothing lie across its start any more?
  void forget_dead_straddler(LullBlockIndex index);
  void free_unmarked(LullBlockIndex index, LullBlock* block, uint worker_id);
  void sweep_lines(LullBlockIndex index, LullBlock* block, const LullLineSet& unused_lines, uint worker_id);
  void sweep_private_lines(LullBlockIndex index, LullBlock* block, const LullLineSet& unused_lines);
  void sweep_block(LullBlockIndex index, LullBlock* block, uint worker_id);
  void remember_large(LullBlockIndex index, size_t blocks, bool is_old);
  void sweep_large(LullBlockIndex index, LullBlock* block, uint worker_id);

public:
  LullSweepTask(LullBlockTable* blocks, LullMemory* memory, uint min_hole_lines,
                LullCardTable::Remembered remembered = LullCardTable::Remembered::Forget);
};

// The same of blocks in which there may be something young, and of no others. The supply's lists stay, and change by
// what it finds: finish() is to be called.
class LullListedSweepTask : public LullSweepTask {
private:
  LullBlockSupply* const _supply;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) final;
  void blocks_do(uint32_t start, uint32_t end, Visit* visit) final;
  void end_work(uint worker_id) final { _swept[worker_id]->flush(); }

protected:
  const uint        _workers;
  LullSweptBlocks** _swept;    // by worker

  void make_free(LullBlockIndex index, uint32_t blocks, uint worker_id) final;
  void make_recyclable(LullBlockIndex index, uint worker_id) final;

  virtual void sweep(LullBlockIndex index, LullBlock* block, uint worker_id) = 0;

public:
  LullListedSweepTask(LullBlockTable* blocks, LullMemory* memory, LullBlockSupply* supply, uint workers,
                      LullCardTable::Remembered remembered);
  ~LullListedSweepTask();

  // The lists are right again. Other recyclable blocks are to be swept later, if told so. One thread.
  void finish(bool leaves_unswept = false);
};

// The sweep of a young collection. It leaves the lines in which there is something old. Survivors lose their marks, as
// private objects do. What is old and refers to them keeps its cards dirty.
//
// While a cycle of concurrent marking runs, what becomes old in this collection gets its mark of the cycle: this sweep
// visits most of it in order of addresses, which costs less than to do it where marking meets it.
class LullYoungSweepTask : public LullListedSweepTask {
private:
  LullCycleMarks* const _cycle_marks;    // nullptr: none marks

  void sweep_survivors(LullBlockIndex index, LullBlock* block, uint worker_id);
  void sweep_young(LullBlockIndex index, LullBlock* block, uint worker_id);
  void sweep(LullBlockIndex index, LullBlock* block, uint worker_id) override;
  bool may_have_been_old() const override { return false; }
  void forget_dead_public_objects(LullBlockIndex index, const LullBlock* block) override;
  void forget_dead_objects(LullBlockIndex index) override;

public:
  LullYoungSweepTask(LullBlockTable* blocks, LullMemory* memory, LullBlockSupply* supply, uint workers,
                     LullCycleMarks* cycle_marks)
    : LullListedSweepTask(blocks, memory, supply, workers, LullCardTable::Remembered::Keep),
      _cycle_marks(cycle_marks) {}

  // Does the sweep give this object its mark of the cycle, which is alive, public and no survivor? Marking gives it to
  // all others.
  static bool marks_new(const LullBlockTable* blocks, const LullCardTable* cards, oop obj);

  // Words that have become old in blocks without an owner, copies among them.
  size_t survived_words() const;
};

#endif // SHARE_GC_LULL_COLLECT_LULLSWEEP_HPP
