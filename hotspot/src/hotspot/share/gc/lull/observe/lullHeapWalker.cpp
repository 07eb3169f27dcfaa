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
#include "compiler/oopMap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/observe/lullHeapWalker.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/oopStorageSet.inline.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/objArrayKlass.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"
#include "runtime/vmThread.hpp"
#include "utilities/stack.inline.hpp"

// How long a worker sleeps before it looks again for something to do. Others write what they visit to files.
static const jlong WaitNanos = 100 * 1000;

// One worker's trace.
class LullWalkClosure final : public BasicOopIterateClosure {
private:
  static const int ElementsAtOnce = 2048;

  struct ArrayRest {
    objArrayOop _array;
    int         _from;
  };

  MarkBitMap* const      _visited;
  LullWalkQueue* const   _queue;
  LullWalkVisitor* const _visitor;
  Stack<ArrayRest, mtGC> _arrays;    // visited, but for elements
  oop                    _holder;
  Thread*                _thread;    // whose roots are visited

  // Some elements; the others once what these lead to is visited, or an array of many millions would fill the native memory with what is
  // to be visited.
  void visit_elements(ArrayRest rest) {
    const int length = rest._array->length();
    const int end = length - rest._from > ElementsAtOnce ? rest._from + ElementsAtOnce : length;   // the sum may be more than an int
    _holder = rest._array;
    rest._array->oop_iterate_range(this, rest._from, end);
    _holder = nullptr;
    if (end < length) {
      _arrays.push({ rest._array, end });
    }
  }

  template <typename T>
  void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return;
    }
    const oop target = CompressedOops::decode_not_null(heap_oop);
    if (_holder == nullptr) {
      _visitor->visit_root(p, target, _thread);
    } else {
      _visitor->visit_reference(p, _holder, target);
    }
    if (_visited->par_mark(target)) {
      _queue->push(target);
    }
  }

public:
  LullWalkClosure(MarkBitMap* visited, LullWalkQueue* queue, LullWalkVisitor* visitor)
    : _visited(visited), _queue(queue), _visitor(visitor), _arrays(), _holder(nullptr), _thread(nullptr) {}

  void set_thread(Thread* thread) { _thread = thread; }

  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override       { do_oop_work(p); }
  void do_oop(narrowOop* p) override { do_oop_work(p); }

  void visit(oop obj) {
    _visitor->visit_object(obj);
    if (obj->is_objArray()) {
      visit_elements({ objArrayOop(obj), 0 });
      return;
    }
    _holder = obj;
    obj->oop_iterate(this);
    _holder = nullptr;
  }

  void drain() {
    oop obj;
    for (;;) {
      if (_queue->pop_overflow(obj) || _queue->pop_local(obj)) {
        visit(obj);
      } else if (!_arrays.is_empty()) {
        visit_elements(_arrays.pop());
      } else {
        break;
      }
    }
  }
};

LullHeapWalker::LullHeapWalker(LullMemory* memory, uint workers)
  : _memory(memory),
    _visited(memory->acquire_walk_bitmap()),
    _workers(workers),
    _queues(workers),
    _next_roots(0),
    _busy(0) {
  assert_at_safepoint();
  COMPILER2_OR_JVMCI_PRESENT(assert(!DerivedPointerTable::is_active(), "the walk would record derived pointers");)
  for (uint i = 0; i < workers; i++) {
    _queues.register_queue(i, new LullWalkQueue());
  }
}

LullHeapWalker::~LullHeapWalker() {
  for (uint i = 0; i < _workers; i++) {
    delete _queues.queue(i);
  }
  if (is_possible()) {
    _memory->release_walk_bitmap();
  }
}

// Nothing is left for this worker. True: there may be something to steal. False: all that have come are done; who comes now finds no
// root, and nothing in any queue.
bool LullHeapWalker::wait_for_work() {
  Atomic::sub(&_busy, 1u);
  while (Atomic::load(&_busy) > 0) {
    if (_queues.tasks() > 0) {
      Atomic::add(&_busy, 1u);
      return true;
    }
    os::naked_short_nanosleep(WaitNanos);
  }
  return false;
}

void LullHeapWalker::walk(uint worker_id, LullWalkVisitor* visitor) {
  assert(is_possible() && worker_id < _workers, "worker %u", worker_id);
  ResourceMark rm;
  LullWalkClosure closure(_visited, _queues.queue(worker_id), visitor);
  Atomic::add(&_busy, 1u);
  for (;;) {
    const uint roots = Atomic::fetch_then_add(&_next_roots, 1u);
    if (roots >= (uint)Roots::End) {
      break;
    }
    switch ((Roots)roots) {
      case Roots::ClassLoaders: {
        CLDToOopClosure clds(&closure, ClassLoaderData::_claim_none);
        ClassLoaderDataGraph::cld_do(&clds);
        break;
      }
      case Roots::Threads:
        for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
          closure.set_thread(thread);
          thread->oops_do(&closure, nullptr);
        }
        closure.set_thread(VMThread::vm_thread());
        VMThread::vm_thread()->oops_do(&closure, nullptr);
        closure.set_thread(nullptr);
        break;
      case Roots::Storages:
        OopStorageSet::strong_oops_do(&closure);
        break;
      case Roots::Code: {
        NMethodToOopClosure nmethods(&closure, !NMethodToOopClosure::FixRelocations);
        CodeCache::nmethods_do(&nmethods);
        break;
      }
      case Roots::End:
        ShouldNotReachHere();
    }
    closure.drain();
  }
  do {
    closure.drain();
    oop obj;
    while (_queues.steal(worker_id, obj)) {
      closure.visit(obj);
      closure.drain();
    }
  } while (wait_for_work());
}
