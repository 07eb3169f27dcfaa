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
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullThreadLocalMap.hpp"
#include "gc/lull/publish/lullVisitFramesMark.hpp"
#include "gc/shared/oopStorage.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "memory/universe.hpp"
#include "oops/access.inline.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "oops/oopHandle.hpp"
#include "runtime/atomic.hpp"
#include "runtime/fieldDescriptor.inline.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/handshake.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"
#include "runtime/vframe.inline.hpp"

// The fields.
static const char* const MapName      = "threadLocals";
static const char* const BindingsName = "scopedValueBindings";
static const char* const TakesThread  = "(Ljava/lang/Thread;";

volatile bool LullThreadFields::_is_enabled = false;
volatile bool LullThreadFields::_may_be_private = false;
int LullThreadFields::_map_offset = 0;
int LullThreadFields::_bindings_offset = 0;
Symbol* LullThreadFields::_cache_name = nullptr;
Symbol* LullThreadFields::_thread_local_name = nullptr;

int LullThreadFields::field_offset(const Klass* klass, const char* name, const char* signature) {
  TempNewSymbol name_symbol = SymbolTable::new_symbol(name);
  TempNewSymbol signature_symbol = SymbolTable::new_symbol(signature);
  fieldDescriptor fd;
  return InstanceKlass::cast(klass)->find_local_field(name_symbol, signature_symbol, &fd) && !fd.is_static() ? fd.offset() : 0;
}

void LullThreadFields::initialize() {
  if (!LullLocalCollections || !LullPrivateThreadLocals) {
    return;
  }
  const Klass* const klass = vmClasses::Thread_klass();
  _map_offset = LullThreadFields::field_offset(klass, MapName, "Ljava/lang/ThreadLocal$ThreadLocalMap;");
  _bindings_offset = LullThreadFields::field_offset(klass, BindingsName, "Ljava/lang/Object;");
  if (_map_offset == 0) {
    log_warning(gc, local)("Thread-local values are public: this class library has no field java.lang.Thread.%s", MapName);
    return;
  }
  if (_bindings_offset == 0) {
    log_warning(gc, local)("Scoped values are public: this class library has no field java.lang.Thread.%s", BindingsName);
  }
  LullThreadLocalMap::initialize();
  _cache_name = SymbolTable::new_permanent_symbol("java/lang/ScopedValue$Cache");
  _thread_local_name = SymbolTable::new_permanent_symbol("java/lang/ThreadLocal");
  _is_enabled = true;
  _may_be_private = true;
}

// ---- The places

static oop load(oop holder, int offset) {
  return offset == 0 ? (oop)nullptr : (oop)RawAccess<>::oop_load_at(holder, offset);
}

// nullptr before the thread has its handles, or without scoped values.
oop* LullThreadFields::cache_of(const JavaThread* thread) {
  const OopHandle* const handle = (const OopHandle*)((const char*)thread + in_bytes(JavaThread::scopedValueCache_offset()));
  return _bindings_offset == 0 || handle->is_empty() ? nullptr : handle->ptr_raw();
}

bool LullThreadFields::is_field_of(oop holder, const void* place) {
  return holder != nullptr && is_offset((const char*)place - cast_from_oop<char*>(holder));
}

// The thread's Thread object, as long as its fields are places.
oop LullThreadFields::own_holder(const JavaThread* thread) {
  return LullThreadLocalData::has_unmounted(thread) ? (oop)nullptr : thread->threadObj();
}

bool LullThreadFields::is_place(const JavaThread* thread, const void* place) {
  return is_field_of(own_holder(thread), place) || is_field_of(mounted(thread), place) ||
         (place != nullptr && place == cache_of(thread));
}

bool LullThreadFields::may_store(const void* place) {
  Thread* const current = Thread::current();
  return _is_enabled && current->is_Java_thread() &&
         (is_place(JavaThread::cast(current), place) || mount(JavaThread::cast(current), place));
}

// ---- The virtual thread that is mounted

void LullThreadFields::create_root(JavaThread* thread) {
  assert(LullThreadLocalData::mounted(thread) == nullptr, "one for each thread");
  oop* const root = Universe::vm_weak()->allocate();
  if (root == nullptr) {
    vm_exit_out_of_memory(sizeof(oop), OOM_MALLOC_ERROR, "Lull: the root of a thread for virtual threads");
  }
  LullThreadLocalData::set_mounted(thread, root);
}

oop LullThreadFields::mounted(const JavaThread* thread) {
  const oop* const root = LullThreadLocalData::mounted(thread);
  return root == nullptr ? (oop)nullptr : *root;
}

// Public, as each Thread object that is current.
void LullThreadFields::set_mounted(const JavaThread* carrier, oop vthread) {
  assert(carrier->is_handshake_safe_for(Thread::current()), "the thread runs");
  assert(vthread == nullptr || LullTables::is_public(vthread), "P: a root without a barrier");
  *LullThreadLocalData::mounted(carrier) = vthread;
}

// At the first store of what is private, if the virtual thread's frames are on the carrier. What is done in its name before they have come, or when
// they have left, is published, for it may go to another carrier without LullUnmount: after Object.wait, when an agent has been told
// of the wait and another thread has the monitor.
bool LullThreadFields::mount(JavaThread* carrier, const void* place) {
  const oop vthread = carrier->vthread();
  if (!is_field_of(vthread, place) || vthread == carrier->threadObj() || !carrier->is_vthread_mounted() JVMTI_ONLY(|| carrier->on_monitor_waited_event()) ||
      LullThreadLocalData::mounted(carrier) == nullptr) {
    return false;
  }
  publish_mounted(carrier);    // the one before has ended
  set_mounted(carrier, vthread);
  return true;
}

bool LullThreadFields::may_have_private(const void* place, LullBlockTable::Owner owner) {
  if (!_may_be_private) {
    return false;
  }
  Thread* const current = Thread::current();
  if (LullThreadLocalData::owner(current) == owner) {
    // C1's check of loads tells the object only.
    const JavaThread* const thread = current->is_Java_thread() ? JavaThread::cast(current) : nullptr;
    return thread != nullptr && place != nullptr &&
           (is_place(thread, place) || place == cast_from_oop<void*>(own_holder(thread)) || place == cast_from_oop<void*>(mounted(thread)));
  }
  if (SafepointSynchronize::is_at_safepoint()) {
    for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
      if (LullThreadLocalData::owner(thread) == owner) {
        return is_place(thread, place);
      }
    }
  }
  return false;
}

static void field_do(oop holder, int offset, OopClosure* closure) {
  char* const field = cast_from_oop<char*>(holder) + offset;
  if (UseCompressedOops) {
    closure->do_oop((narrowOop*)field);
  } else {
    closure->do_oop((oop*)field);
  }
}

void LullThreadFields::fields_do(oop holder, OopClosure* closure) {
  if (_may_be_private && holder != nullptr) {
    field_do(holder, _map_offset, closure);
    if (_bindings_offset != 0) {
      field_do(holder, _bindings_offset, closure);
    }
  }
}

void LullThreadFields::oops_do(JavaThread* thread, OopClosure* closure) {
  assert(thread == Thread::current() || SafepointSynchronize::is_at_safepoint(), "the thread runs");
  fields_do(thread->threadObj(), closure);
  fields_do(mounted(thread), closure);
  oop* const cache = cache_of(thread);
  if (_may_be_private && cache != nullptr) {
    closure->do_oop(cache);
  }
}

bool LullThreadFields::is_root(const void* field, oop holder) {
  if (_may_be_private && holder->klass()->is_subclass_of(vmClasses::Thread_klass()) &&
      is_offset((const char*)field - cast_from_oop<char*>(holder))) {
    for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
      if (thread->threadObj() == holder || mounted(thread) == holder) {
        return true;
      }
    }
  }
  return false;
}

oop LullThreadFields::map_of(const JavaThread* thread) {
  const oop holder = own_holder(thread);
  return holder == nullptr ? (oop)nullptr : load(holder, _map_offset);
}

void LullThreadFields::set_map(const JavaThread* thread, oop map) {
  assert(thread == Thread::current() && own_holder(thread) == thread->threadObj(), "the field may be another thread's");
  RawAccess<>::oop_store_at(thread->threadObj(), _map_offset, map);
}

static void clear_field(oop holder, int offset) {
  const oop obj = load(holder, offset);
  if (obj != nullptr && LullTables::is_public(obj)) {
    LullStoreBarrier::dirty_card(cast_from_oop<char*>(holder) + offset);    // it is no root any more
  } else if (obj != nullptr) {
    RawAccess<>::oop_store_at(holder, offset, (oop)nullptr);
  }
}

void LullThreadFields::clear_fields(oop holder) {
  if (holder != nullptr) {
    clear_field(holder, _map_offset);
    clear_field(holder, _bindings_offset);
  }
}

void LullThreadFields::clear(JavaThread* thread) {
  if (_may_be_private) {
    clear_fields(thread->threadObj());
    clear_fields(mounted(thread));
    oop* const cache = cache_of(thread);
    if (cache != nullptr && *cache != nullptr && !LullTables::is_public(*cache)) {
      *cache = nullptr;
    }
  }
  oop* const root = LullThreadLocalData::mounted(thread);
  if (root != nullptr) {
    *root = nullptr;
    Universe::vm_weak()->release(root);
    LullThreadLocalData::set_mounted(thread, nullptr);
  }
}

// ---- Taking back

// Of one of two classes of the boot loader.
static bool has_frame_of(JavaThread* thread, const Symbol* name, const Symbol* other) {
  if (thread->has_last_Java_frame()) {
    LullVisitFramesMark mark(thread);
    for (vframeStream stream(thread, false /* stop at call stub */, false /* process frames */); !stream.at_end(); stream.next()) {
      const Klass* const holder = stream.method()->method_holder();
      if ((holder->name() == name || holder->name() == other) &&
          holder->class_loader_data()->is_the_null_class_loader_data()) {
        return true;
      }
    }
  }
  return false;
}

// Not while it carries a virtual thread, whose array comes with it.
bool LullThreadFields::has_cache_to_forget(const JavaThread* thread) {
  const oop* const cache = cache_of(thread);
  return cache != nullptr && *cache != nullptr && LullTables::is_public(*cache) && thread->vthread() == thread->threadObj();
}

bool LullThreadFields::can_be_taken_back(JavaThread* thread) {
  assert(thread == Thread::current(), "what only this thread reads");
  return _is_enabled && (LullThreadLocalMap::can_be_taken_back(map_of(thread)) || has_cache_to_forget(thread));
}

void LullThreadFields::take_back(JavaThread* thread, LullAllocator* allocator) {
  assert(Thread::current() == thread, "what only this thread reads");
  if (!_is_enabled) {
    return;
  }
  const oop map = map_of(thread);
  // Frames of both classes have it in a local: a value that they put into it then would be lost. A debugger runs
  // methods that wait on top of any frame.
  if (LullThreadLocalMap::can_be_taken_back(map) && !has_frame_of(thread, map->klass()->name(), _thread_local_name)) {
    LullThreadLocalMap::take_back(thread, map, allocator);
  }
  // Where it puts something into the array it looks for it twice, and expects to find it.
  if (has_cache_to_forget(thread) && !has_frame_of(thread, _cache_name, _cache_name)) {
    *cache_of(thread) = nullptr;
    log_trace(gc, local)("Thread %u: forgets the bindings of scoped values that it has found", LullThreadLocalData::owner(thread));
  }
}

// ---- Whoever looks for the fields

class LullPublishFieldsClosure : public HandshakeClosure {
public:
  LullPublishFieldsClosure() : HandshakeClosure("Lull Publish Thread Fields") {}

  void do_thread(Thread* thread) override;
};

void LullPublishFieldsClosure::do_thread(Thread* thread) {
  LullThreadFields::publish(JavaThread::cast(thread));
}

static void publish_field(oop holder, int offset) {
  const oop obj = load(holder, offset);
  if (obj != nullptr) {
    LullStoreBarrier::publish(obj);
    LullStoreBarrier::dirty_card(cast_from_oop<char*>(holder) + offset);    // it is about to be no root any more
  }
}

void LullThreadFields::publish_fields(oop holder) {
  if (holder != nullptr) {
    publish_field(holder, _map_offset);
    publish_field(holder, _bindings_offset);
  }
}

void LullThreadFields::publish_mounted(const JavaThread* carrier) {
  assert(carrier->is_handshake_safe_for(Thread::current()), "the thread runs");
  const oop holder = mounted(carrier);
  if (holder != nullptr) {
    publish_fields(holder);
    set_mounted(carrier, nullptr);
  }
}

void LullThreadFields::before_unmount(JavaThread* carrier) {
  assert(Thread::current() == carrier, "a carrier unmounts what it carries");
  publish_mounted(carrier);
  if (!LullThreadLocalData::has_unmounted(carrier)) {
    publish_fields(carrier->threadObj());
    LullThreadLocalData::set_has_unmounted(carrier);
  }
}

void LullThreadFields::publish(const JavaThread* thread) {
  assert(thread->is_handshake_safe_for(Thread::current()), "the thread runs");
  publish_fields(thread->threadObj());
  publish_mounted(thread);
  const oop* const cache = cache_of(thread);
  if (cache != nullptr && *cache != nullptr) {
    LullStoreBarrier::publish(*cache);
  }
}

// Who comes second waits too: the first may not have ended.
void LullThreadFields::publish_all(const char* how) {
  assert(Thread::current()->is_Java_thread(), "who asks for a handshake with all threads");
  Atomic::release_store(&_is_enabled, false);
  LullPublishFieldsClosure closure;
  Handshake::execute(&closure);
  Atomic::release_store(&_may_be_private, false);
  log_info(gc, local)("Thread-local and scoped values are public from here on: those of a thread may be read by others (%s)", how);
}

bool LullThreadFields::is_thread_local(const Klass* klass) {
  return klass->name() == _thread_local_name && klass->class_loader_data()->is_the_null_class_loader_data();
}

oop LullThreadFields::before_lookup_of_members(oop mirror) {
  const Klass* const klass = _may_be_private ? java_lang_Class::as_Klass(mirror) : nullptr;
  if (klass == nullptr || (klass != vmClasses::Thread_klass() && !is_thread_local(klass))) {
    return mirror;
  }
  HandleMark hm(Thread::current());
  Handle handle(Thread::current(), mirror);
  publish_all("the members of java.lang.Thread or ThreadLocal have been asked for");
  return handle();
}

void LullThreadFields::before_lookup_by_name(const Klass* klass, const char* name, const char* signature) {
  if (!_may_be_private) {
    return;
  }
  if (klass->is_subclass_of(vmClasses::Thread_klass())) {
    if (strcmp(name, MapName) == 0 || strcmp(name, BindingsName) == 0) {
      publish_all("one has been asked for by its name");
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

void LullThreadFields::before_lookup_by_name(const Klass* klass, Symbol* name, Symbol* signature) {
  if (_may_be_private) {
    ResourceMark rm;
    before_lookup_by_name(klass, name->as_C_string(), signature->as_C_string());
  }
}

void LullThreadFields::before_resolution(Handle member_name) {
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
  const char* const field = java_lang_String::equals(name, MapName, strlen(MapName)) ? MapName :
                            java_lang_String::equals(name, BindingsName, strlen(BindingsName)) ? BindingsName : nullptr;
  if (takes_thread || field != nullptr) {
    before_lookup_by_name(klass, field == nullptr ? "" : field, takes_thread ? TakesThread : "");
  }
}
