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

#include "classfile/classLoaderData.hpp"
#include "code/nmethod.hpp"
#include "compiler/oopMap.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/collect/lullUnloadingCheck.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/method.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"

class LullCheckCodeClosure final : public NMethodClosure {
private:
  class Oops final : public OopClosure {
  private:
    const nmethod* const     _nm;
    BoolObjectClosure* const _is_alive;

  public:
    Oops(const nmethod* nm, BoolObjectClosure* is_alive) : _nm(nm), _is_alive(is_alive) {}

    void do_oop(oop* p) override {
      const oop obj = RawAccess<>::oop_load(p);
      guarantee(obj == nullptr || _is_alive->do_object_b(obj),
                "Frames: code " PTR_FORMAT " of %s is in a frame, and refers to dead " PTR_FORMAT,
                p2i(_nm), _nm->method()->external_name(), p2i(obj));
    }
    void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
  };

  BoolObjectClosure* const _is_alive;

public:
  explicit LullCheckCodeClosure(BoolObjectClosure* is_alive) : _is_alive(is_alive) {}

  void do_nmethod(nmethod* nm) override {
    ResourceMark rm;    // for a message
    Oops oops(nm, _is_alive);
    nm->oops_do(&oops);
  }
};

// What an object leads to beside what its fields refer to.
class LullCheckClassesClosure final : public ClaimMetadataVisitingOopIterateClosure {
private:
  const oop            _holder;
  LullCheckCodeClosure _code;

public:
  LullCheckClassesClosure(oop holder, BoolObjectClosure* is_alive)
    : ClaimMetadataVisitingOopIterateClosure(ClassLoaderData::_claim_none), _holder(holder), _code(is_alive) {}

  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override       {}
  void do_oop(narrowOop* p) override {}
  void do_method(Method* m) override {}
  void do_nmethod(nmethod* nm) override { _code.do_nmethod(nm); }

  void do_klass(Klass* klass) override {
    if (klass->class_loader_data() != nullptr) {    // of an archive, and not loaded yet
      guarantee(klass->class_loader_data()->is_alive(), "Loaded: " PTR_FORMAT " is alive, and the loader of %s is dead",
                p2i(_holder), klass->external_name());
    }
  }

  void do_cld(ClassLoaderData* cld) override {
    guarantee(cld->is_alive(), "Loaded: " PTR_FORMAT " is alive, and its class loader data " PTR_FORMAT " is dead",
              p2i(_holder), p2i(cld));
  }
};

class LullCheckObjectsTask : public LullBlockTask {
private:
  const LullMarkBitMap* const _marks;
  BoolObjectClosure* const    _is_alive;

  void do_block(LullBlockIndex index, LullBlock* block, uint worker_id) override {
    ResourceMark rm;    // for a message
    HeapWord* const end = LullGeometry::end_of(index);
    for (HeapWord* addr = _marks->get_next_marked_addr(LullGeometry::start_of(index), end); addr < end;
         addr = _marks->get_next_marked_addr(addr + 1, end)) {
      const oop obj = cast_to_oop(addr);
      LullCheckClassesClosure closure(obj, _is_alive);
      closure.do_klass(obj->klass());
      if (!obj->is_array()) {
        obj->oop_iterate(&closure);
      }
    }
  }

public:
  LullCheckObjectsTask(LullBlockTable* blocks, const LullMarkBitMap* marks, BoolObjectClosure* is_alive)
    : LullBlockTask("Lull Check Unloading", blocks), _marks(marks), _is_alive(is_alive) {}
};

class LullCheckFramesClosure final : public ThreadClosure {
private:
  LullCheckCodeClosure _code;

public:
  explicit LullCheckFramesClosure(BoolObjectClosure* is_alive) : _code(is_alive) {}

  void do_thread(Thread* thread) override { thread->oops_do(&do_nothing_cl, &_code); }
};

void LullUnloadingCheck::verify(LullBlockTable* blocks, const LullMarkBitMap* marks, BoolObjectClosure* is_alive,
                                WorkerThreads* workers) {
  assert_at_safepoint();
  LullCheckObjectsTask objects(blocks, marks, is_alive);
  workers->run_task(&objects);
  // The trace has recorded the derived pointers of all frames.
  COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTableDeactivate deactivate;)
  LullCheckFramesClosure frames(is_alive);
  Threads::threads_do(&frames);
}
