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
#include "code/nmethod.hpp"
#include "gc/lull/lullClassRoots.hpp"
#include "gc/lull/lullCode.hpp"
#include "gc/lull/lullMarkWorker.inline.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"

// As ClassLoaderData::is_alive(), which asks what the processing of weak roots has left.
class LullFindDeadClassesClosure final : public CLDClosure {
private:
  BoolObjectClosure* const _is_alive;
  LullDeadClasses          _dead;

public:
  explicit LullFindDeadClassesClosure(BoolObjectClosure* is_alive) : _is_alive(is_alive), _dead() {}

  const LullDeadClasses& dead() const { return _dead; }

  void do_cld(ClassLoaderData* cld) override {
    const oop holder = cld->holder_no_keepalive();   // nullptr: of the boot loader, or not made yet; both are strong roots
    if (holder != nullptr && !_is_alive->do_object_b(holder)) {
      (cld->has_class_mirror_holder() ? _dead._hidden : _dead._loaders)++;
    }
  }
};

LullDeadClasses LullClassRoots::find_dead(BoolObjectClosure* is_alive) {
  LullFindDeadClassesClosure closure(is_alive);
  ClassLoaderDataGraph::cld_do(&closure);
  return closure.dead();
}

LullMarkFromClassesTask::LullMarkFromClassesTask(LullMarkWorker** workers, const LullCode* code)
  : WorkerTask("Lull Mark From Classes"),
    _workers(workers),
    _code(code),
    _next(0) {}

// Marks from the references of one method at a time.
class LullMarkCodeClosure final : public OopClosure {
private:
  LullMarkWorker* const _worker;
  bool                  _updated;

public:
  explicit LullMarkCodeClosure(LullMarkWorker* worker) : _worker(worker), _updated(false) {}

  // Has any reference changed since this was asked last?
  bool take_updated() {
    const bool updated = _updated;
    _updated = false;
    return updated;
  }

  void do_oop(oop* p) override {
    const oop before = RawAccess<>::oop_load(p);
    _worker->mark_root(p);
    _updated |= RawAccess<>::oop_load(p) != before;
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }   // code has none
};

void LullMarkFromClassesTask::mark_from_code(LullMarkWorker* worker) {
  LullMarkCodeClosure closure(worker);
  for (;;) {
    const int start = Atomic::fetch_then_add(&_next, MethodsPerClaim);
    if (start >= _code->length()) {
      return;
    }
    const int end = MIN2(start + MethodsPerClaim, _code->length());
    for (int i = start; i < end; i++) {
      _code->oops_do(i, &closure);
      if (closure.take_updated()) {
        _code->method(i)->fix_oop_relocations();
      }
    }
  }
}

void LullMarkFromClassesTask::work(uint worker_id) {
  LullMarkWorker* const worker = _workers[worker_id];
  CLDToOopClosure clds(worker->root_closure(), ClassLoaderData::_claim_stw_fullgc_mark);
  ClassLoaderDataGraph::cld_do(&clds);
  mark_from_code(worker);
}
