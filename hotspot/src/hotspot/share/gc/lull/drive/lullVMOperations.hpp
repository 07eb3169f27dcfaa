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

#ifndef SHARE_GC_LULL_DRIVE_LULLVMOPERATIONS_HPP
#define SHARE_GC_LULL_DRIVE_LULLVMOPERATIONS_HPP

#include "gc/shared/gcVMOperations.hpp"

// A mutator found no memory for an object: collect, then allocate it.
class VM_LullCollectForAllocation : public VM_CollectForAllocation {
public:
  VM_LullCollectForAllocation(size_t words, uint collections_before)
    : VM_CollectForAllocation(words, collections_before, GCCause::_allocation_failure) {}

  VMOp_Type type() const override { return VMOp_LullCollectForAllocation; }
  void doit() override;
};

// A collection was asked for: System.gc(), jcmd, a heap dump, WhiteBox.
class VM_LullCollect : public VM_GC_Operation {
public:
  VM_LullCollect(uint collections_before, uint full_collections_before, GCCause::Cause cause)
    : VM_GC_Operation(collections_before, cause, full_collections_before, true /* full */) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

// What an early collection is about.
enum class LullExtent {
  Young,
  Global,
  Slide      // global, and all that may move slides together
};

// Before memory is lacking, by the control thread. Left out if any other collection comes first.
class VM_LullCollectEarly : public VM_GC_Operation {
private:
  const LullExtent _extent;

public:
  VM_LullCollectEarly(uint collections_before, GCCause::Cause cause, LullExtent extent)
    : VM_GC_Operation(collections_before, cause), _extent(extent) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

// Memory goes back to the system, a step of so many bytes, if no collection comes first.
class VM_LullGiveBack : public VM_GC_Operation {
private:
  const size_t _bytes;

public:
  VM_LullGiveBack(uint collections_before, size_t bytes)
    : VM_GC_Operation(collections_before, GCCause::_lull_idle), _bytes(bytes) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

#endif // SHARE_GC_LULL_DRIVE_LULLVMOPERATIONS_HPP
