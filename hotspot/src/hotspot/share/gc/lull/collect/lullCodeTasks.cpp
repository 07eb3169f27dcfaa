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

#include "gc/lull/collect/lullCodeTasks.hpp"
#include "gc/lull/collect/lullUpdate.inline.hpp"
#include "runtime/atomic.hpp"

class LullUpdateCodeClosure final : public LullCodeClosure {
private:
  const LullBlockTable* const _blocks;
  BoolObjectClosure* const    _is_alive;
  bool                        _found_dead;

public:
  LullUpdateCodeClosure(const LullBlockTable* blocks, BoolObjectClosure* is_alive)
    : _blocks(blocks), _is_alive(is_alive), _found_dead(false) {}

  bool found_dead() const { return _found_dead; }

  // What was moved is alive.
  void do_oop(oop* p) override {
    if (LullUpdate::update(_blocks, p)) {
      set_updated();
    } else if (!_found_dead) {
      const oop obj = RawAccess<>::oop_load(p);
      _found_dead = obj != nullptr && !_is_alive->do_object_b(obj);
    }
  }
};

LullUpdateCodeTask::LullUpdateCodeTask(const LullBlockTable* blocks, const LullCode* code, BoolObjectClosure* is_alive)
  : WorkerTask("Lull Update Code"),
    _blocks(blocks),
    _is_alive(is_alive),
    _code(code),
    _found_dead(false) {}

void LullUpdateCodeTask::work(uint worker_id) {
  LullUpdateCodeClosure update(_blocks, _is_alive);
  _code.oops_do(&update);
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
