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
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/publish/lullPrivateReference.hpp"
#include "gc/lull/publish/lullThreadLocalMap.hpp"
#include "oops/access.inline.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"

Symbol* LullPrivateReference::_no_queue_name = nullptr;

void LullPrivateReference::initialize() {
  assert(_no_queue_name == nullptr, "once");
  _no_queue_name = SymbolTable::new_permanent_symbol("java/lang/ref/ReferenceQueue$Null");
}

// The object that stands for no queue is public. A private queue may have moved, and is not looked at.
static bool stands_for_none(oop queue, const Symbol* no_queue_name) {
  return LullTables::is_public(queue) && queue->klass()->name() == no_queue_name &&
         queue->klass()->class_loader_data()->is_the_null_class_loader_data();
}

LullPrivateReference::Kind LullPrivateReference::kind(oop obj) {
  const Klass* const klass = obj->klass();
  if (!klass->is_reference_instance_klass()) {
    return Kind::Strong;
  }
  const ReferenceType type = InstanceKlass::cast(klass)->reference_type();
  if (type != REF_WEAK && type != REF_PHANTOM) {
    return Kind::Strong;
  }
  const oop queue = RawAccess<>::oop_load_at(obj, java_lang_ref_Reference::queue_offset());
  if (queue == nullptr) {
    return Kind::Strong;    // it is being made
  }
  return stands_for_none(queue, _no_queue_name) ? Kind::Weak : Kind::WeakWithQueue;
}

bool LullPrivateReference::is_processed_in_pauses(const Klass* klass) {
  return klass->is_reference_instance_klass() && InstanceKlass::cast(klass)->reference_type() != REF_SOFT &&
         !LullThreadLocalMap::is_entry(klass);
}

oop LullPrivateReference::referent(oop reference) {
  assert(reference->klass()->is_reference_instance_klass(), "no Reference: " PTR_FORMAT, p2i(reference));
  return RawAccess<>::oop_load_at(reference, java_lang_ref_Reference::referent_offset());
}

void LullPrivateReference::set_referent(oop reference, oop referent) {
  assert(reference->klass()->is_reference_instance_klass(), "no Reference: " PTR_FORMAT, p2i(reference));
  assert(!LullTables::is_public(reference), "P: others read " PTR_FORMAT, p2i(reference));
  RawAccess<>::oop_store_at(reference, java_lang_ref_Reference::referent_offset(), referent);
}
