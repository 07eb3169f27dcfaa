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

#ifndef SHARE_GC_LULL_LULLTHREADLOCALMAP_HPP
#define SHARE_GC_LULL_LULLTHREADLOCALMAP_HPP

#include "gc/lull/lullBlockTable.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allStatic.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/handles.hpp"

class JavaThread;
class Klass;
class LullAllocator;
class Symbol;
class Thread;

// What a thread keeps in java.lang.ThreadLocals can be read by that thread alone, though its map
// hangs on its Thread object, which is public:
//
//   public     Thread.threadLocals
//                     |            the one field of a public object that may refer to a private one
//   private    ThreadLocalMap ----> Entry[] ----> Entry ----> value
//                                                   |
//   public                                          +-----> ThreadLocal
//
// The field is a root of its thread's local collections. The class library reads and writes
// it for the current thread, or the current carrier, only. Whoever else may come to it looks up first the field,
// its accessor, or a method of ThreadLocal that takes a Thread: by reflection, a method handle, JNI or JVMTI. Then
// the maps of all threads are published, and maps are public from there on.
//
// A map that has become public with all that its thread had (in public mode; at a global
// collection) would publish each value that is set later. So the thread takes it back after its next
// local collection: it replaces map, table and entries by private copies. Nothing else refers to
// them but the thread's frames inside of ThreadLocalMap: there must be none. The values stay what they
// are.
//
// Entries are weak references, without a queue. Other private References keep their referents; these lose
// them, in global collections and in those of their thread, when nothing else refers to them: a thread-local variable that
// is forgotten would be kept, with its value, for as long as the thread lives.
class LullThreadLocalMap : public AllStatic {
  friend class LullPublishMapClosure;

private:
  // Longer tables are left as they are: a copy would take too long.
  static const int LongestTable = 1024;

  // Whoever looks the field up clears the first, lets all threads pass a handshake in which their maps
  // are published, and clears the second. A thread reads the first, and stores, between two polls.
  static volatile bool _is_enabled;       // threads may make their maps private
  static volatile bool _may_be_private;   // maps may be private still

  static int _map_offset;       // of Thread.threadLocals
  static int _table_offset;     // of ThreadLocalMap.table; 0: not known yet
  static Symbol* _entry_name;
  static Symbol* _thread_local_name;

  static void* field_of(const Thread* thread);
  static oop map_of(const JavaThread* thread);
  static void set_map(const JavaThread* thread, oop map);
  static bool learn_layout(const Klass* map_klass);
  static objArrayOop table_to_take_back(oop map);
  static oop copy(oop obj, LullAllocator* allocator);
  static oop copy_entry(oop entry, LullAllocator* allocator);

  static bool is_thread_local(const Klass* klass);
  static void publish(const JavaThread* thread);
  static void publish_all(const char* how);

public:
  // When the classes of the class library are known.
  static void initialize();

  // May the current thread store a private map to the field? C1's barrier tells the object only: it publishes the map, and
  // the thread takes it back later.
  static bool may_store(const void* field);

  // May there be a private map of this owner in the field? By the owner, or at a safepoint.
  static bool may_have_private(const void* field, LullBlockTable::Owner owner);

  // The thread's field, as a root of its local collections.
  static void oops_do(JavaThread* thread, OopClosure* closure);
  static void oops_do(oop holder, OopClosure* closure);   // the same of a thread's Thread object, wherever it is now

  // Is it such a field, of whichever Thread object? It is not remembered where its map became public.
  static bool is_root(const void* field, oop holder);

  // Is it an entry of a map?
  static bool is_entry(const Klass* klass);

  // The thread ends: nothing refers to its private objects any more.
  static void clear(JavaThread* thread);

  // Makes the map private again, if that can be done. The thread is in the VM, called by a native, and in private mode: compiled code
  // loads the map anew after a call, but not after an allocation.
  static void take_back(JavaThread* thread, LullAllocator* allocator);

  // Is the map public, and could that be done, as far as it does not depend on the frames?
  static bool can_be_taken_back(JavaThread* thread);

  // Before the caller learns where a class has its fields, or which methods it has. They wait for a handshake of
  // all threads if what it learns leads to the map of any thread.
  static oop before_lookup_of_members(oop mirror);    // where the mirror is afterwards
  static void before_lookup_by_name(const Klass* klass, const char* name, const char* signature);
  static void before_resolution(Handle member_name);  // a java.lang.invoke.MemberName
};

#endif // SHARE_GC_LULL_LULLTHREADLOCALMAP_HPP
