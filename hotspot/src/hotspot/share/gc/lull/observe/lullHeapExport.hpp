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

#ifndef SHARE_GC_LULL_OBSERVE_LULLHEAPEXPORT_HPP
#define SHARE_GC_LULL_OBSERVE_LULLHEAPEXPORT_HPP

#include "gc/shared/gcCause.hpp"
#include "memory/allStatic.hpp"

class LullMemory;
class outputStream;

// jcmd PID GC.export_heap FILE: collects, and writes the heap to a file, with all that another program needs to trace it, and what
// this VM has marked, to compare. The format is in native/far/heap/src/export.rs.
//
//   layouts   where the objects of each class have their references
//   roots     what strong roots refer to; further what is alive because the VM decided so or reads it in its own way: what soft and
//             final references refer to, and what frames in stack chunks refer to
//   marks     of the global collection that has just ended
//   heap      as it is now
class LullHeapExport : public AllStatic {
private:
  static void write(LullMemory* memory, const char* name, outputStream* output);

public:
  // Makes the command known.
  static void register_command();

  // Exports, and says what came of it. Not at a safepoint.
  static void collect_and_export(const char* name, outputStream* output);

  // Called at the end of each global collection: exports if it is asked for, and nothing stayed private in a collection for this
  // reason.
  static void write_if_asked(LullMemory* memory, GCCause::Cause cause);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLHEAPEXPORT_HPP
