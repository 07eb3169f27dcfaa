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

#include "code/nmethod.hpp"
#include "gc/lull/lullCode.hpp"
#include "gc/lull/lullCodeTasks.hpp"
#include "gc/lull/lullUpdate.inline.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"

// The references of one method at a time.
class LullUpdateCodeClosure final : public OopClosure {
private:
  const LullBlockTable* const _blocks;
  BoolObjectClosure* const    _is_alive;
  bool                        _updated;
  bool                        _found_dead;

public:
  LullUpdateCodeClosure(const LullBlockTable* blocks, BoolObjectClosure* is_alive)
    : _blocks(blocks), _is_alive(is_alive), _updated(false), _found_dead(false) {}

  // Has any reference changed since the last reset?
  bool has_updated() const      { return _updated; }
  void reset()                  { _updated = false; }

  bool found_dead() const       { return _found_dead; }

  // What was moved is alive.
  void do_oop(oop* p) override {
    if (LullUpdate::update(_blocks, p)) {
      _updated = true;
    } else if (!_found_dead) {
      const oop obj = RawAccess<>::oop_load(p);
      _found_dead = obj != nullptr && !_is_alive->do_object_b(obj);
    }
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }   // code has none
};

LullUpdateCodeTask::LullUpdateCodeTask(const LullBlockTable* blocks, const LullCode* code, BoolObjectClosure* is_alive)
  : WorkerTask("Lull Update Code"),
    _blocks(blocks),
    _code(code),
    _is_alive(is_alive),
    _next(0),
    _found_dead(false) {}

void LullUpdateCodeTask::work(uint worker_id) {
  LullUpdateCodeClosure update(_blocks, _is_alive);
  for (;;) {
    const int start = Atomic::fetch_then_add(&_next, MethodsPerClaim);
    if (start >= _code->length()) {
      break;
    }
    const int end = MIN2(start + MethodsPerClaim, _code->length());
    for (int i = start; i < end; i++) {
      update.reset();
      _code->oops_do(i, &update);
      if (update.has_updated()) {
        _code->method(i)->fix_oop_relocations();
      }
    }
  }
  if (update.found_dead()) {
    Atomic::store(&_found_dead, true);
  }
}

LullUnlinkTask::LullUnlinkTask(uint workers, bool classes_unloaded)
  : WorkerTask("Lull Unlink"),
    _classes_unloaded(classes_unloaded),
    _code(workers, classes_unloaded),
    _classes() {}

void LullUnlinkTask::work(uint worker_id) {
  _code.work(worker_id);
  if (_classes_unloaded) {
    _classes.work();
  }
}
