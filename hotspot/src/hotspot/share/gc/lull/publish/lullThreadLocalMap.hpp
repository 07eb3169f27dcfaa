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

#ifndef SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALMAP_HPP
#define SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALMAP_HPP

#include "memory/allStatic.hpp"
#include "oops/oopsHierarchy.hpp"

class JavaThread;
class Klass;
class LullAllocator;
class Symbol;

// What a thread keeps in java.lang.ThreadLocals can be read by that thread alone, though its map
// hangs on its Thread object, which is public:
//
//   public     Thread.threadLocals
//                     |            one of the places in which a thread may have what is private, see lullThreadFields.hpp
//   private    ThreadLocalMap ----> Entry[] ----> Entry ----> value
//                                                   |
//   public                                          +-----> ThreadLocal
//
// A map can become public with all that its thread has: in public mode, or at a global collection. It would then
// publish each value that is set later. So the thread takes it back after its next local collection: it replaces map,
// table and entries by private copies. Nothing else refers to them but the thread's frames inside of ThreadLocalMap, of
// which there must be none. The values stay what they are.
//
// Entries are weak references, without a queue. They lose referents to which nothing else refers: in local collections,
// as other references do (lullPrivateReference.hpp), and in global ones, where others keep them. Else a thread-local
// variable that is forgotten would be kept, with its value, for as long as the thread lives.
class LullThreadLocalMap : public AllStatic {
private:
  // Longer tables are left as they are: a copy would take too long.
  static const int LongestTable = 1024;

  static int _table_offset;     // of ThreadLocalMap.table; 0: not known yet
  static Symbol* _entry_name;

  static bool learn_layout(const Klass* map_klass);
  static objArrayOop table_to_take_back(oop map);
  static oop copy(oop obj, LullAllocator* allocator);
  static oop copy_entry(oop entry, LullAllocator* allocator);

public:
  static void initialize();

  // Is it an entry of a map?
  static bool is_entry(const Klass* klass);

  // Is the map, or nullptr, public, and can it be made private again, as far as that does not depend on the frames?
  static bool can_be_taken_back(oop map);

  // Makes it private again, if there is memory. No frame of the thread is in it.
  static void take_back(JavaThread* thread, oop map, LullAllocator* allocator);
};

#endif // SHARE_GC_LULL_PUBLISH_LULLTHREADLOCALMAP_HPP
