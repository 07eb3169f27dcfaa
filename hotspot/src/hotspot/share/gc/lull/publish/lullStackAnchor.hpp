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

#ifndef SHARE_GC_LULL_PUBLISH_LULLSTACKANCHOR_HPP
#define SHARE_GC_LULL_PUBLISH_LULLSTACKANCHOR_HPP

#include "memory/allocation.hpp"

class JavaThread;

// Lets the stack of the current thread be walked from the store that it is at.
//
// A thread that has entered the VM has an anchor for this. One that has made a leaf call
// from a barrier has none, and its last Java frame is found as follows.
//
//   interpreter         the frame pointer of its frame is kept by what lies between; the
//                       barrier has written the bytecode's address into the frame
//   C1 and C2           the stub has written its stack pointer, which is the frame's, and
//                       the instruction behind the store (LullThreadLocalData). It counts
//                       as being at the next instruction that has debug information
//   array copy stubs    keep frame pointers; the call is in the code itself
//
// Barriers write these things only with LullPublicationSampling. The thread reaches no
// safepoint while this is there.

class LullStackAnchor : public StackObj {
private:
  JavaThread* const _thread;
  bool              _is_set;   // by this, else nothing is to be undone

  void set(intptr_t* sp, intptr_t* fp, address pc);
  void set_compiled(intptr_t* sp, intptr_t* fp, address pc);
  void set_from_leaf_call(intptr_t* leaf_frame);

public:
  // leaf_frame: frame pointer of the routine that was called, if the thread is in one.
  LullStackAnchor(JavaThread* thread, intptr_t* leaf_frame);
  ~LullStackAnchor();
};

#endif // SHARE_GC_LULL_PUBLISH_LULLSTACKANCHOR_HPP
