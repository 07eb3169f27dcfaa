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
#include "gc/lull/lullHeapWalker.hpp"
#include "gc/lull/lullMemory.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/oopStorageSet.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "utilities/stack.inline.hpp"

class LullWalkClosure final : public BasicOopIterateClosure {
private:
  LullHeapWalker* const _walker;

public:
  explicit LullWalkClosure(LullHeapWalker* walker) : _walker(walker) {}

  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override       { _walker->follow(p); }
  void do_oop(narrowOop* p) override { _walker->follow(p); }
};

LullHeapWalker::LullHeapWalker(LullMemory* memory, LullWalkVisitor* visitor)
  : _memory(memory),
    _visited(memory->acquire_walk_bitmap()),
    _visitor(visitor),
    _stack(),
    _holder(nullptr) {}

LullHeapWalker::~LullHeapWalker() {
  if (_visited != nullptr) {
    _memory->release_walk_bitmap();
  }
}

template <typename T>
void LullHeapWalker::follow(T* p) {
  const T heap_oop = RawAccess<>::oop_load(p);
  if (CompressedOops::is_null(heap_oop)) {
    return;
  }
  const oop target = CompressedOops::decode_not_null(heap_oop);
  _visitor->visit_reference(p, _holder, target);
  if (!_visited->is_marked(target)) {
    _visited->mark(target);
    _stack.push(target);
  }
}

void LullHeapWalker::drain() {
  LullWalkClosure closure(this);
  while (!_stack.is_empty()) {
    _holder = _stack.pop();
    _visitor->visit_object(_holder);
    _holder->oop_iterate(&closure);
  }
  _holder = nullptr;
}

bool LullHeapWalker::walk() {
  assert_at_safepoint();
  if (_visited == nullptr) {
    return false;
  }
  ResourceMark rm;
  LullWalkClosure closure(this);
  CLDToOopClosure clds(&closure, ClassLoaderData::_claim_none);
  NMethodToOopClosure nmethods(&closure, !NMethodToOopClosure::FixRelocations);
  ClassLoaderDataGraph::cld_do(&clds);
  Threads::oops_do(&closure, nullptr);
  OopStorageSet::strong_oops_do(&closure);
  CodeCache::nmethods_do(&nmethods);
  drain();
  return true;
}
