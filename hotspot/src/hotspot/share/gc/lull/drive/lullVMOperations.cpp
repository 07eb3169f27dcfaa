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

#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/drive/lullComponents.hpp"
#include "gc/lull/drive/lullFailedAllocation.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullVMOperations.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "memory/universe.hpp"

void VM_LullCollectForAllocation::doit() {
  GCCauseSetter cause(Universe::heap(), _gc_cause);
  _result = _failed->collect_and_allocate();
}

void VM_LullCollect::doit() {
  GCCauseSetter cause(_components->_heap, _gc_cause);
  _components->_heap->do_full_collection(false /* clear all soft references */);
}

void VM_LullCollectEarly::doit() {
  GCCauseSetter cause(_components->_heap, _gc_cause);
  _components->_pause->collect_early(_extent);
}

void VM_LullGiveBack::doit() {
  _components->_sizer->give_back(_bytes);
}
