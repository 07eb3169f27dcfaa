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

// How TestThreadLocals reads another thread's map by means of JNI and JVMTI. nullptr, or an exception, where that fails.

static const char* const NAME = "threadLocals";

static jvmtiEnv* jvmti_of(JNIEnv* env) {
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;
  if (env->GetJavaVM(&vm) != JNI_OK || vm->GetEnv((void**)&jvmti, JVMTI_VERSION_11) != JNI_OK) {
    return nullptr;
  }
  return jvmti;
}

// The member of java.lang.Thread that has the name, among those that JVMTI lists.
template <typename Id, typename List, typename NameOf>
static Id find_member(JNIEnv* env, List list, NameOf name_of) {
  jvmtiEnv* const jvmti = jvmti_of(env);
  jclass const thread_class = env->FindClass("java/lang/Thread");
  jint count = 0;
  Id* ids = nullptr;
  if (jvmti == nullptr || thread_class == nullptr || list(jvmti, thread_class, &count, &ids) != JVMTI_ERROR_NONE) {
    return nullptr;
  }
  Id found = nullptr;
  for (jint i = 0; i < count; i++) {
    char* name = nullptr;
    if (name_of(jvmti, thread_class, ids[i], &name) == JVMTI_ERROR_NONE) {
      if (strcmp(name, NAME) == 0) {
        found = ids[i];
      }
      jvmti->Deallocate((unsigned char*)name);
    }
  }
  jvmti->Deallocate((unsigned char*)ids);
  jvmti->DisposeEnvironment();
  return found;
}

extern "C" {

JNIEXPORT jobject JNICALL Java_gc_lull_local_TestThreadLocals_mapByJni(JNIEnv* env, jclass test, jobject thread) {
  // Not of the class itself: a subclass has the field, too.
  jfieldID const field = env->GetFieldID(env->GetObjectClass(thread), NAME, "Ljava/lang/ThreadLocal$ThreadLocalMap;");
  return field == nullptr ? nullptr : env->GetObjectField(thread, field);
}

JNIEXPORT jobject JNICALL Java_gc_lull_local_TestThreadLocals_mapByJniMethod(JNIEnv* env, jclass test, jobject thread) {
  jmethodID const method = env->GetMethodID(env->GetObjectClass(thread), NAME, "()Ljava/lang/ThreadLocal$ThreadLocalMap;");
  return method == nullptr ? nullptr : env->CallObjectMethod(thread, method);
}

JNIEXPORT jobject JNICALL Java_gc_lull_local_TestThreadLocals_mapByJvmtiFields(JNIEnv* env, jclass test, jobject thread) {
  jfieldID const field = find_member<jfieldID>(env,
      [](jvmtiEnv* jvmti, jclass k, jint* count, jfieldID** ids) { return jvmti->GetClassFields(k, count, ids); },
      [](jvmtiEnv* jvmti, jclass k, jfieldID id, char** name) { return jvmti->GetFieldName(k, id, name, nullptr, nullptr); });
  return field == nullptr ? nullptr : env->GetObjectField(thread, field);
}

JNIEXPORT jobject JNICALL Java_gc_lull_local_TestThreadLocals_mapByJvmtiMethods(JNIEnv* env, jclass test, jobject thread) {
  jmethodID const method = find_member<jmethodID>(env,
      [](jvmtiEnv* jvmti, jclass k, jint* count, jmethodID** ids) { return jvmti->GetClassMethods(k, count, ids); },
      [](jvmtiEnv* jvmti, jclass k, jmethodID id, char** name) { return jvmti->GetMethodName(id, name, nullptr, nullptr); });
  return method == nullptr ? nullptr : env->CallObjectMethod(thread, method);
}

}
