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
#include "code/codeCache.hpp"
#include "gc/lull/lullBlockTable.inline.hpp"
#include "gc/lull/lullCardTable.hpp"
#include "gc/lull/lullMarkWorker.inline.hpp"
#include "gc/lull/lullMemory.hpp"
#include "gc/lull/lullPublicMap.hpp"
#include "gc/lull/lullThreadLocalMap.hpp"
#include "gc/lull/lullYoungRoots.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/oopStorageSetParState.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"

LullFindRememberedTask::LullFindRememberedTask(LullMarkWorker** workers, LullMemory* memory, LullBlockTable* blocks)
  : LullBlockTask("Lull Find Remembered", blocks),
    _workers(workers),
    _memory(memory),
    _dirty_cards(0) {}

bool LullFindRememberedTask::is_archive(uint32_t index) const {
  return index < _blocks->limit() && _blocks->at(to_block_index(index))->state() == LullBlockState::Archive;
}

// One pass over the marks: most dirty cards are of young objects only, and there are none before them.
void LullFindRememberedTask::find_in_lines(LullBlockIndex first, size_t blocks, LullMarkWorker* worker) {
  LullCardTable* const cards = _memory->card_table();
  size_t dirty = 0;
  cards->dirty_lines_do(first, blocks, [&](LullLineIndex line) { dirty++; });
  if (dirty == 0) {
    return;
  }
  const MarkBitMap* const marks = _memory->mark_bitmap();
  HeapWord* const start = LullGeometry::start_of(first);
  HeapWord* const end = start + blocks * LullGeometry::WordsPerBlock;
  for (HeapWord* addr = marks->get_next_marked_addr(start, end); addr < end; ) {
    assert(_memory->public_map()->is_public(addr), "old objects are public");
    const oop obj = cast_to_oop(addr);
    HeapWord* const next = addr + obj->size();
    if (cards->is_any_dirty(addr, next - 1)) {
      worker->remember(obj);
    }
    addr = marks->get_next_marked_addr(next, end);
  }
  cards->clean(first, blocks);
  Atomic::add(&_dirty_cards, dirty);
}

void LullFindRememberedTask::find_large(LullBlockIndex index, size_t blocks, LullMarkWorker* worker) {
  HeapWord* const start = LullGeometry::start_of(index);
  if (_memory->card_table()->is_any_dirty(index, blocks)) {
    if (_memory->mark_bitmap()->is_marked(start)) {
      worker->remember(cast_to_oop(start));
    }
    _memory->card_table()->clean(index, blocks);
    Atomic::add(&_dirty_cards, (size_t)1);
  }
}

// Who has the first block of a large object, or of the archive, whose objects may leave their blocks, has all of it.
void LullFindRememberedTask::do_block(LullBlockIndex index, LullBlock* block, uint worker_id) {
  LullMarkWorker* const worker = _workers[worker_id];
  const uint32_t i = untype(index);
  if (block->state() == LullBlockState::LargeHead) {
    find_large(index, block->large_blocks(), worker);
  } else if (block->has_lines()) {
    find_in_lines(index, 1, worker);
  } else if (is_archive(i) && (i == 0 || !is_archive(i - 1))) {
    uint32_t end = i + 1;
    while (is_archive(end)) {
      end++;
    }
    find_in_lines(index, end - i, worker);
  }
}

LullMarkFromYoungRootsTask::LullMarkFromYoungRootsTask(LullMarkWorker** workers, uint active_workers, LullMarkQueueSet* queues)
  : WorkerTask("Lull Mark From Young Roots"),
    _workers(workers),
    _active_workers(active_workers),
    _storages(),
    _methods(CodeCache::nmethod_count()),
    _terminator(active_workers, queues),
    _next_method(0) {
  assert_at_safepoint();
  NMethodIterator all(NMethodIterator::all);
  while (all.next()) {
    _methods.append(all.method());
  }
}

void LullMarkFromYoungRootsTask::follow_code(LullMarkWorker* worker) {
  for (;;) {
    const int start = Atomic::fetch_then_add(&_next_method, MethodsPerClaim);
    if (start >= _methods.length()) {
      return;
    }
    const int end = MIN2(start + MethodsPerClaim, _methods.length());
    for (int i = start; i < end; i++) {
      _methods.at(i)->oops_do(worker->closure());
    }
    worker->drain();
  }
}

class LullMarkYoungThreadClosure : public ThreadClosure {
private:
  LullMarkWorker* const _worker;

public:
  explicit LullMarkYoungThreadClosure(LullMarkWorker* worker) : _worker(worker) {}

  void do_thread(Thread* thread) override {
    ResourceMark rm;
    thread->oops_do(_worker->closure(), _worker->code_closure());
    if (thread->is_Java_thread()) {
      LullThreadLocalMap::oops_do(JavaThread::cast(thread), _worker->closure());
    }
    _worker->drain();
  }
};

void LullMarkFromYoungRootsTask::work(uint worker_id) {
  LullMarkWorker* const worker = _workers[worker_id];
  worker->follow_remembered();
  {
    CLDToOopClosure clds(worker->closure(), ClassLoaderData::_claim_stw_fullgc_mark);
    ClassLoaderDataGraph::cld_do(&clds);
    worker->drain();
  }
  {
    LullMarkYoungThreadClosure threads(worker);
    Threads::possibly_parallel_threads_do(_active_workers > 1, &threads);
  }
  _storages.oops_do(worker->closure());
  follow_code(worker);
  worker->drain_and_steal(worker_id, &_terminator);
}
