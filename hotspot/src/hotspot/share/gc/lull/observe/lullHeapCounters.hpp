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

#ifndef SHARE_GC_LULL_OBSERVE_LULLHEAPCOUNTERS_HPP
#define SHARE_GC_LULL_OBSERVE_LULLHEAPCOUNTERS_HPP

#include "memory/allocation.hpp"

class GenerationCounters;
class HSpaceCounters;
class LullHeapParts;

// The heap as performance counters, sun.gc.generation.*, which jstat and others read: generation 0 is what is new,
// generation 1 what the last collection has left.
//
// The capacities of the generations are those of the memory pools, and their sum is the heap's. So is that of their largest
// and least capacities, which VisualVM adds up: as its pool, what is new has no maximum of its own. The capacity of the old
// space is the whole heap: jstat -gcutil shows what is in use as a share of it, and always 100 % would tell nothing.
class LullHeapCounters : public CHeapObj<mtGC> {
private:
  GenerationCounters* _new_generation;
  GenerationCounters* _old_generation;
  HSpaceCounters*     _new_space;
  HSpaceCounters*     _old_space;

public:
  // While the VM starts; only with -XX:+UsePerfData.
  explicit LullHeapCounters(const LullHeapParts& parts);

  // By one thread at a time.
  void update(const LullHeapParts& parts);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLHEAPCOUNTERS_HPP
