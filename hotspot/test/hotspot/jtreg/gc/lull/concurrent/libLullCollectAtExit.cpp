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

#include <jni.h>
#include <jvmti.h>
#include <string.h>

// For TestCollectAtExit: collects when the VM dies. The collector's own threads have ended by then.

static void check(JNIEnv* env, bool condition, const char* what) {
  if (!condition) {
    env->FatalError(what);
  }
}

static void JNICALL collect(jvmtiEnv* jvmti, JNIEnv* env) {
  const jclass system = env->FindClass("java/lang/System");
  check(env, system != nullptr, "java.lang.System is not found");
  const jmethodID gc = env->GetStaticMethodID(system, "gc", "()V");
  check(env, gc != nullptr, "System.gc is not found");
  env->CallStaticVoidMethod(system, gc);
}

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  jvmtiEnv* jvmti;
  if (vm->GetEnv((void**)&jvmti, JVMTI_VERSION_21) != JNI_OK) {
    return JNI_ERR;
  }
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.VMDeath = collect;
  const bool is_told = jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) == JVMTI_ERROR_NONE &&
                       jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr) == JVMTI_ERROR_NONE;
  return is_told ? JNI_OK : JNI_ERR;
}
