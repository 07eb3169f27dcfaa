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
 *
 */


#include <cstring>
#include <jni.h>
#include <jvmti.h>

// An agent that calls TestVirtualThreadLocals where a virtual thread has waited, and may not have its monitor yet. It may do so as long as the VM runs.

static jclass test;
static jmethodID has_waited;

static void JNICALL monitor_waited(jvmtiEnv* jvmti, JNIEnv* env, jthread thread, jobject monitor, jboolean timed_out) {
  env->CallStaticVoidMethod(test, has_waited);
}

extern "C" {

// False if the events cannot be had.
JNIEXPORT jboolean JNICALL Java_gc_lull_local_TestVirtualThreadLocals_tellOfWaits(JNIEnv* env, jclass test_class) {
  test = (jclass)env->NewGlobalRef(test_class);
  has_waited = env->GetStaticMethodID(test_class, "hasWaited", "()V");
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;
  if (test == nullptr || has_waited == nullptr || env->GetJavaVM(&vm) != JNI_OK || vm->GetEnv((void**)&jvmti, JVMTI_VERSION_21) != JNI_OK) {
    return JNI_FALSE;
  }
  jvmtiCapabilities wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.can_generate_monitor_events = 1;
  wanted.can_support_virtual_threads = 1;
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.MonitorWaited = monitor_waited;
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
         jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) == JVMTI_ERROR_NONE &&
         jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_MONITOR_WAITED, nullptr) == JVMTI_ERROR_NONE;
}

}
