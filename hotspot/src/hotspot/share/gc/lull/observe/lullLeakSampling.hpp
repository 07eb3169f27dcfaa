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

#ifndef SHARE_GC_LULL_OBSERVE_LULLLEAKSAMPLING_HPP
#define SHARE_GC_LULL_OBSERVE_LULLLEAKSAMPLING_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class JavaThread;

// Which new objects the flight recorder's leak profiler (jdk.OldObjectSample) may look at. It is
// asked at the first object of each TLAB, walks the stack each time, and keeps a weak handle on
// some of them.
//
//   private   no. The handle would publish the object, and the object all that is stored into it
//             later; and what is private is not what leaks.
//   public    one in each SampleInterval bytes of its thread. Other collectors' TLABs are that
//             large or larger, Lull's are holes of a few lines up to a block.

class LullLeakSampling : public AllStatic {
private:
  static const size_t SampleInterval = 512 * K;

public:
  // The thread itself has just allocated the object.
  static bool admits(HeapWord* obj, JavaThread* thread);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLLEAKSAMPLING_HPP
