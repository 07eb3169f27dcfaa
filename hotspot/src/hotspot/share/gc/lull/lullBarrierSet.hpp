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

#ifndef SHARE_GC_LULL_LULLBARRIERSET_HPP
#define SHARE_GC_LULL_LULLBARRIERSET_HPP

#include "gc/shared/barrierSet.hpp"

// Every object counts as public and collections stop the world: stores need no
// barrier. What is here is the life of a thread's allocator.
class LullBarrierSet : public BarrierSet {
public:
  LullBarrierSet();

  void print_on(outputStream* st) const override {}

  void on_thread_create(Thread* thread) override;
  void on_thread_destroy(Thread* thread) override;
  void on_thread_detach(Thread* thread) override;

  template <DecoratorSet decorators, typename BarrierSetT = LullBarrierSet>
  class AccessBarrier : public BarrierSet::AccessBarrier<decorators, BarrierSetT> {};
};

template <>
struct BarrierSet::GetName<LullBarrierSet> {
  static const BarrierSet::Name value = BarrierSet::LullBarrierSet;
};

template <>
struct BarrierSet::GetType<BarrierSet::LullBarrierSet> {
  typedef ::LullBarrierSet type;
};

#endif // SHARE_GC_LULL_LULLBARRIERSET_HPP
