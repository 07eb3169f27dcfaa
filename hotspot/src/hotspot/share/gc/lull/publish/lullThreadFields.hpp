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

#ifndef SHARE_GC_LULL_PUBLISH_LULLTHREADFIELDS_HPP
#define SHARE_GC_LULL_PUBLISH_LULLTHREADFIELDS_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allStatic.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/handles.hpp"

class JavaThread;
class Klass;
class LullAllocator;
class Symbol;

// The exceptions from P. As a rule all threads can read what hangs on a Thread object, or on its JavaThread.
// Only the thread itself reads three places, and these may refer to what is private to it:
//
//   Thread.threadLocals             the map of its thread-local values; see lullThreadLocalMap.hpp
//   Thread.scopedValueBindings      the values that are bound to ScopedValues, in objects that do not change
//   JavaThread::_scopedValueCache   an array of bindings that were found lately
//
// They are roots of their thread's local collections. The class library reads and writes them for the current
// thread and its carrier only.
//
// Other readers of the two fields look up something first: the field, its accessor, or a method of ThreadLocal
// that takes a Thread. They do so by reflection, a method handle, JNI or JVMTI. Then the places of all threads
// are published, and stay public from there on.
//
// A carrier's own Thread object has no private places once the frames of a virtual thread have left it. Such a
// thread may have asked for a value of its carrier, and be unmounted in CarrierThreadLocal::initialValue(). It
// then goes on with that carrier's map, wherever it is mounted (ThreadLocal.setInitialValue()).
//
// Bindings that have become public do no harm: those of the next request are new objects. But a public array
// would publish each value that is put into it. So the thread forgets it after its next local collection, and
// makes another, which is private, when it next looks for a value. HotSpot does the same when an exception may
// have left the array wrong.
//
// The two fields of a virtual thread are places of its carrier as long as it is mounted:
//
//   first private value           stored in code of the virtual thread; from now on a weak root of the carrier
//                                 refers to it
//   its frames leave the carrier  what is there is published, and the root cleared: another carrier may mount it
//   it ends                       the class library drops its map; the root stays until the next one comes, or
//                                 until nobody knows the thread any more
//
// What a virtual thread sets after it has waited goes into a map that is public. The bindings that it has found
// go into a public array: Continuation keeps that array meanwhile.
class LullThreadFields : public AllStatic {
  friend class LullPublishFieldsClosure;

private:
  // Whoever looks a field up clears the first, lets all threads pass a handshake in which what they have there
  // is published, and clears the second. A thread reads the first, and stores, between two polls.
  static volatile bool _is_enabled;       // threads may have private objects there
  static volatile bool _may_be_private;   // there may be private objects still

  static int _map_offset;       // of Thread.threadLocals
  static int _bindings_offset;  // of Thread.scopedValueBindings; 0: there is no such field
  static Symbol* _cache_name;   // of the class that has the array in its frames
  static Symbol* _thread_local_name;

  static oop* cache_of(const JavaThread* thread);
  static bool is_field_of(oop holder, const void* place);
  static oop own_holder(const JavaThread* thread);
  static bool is_place(const JavaThread* thread, const void* place);
  static bool mount(JavaThread* carrier, const void* place);
  static void set_mounted(const JavaThread* carrier, oop vthread);
  static void publish_mounted(const JavaThread* carrier);
  static void publish_fields(oop holder);
  static void clear_fields(oop holder);
  static bool has_cache_to_forget(const JavaThread* thread);

  static bool is_thread_local(const Klass* klass);
  static void publish(const JavaThread* thread);
  static void publish_all(const char* how);

public:
  // When the classes of the class library are known.
  static void initialize();

  // Of an instance's field that the class itself declares; 0 if there is no such field.
  static int field_offset(const Klass* klass, const char* name, const char* signature);

  // Of the current thread: may it store what is private there?
  static bool may_store(const void* place);

  // May a field at this offset be one, if it is of a Thread object?
  static bool is_offset(intptr_t offset) { return offset != 0 && (offset == _map_offset || offset == _bindings_offset); }

  // May there be a private object of this owner? By the owner, or at a safepoint.
  static bool may_have_private(const void* place, LullBlockTable::Owner owner);

  // The thread gets its root for virtual threads. It has no private object yet.
  static void create_root(JavaThread* thread);

  // The virtual thread in whose fields the thread has, or has had, what is private; nullptr if there is none. By the thread, or while it is stopped.
  static oop mounted(const JavaThread* thread);

  // Before the virtual thread's frames leave its carrier: what others may come to from then on is published. Without a safepoint.
  static void before_unmount(JavaThread* carrier);

  // The thread's places, as roots of its local collections.
  static void oops_do(JavaThread* thread, OopClosure* closure);

  // Those in a Thread object, wherever it is now: the thread's, or that of its mounted virtual thread. The other one is a root as it is.
  static void fields_do(oop holder, OopClosure* closure);

  // Is it such a field, of a thread that has not ended or of a mounted virtual thread? It is not remembered where what it refers to became public. At a safepoint.
  static bool is_root(const void* field, oop holder);

  // The map of thread-local values; nullptr where there is none, no Thread object (yet), or one whose fields are no places.
  static oop map_of(const JavaThread* thread);
  static void set_map(const JavaThread* thread, oop map);

  // The thread ends: nothing refers to its private objects any more.
  static void clear(JavaThread* thread);

  // Sees to it that what is stored next is not published, if that can be done. The thread is in the VM, called by a native, and in private mode:
  // compiled code loads the places anew after a call, but not after an allocation.
  static void take_back(JavaThread* thread, LullAllocator* allocator);

  // Is there anything to take back, as far as it does not depend on the frames?
  static bool can_be_taken_back(JavaThread* thread);

  // Before the caller learns where a class has its fields, or which methods it has. They wait for a handshake of
  // all threads if what it learns leads to the fields of any thread.
  static oop before_lookup_of_members(oop mirror);    // where the mirror is afterwards
  static void before_lookup_by_name(const Klass* klass, const char* name, const char* signature);
  static void before_lookup_by_name(const Klass* klass, Symbol* name, Symbol* signature);
  static void before_resolution(Handle member_name);  // a java.lang.invoke.MemberName
};

#endif // SHARE_GC_LULL_PUBLISH_LULLTHREADFIELDS_HPP
