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
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// What TestJniChannels hands over by means of JNI.

static JavaVM* vm;
static jobject global;                  // what newGlobal, and others, have made
static jweak weak;
static jclass graph_class;
static jclass slot_class;
static jfieldID slot_graph;
static jfieldID slot_static_graph;
static jmethodID slot_constructor;
static jmethodID graph_of;

static void set_global(JNIEnv* env, jobject obj) {
  if (global != nullptr) {
    env->DeleteGlobalRef(global);
  }
  global = env->NewGlobalRef(obj);
}

extern "C" {

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* jvm, void* reserved) {
  vm = jvm;
  return JNI_VERSION_10;
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_initialize(JNIEnv* env, jclass test, jclass graph, jclass slot) {
  graph_class = (jclass)env->NewGlobalRef(graph);
  slot_class = (jclass)env->NewGlobalRef(slot);
  slot_graph = env->GetFieldID(slot, "graph", "Lgc/lull/publication/Graph;");
  slot_static_graph = env->GetStaticFieldID(slot, "staticGraph", "Lgc/lull/publication/Graph;");
  slot_constructor = env->GetMethodID(slot, "<init>", "(Lgc/lull/publication/Graph;)V");
  graph_of = env->GetStaticMethodID(graph, "of", "(I)Lgc/lull/publication/Graph;");
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_newGlobal(JNIEnv* env, jclass test, jobject obj) {
  set_global(env, obj);
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJniChannels_getGlobal(JNIEnv* env, jclass test) {
  return env->NewLocalRef(global);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_newWeak(JNIEnv* env, jclass test, jobject obj) {
  if (weak != nullptr) {
    env->DeleteWeakGlobalRef(weak);
  }
  weak = env->NewWeakGlobalRef(obj);
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJniChannels_getWeak(JNIEnv* env, jclass test) {
  return env->NewLocalRef(weak);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_setField(JNIEnv* env, jclass test, jobject slot, jobject graph) {
  env->SetObjectField(slot, slot_graph, graph);
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJniChannels_getField(JNIEnv* env, jclass test, jobject slot) {
  return env->GetObjectField(slot, slot_graph);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_setStatic(JNIEnv* env, jclass test, jobject graph) {
  env->SetStaticObjectField(slot_class, slot_static_graph, graph);
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJniChannels_getStatic(JNIEnv* env, jclass test) {
  return env->GetStaticObjectField(slot_class, slot_static_graph);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_setElement(JNIEnv* env, jclass test, jobjectArray array, jobject graph) {
  env->SetObjectArrayElement(array, 1, graph);
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJniChannels_getElement(JNIEnv* env, jclass test, jobjectArray array) {
  return env->GetObjectArrayElement(array, 1);
}

// A new object that is known to everybody before anything is stored in it.
JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_allocate(JNIEnv* env, jclass test, jobject graph) {
  jobject slot = env->AllocObject(slot_class);
  set_global(env, slot);
  env->SetObjectField(slot, slot_graph, graph);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_construct(JNIEnv* env, jclass test, jobject graph) {
  set_global(env, env->NewObject(slot_class, slot_constructor, graph));
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_newArray(JNIEnv* env, jclass test, jobject graph) {
  set_global(env, env->NewObjectArray(100, graph_class, graph));
}

// The memory of the last buffer is never freed: its owner may still be there.
JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_newBuffer(JNIEnv* env, jclass test) {
  jobject buffer = env->NewDirectByteBuffer(calloc(2, sizeof(jlong)), 2 * sizeof(jlong));
  set_global(env, buffer);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_lock(JNIEnv* env, jclass test, jobject obj) {
  env->MonitorEnter(obj);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_unlock(JNIEnv* env, jclass test, jobject obj) {
  env->MonitorExit(obj);
}

// A thread of our own: attached, it makes the graph itself and sends it.

static void* attached(void* number) {
  JNIEnv* env;
  if (vm->AttachCurrentThread((void**)&env, nullptr) == JNI_OK) {
    jobject graph = env->CallStaticObjectMethod(graph_class, graph_of, (jint)(intptr_t)number);
    set_global(env, graph);
    vm->DetachCurrentThread();
  }
  return nullptr;
}

static void on_new_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, argument) == 0) {
    pthread_join(thread, nullptr);
  }
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJniChannels_sendAttached(JNIEnv* env, jclass test, jint number) {
  on_new_thread(attached, (void*)(intptr_t)number);
}

// For java.lang.foreign: calls back, on this thread or on another one.

struct Call {
  void (*function)(int);
  int argument;
};

static void* call(void* argument) {
  Call* call = (Call*)argument;
  call->function(call->argument);
  return nullptr;
}

JNIEXPORT void lull_call(void (*function)(int), int argument) {
  function(argument);
}

JNIEXPORT void lull_call_elsewhere(void (*function)(int), int argument) {
  Call c = { function, argument };
  on_new_thread(call, &c);
}

} // extern "C"
