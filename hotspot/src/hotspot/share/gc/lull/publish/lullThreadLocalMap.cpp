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
#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullThreadLocalMap.hpp"
#include "logging/log.hpp"
#include "oops/access.inline.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "utilities/copy.hpp"

int LullThreadLocalMap::_table_offset = 0;
Symbol* LullThreadLocalMap::_entry_name = nullptr;

void LullThreadLocalMap::initialize() {
  assert(_entry_name == nullptr, "once");
  _entry_name = SymbolTable::new_permanent_symbol("java/lang/ThreadLocal$ThreadLocalMap$Entry");
}

bool LullThreadLocalMap::learn_layout(const Klass* map_klass) {
  if (_table_offset == 0) {
    // More than one thread may do so at a time; all find the same.
    _table_offset = LullThreadFields::field_offset(map_klass, "table", "[Ljava/lang/ThreadLocal$ThreadLocalMap$Entry;");
  }
  return _table_offset != 0;
}

bool LullThreadLocalMap::is_entry(const Klass* klass) {
  return klass->is_reference_instance_klass() && klass->name() == _entry_name &&
         klass->class_loader_data()->is_the_null_class_loader_data();
}

// The contents of a public object in a new private one.
oop LullThreadLocalMap::copy(oop obj, LullAllocator* allocator) {
  assert(LullTables::is_public(obj), "private " PTR_FORMAT " need not be copied", p2i(obj));
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
  assert(is_entry(entry->klass()), "no entry: " PTR_FORMAT, p2i(entry));
  const oop result = copy(entry, allocator);
  if (result != nullptr) {
    RawAccess<>::oop_store_at(result, java_lang_ref_Reference::next_offset(), (oop)nullptr);
    RawAccess<>::oop_store_at(result, java_lang_ref_Reference::discovered_offset(), (oop)nullptr);
  }
  return result;
}

// Of a public map; nullptr if it is not to be taken back.
objArrayOop LullThreadLocalMap::table_to_take_back(oop map) {
  if (map == nullptr || !LullTables::is_public(map) || !learn_layout(map->klass())) {
    return nullptr;
  }
  const objArrayOop table = (objArrayOop)(oop)RawAccess<>::oop_load_at(map, _table_offset);
  return table == nullptr || table->length() > LongestTable ? (objArrayOop)nullptr : table;
}

bool LullThreadLocalMap::can_be_taken_back(oop map) {
  return table_to_take_back(map) != nullptr;
}

void LullThreadLocalMap::take_back(JavaThread* thread, oop map, LullAllocator* allocator) {
  assert(thread == Thread::current(), "a thread takes back its own map");
  const objArrayOop table = table_to_take_back(map);
  assert(table != nullptr, "can_be_taken_back()");
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
  LullThreadFields::set_map(thread, new_map);
  log_trace(gc, local)("Thread %u: its map of thread-local values, of %d places, is private again",
                      LullThreadLocalData::owner(thread), table->length());
}
