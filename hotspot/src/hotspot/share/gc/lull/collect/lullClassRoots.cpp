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

#include "classfile/classLoaderData.inline.hpp"
#include "classfile/classLoaderDataGraph.hpp"
#include "gc/lull/collect/lullClassRoots.hpp"
#include "gc/lull/collect/lullMarkWorker.inline.hpp"
#include "memory/iterator.hpp"
#include "runtime/safepoint.hpp"

// As ClassLoaderData::is_alive(), which asks what the processing of weak roots has left.
class LullFindDeadClassesClosure final : public CLDClosure {
private:
  BoolObjectClosure* const _is_alive;
  LullDeadClasses          _dead;

public:
  explicit LullFindDeadClassesClosure(BoolObjectClosure* is_alive) : _is_alive(is_alive), _dead() {}

  const LullDeadClasses& dead() const { return _dead; }

  void do_cld(ClassLoaderData* cld) override {
    const oop holder = cld->holder_no_keepalive();
    if (holder == nullptr) {
      // Of the boot loader, or not made yet: strong roots. Or cleared by a young collection: of a loader without any class of its own.
      _dead._loaders += cld->is_alive() ? 0 : 1;
    } else if (!_is_alive->do_object_b(holder)) {
      (cld->has_class_mirror_holder() ? _dead._hidden : _dead._loaders)++;
    }
  }
};

LullDeadClasses LullClassRoots::find_dead(BoolObjectClosure* is_alive) {
  assert_at_safepoint();
  LullFindDeadClassesClosure closure(is_alive);
  ClassLoaderDataGraph::cld_do(&closure);
  return closure.dead();
}

class LullMarkCodeClosure final : public LullCodeClosure {
private:
  LullMarkWorker* const _worker;

public:
  explicit LullMarkCodeClosure(LullMarkWorker* worker) : _worker(worker) {}

  void do_oop(oop* p) override {
    const oop before = RawAccess<>::oop_load(p);
    _worker->mark_root(p);
    if (RawAccess<>::oop_load(p) != before) {
      set_updated();
    }
  }
};

LullMarkFromClassesTask::LullMarkFromClassesTask(LullMarkWorker** workers, const LullCode* code)
  : WorkerTask("Lull Mark From Classes"),
    _workers(workers),
    _code(code) {}

void LullMarkFromClassesTask::work(uint worker_id) {
  LullMarkWorker* const worker = _workers[worker_id];
  CLDToOopClosure clds(worker->root_closure(), worker->class_claim());
  ClassLoaderDataGraph::cld_do(&clds);
  LullMarkCodeClosure code(worker);
  _code.oops_do(&code);
}
