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

#ifndef SHARE_GC_LULL_OBSERVE_LULLBROKENHEAP_HPP
#define SHARE_GC_LULL_OBSERVE_LULLBROKENHEAP_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class LullBlockSupply;
class LullBlockTable;
class LullMemory;

// Fault injection for LullVerify: -XX:LullBreakInvariant=NAME changes what the heap knows of itself, just before it is
// verified, so that the invariant of this name does not hold. What the barriers and marking are for is broken by leaving
// them out: LullDropBarrier, LullDropMarking. So is what a remark is for, and what a cycle of concurrent marking does after
// its end, by names of their parts here.
class LullBrokenHeap : public AllStatic {
public:
  // Is there such an invariant? None is asked for by the empty name.
  static bool is_known(const char* name);

  // Before the collection, or after it, where the invariant is verified; at the first one that has what it needs.
  static void break_if_asked(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply,
                             bool before_collection);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLBROKENHEAP_HPP
