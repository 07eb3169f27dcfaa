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

// How TestThreadLocals reads another thread's map by means of JNI.

extern "C" {

JNIEXPORT jobject JNICALL Java_gc_lull_local_TestThreadLocals_mapByJni(JNIEnv* env, jclass test, jobject thread) {
  // Not of the class itself: a subclass has the field, too.
  jfieldID const field = env->GetFieldID(env->GetObjectClass(thread), "threadLocals", "Ljava/lang/ThreadLocal$ThreadLocalMap;");
  return field == nullptr ? nullptr : env->GetObjectField(thread, field);
}

}
