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

// What TestJvmtiChannels hands over by means of JVMTI. Functions of the agent that must find a thread in a certain method
// say whether they have: their callers try again.

static jvmtiEnv* jvmti;
static jobject global;
static jclass sampled_class;
static jclass object_class;
static jint samples;
static jfieldID thread_graph;

static void set_global(JNIEnv* env, jobject obj) {
  if (global != nullptr) {
    env->DeleteGlobalRef(global);
  }
  global = env->NewGlobalRef(obj);
}

static void check(JNIEnv* env, jvmtiError error, const char* what) {
  if (error != JVMTI_ERROR_NONE) {
    char* name = nullptr;
    jvmti->GetErrorName(error, &name);
    char message[200] = "";
    strncat(message, what, 90);
    strcat(message, ": ");
    strncat(message, name == nullptr ? "?" : name, 90);
    env->FatalError(message);
  }
}

// The depth of the thread's innermost frame of a method of this name, -1 if there is none.
static jint depth_of(JNIEnv* env, jthread thread, const char* method) {
  jvmtiFrameInfo frames[10];
  jint count = 0;
  check(env, jvmti->GetStackTrace(thread, 0, 10, frames, &count), "GetStackTrace");
  for (jint i = 0; i < count; i++) {
    char* name = nullptr;
    check(env, jvmti->GetMethodName(frames[i].method, &name, nullptr, nullptr), "GetMethodName");
    const bool found = strcmp(name, method) == 0;
    jvmti->Deallocate((unsigned char*)name);
    if (found) {
      return i;
    }
  }
  return -1;
}

// Keeps objects of one class at the moment of their allocation, and needs memory of its own.
static void JNICALL sampled_object_alloc(jvmtiEnv* env, JNIEnv* jni, jthread thread, jobject obj, jclass klass, jlong size) {
  samples++;
  jni->DeleteLocalRef(jni->NewObjectArray(20, object_class, obj));
  if (sampled_class != nullptr && jni->IsSameObject(klass, sampled_class)) {
    set_global(jni, obj);
  }
}

static void JNICALL agent_thread(jvmtiEnv* env, JNIEnv* jni, void* argument) {
  jthread self = nullptr;
  check(jni, env->GetCurrentThread(&self), "GetCurrentThread");
  set_global(jni, jni->GetObjectField(self, thread_graph));
}

static jint JNICALL tag_object(jlong class_tag, jlong size, jlong* tag, jint length, void* wanted) {
  if (*tag == 0) {
    *tag = *(jlong*)wanted;
  }
  return JVMTI_VISIT_OBJECTS;
}

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  if (vm->GetEnv((void**)&jvmti, JVMTI_VERSION_21) != JNI_OK) {
    return JNI_ERR;
  }
  jvmtiCapabilities wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.can_tag_objects = 1;
  wanted.can_suspend = 1;
  wanted.can_access_local_variables = 1;
  wanted.can_force_early_return = 1;
  wanted.can_signal_thread = 1;
  wanted.can_get_owned_monitor_info = 1;
  wanted.can_get_current_contended_monitor = 1;
  wanted.can_generate_sampled_object_alloc_events = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return JNI_ERR;
  }
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.SampledObjectAlloc = sampled_object_alloc;
  return jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJvmtiChannels_getGlobal(JNIEnv* env, jclass test) {
  return env->NewLocalRef(global);
}

JNIEXPORT jboolean JNICALL Java_gc_lull_publication_TestJvmtiChannels_isGlobal(JNIEnv* env, jclass test, jobject obj) {
  return env->IsSameObject(global, obj);
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJvmtiChannels_setTag(JNIEnv* env, jclass test, jobject obj, jlong tag) {
  check(env, jvmti->SetTag(obj, tag), "SetTag");
}

// Gives all objects of the class that have none this tag.
JNIEXPORT void JNICALL Java_gc_lull_publication_TestJvmtiChannels_tagInstances(JNIEnv* env, jclass test, jclass klass, jlong tag) {
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_iteration_callback = tag_object;
  check(env, jvmti->IterateThroughHeap(JVMTI_HEAP_FILTER_TAGGED, klass, &callbacks, &tag), "IterateThroughHeap");
}

JNIEXPORT jobjectArray JNICALL Java_gc_lull_publication_TestJvmtiChannels_tagged(JNIEnv* env, jclass test, jclass klass, jlong tag) {
  jint count = 0;
  jobject* objects = nullptr;
  check(env, jvmti->GetObjectsWithTags(1, &tag, &count, &objects, nullptr), "GetObjectsWithTags");
  jobjectArray result = env->NewObjectArray(count, klass, nullptr);
  for (jint i = 0; i < count; i++) {
    env->SetObjectArrayElement(result, i, objects[i]);
  }
  jvmti->Deallocate((unsigned char*)objects);
  return result;
}

// A local of another thread's frame.
JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJvmtiChannels_getLocal(JNIEnv* env, jclass test, jthread thread, jstring method, jint slot) {
  const char* name = env->GetStringUTFChars(method, nullptr);
  jobject value = nullptr;
  check(env, jvmti->SuspendThread(thread), "SuspendThread");
  const jint depth = depth_of(env, thread, name);
  if (depth >= 0) {
    check(env, jvmti->GetLocalObject(thread, depth, slot, &value), "GetLocalObject");
  }
  check(env, jvmti->ResumeThread(thread), "ResumeThread");
  env->ReleaseStringUTFChars(method, name);
  return value;
}

JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJvmtiChannels_getReceiver(JNIEnv* env, jclass test, jthread thread, jstring method) {
  const char* name = env->GetStringUTFChars(method, nullptr);
  jobject value = nullptr;
  check(env, jvmti->SuspendThread(thread), "SuspendThread");
  const jint depth = depth_of(env, thread, name);
  if (depth >= 0) {
    check(env, jvmti->GetLocalInstance(thread, depth, &value), "GetLocalInstance");
  }
  check(env, jvmti->ResumeThread(thread), "ResumeThread");
  env->ReleaseStringUTFChars(method, name);
  return value;
}

JNIEXPORT jboolean JNICALL Java_gc_lull_publication_TestJvmtiChannels_setLocal(JNIEnv* env, jclass test, jthread thread, jstring method, jint slot, jobject value) {
  const char* name = env->GetStringUTFChars(method, nullptr);
  check(env, jvmti->SuspendThread(thread), "SuspendThread");
  const jint depth = depth_of(env, thread, name);
  if (depth >= 0) {
    check(env, jvmti->SetLocalObject(thread, depth, slot, value), "SetLocalObject");
  }
  check(env, jvmti->ResumeThread(thread), "ResumeThread");
  env->ReleaseStringUTFChars(method, name);
  return depth >= 0;
}

JNIEXPORT jboolean JNICALL Java_gc_lull_publication_TestJvmtiChannels_returnEarly(JNIEnv* env, jclass test, jthread thread, jstring method, jobject value) {
  const char* name = env->GetStringUTFChars(method, nullptr);
  check(env, jvmti->SuspendThread(thread), "SuspendThread");
  const bool is_there = depth_of(env, thread, name) == 0;
  if (is_there) {
    check(env, jvmti->ForceEarlyReturnObject(thread, value), "ForceEarlyReturnObject");
  }
  check(env, jvmti->ResumeThread(thread), "ResumeThread");
  env->ReleaseStringUTFChars(method, name);
  return is_there;
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJvmtiChannels_stop(JNIEnv* env, jclass test, jthread thread, jthrowable exception) {
  check(env, jvmti->StopThread(thread, exception), "StopThread");
}

// An object of this class whose monitor the other thread holds.
JNIEXPORT jobject JNICALL Java_gc_lull_publication_TestJvmtiChannels_ownedMonitor(JNIEnv* env, jclass test, jthread thread, jclass klass) {
  jint count = 0;
  jobject* monitors = nullptr;
  jobject found = nullptr;
  check(env, jvmti->SuspendThread(thread), "SuspendThread");
  check(env, jvmti->GetOwnedMonitorInfo(thread, &count, &monitors), "GetOwnedMonitorInfo");
  check(env, jvmti->ResumeThread(thread), "ResumeThread");
  for (jint i = 0; i < count; i++) {
    if (env->IsInstanceOf(monitors[i], klass)) {
      found = monitors[i];
    }
  }
  jvmti->Deallocate((unsigned char*)monitors);
  return found;
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJvmtiChannels_runAgentThread(JNIEnv* env, jclass test, jthread thread) {
  thread_graph = env->GetFieldID(env->GetObjectClass(thread), "graph", "Lgc/lull/publication/Graph;");
  check(env, jvmti->RunAgentThread(thread, agent_thread, nullptr, JVMTI_THREAD_NORM_PRIORITY), "RunAgentThread");
}

JNIEXPORT void JNICALL Java_gc_lull_publication_TestJvmtiChannels_sample(JNIEnv* env, jclass test, jthread thread, jclass klass, jint interval) {
  sampled_class = (jclass)env->NewGlobalRef(klass);
  object_class = (jclass)env->NewGlobalRef(env->FindClass("java/lang/Object"));
  check(env, jvmti->SetHeapSamplingInterval(interval), "SetHeapSamplingInterval");
  check(env, jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, thread), "SetEventNotificationMode");
}

// Objects that the agent has been told of; by the thread that allocates them.
JNIEXPORT jint JNICALL Java_gc_lull_publication_TestJvmtiChannels_sampleCount(JNIEnv* env, jclass test) {
  return samples;
}

} // extern "C"
