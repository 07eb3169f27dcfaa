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

#ifndef SHARE_GC_LULL_COLLECT_LULLUNLOADINGCHECK_HPP
#define SHARE_GC_LULL_COLLECT_LULLUNLOADINGCHECK_HPP

#include "memory/allStatic.hpp"

class BoolObjectClosure;
class LullBlockTable;
class LullMarkBitMap;
class WorkerThreads;

// Checks, before a remark unloads anything, that nothing which lives on needs what is dead. Afterwards such an object
// could not even be looked at.
//
//   Loaded   the class of each object with a mark of the cycle has a loader that is alive, and so has the class of
//            which it is the mirror
//   Frames   code in frames, of threads and of stack chunks with a mark, refers to nothing dead
//
// Asks each object and each frame by itself, and not what the trace has claimed. Safepoint only, when all is marked and
// weak roots are processed.
class LullUnloadingCheck : public AllStatic {
public:
  static void verify(LullBlockTable* blocks, const LullMarkBitMap* marks, BoolObjectClosure* is_alive,
                     WorkerThreads* workers);
};

#endif // SHARE_GC_LULL_COLLECT_LULLUNLOADINGCHECK_HPP
