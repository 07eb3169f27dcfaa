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

#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "runtime/thread.hpp"

LullThreadLocalData* LullThreadLocalData::_first = nullptr;
volatile int LullThreadLocalData::_list_lock = 0;
uint64_t LullThreadLocalData::_names_given = 0;

// Names come round after some billions of threads, and some threads live that long. Of one that has ended there are no private objects.
LullBlockTable::Owner LullThreadLocalData::new_name() {
  const LullBlockTable::Owner names = LullThreadNames;
  LullBlockTable::Owner name;
  do {
    name = (LullBlockTable::Owner)(_names_given++ % names) + 1;
    assert(name != LullBlockTable::NoOwner, "from 1 to their number");
  } while (_names_given > names && is_name_in_use(name));
  return name;
}

bool LullThreadLocalData::is_name_in_use(LullBlockTable::Owner name) {
  assert(_list_lock != 0, "the list may not change");
  for (const LullThreadLocalData* data = _first; data != nullptr; data = data->_next) {
    if (data->_owner == name) {
      return true;
    }
  }
  return false;
}

// A thread that is attached is not a current thread yet, and cannot take a Mutex.
void LullThreadLocalData::enlist() {
  assert(_owner == LullBlockTable::NoOwner, "it is in the list");
  Thread::SpinAcquire(&_list_lock);
  _owner = new_name();
  _next = _first;
  if (_first != nullptr) {
    _first->_previous = this;
  }
  _first = this;
  Thread::SpinRelease(&_list_lock);
}

void LullThreadLocalData::delist() {
  assert(_owner != LullBlockTable::NoOwner, "it is not in the list");
  Thread::SpinAcquire(&_list_lock);
  if (_next != nullptr) {
    _next->_previous = _previous;
  }
  if (_previous != nullptr) {
    _previous->_next = _next;
  } else {
    _first = _next;
  }
  Thread::SpinRelease(&_list_lock);
}

LullThreadLocalData::LullThreadLocalData()
  : _allocator(nullptr),
    _publisher(nullptr),
    _local_collector(nullptr),
    _local_statistics(nullptr),
    _mounted(nullptr),
    _owner(LullBlockTable::NoOwner),
    _public_mode(false),
    _has_unmounted(false),
    _store_sp(nullptr),
    _store_pc(nullptr),
    _next_leak_sample(0),
    _mutator(nullptr),
    _next(nullptr),
    _previous(nullptr) {
  enlist();
}

LullThreadLocalData::~LullThreadLocalData() {
  delist();
}

void LullThreadLocalData::create(Thread* thread)  { ::new (data(thread)) LullThreadLocalData(); }
void LullThreadLocalData::destroy(Thread* thread) { data(thread)->~LullThreadLocalData(); }
