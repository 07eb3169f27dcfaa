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


#ifndef SHARE_GC_LULL_HEAP_LULLLEFTOUT_HPP
#define SHARE_GC_LULL_HEAP_LULLLEFTOUT_HPP

#include "gc/shared/gc_globals.hpp"
#include "utilities/globalDefinitions.hpp"

#include <string.h>

// Fault injection: -XX:LullBreakInvariant=PART has whoever keeps an invariant leave out that part of it, or do it wrongly,
// so that a test sees LullVerify notice. The names of parts are in lullBrokenHeap.cpp. In release builds none is left out.
inline bool lull_is_left_out(const char* part) {
#ifdef ASSERT
  return LullBreakInvariant != nullptr && strcmp(LullBreakInvariant, part) == 0;
#else
  return false;
#endif
}

#endif // SHARE_GC_LULL_HEAP_LULLLEFTOUT_HPP
