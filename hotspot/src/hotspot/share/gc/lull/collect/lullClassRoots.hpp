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

#ifndef SHARE_GC_LULL_COLLECT_LULLCLASSROOTS_HPP
#define SHARE_GC_LULL_COLLECT_LULLCLASSROOTS_HPP

#include "gc/lull/collect/lullCodeUpdate.hpp"
#include "gc/lull/collect/lullMarkWorker.hpp"
#include "gc/lull/policy/lullUnloadingPolicy.hpp"
#include "gc/shared/taskTerminator.hpp"
#include "gc/shared/workerThread.hpp"

class LullCode;

// For a global collection, or a remark, that keeps all classes and code: when the trace from the strong roots is done,
// these are roots too.
class LullClassRoots : public AllStatic {
public:
  // What would be unloaded. Before references are processed, which may keep more alive.
  static LullDeadClasses find_dead(BoolObjectClosure* is_alive);
};

// Marks what class loaders and hidden classes refer to that have not been visited yet, and what all code refers to, and updates the code. Nothing is
// traced meanwhile: else one worker could come to a method by a stack chunk while another patches it.
class LullMarkFromClassesTask : public WorkerTask {
private:
  LullMarkWorker** const _workers;
  LullCodeUpdate         _code;

public:
  LullMarkFromClassesTask(LullMarkWorker** workers, const LullCode* code);

  // The caller holds the StrongRootsScope of the trace before.
  void work(uint worker_id) override;
};

// Until all queues are empty.
class LullTraceTask : public WorkerTask {
private:
  LullMarkWorker** const _workers;
  TaskTerminator         _terminator;

public:
  LullTraceTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues)
    : WorkerTask("Lull Trace"), _workers(workers), _terminator(active_workers, queues) {}

  void work(uint worker_id) override { _workers[worker_id]->drain_and_steal(worker_id, &_terminator); }
};

#endif // SHARE_GC_LULL_COLLECT_LULLCLASSROOTS_HPP
