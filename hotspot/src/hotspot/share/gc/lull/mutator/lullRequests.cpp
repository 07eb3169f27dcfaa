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

#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullRequests.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "jni.h"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "oops/symbol.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/javaThread.hpp"

static void JNICALL begin(JNIEnv* env, jclass) {
  JavaThread* const thread = JavaThread::thread_from_jni_environment(env);
  assert(thread == Thread::current() && thread->thread_state() == _thread_in_native, "a native method of this thread");
  LullThreadLocalData::local_collector(thread)->begin_request();
}

static void JNICALL end(JNIEnv* env, jclass) {
  JavaThread* const thread = JavaThread::thread_from_jni_environment(env);
  assert(thread == Thread::current() && thread->thread_state() == _thread_in_native, "a native method of this thread");
  LullLocalCollector* const collector = LullThreadLocalData::local_collector(thread);
  if (collector->end_request() && LullLocalCollector::is_worth_a_look_before_wait(thread)) {
    ThreadInVMfromNative in_vm(thread);
    HandleMarkCleaner handle_mark(thread);
    collector->collect_after_request();
  }
}

address LullRequests::entry_of(const Method* method) {
  if (LullLocalCollections && method->is_static() && method->signature()->equals("()V") &&
      method->method_holder()->name()->equals("lull/Requests")) {
    if (method->name()->equals("begin0")) {
      return CAST_FROM_FN_PTR(address, &begin);
    }
    if (method->name()->equals("end0")) {
      return CAST_FROM_FN_PTR(address, &end);
    }
  }
  return nullptr;
}
