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

#include "code/codeCache.hpp"
#include "code/debugInfoRec.hpp"
#include "code/nmethod.hpp"
#include "code/pcDesc.hpp"
#include "gc/lull/publish/lullStackAnchor.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "interpreter/interpreter.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/stubRoutines.hpp"

LullStackAnchor::LullStackAnchor(JavaThread* thread, intptr_t* leaf_frame)
  : _thread(thread),
    _is_set(false) {
  assert(thread == Thread::current(), "another thread's frames change");
  // In the VM: an anchor, or no Java frame.
  if (!thread->has_last_Java_frame() && thread->thread_state() == _thread_in_Java && leaf_frame != nullptr) {
    set_from_leaf_call(leaf_frame);
  }
}

LullStackAnchor::~LullStackAnchor() {
  if (_is_set) {
    assert(_thread->has_last_Java_frame(), "somebody else has cleared it");
    _thread->frame_anchor()->clear();
  }
}

void LullStackAnchor::set(intptr_t* sp, intptr_t* fp, address pc) {
  if (!_thread->is_in_full_stack_checked((address)sp)) {
    return;
  }
  assert(!_is_set && !_thread->has_last_Java_frame(), "it has an anchor");
  JavaFrameAnchor* const anchor = _thread->frame_anchor();
  anchor->set_last_Java_fp(fp);
  anchor->set_last_Java_pc(pc);
  // Last: it makes the others valid, for profilers too that interrupt the thread.
  anchor->set_last_Java_sp(sp);
  _is_set = true;
}

void LullStackAnchor::set_compiled(intptr_t* sp, intptr_t* fp, address pc) {
  const CodeBlob* const blob = CodeCache::find_blob(pc);
  nmethod* const nm = blob == nullptr ? nullptr : blob->as_nmethod_or_null();
  if (nm == nullptr || sp == nullptr) {
    return;
  }
  const PcDesc* const desc = nm->pc_desc_near(pc);
  if (desc != nullptr && desc->scope_decode_offset() != DebugInformationRecorder::serialized_null) {
    set(sp, fp, desc->real_pc(nm));
  }
}

void LullStackAnchor::set_from_leaf_call(intptr_t* leaf_frame) {
  intptr_t* sp = frame::sender_sp(leaf_frame);
  intptr_t* fp = frame::link(leaf_frame);
  address pc = frame::return_address(sp);
  if (Interpreter::contains(pc)) {
    set(sp, fp, pc);
    return;
  }
  if (!StubRoutines::contains(pc)) {
    set_compiled(LullThreadLocalData::store_sp(_thread), fp, LullThreadLocalData::store_pc(_thread));
    return;
  }
  // Copy stubs call each other.
  for (int i = 0; i < 4 && StubRoutines::contains(pc) && _thread->is_in_full_stack_checked((address)fp); i++) {
    sp = frame::sender_sp(fp);
    pc = frame::return_address(sp);
    fp = frame::link(fp);
  }
  if (Interpreter::contains(pc)) {
    set(sp, fp, pc);
  } else {
    set_compiled(sp, fp, pc);
  }
}
