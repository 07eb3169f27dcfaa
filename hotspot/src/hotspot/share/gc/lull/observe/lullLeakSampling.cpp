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

#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/observe/lullLeakSampling.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "oops/oop.hpp"
#include "runtime/javaThread.hpp"

bool LullLeakSampling::admits(HeapWord* obj, JavaThread* thread) {
  assert(thread == JavaThread::current(), "the thread that allocates");
  if (!LullTables::is_public(cast_to_oop(obj))) {
    return false;
  }
  const size_t allocated = (size_t)thread->allocated_bytes();
  if (allocated < LullThreadLocalData::next_leak_sample(thread)) {
    return false;
  }
  LullThreadLocalData::set_next_leak_sample(thread, allocated + SampleInterval);
  return true;
}
