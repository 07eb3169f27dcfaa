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

#ifndef SHARE_GC_LULL_COLLECT_LULLUPDATE_INLINE_HPP
#define SHARE_GC_LULL_COLLECT_LULLUPDATE_INLINE_HPP

#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "memory/allStatic.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"

// After the trace, for places that it has not visited: weak references and code.

class LullUpdate : AllStatic {
public:
  // If the object was moved, stores its new address; returns whether it did. The
  // object may be dead: then it was not moved.
  template <typename T>
  static bool update(const LullBlockTable* blocks, T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return false;
    }
    const oop obj = CompressedOops::decode_not_null(heap_oop);
    if (!blocks->is_evacuated(obj) || !obj->is_forwarded() || obj->is_self_forwarded()) {
      return false;
    }
    RawAccess<IS_NOT_NULL>::oop_store(p, obj->forwardee());
    return true;
  }
};

#endif // SHARE_GC_LULL_COLLECT_LULLUPDATE_INLINE_HPP
