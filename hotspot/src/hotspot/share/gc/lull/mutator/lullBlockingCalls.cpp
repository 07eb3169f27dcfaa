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
#include "gc/lull/mutator/lullBlockingCalls.hpp"
#include "jni.h"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "oops/symbol.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/javaThread.hpp"

typedef jint (JNICALL *Read)(JNIEnv*, jclass, jobject, jlong, jint);
typedef jint (JNICALL *Poll)(JNIEnv*, jclass, jobject, jint, jlong);
typedef jint (JNICALL *EPollWait)(JNIEnv*, jclass, jint, jlong, jint, jint);

// The entries of the methods themselves. Written before the wrapper is linked.
static Read      _read       = nullptr;
static Poll      _poll       = nullptr;
static EPollWait _epoll_wait = nullptr;

static void before_wait(JNIEnv* env) {
  JavaThread* const thread = JavaThread::thread_from_jni_environment(env);
  assert(thread == Thread::current() && thread->thread_state() == _thread_in_native, "a native method of this thread");
  if (LullLocalCollector::is_worth_a_look_before_wait(thread)) {
    ThreadInVMfromNative in_vm(thread);
    HandleMarkCleaner handle_mark(thread);
    LullLocalCollector::before_wait(thread);
  }
}

static jint JNICALL read_wrapper(JNIEnv* env, jclass holder, jobject fd, jlong address, jint length) {
  before_wait(env);
  return _read(env, holder, fd, address, length);
}

static jint JNICALL poll_wrapper(JNIEnv* env, jclass holder, jobject fd, jint events, jlong timeout) {
  if (timeout != 0) {
    before_wait(env);
  }
  return _poll(env, holder, fd, events, timeout);
}

static jint JNICALL epoll_wait_wrapper(JNIEnv* env, jclass holder, jint epfd, jlong events, jint count, jint timeout) {
  if (timeout != 0) {
    before_wait(env);
  }
  return _epoll_wait(env, holder, epfd, events, count, timeout);
}

template <typename Entry>
static address replace(Entry* original, address entry, Entry wrapper) {
  assert(entry != CAST_FROM_FN_PTR(address, wrapper), "a wrapper of itself");
  *original = CAST_TO_FN_PTR(Entry, entry);
  return CAST_FROM_FN_PTR(address, wrapper);
}

address LullBlockingCalls::wrap(const Method* method, address entry) {
  if (!LullLocalCollections || !method->is_static() || !method->method_holder()->class_loader_data()->is_the_null_class_loader_data()) {
    return entry;
  }
  const auto is = [&](const char* holder, const char* name, const char* signature) {
    return method->name()->equals(name) && method->signature()->equals(signature) && method->method_holder()->name()->equals(holder);
  };
  if (is("sun/nio/ch/SocketDispatcher", "read0", "(Ljava/io/FileDescriptor;JI)I")) {
    entry = replace(&_read, entry, &read_wrapper);
  } else if (is("sun/nio/ch/Net", "poll", "(Ljava/io/FileDescriptor;IJ)I")) {
    entry = replace(&_poll, entry, &poll_wrapper);
  } else if (is("sun/nio/ch/EPoll", "wait", "(IJII)I")) {
    entry = replace(&_epoll_wait, entry, &epoll_wait_wrapper);
  } else {
    return entry;
  }
  ResourceMark rm;
  log_debug(gc, local)("Threads collect before they wait in %s.%s", method->method_holder()->external_name(), method->name()->as_C_string());
  return entry;
}
