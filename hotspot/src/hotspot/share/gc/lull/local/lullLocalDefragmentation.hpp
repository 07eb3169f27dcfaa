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

#ifndef SHARE_GC_LULL_LOCAL_LULLLOCALDEFRAGMENTATION_HPP
#define SHARE_GC_LULL_LOCAL_LULLLOCALDEFRAGMENTATION_HPP

#include "gc/shared/workerThread.hpp"

// What is private stays in place in a global collection, and the holes between it are its thread's alone. So before one that is to leave it private,
// workers collect for threads that have much (Iso, section 4.4): the same collection that the thread itself would do, whose copies fill
// blocks from the start, and whose empty blocks are everybody's. Each thread is one worker's, so a block has private objects of
// one thread still (B). Copies may take the reserve, for they leave more free than they need, as a rule; the global collection, which comes next, has
// what is left. All threads are stopped, allocation buffers are retired.
class LullLocalDefragmentationTask : public WorkerTask {
private:
  volatile size_t _threads;
  volatile size_t _copied_bytes;
  volatile size_t _freed_bytes;

public:
  LullLocalDefragmentationTask();

  // In a StrongRootsScope.
  void work(uint worker_id) override;

  size_t threads() const      { return _threads; }
  size_t copied_bytes() const { return _copied_bytes; }
  size_t freed_bytes() const  { return _freed_bytes; }
};

#endif // SHARE_GC_LULL_LOCAL_LULLLOCALDEFRAGMENTATION_HPP
