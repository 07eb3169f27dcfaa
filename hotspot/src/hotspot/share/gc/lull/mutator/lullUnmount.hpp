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

#ifndef SHARE_GC_LULL_MUTATOR_LULLUNMOUNT_HPP
#define SHARE_GC_LULL_MUTATOR_LULLUNMOUNT_HPP

#include "memory/allStatic.hpp"
#include "oops/oopsHierarchy.hpp"

class JavaThread;

// A virtual thread leaves its carrier: its frames are copied, without barriers, into a chunk in the
// heap, and any other carrier may copy them back.
//
//   carrier's stack              heap
//   frames of the carrier
//   frames of the virtual  --->  public StackChunk  --->  public objects only
//   thread
//
// So what the frames refer to becomes public first, with all that it leads to. Chunks are public from the beginning.
// What the virtual thread has allocated since it was mounted, and nothing refers to, stays private: it is garbage of
// its carrier. Most of a request is.
class LullUnmount : public AllStatic {
public:
  // Before the frames are copied: what they refer to, and what is in the fields of the virtual thread and of the carrier, for any carrier may have
  // them next. Without a safepoint.
  static void publish_frames(JavaThread* carrier);

  // A new chunk, which has no frames yet.
  static void publish_chunk(oop chunk);
};

#endif // SHARE_GC_LULL_MUTATOR_LULLUNMOUNT_HPP
