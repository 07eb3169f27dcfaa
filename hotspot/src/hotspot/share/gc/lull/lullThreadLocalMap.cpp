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

#include "classfile/classLoaderData.hpp"
#include "classfile/javaClasses.inline.hpp"
#include "classfile/symbolTable.hpp"
#include "classfile/vmClasses.hpp"
#include "gc/lull/lullAllocator.hpp"
#include "gc/lull/lullBarrierSet.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/lullPublicMap.hpp"
#include "gc/lull/lullThreadLocalData.hpp"
#include "gc/lull/lullThreadLocalMap.hpp"
#include "gc/lull/lullVisitFramesMark.hpp"
#include "gc/lull/lull_globals.hpp"
#include "logging/log.hpp"
#include "oops/access.inline.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/fieldDescriptor.inline.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"
#include "runtime/vframe.inline.hpp"
#include "utilities/copy.hpp"

static const char* const FieldName = "threadLocals";   // and that of its accessor
static const char* const TakesThread = "(Ljava/lang/Thread;";

volatile bool LullThreadLocalMap::_is_enabled = false;
volatile bool LullThreadLocalMap::_may_be_private = false;
int LullThreadLocalMap::_map_offset = 0;
int LullThreadLocalMap::_table_offset = 0;
Symbol* LullThreadLocalMap::_entry_name = nullptr;
Symbol* LullThreadLocalMap::_thread_local_name = nullptr;

// 0 if there is no such field.
static int field_offset(const Klass* klass, const char* name, const char* signature) {
  TempNewSymbol name_symbol = SymbolTable::new_symbol(name);
  TempNewSymbol signature_symbol = SymbolTable::new_symbol(signature);
  fieldDescriptor fd;
  return InstanceKlass::cast(klass)->find_local_field(name_symbol, signature_symbol, &fd) && !fd.is_static() ? fd.offset() : 0;
}

void LullThreadLocalMap::initialize() {
  if (!LullLocalCollections || !LullPrivateThreadLocals) {
    return;
  }
  _map_offset = field_offset(vmClasses::Thread_klass(), FieldName, "Ljava/lang/ThreadLocal$ThreadLocalMap;");
  if (_map_offset == 0) {
    log_warning(gc, local)("Thread-local values are public: this class library has no field java.lang.Thread.%s", FieldName);
    return;
  }
  _entry_name = SymbolTable::new_permanent_symbol("java/lang/ThreadLocal$ThreadLocalMap$Entry");
  _thread_local_name = SymbolTable::new_permanent_symbol("java/lang/ThreadLocal");
  _is_enabled = true;
  _may_be_private = true;
}

bool LullThreadLocalMap::learn_layout(const Klass* map_klass) {
  if (_table_offset == 0) {
    // More than one thread may do so at a time; all find the same.
    _table_offset = field_offset(map_klass, "table", "[Ljava/lang/ThreadLocal$ThreadLocalMap$Entry;");
  }
  return _table_offset != 0;
}

static bool is_public(oop obj) {
  return LullHeap::heap()->public_map()->is_public(cast_from_oop<void*>(obj));
}

// nullptr where there is no Thread object (yet).
void* LullThreadLocalMap::field_of(const Thread* thread) {
  const oop holder = thread->is_Java_thread() ? JavaThread::cast(thread)->threadObj() : (oop)nullptr;
  return holder == nullptr ? nullptr : cast_from_oop<char*>(holder) + _map_offset;
}

oop LullThreadLocalMap::map_of(const JavaThread* thread) {
  const oop holder = thread->threadObj();
  return holder == nullptr ? (oop)nullptr : (oop)RawAccess<>::oop_load_at(holder, _map_offset);
}

void LullThreadLocalMap::set_map(const JavaThread* thread, oop map) {
  RawAccess<>::oop_store_at(thread->threadObj(), _map_offset, map);
}

bool LullThreadLocalMap::may_store(const void* field) {
  return _is_enabled && field == field_of(Thread::current());
}

bool LullThreadLocalMap::may_have_private(const void* field, LullBlockTable::Owner owner) {
  if (!_may_be_private) {
    return false;
  }
  Thread* const current = Thread::current();
  if (LullThreadLocalData::owner(current) == owner) {
    // C1's check of loads tells the object only.
    return field == field_of(current) ||
           (current->is_Java_thread() && field == cast_from_oop<void*>(JavaThread::cast(current)->threadObj()));
  }
  if (SafepointSynchronize::is_at_safepoint()) {
    for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
      if (LullThreadLocalData::owner(thread) == owner) {
        return field == field_of(thread);
      }
    }
  }
  return false;
}

void LullThreadLocalMap::oops_do(JavaThread* thread, OopClosure* closure) {
  oops_do(thread->threadObj(), closure);
}

void LullThreadLocalMap::oops_do(oop holder, OopClosure* closure) {
  if (_may_be_private && holder != nullptr) {
    char* const field = cast_from_oop<char*>(holder) + _map_offset;
    if (UseCompressedOops) {
      closure->do_oop((narrowOop*)field);
    } else {
      closure->do_oop((oop*)field);
    }
  }
}

bool LullThreadLocalMap::is_entry(const Klass* klass) {
  return klass->is_reference_instance_klass() && klass->name() == _entry_name &&
         klass->class_loader_data()->is_the_null_class_loader_data();
}

void LullThreadLocalMap::clear(JavaThread* thread) {
  const oop map = _may_be_private ? map_of(thread) : (oop)nullptr;
  if (map == nullptr) {
    return;
  }
  if (is_public(map)) {
    LullBarrierSet::dirty_card(field_of(thread));   // it is no root any more
  } else {
    set_map(thread, nullptr);
  }
}

bool LullThreadLocalMap::is_root(const void* field, oop holder) {
  return _may_be_private && holder->klass()->is_subclass_of(vmClasses::Thread_klass()) && field == cast_from_oop<char*>(holder) + _map_offset;
}

// ---- Taking back

// The contents of a public object in a new private one.
oop LullThreadLocalMap::copy(oop obj, LullAllocator* allocator) {
  const size_t words = obj->size();
  HeapWord* const to = allocator->allocate(words);
  if (to == nullptr) {
    return nullptr;
  }
  Copy::aligned_disjoint_words(cast_from_oop<HeapWord*>(obj), to, words);
  const oop result = cast_to_oop(to);
  result->init_mark();
  return result;
}

// A weak reference that has not been found cleared yet, whatever has become of the other.
oop LullThreadLocalMap::copy_entry(oop entry, LullAllocator* allocator) {
  const oop result = copy(entry, allocator);
  if (result != nullptr) {
    RawAccess<>::oop_store_at(result, java_lang_ref_Reference::next_offset(), (oop)nullptr);
    RawAccess<>::oop_store_at(result, java_lang_ref_Reference::discovered_offset(), (oop)nullptr);
  }
  return result;
}

static bool has_frame_of(JavaThread* thread, const Klass* klass) {
  if (thread->has_last_Java_frame()) {
    LullVisitFramesMark mark(thread);
    for (vframeStream stream(thread, false /* stop at call stub */, false /* process frames */); !stream.at_end(); stream.next()) {
      if (stream.method()->method_holder() == klass) {
        return true;
      }
    }
  }
  return false;
}

// Of a public map; nullptr if it is not to be taken back.
objArrayOop LullThreadLocalMap::table_to_take_back(oop map) {
  if (map == nullptr || !is_public(map) || !learn_layout(map->klass())) {
    return nullptr;
  }
  const objArrayOop table = (objArrayOop)(oop)RawAccess<>::oop_load_at(map, _table_offset);
  return table == nullptr || table->length() > LongestTable ? (objArrayOop)nullptr : table;
}

bool LullThreadLocalMap::can_be_taken_back(JavaThread* thread) {
  return _is_enabled && table_to_take_back(map_of(thread)) != nullptr;
}

void LullThreadLocalMap::take_back(JavaThread* thread, LullAllocator* allocator) {
  const oop map = _is_enabled ? map_of(thread) : (oop)nullptr;
  const objArrayOop table = table_to_take_back(map);
  if (table == nullptr || has_frame_of(thread, map->klass())) {
    return;
  }
  const oop new_map = copy(map, allocator);
  const objArrayOop new_table = (objArrayOop)copy(table, allocator);
  if (new_map == nullptr || new_table == nullptr) {
    return;
  }
  for (int i = 0; i < new_table->length(); i++) {
    const oop entry = new_table->obj_at(i);
    if (entry != nullptr) {
      const oop new_entry = copy_entry(entry, allocator);
      if (new_entry == nullptr) {
        return;
      }
      new_table->obj_at_put(i, new_entry);
    }
  }
  RawAccess<>::oop_store_at(new_map, _table_offset, new_table);
  set_map(thread, new_map);
  log_trace(gc, local)("Thread %u: its map of thread-local values, of %d places, is private again",
                      LullThreadLocalData::owner(thread), table->length());
}

// ---- Whoever looks for it

class LullPublishMapClosure : public HandshakeClosure {
public:
  LullPublishMapClosure() : HandshakeClosure("Lull Publish Thread Locals") {}

  void do_thread(Thread* thread) override;
};

void LullPublishMapClosure::do_thread(Thread* thread) {
  LullThreadLocalMap::publish(JavaThread::cast(thread));
}

void LullThreadLocalMap::publish(const JavaThread* thread) {
  const oop map = map_of(thread);
  if (map != nullptr) {
    LullBarrierSet::publish(map);
    LullBarrierSet::dirty_card(field_of(thread));   // it is about to be no root any more
  }
}

// Who comes second waits too: the first may not have ended.
void LullThreadLocalMap::publish_all(const char* how) {
  Atomic::release_store(&_is_enabled, false);
  LullPublishMapClosure closure;
  Handshake::execute(&closure);
  Atomic::release_store(&_may_be_private, false);
  log_info(gc, local)("Thread-local values are public from here on: the map of a thread may be read by others (%s)", how);
}

bool LullThreadLocalMap::is_thread_local(const Klass* klass) {
  return klass->name() == _thread_local_name && klass->class_loader_data()->is_the_null_class_loader_data();
}

oop LullThreadLocalMap::before_lookup_of_members(oop mirror) {
  const Klass* const klass = _may_be_private ? java_lang_Class::as_Klass(mirror) : nullptr;
  if (klass == nullptr || (klass != vmClasses::Thread_klass() && !is_thread_local(klass))) {
    return mirror;
  }
  HandleMark hm(Thread::current());
  Handle handle(Thread::current(), mirror);
  publish_all("the members of java.lang.Thread or ThreadLocal have been asked for");
  return handle();
}

void LullThreadLocalMap::before_lookup_by_name(const Klass* klass, const char* name, const char* signature) {
  if (!_may_be_private) {
    return;
  }
  if (klass->is_subclass_of(vmClasses::Thread_klass())) {
    if (strcmp(name, FieldName) == 0) {
      publish_all("it has been asked for by its name");
    }
  } else if (strncmp(signature, TakesThread, strlen(TakesThread)) == 0) {
    const Klass* super = klass;
    while (super != nullptr && !is_thread_local(super)) {
      super = super->super();
    }
    if (super != nullptr) {
      publish_all("a method of ThreadLocal has been asked for that takes a thread");
    }
  }
}

void LullThreadLocalMap::before_resolution(Handle member_name) {
  if (!_may_be_private) {
    return;
  }
  const oop mirror = java_lang_invoke_MemberName::clazz(member_name());
  const oop name = java_lang_invoke_MemberName::name(member_name());
  const oop type = java_lang_invoke_MemberName::type(member_name());
  const Klass* const klass = mirror == nullptr ? nullptr : java_lang_Class::as_Klass(mirror);
  if (klass == nullptr || name == nullptr) {
    return;
  }
  const bool takes_thread = type != nullptr && java_lang_invoke_MethodType::is_instance(type) &&
                            java_lang_invoke_MethodType::ptype_count(type) > 0 &&
                            java_lang_invoke_MethodType::ptype(type, 0) == vmClasses::Thread_klass()->java_mirror();
  const bool is_field = java_lang_String::equals(name, FieldName, strlen(FieldName));
  if (takes_thread || is_field) {
    before_lookup_by_name(klass, is_field ? FieldName : "", takes_thread ? TakesThread : "");
  }
}
