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

#include "gc/lull/lullAllocator.hpp"
#include "gc/lull/lullLocalCollector.hpp"
#include "gc/lull/lullPublisher.hpp"
#include "gc/lull/lullThreadLocalData.hpp"
#include "runtime/atomic.hpp"

volatile LullBlockTable::Owner LullThreadLocalData::_last_owner = LullBlockTable::NoOwner;

// There may be as many threads, one after the other, as there are names.
static LullBlockTable::Owner next_owner(volatile LullBlockTable::Owner* last) {
  LullBlockTable::Owner owner;
  do {
    owner = Atomic::add(last, (LullBlockTable::Owner)1);
  } while (owner == LullBlockTable::NoOwner);
  return owner;
}

LullThreadLocalData::LullThreadLocalData()
  : _allocator(nullptr),
    _publisher(nullptr),
    _local_collector(nullptr),
    _owner(next_owner(&_last_owner)),
    _public_mode(false),
    _store_sp(nullptr),
    _store_pc(nullptr),
    _next_leak_sample(0) {}

LullThreadLocalData::~LullThreadLocalData() {
  delete _local_collector;
  delete _publisher;
  delete _allocator;
}

void LullThreadLocalData::create(Thread* thread)  { ::new (data(thread)) LullThreadLocalData(); }
void LullThreadLocalData::destroy(Thread* thread) { data(thread)->~LullThreadLocalData(); }
