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

#ifndef SHARE_GC_LULL_VMSTRUCTS_LULL_HPP
#define SHARE_GC_LULL_VMSTRUCTS_LULL_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lullHeap.hpp"

#define VM_STRUCTS_LULLGC(nonstatic_field,                  \
                          volatile_nonstatic_field,         \
                          static_field)                     \
  nonstatic_field(LullHeap, _components, LullComponents)    \
  nonstatic_field(LullComponents, _memory, LullMemory*)     \
  nonstatic_field(LullComponents, _supply, LullBlockSupply*) \
  volatile_nonstatic_field(LullMemory, _capacity, size_t)   \
  volatile_nonstatic_field(LullBlockSupply, _used_bytes, size_t)

#define VM_TYPES_LULLGC(declare_type,                       \
                        declare_toplevel_type,              \
                        declare_integer_type)               \
  declare_type(LullHeap, CollectedHeap)                     \
  declare_toplevel_type(LullComponents)                     \
  declare_toplevel_type(LullMemory)                         \
  declare_toplevel_type(LullMemory*)                        \
  declare_toplevel_type(LullBlockSupply)                    \
  declare_toplevel_type(LullBlockSupply*)

#define VM_INT_CONSTANTS_LULLGC(declare_constant,           \
                                declare_constant_with_value)

#endif // SHARE_GC_LULL_VMSTRUCTS_LULL_HPP
