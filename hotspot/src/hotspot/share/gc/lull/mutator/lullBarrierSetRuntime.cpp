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

#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullBarrierSetRuntime.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "oops/oop.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/javaThread.hpp"

// A leaf call leaves no anchor. A sample finds the code that has called by this frame.
#define THIS_FRAME ((intptr_t*)__builtin_frame_address(0))

JRT_LEAF(void, LullBarrierSetRuntime::publish(oopDesc* value))
  LullPublisher* const publisher = LullPublisher::of(JavaThread::current());
  publisher->begin_slow_call(THIS_FRAME);
  publisher->end_slow_call(LullStoreBarrier::publish(value));
JRT_END

JRT_LEAF(void, LullBarrierSetRuntime::before_store(void* field, oopDesc* value))
  LullPublisher* const publisher = LullPublisher::of(JavaThread::current());
  publisher->begin_slow_call(THIS_FRAME);
  publisher->end_slow_call(LullBarrierSet::before_store(field, value));
JRT_END

JRT_LEAF(void, LullBarrierSetRuntime::before_copy(void* from, void* to, size_t length))
  LullPublisher* const publisher = LullPublisher::of(JavaThread::current());
  publisher->begin_slow_call(THIS_FRAME);
  publisher->end_slow_call(LullBarrierSet::before_copy(from, to, length));
JRT_END

JRT_LEAF(void, LullBarrierSetRuntime::check_load(void* field, oopDesc* value))
  LullBarrierSet::check_load(field, value);
JRT_END
