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

class LullFailedAllocation;
enum class LullExtent;
struct LullComponents;

// A mutator found no memory for an object: collect, then allocate it.
class VM_LullCollectForAllocation : public VM_CollectForAllocation {
private:
  LullFailedAllocation* const _failed;

public:
  VM_LullCollectForAllocation(LullFailedAllocation* failed, size_t words, uint collections_before)
    : VM_CollectForAllocation(words, collections_before, GCCause::_allocation_failure), _failed(failed) {}

  VMOp_Type type() const override { return VMOp_LullCollectForAllocation; }
  void doit() override;
};

// A collection was asked for: System.gc(), jcmd, a heap dump, WhiteBox.
class VM_LullCollect : public VM_GC_Operation {
private:
  const LullComponents* const _components;

public:
  VM_LullCollect(const LullComponents* components, uint collections_before, uint full_collections_before,
                 GCCause::Cause cause)
    : VM_GC_Operation(collections_before, cause, full_collections_before, true /* full */), _components(components) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

// Before memory is lacking, by the control thread. Left out if any other collection comes first.
class VM_LullCollectEarly : public VM_GC_Operation {
private:
  const LullComponents* const _components;
  const LullExtent            _extent;

public:
  VM_LullCollectEarly(const LullComponents* components, uint collections_before, GCCause::Cause cause, LullExtent extent)
    : VM_GC_Operation(collections_before, cause), _components(components), _extent(extent) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

// Memory goes back to the system, a step of so many bytes, if no collection comes first.
class VM_LullGiveBack : public VM_GC_Operation {
private:
  const LullComponents* const _components;
  const size_t                _bytes;

public:
  VM_LullGiveBack(const LullComponents* components, uint collections_before, size_t bytes)
    : VM_GC_Operation(collections_before, GCCause::_lull_idle), _components(components), _bytes(bytes) {}

  VMOp_Type type() const override { return VMOp_LullCollect; }
  void doit() override;
};

#endif // SHARE_GC_LULL_DRIVE_LULLVMOPERATIONS_HPP
