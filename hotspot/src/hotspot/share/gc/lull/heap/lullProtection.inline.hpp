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

#ifndef SHARE_GC_LULL_HEAP_LULLPROTECTION_INLINE_HPP
#define SHARE_GC_LULL_HEAP_LULLPROTECTION_INLINE_HPP

#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allStatic.hpp"
#include "runtime/os.hpp"
#include "utilities/debug.hpp"

// With -XX:+LullProtectFree, in debug builds, nobody can read or write a block that a collection has freed until it is used again, so that a stale
// reference into it ends in a SIGSEGV at once (in a system call, in an error), where LullZap only makes it lead to no class. By who owns the block, or has
// the lock under which it is free.
class LullProtection : public AllStatic {
#ifdef ASSERT
private:
  static void set(LullBlockIndex first, uint32_t blocks, os::ProtType protection) {
    char* const start = (char*)LullGeometry::start_of(first);
    const bool done = !LullProtectFree || os::protect_memory(start, (size_t)blocks * LullGeometry::BlockSize, protection);
    guarantee(done, "the protection of %u blocks at " PTR_FORMAT " cannot be changed: %s", blocks, p2i(start), os::strerror(errno));
  }

  static void set_free(const LullBlockTable* blocks, os::ProtType protection) {
    for (uint32_t i = 0; LullProtectFree && i < blocks->limit(); i++) {
      if (blocks->at(to_block_index(i))->is_free()) {
        set(to_block_index(i), 1, protection);
      }
    }
  }
#endif

public:
  static void forbid(LullBlockIndex first, uint32_t blocks) { DEBUG_ONLY(set(first, blocks, os::MEM_PROT_NONE);) }
  static void allow(LullBlockIndex first, uint32_t blocks)  { DEBUG_ONLY(set(first, blocks, os::MEM_PROT_RW);) }

  // All that are free, for a collection that may slide objects into them, or the export of the heap. At a safepoint.
  static void forbid_free(const LullBlockTable* blocks) { DEBUG_ONLY(set_free(blocks, os::MEM_PROT_NONE);) }
  static void allow_free(const LullBlockTable* blocks)  { DEBUG_ONLY(set_free(blocks, os::MEM_PROT_RW);) }
};

#endif // SHARE_GC_LULL_HEAP_LULLPROTECTION_INLINE_HPP
