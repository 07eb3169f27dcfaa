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

#ifndef SHARE_GC_LULL_OBSERVE_LULLSAMPLEDOBJECTS_HPP
#define SHARE_GC_LULL_OBSERVE_LULLSAMPLEDOBJECTS_HPP

#include "gc/shared/gc_globals.hpp"
#include "memory/allStatic.hpp"
#include "oops/oopHandle.hpp"
#include "runtime/jniHandles.inline.hpp"
#include "utilities/growableArray.hpp"

// An object that an agent samples at its allocation (JVMTI's SampledObjectAlloc), between the
// allocation and the event. Elsewhere it lies in a handle of the VM's, which any thread can reach.
// Here it lies in a local handle of the thread that has allocated it, which the same thread
// releases: so the object stays private, unless the agent keeps it. Local handles are roots of
// that thread's local collections, and follow an object that moves.

class LullSampledObjects : public AllStatic {
public:
  // Adds it to those that the event is still to be told of. False: it is not sampled, or not Lull's to hold. It is to be
  // released by the same thread, before that leaves the scope of its active local handles.
  static bool hold(bool is_sampled, oop object, GrowableArray<OopHandle>* held) {
    if (!UseLullGC || !is_sampled) {
      return false;
    }
    jobject const handle = JNIHandles::make_local(object);
    STATIC_ASSERT(JNIHandles::TypeTag::local == 0);    // so the handle is the address of its slot
    held->push(OopHandle(reinterpret_cast<oop*>(handle)));
    return true;
  }

  // The event was told. Nothing is left for HotSpot to release of what was held here.
  static void release(bool is_sampled, OopHandle* held) {
    if (UseLullGC && is_sampled) {
      JNIHandles::destroy_local(reinterpret_cast<jobject>(held->ptr_raw()));
      *held = OopHandle();
    }
  }
};

#endif // SHARE_GC_LULL_OBSERVE_LULLSAMPLEDOBJECTS_HPP
