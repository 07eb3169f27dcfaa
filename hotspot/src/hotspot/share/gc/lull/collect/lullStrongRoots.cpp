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

#include "classfile/classLoaderDataGraph.hpp"
#include "code/nmethod.hpp"
#include "gc/lull/collect/lullMarkWorker.inline.hpp"
#include "gc/lull/collect/lullStrongRoots.hpp"
#include "gc/shared/oopStorageSetParState.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/thread.hpp"
#include "runtime/threads.hpp"

LullMarkFromRootsTask::LullMarkFromRootsTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues)
  : WorkerTask("Lull Mark From Roots"),
    _workers(workers),
    _active_workers(active_workers),
    _storages(),
    _terminator(active_workers, queues) {}

// Marks from a thread, and drains before the next one: the queue stays short, and
// others can steal.
class LullMarkThreadClosure : public ThreadClosure {
private:
  LullMarkWorker* const _worker;

public:
  explicit LullMarkThreadClosure(LullMarkWorker* worker) : _worker(worker) {}

  void do_thread(Thread* thread) override {
    ResourceMark rm;
    thread->oops_do(_worker->root_closure(), _worker->code_closure());
    _worker->drain();
  }
};

void LullMarkFromRootsTask::work(uint worker_id) {
  assert(worker_id < _active_workers, "worker %u of %u", worker_id, _active_workers);
  LullMarkWorker* const worker = _workers[worker_id];
  {
    CLDToOopClosure clds(worker->root_closure(), ClassLoaderData::_claim_stw_fullgc_mark);
    ClassLoaderDataGraph::always_strong_cld_do(&clds);
    worker->drain();
  }
  {
    LullMarkThreadClosure threads(worker);
    Threads::possibly_parallel_threads_do(_active_workers > 1, &threads);
  }
  _storages.oops_do(worker->root_closure());
  worker->drain_and_steal(worker_id, &_terminator);
}
