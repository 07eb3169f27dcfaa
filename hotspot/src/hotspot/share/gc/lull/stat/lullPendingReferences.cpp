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

#include "gc/lull/stat/lullPendingReferences.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"

volatile size_t LullPendingReferences::_garbage = 0;
volatile size_t LullPendingReferences::_references = 0;
volatile size_t LullPendingReferences::_garbage_at_pause = 0;
volatile size_t LullPendingReferences::_references_at_pause = 0;
size_t LullPendingReferences::_garbage_at_all = 0;
size_t LullPendingReferences::_outstanding = 0;
volatile size_t LullPendingReferences::_garbage_due = SIZE_MAX;
volatile size_t LullPendingReferences::_references_due = SIZE_MAX;

// Passes the limit, and is the first to do so.
static bool passes(volatile size_t* limit, size_t count) {
  const size_t due = Atomic::load(limit);
  return count >= due && due != SIZE_MAX && Atomic::cmpxchg(limit, due, SIZE_MAX) == due;
}

bool LullPendingReferences::add(size_t garbage, size_t references) {
  const size_t all_garbage = Atomic::add(&_garbage, garbage, memory_order_relaxed);
  const size_t all_references = references == 0 ? Atomic::load(&_references)
                                                : Atomic::add(&_references, references, memory_order_relaxed);
  // Both are tried: each is said once.
  const bool any = all_references != Atomic::load(&_references_at_pause);
  const bool by_garbage = any && passes(&_garbage_due, all_garbage);
  const bool by_references = passes(&_references_due, all_references);
  return by_garbage || by_references;
}

static size_t limit_after(size_t mark, size_t limit) {
  return limit < SIZE_MAX - mark ? mark + limit : SIZE_MAX;
}

void LullPendingReferences::set_limits(size_t garbage, size_t references) {
  Atomic::store(&_garbage_due, limit_after(Atomic::load(&_garbage_at_pause), garbage));
  Atomic::store(&_references_due, limit_after(Atomic::load(&_references_at_pause), references));
}

void LullPendingReferences::begin_anew(bool all_looked_at, size_t cleared) {
  assert_at_safepoint();
  const size_t outstanding = _outstanding + references();
  _outstanding = all_looked_at ? 0 : outstanding - MIN2(cleared, outstanding);
  if (all_looked_at) {
    _garbage_at_all = all_garbage();
  }
  Atomic::store(&_garbage_at_pause, Atomic::load(&_garbage));
  Atomic::store(&_references_at_pause, Atomic::load(&_references));
}

// The mark first: a count is never below it.
static size_t since(const volatile size_t* mark, const volatile size_t* count) {
  const size_t from = Atomic::load_acquire(mark);
  return Atomic::load(count) - from;
}

size_t LullPendingReferences::garbage()     { return since(&_garbage_at_pause, &_garbage); }
size_t LullPendingReferences::references()  { return since(&_references_at_pause, &_references); }
size_t LullPendingReferences::all_garbage() { return Atomic::load(&_garbage); }

size_t LullPendingReferences::garbage_since_all() { return all_garbage() - _garbage_at_all; }
size_t LullPendingReferences::outstanding()          { return _outstanding + references(); }
size_t LullPendingReferences::looked_at()            { return _outstanding; }
