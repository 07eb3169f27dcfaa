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

// For TestThreadLocalsInDebugger: steps a thread to ThreadLocal.set, until it has the map in a local, and runs a method of the test there, as a
// debugger does that evaluates an expression. By steps, not by a breakpoint: where somebody looks for that method no thread keeps its map private.

static jvmtiEnv* jvmti;
static jclass test_class;

static void check(JNIEnv* env, bool condition, const char* what) {
  if (!condition) {
    env->FatalError(what);
  }
}

static void set_stepping(JNIEnv* env, jthread thread, jvmtiEventMode mode) {
  check(env, jvmti->SetEventNotificationMode(mode, JVMTI_EVENT_SINGLE_STEP, thread) == JVMTI_ERROR_NONE, "a thread does not step");
}

static bool is_set(JNIEnv* env, jmethodID method) {
  char* name = nullptr;
  char* signature = nullptr;
  check(env, jvmti->GetMethodName(method, &name, &signature, nullptr) == JVMTI_ERROR_NONE, "a method has no name");
  const bool result = strcmp(name, "set") == 0 && strcmp(signature, "(Ljava/lang/Thread;Ljava/lang/Object;)V") == 0;
  jvmti->Deallocate((unsigned char*)name);
  jvmti->Deallocate((unsigned char*)signature);
  return result;
}

// Where it has stored what getMap gave: invokevirtual, astore_3, and here.
static bool has_map(JNIEnv* env, jmethodID method, jlocation location) {
  const unsigned char Invokevirtual = 0xb6;
  const unsigned char Astore3 = 0x4e;
  jint count = 0;
  unsigned char* code = nullptr;
  check(env, jvmti->GetBytecodes(method, &count, &code) == JVMTI_ERROR_NONE, "ThreadLocal.set has no code");
  const bool result = location >= 4 && code[location - 4] == Invokevirtual && code[location - 1] == Astore3;
  jvmti->Deallocate(code);
  return result;
}

static void JNICALL stepped(jvmtiEnv*, JNIEnv* env, jthread thread, jmethodID method, jlocation location) {
  if (!is_set(env, method) || !has_map(env, method, location)) {
    return;
  }
  set_stepping(env, thread, JVMTI_DISABLE);
  const jmethodID to_run = env->GetStaticMethodID(test_class, "stopped", "()V");
  check(env, to_run != nullptr, "the test's method is not found");
  env->CallStaticVoidMethod(test_class, to_run);
}

extern "C" JNIEXPORT void JNICALL Java_gc_lull_local_TestThreadLocalsInDebugger_stopInSet(JNIEnv* env, jclass test, jthread thread) {
  test_class = (jclass)env->NewGlobalRef(test);
  set_stepping(env, thread, JVMTI_ENABLE);
}

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  if (vm->GetEnv((void**)&jvmti, JVMTI_VERSION_21) != JNI_OK) {
    return JNI_ERR;
  }
  jvmtiCapabilities capabilities;
  memset(&capabilities, 0, sizeof(capabilities));
  capabilities.can_generate_single_step_events = 1;
  capabilities.can_get_bytecodes = 1;
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.SingleStep = stepped;
  const bool is_ready = jvmti->AddCapabilities(&capabilities) == JVMTI_ERROR_NONE &&
                        jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) == JVMTI_ERROR_NONE;
  return is_ready ? JNI_OK : JNI_ERR;
}
