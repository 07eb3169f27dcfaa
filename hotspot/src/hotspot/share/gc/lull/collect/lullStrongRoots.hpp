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

#ifndef SHARE_GC_LULL_COLLECT_LULLSTRONGROOTS_HPP
#define SHARE_GC_LULL_COLLECT_LULLSTRONGROOTS_HPP

#include "gc/lull/collect/lullMarkWorker.hpp"
#include "gc/shared/oopStorageSetParState.hpp"
#include "gc/shared/taskTerminator.hpp"
#include "gc/shared/workerThread.hpp"

// The first phase of a global collection: from the strong roots, in parallel, until
// all queues are empty. Roots: class loaders that are always alive, thread stacks
// with the code on them, and the strong storages of the VM. The caller holds a
// StrongRootsScope.
class LullMarkFromRootsTask : public WorkerTask {
private:
  LullMarkWorker** const                      _workers;
  const uint                                  _active_workers;
  OopStorageSetStrongParState<false, false>   _storages;
  TaskTerminator                              _terminator;

public:
  LullMarkFromRootsTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues);

  void work(uint worker_id) override;
};

#endif // SHARE_GC_LULL_COLLECT_LULLSTRONGROOTS_HPP
