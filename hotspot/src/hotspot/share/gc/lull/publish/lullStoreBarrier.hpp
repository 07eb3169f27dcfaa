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


#ifndef SHARE_GC_LULL_PUBLISH_LULLSTOREBARRIER_HPP
#define SHARE_GC_LULL_PUBLISH_LULLSTOREBARRIER_HPP

#include "gc/lull/stat/lullStoreOutcome.hpp"
#include "memory/allStatic.hpp"
#include "oops/oopsHierarchy.hpp"

// What -XX:LullDropBarrier leaves out, in debug builds, for tests that see whether it is missed.
enum LullDroppedBarrier : uint {
  LullDropNothing,
  LullDropInterpreter,
  LullDropC1,
  LullDropC2,
  LullDropCopyStubs,
  LullDropRuntime,
  LullDropRoot,
  LullDropEscapes,
  LullDropCards,
  LullDropSurvivors
};

// The two things that are done before a reference is stored to where other threads can read it: P, its value is
// published; R, the card of the field is dirtied. LullBarrierSet knows when; by the thread that stores.

class LullStoreBarrier : public AllStatic {
public:
  // Publishes the value and what it leads to, if it is not public.
  static LullStoreOutcome publish(oop value);

  // Before anything is stored to a field of an object that may be old. Nothing without young collections, or for a
  // place outside of the heap.
  static void dirty_card(const void* field);
  static void dirty_cards(const void* first, const void* last);   // of one array
};

#endif // SHARE_GC_LULL_PUBLISH_LULLSTOREBARRIER_HPP
