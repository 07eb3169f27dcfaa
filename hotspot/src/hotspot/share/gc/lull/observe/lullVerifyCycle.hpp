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

#ifndef SHARE_GC_LULL_OBSERVE_LULLVERIFYCYCLE_HPP
#define SHARE_GC_LULL_OBSERVE_LULLVERIFYCYCLE_HPP

#include "memory/allocation.hpp"

class LullBlockTable;
class LullCycle;
class LullMemory;
class WorkerThreads;

// Checks the invariant Black of a cycle of concurrent marking, at the end of a pause in which it goes on: what an
// object refers to that has a mark of the cycle, and is no task, has one, too, if it is old. Visits each object with a mark of the cycle.
// In a cycle that follows classes the loader of such an object's class is claimed, and the same holds for what the
// handles of loaders refer to.
// Found is checked by LullVerify: what can be reached has a mark when the cycle has ended.
class LullVerifyCycle : public AllStatic {
public:
  static void verify_black(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers);

  // Unswept and Swept, after each collection. Of blocks that have no owner and nothing young: in one that is to be swept
  // no line with something marked is to be free; in any other each line in use holds a part of a marked object. Visits
  // each marked object.
  static void verify_swept(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers);

  // Recorded, before the pause that moves what is in sparse old blocks: an old object outside of them that refers to
  // one is on a dirty card, or on a line that was noted. Visits each object that can be reached.
  static void verify_recorded(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks, WorkerThreads* workers);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLVERIFYCYCLE_HPP
