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

#ifndef SHARE_GC_LULL_DRIVE_LULLDRIVER_HPP
#define SHARE_GC_LULL_DRIVE_LULLDRIVER_HPP

#include "gc/shared/gcCause.hpp"
#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

enum class LullExtent;
struct LullComponents;

// Who wants a pause, and no allocation waits for it, asks here. The VM operation is executed, and the answer is whether
// that was done which was asked for. By any thread that may execute one; what it does at the safepoint is LullPause's.
class LullDriver : public CHeapObj<mtGC> {
private:
  const LullComponents* const _components;

  bool collect_by_cycle(GCCause::Cause cause);
  void begin_cycle();

public:
  explicit LullDriver(const LullComponents* components) : _components(components) {}

  // Somebody has asked for a collection by name: System.gc(), jcmd, a heap dump, the heap budget, WhiteBox. Returns when
  // there was one that is as good, whoever has begun it.
  void collect(GCCause::Cause cause);

  // Metaspace or the code cache fills: a cycle of concurrent marking is to unload what is dead. Returns at once. False:
  // there are no cycles that unload.
  bool unload_by_cycle(GCCause::Cause cause);

  // Before memory is lacking. False: another pause came first.
  bool collect_early(GCCause::Cause cause, LullExtent extent);

  // The same, if no pause has begun since so many had.
  bool collect_early(GCCause::Cause cause, LullExtent extent, uint collections_before);
  uint collections_so_far() const;

  // So much memory goes back to the system, without a collection, if no other pause comes first.
  void give_back(size_t bytes);
};

#endif // SHARE_GC_LULL_DRIVE_LULLDRIVER_HPP
