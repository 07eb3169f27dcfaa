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

#ifndef SHARE_GC_LULL_POLICY_LULLHOLEPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLHOLEPOLICY_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// How short a hole mutators allocate into until the next collection.
//
// Each hole that becomes an allocation buffer costs a call into the VM with all that is cold behind it, about a
// microsecond: more for each object in a short hole than the object itself.
//
//   all objects are public   what is left alone is not lost. Its neighbours die, too, and it is part of a longer hole
//                            later. With holes of PublicLines, H2 and CRUD refill a fifth as often as with two lines,
//                            and collect as often (docs/design/heap.md)
//   some are private         each hole counts. Threads find holes themselves every few hundred KB, and what they cannot
//                            use of their blocks nobody else can: the compiler as a service collected five times as
//                            often
//   memory is scarce         each hole counts
class LullHolePolicy : public AllStatic {
private:
  static const uint PublicLines = 16;

public:
  // If each hole counts: of so many lines.
  static uint min_lines(uint shortest, bool all_public, bool scarce) {
    return all_public && !scarce ? PublicLines : shortest;
  }

  // For the log.
  static const char* reason(bool all_public, bool scarce) {
    return scarce ? "each hole counts after this collection" : all_public ? "all objects are public" :
           "threads have private objects";
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLHOLEPOLICY_HPP
