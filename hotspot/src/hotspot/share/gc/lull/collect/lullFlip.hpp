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

#ifndef SHARE_GC_LULL_COLLECT_LULLFLIP_HPP
#define SHARE_GC_LULL_COLLECT_LULLFLIP_HPP

#include "gc/lull/collect/lullMarkWorker.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/shared/taskTerminator.hpp"

class LullCycleMarks;

// The end of a cycle of concurrent marking, by all workers.

// What the markers have left, until all queues are empty.
class LullFollowLeftTask : public WorkerTask {
private:
  LullMarkWorker** const _workers;
  TaskTerminator         _terminator;

public:
  LullFollowLeftTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues)
    : WorkerTask("Lull Follow Left"), _workers(workers), _terminator(active_workers, queues) {}

  void work(uint worker_id) override {
    _workers[worker_id]->follow_left();
    _workers[worker_id]->drain_and_steal(worker_id, &_terminator);
  }
};

// The sweep of blocks in which there may be something young. What the cycle has found of each is what it looks at, and
// as a global collection's sweep does: when it has ended, only what is private is young. All others are swept later.
class LullRemarkSweepTask : public LullListedSweepTask {
private:
  LullCycleMarks* const _marks;

  void sweep(LullBlockIndex index, LullBlock* block, uint worker_id) override;

public:
  LullRemarkSweepTask(LullBlockTable* blocks, LullMemory* memory, LullBlockSupply* supply, uint workers,
                      LullCycleMarks* marks)
    : LullListedSweepTask(blocks, memory, supply, workers, LullCardTable::Remembered::Forget), _marks(marks) {}
};

#endif // SHARE_GC_LULL_COLLECT_LULLFLIP_HPP
