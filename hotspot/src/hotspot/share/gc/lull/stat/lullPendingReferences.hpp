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

#ifndef SHARE_GC_LULL_STAT_LULLPENDINGREFERENCES_HPP
#define SHARE_GC_LULL_STAT_LULLPENDINGREFERENCES_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// How much local garbage there was since the last pause, and how many References that only a pause can process:
// LullReferencePolicy decides by that, LullControlThread asks it.
//
// A young pause looks at some of them, a global one or the end of a cycle of concurrent marking at all: what has come
// since that is counted, too.
//
// Mutators add to the counts after their local collections. The marks of the last pause are written at safepoints,
// limits by the control thread. All are read without a lock: who is late by one collection asks at the next.
class LullPendingReferences : public AllStatic {
private:
  static volatile size_t _garbage;              // since the VM's start; bytes
  static volatile size_t _references;
  static volatile size_t _garbage_at_pause;     // when the last one ended
  static volatile size_t _references_at_pause;
  static size_t          _garbage_at_all;       // when all were looked at last
  static size_t          _outstanding;          // published since then and not cleared, at the last pause
  static volatile size_t _garbage_due;          // at these counts the control thread is woken, once; SIZE_MAX: never
  static volatile size_t _references_due;

public:
  // A thread has freed so many bytes, and so many more references are known that only a pause can process. Whether the
  // control thread is to be woken, which is said once for each limit.
  static bool add(size_t garbage, size_t references);

  // The control thread is woken when so much has come since the last pause, or at once if it has. SIZE_MAX: never.
  static void set_limits(size_t garbage, size_t references);

  // At a safepoint, when a pause has ended that has cleared so many, perhaps of all.
  static void begin_anew(bool all_looked_at, size_t cleared);

  // Since the last pause.
  static size_t garbage();
  static size_t references();

  // Since all were looked at: references without those that were cleared, and those of them that pauses have looked at.
  // By the control thread.
  static size_t garbage_since_all();
  static size_t outstanding();
  static size_t looked_at();

  // Since the VM's start, in bytes.
  static size_t all_garbage();
};

#endif // SHARE_GC_LULL_STAT_LULLPENDINGREFERENCES_HPP
