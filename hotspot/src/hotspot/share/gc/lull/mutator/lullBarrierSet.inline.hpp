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

#ifndef SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_INLINE_HPP
#define SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_INLINE_HPP

#include "gc/lull/mutator/lullBarrierSet.hpp"

#include "gc/shared/barrierSet.inline.hpp"
#include "gc/shared/gc_globals.hpp"
#include "oops/accessDecorators.hpp"
#include "oops/arrayOop.hpp"

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_load_in_heap(T* addr) {
  const oop value = Raw::oop_load_in_heap(addr);
#ifdef ASSERT
  if (LullLoadCheck && value != nullptr) {
    check_load(addr, value);
  }
#endif
  return value;
}

template <DecoratorSet decorators, typename BarrierSetT>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_load_in_heap_at(oop base, ptrdiff_t offset) {
  return oop_load_in_heap(AccessInternal::oop_field_addr<decorators>(base, offset));
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline void LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_store_in_heap(T* addr, oop value) {
  if (LullTracking && value != nullptr) {
    before_store(addr, value);
  }
  Raw::oop_store_in_heap(addr, value);
}

template <DecoratorSet decorators, typename BarrierSetT>
inline void LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_store_in_heap_at(oop base, ptrdiff_t offset, oop value) {
  oop_store_in_heap(AccessInternal::oop_field_addr<decorators>(base, offset), value);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::
oop_atomic_cmpxchg_in_heap(T* addr, oop compare_value, oop new_value) {
  if (LullTracking && new_value != nullptr) {
    before_store(addr, new_value);
  }
  return Raw::oop_atomic_cmpxchg_in_heap(addr, compare_value, new_value);
}

template <DecoratorSet decorators, typename BarrierSetT>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::
oop_atomic_cmpxchg_in_heap_at(oop base, ptrdiff_t offset, oop compare_value, oop new_value) {
  return oop_atomic_cmpxchg_in_heap(AccessInternal::oop_field_addr<decorators>(base, offset), compare_value, new_value);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_atomic_xchg_in_heap(T* addr, oop new_value) {
  if (LullTracking && new_value != nullptr) {
    before_store(addr, new_value);
  }
  return Raw::oop_atomic_xchg_in_heap(addr, new_value);
}

template <DecoratorSet decorators, typename BarrierSetT>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::
oop_atomic_xchg_in_heap_at(oop base, ptrdiff_t offset, oop new_value) {
  return oop_atomic_xchg_in_heap(AccessInternal::oop_field_addr<decorators>(base, offset), new_value);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline bool LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::
oop_arraycopy_in_heap(arrayOop src_obj, size_t src_offset_in_bytes, T* src_raw,
                      arrayOop dst_obj, size_t dst_offset_in_bytes, T* dst_raw,
                      size_t length) {
  // A destination that is new is asked too: who has allocated it may have shown it to an
  // agent since.
  if (LullTracking) {
    before_copy(arrayOopDesc::obj_offset_to_raw(src_obj, src_offset_in_bytes, src_raw),
                arrayOopDesc::obj_offset_to_raw(dst_obj, dst_offset_in_bytes, dst_raw),
                length);
  }
  return Raw::oop_arraycopy_in_heap(src_obj, src_offset_in_bytes, src_raw,
                                    dst_obj, dst_offset_in_bytes, dst_raw,
                                    length);
}

template <DecoratorSet decorators, typename BarrierSetT>
inline void LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::clone_in_heap(oop src, oop dst, size_t size) {
  if (LullTracking) {
    before_clone(src, dst);
  }
  Raw::clone_in_heap(src, dst, size);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline void LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_store_not_in_heap(T* addr, oop value) {
  if (LullTracking && value != nullptr) {
    before_root_store(addr, value);
  }
  Raw::oop_store_not_in_heap(addr, value);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::
oop_atomic_cmpxchg_not_in_heap(T* addr, oop compare_value, oop new_value) {
  if (LullTracking && new_value != nullptr) {
    before_root_store(addr, new_value);
  }
  return Raw::oop_atomic_cmpxchg_not_in_heap(addr, compare_value, new_value);
}

template <DecoratorSet decorators, typename BarrierSetT>
template <typename T>
inline oop LullBarrierSet::AccessBarrier<decorators, BarrierSetT>::oop_atomic_xchg_not_in_heap(T* addr, oop new_value) {
  if (LullTracking && new_value != nullptr) {
    before_root_store(addr, new_value);
  }
  return Raw::oop_atomic_xchg_not_in_heap(addr, new_value);
}

#endif // SHARE_GC_LULL_MUTATOR_LULLBARRIERSET_INLINE_HPP
