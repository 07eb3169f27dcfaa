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

#include "gc/lull/local/lullLocalCollection.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/local/lullLocalDefragmentation.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/threads.hpp"

class LullLocalDefragmentationClosure : public ThreadClosure {
private:
  const uint _all_threads;
  size_t _threads;
  size_t _copied_bytes;
  size_t _freed_bytes;

public:
  explicit LullLocalDefragmentationClosure(uint all_threads) : _all_threads(all_threads), _threads(0), _copied_bytes(0), _freed_bytes(0) {}

  void do_thread(Thread* thread) override {
    LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
    if (collector != nullptr && collector->is_worth_defragmentation(_all_threads)) {
      collector->defragment(&_copied_bytes, &_freed_bytes);
      _threads++;
    }
  }

  size_t threads() const      { return _threads; }
  size_t copied_bytes() const { return _copied_bytes; }
  size_t freed_bytes() const  { return _freed_bytes; }
};

LullLocalDefragmentationTask::LullLocalDefragmentationTask()
  : WorkerTask("Lull Local Defragmentation"),
    _threads(0),
    _copied_bytes(0),
    _freed_bytes(0) {}

void LullLocalDefragmentationTask::work(uint worker_id) {
  LullLocalDefragmentationClosure closure(Threads::number_of_threads());
  Threads::possibly_parallel_threads_do(true /* is parallel */, &closure);
  Atomic::add(&_threads, closure.threads());
  Atomic::add(&_copied_bytes, closure.copied_bytes());
  Atomic::add(&_freed_bytes, closure.freed_bytes());
}
