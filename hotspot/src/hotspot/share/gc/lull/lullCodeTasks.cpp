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

#include "code/codeCache.hpp"
#include "code/nmethod.hpp"
#include "gc/lull/lullCodeTasks.hpp"
#include "gc/lull/lullUpdate.inline.hpp"
#include "memory/iterator.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"

// The references of one method at a time.
class LullUpdateCodeClosure final : public OopClosure {
private:
  const LullBlockTable* const _blocks;
  bool                        _updated;

public:
  explicit LullUpdateCodeClosure(const LullBlockTable* blocks) : _blocks(blocks), _updated(false) {}

  // Has any reference changed since the last reset?
  bool has_updated() const      { return _updated; }
  void reset()                  { _updated = false; }

  void do_oop(oop* p) override       { _updated |= LullUpdate::update(_blocks, p); }
  void do_oop(narrowOop* p) override { _updated |= LullUpdate::update(_blocks, p); }
};

LullUpdateCodeTask::LullUpdateCodeTask(const LullBlockTable* blocks)
  : WorkerTask("Lull Update Code"),
    _blocks(blocks),
    _methods(CodeCache::nmethod_count()),
    _next(0) {
  assert_at_safepoint();
  NMethodIterator all(NMethodIterator::all);
  while (all.next()) {
    _methods.append(all.method());
  }
}

void LullUpdateCodeTask::work(uint worker_id) {
  LullUpdateCodeClosure update(_blocks);
  for (;;) {
    const int start = Atomic::fetch_then_add(&_next, MethodsPerClaim);
    if (start >= _methods.length()) {
      return;
    }
    const int end = MIN2(start + MethodsPerClaim, _methods.length());
    for (int i = start; i < end; i++) {
      update.reset();
      _methods.at(i)->oops_do(&update);
      if (update.has_updated()) {
        _methods.at(i)->fix_oop_relocations();
      }
    }
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
