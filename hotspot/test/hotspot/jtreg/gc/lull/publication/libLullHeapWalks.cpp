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

// Walks the heap for TestHeapWalks. All that the agent may do is to tag objects: threads keep private ones then.

static jvmtiEnv* jvmti;

static jint JNICALL count_object(jlong class_tag, jlong size, jlong* tag, jint length, void* count) {
  (*(jlong*)count)++;
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
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

JNIEXPORT jlong JNICALL Java_gc_lull_publication_TestHeapWalks_walk(JNIEnv* env, jclass test) {
  jvmtiHeapCallbacks callbacks;
  memset(&callbacks, 0, sizeof(callbacks));
  callbacks.heap_iteration_callback = count_object;
  jlong count = 0;
  if (jvmti->IterateThroughHeap(0, nullptr, &callbacks, &count) != JVMTI_ERROR_NONE) {
    env->FatalError("IterateThroughHeap");
  }
  return count;
}

} // extern "C"
