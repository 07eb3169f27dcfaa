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

#include "classfile/javaClassesImpl.hpp"
#include "gc/lull/heap/lullObjectLayouts.hpp"
#include "oops/compressedKlass.inline.hpp"
#include "oops/instanceKlass.inline.hpp"
#include "oops/instanceMirrorKlass.hpp"
#include "oops/objArrayOop.hpp"
#include "oops/typeArrayKlass.hpp"
#include "runtime/globals.hpp"

bool LullObjectLayouts::is_possible() {
  return UseCompressedOops && UseCompressedClassPointers && !UseCompactObjectHeaders && ObjectAlignmentInBytes == 8;
}

void LullObjectLayouts::append(const void* number, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    _bytes.append(((const u1*)number)[i]);
  }
}

void LullObjectLayouts::append_head(const Klass* klass, Kind kind, uint blocks, size_t bytes, int a, int b, int c) {
  append_u4(CompressedKlassPointers::encode_not_null(const_cast<Klass*>(klass)));
  append_u2((u2)((uint)kind | checked_cast<u1>(c) << BitsPerByte));
  append_u2(checked_cast<u2>(blocks));
  append_u4(checked_cast<u4>(bytes));
  append_u4((u4)a);
  append_u4((u4)b);
  _count++;
}

void LullObjectLayouts::append_block(int offset, uint count) {
  append_u4((u4)offset);
  append_u4(count);
}

// Who lists it reads none of its fields: the one that is named as a referent is as good as any.
void LullObjectLayouts::append_chunk(const InstanceKlass* klass, size_t bytes) {
  const bool is_listed = _chunks == Chunks::AreListed;
  append_head(klass, is_listed ? Kind::Reference : Kind::Instance, 0, bytes,
              is_listed ? instanceOopDesc::base_offset_in_bytes() : 0, 0);
}

void LullObjectLayouts::append_instance(const InstanceKlass* klass) {
  const size_t bytes = (size_t)klass->size_helper() * HeapWordSize;
  if (klass->is_stack_chunk_instance_klass()) {
    append_chunk(klass, bytes);
    return;
  }
  const uint maps = klass->nonstatic_oop_map_count();
  const bool is_reference = klass->is_reference_instance_klass();
  if (is_reference) {
    append_head(klass, Kind::Reference, maps + 1, bytes, java_lang_ref_Reference::referent_offset(), 0);
  } else if (klass->is_mirror_instance_klass()) {
    const auto offset = JavaClasses::compute_injected_offset;
    const int count_offset = offset(InjectedFieldID::java_lang_Class_static_oop_field_count_enum);
    const int words_offset = offset(InjectedFieldID::java_lang_Class_oop_size_enum);
    append_head(klass, Kind::Mirror, maps, bytes, count_offset, InstanceMirrorKlass::offset_of_static_fields(),
                words_offset / (int)sizeof(jint));
  } else {
    append_head(klass, Kind::Instance, maps, bytes, 0, 0);
  }
  for (uint i = 0; i < maps; i++) {
    const OopMapBlock* const map = const_cast<InstanceKlass*>(klass)->start_of_nonstatic_oop_maps() + i;
    append_block(map->offset(), map->count());
  }
  if (is_reference) {
    append_block(java_lang_ref_Reference::discovered_offset(), 1);   // in none of the maps, as the referent
  }
}

void LullObjectLayouts::do_klass(Klass* klass) {
  if (!CompressedKlassPointers::is_encodable(klass)) {
    return;   // an interface or abstract: there are no objects of it
  }
  const int base = objArrayOopDesc::base_offset_in_bytes();
  if (klass->is_objArray_klass()) {
    append_head(klass, Kind::ObjArray, 0, (size_t)base, base, 0);
  } else if (klass->is_typeArray_klass()) {
    append_head(klass, Kind::TypeArray, 0, (size_t)base, TypeArrayKlass::cast(klass)->log2_element_size(), 0);
  } else if (InstanceKlass::cast(klass)->is_loaded()) {
    append_instance(InstanceKlass::cast(klass));
  }
}
