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

#ifndef SHARE_GC_LULL_COLLECT_LULLMARKWORKER_INLINE_HPP
#define SHARE_GC_LULL_COLLECT_LULLMARKWORKER_INLINE_HPP

#include "gc/lull/collect/lullMarkWorker.hpp"

#include "classfile/classLoaderData.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/klass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/prefetch.inline.hpp"
#include "utilities/stack.inline.hpp"

inline void LullMarkWorker::fetch(ScannerTask task) {
  if (task.is_narrow_oop_ptr()) {
    const oop obj = UseCompressedOops ? CompressedOops::decode_not_null(*task.to_narrow_oop_ptr()) : *(oop*)task.to_narrow_oop_ptr();
    if (_young && _blocks->has_marks(LullGeometry::block_of(cast_from_oop<void*>(obj)))) {
      _mark_bitmap->prefetch(obj);    // it may be old, and stay
    }
    Prefetch::write(cast_from_oop<void*>(obj), 0);
  } else {
    const oop obj = task.to_oop();
    _mark_bitmap->prefetch(obj);
    Prefetch::write(_public_map->address_of_word(cast_from_oop<void*>(obj)), 0);
    Prefetch::read(cast_from_oop<void*>(obj), 0);
  }
  _fetched.add(task);
}

// What is fetched already no other worker can steal, but it costs no fence to take it out again.
inline void LullMarkWorker::push(ScannerTask task) {
  if (!_fetched.is_full()) {
    fetch(task);
  } else {
    _queue.push(task);
  }
}

// Calls visit_evacuated(oop) if p refers to an object of an evacuated block.
template <typename T, typename F>
inline void LullMarkWorker::mark_through(T* p, F visit_evacuated) {
  const T heap_oop = RawAccess<>::oop_load(p);
  if (CompressedOops::is_null(heap_oop)) {
    return;
  }
  const oop obj = CompressedOops::decode_not_null(heap_oop);
  const LullBlockIndex block = LullGeometry::block_of(cast_from_oop<void*>(obj));
  if (_young && !_blocks->has_young(block)) {
    assert(_mark_bitmap->is_marked(obj), PTR_FORMAT " is not marked, in block %u without young objects", p2i(obj), untype(block));
    if (_marks_old) {
      _sparse_notes->note(p, obj, LullSparseNotes::By::Pause);
    }
    if (_greys) {
      push(ScannerTask(obj));
    }
    return;   // old: not even its mark is looked at
  }
  if (_marks_old && !_greys && _mark_bitmap->is_marked(obj)) {
    return;   // old, beside what is young
  }
  if (_evacuating && _blocks->is_evacuated(block)) {
    visit_evacuated(obj);
  } else {
    push(ScannerTask(obj));
  }
}

inline bool LullMarkWorker::remember_survivor(const void* place, oop obj) {
  if (obj == nullptr || !_blocks->has_survivors(LullGeometry::block_of(cast_from_oop<void*>(obj)))) {
    return false;
  }
#ifdef ASSERT
  if (LullDropBarrier == LullDropSurvivors) {
    return false;
  }
#endif
  if (_blocks->covers(place)) {
    _card_table->remember_survivor(place);
  }
  return true;
}

template <typename T>
inline oop LullMarkWorker::evacuate_through(T* p, oop obj, bool* claimed) {
  assert(_evacuating, "nothing moves in this collection");
  const oop new_obj = evacuate(obj, claimed);
  if (new_obj != obj) {
    RawAccess<IS_NOT_NULL>::oop_store(p, new_obj);
    remember_survivor(p, new_obj);
  }
  return new_obj;
}

template <typename T>
inline void LullMarkWorker::mark_root(T* p) {
  mark_through(p, [&](oop obj) {
    bool claimed = false;
    const oop new_obj = evacuate_through(p, obj, &claimed);
    if (claimed) {
      push(ScannerTask(new_obj));
    }
  });
}

template <typename T>
inline void LullMarkWorker::mark_field(T* p) {
  mark_through(p, [&](oop obj) {
    push(ScannerTask((narrowOop*)p));   // of either size: the tag of the other one is that of objects
  });
}

inline void LullMarkWorker::remember(oop obj) {
  assert(_young && _mark_bitmap->is_marked(obj), PTR_FORMAT " is not old, or all of the heap is traced", p2i(obj));
  _remembered.push(obj);
}

inline void LullMarkWorker::remember_part(objArrayOop array, size_t start, size_t end) {
  assert(_young && start < end && end <= (size_t)array->length(), "elements %zu to %zu of %d", start, end, array->length());
  _remembered_parts.push(LullArrayPart{array, start, end});
}

inline void LullMarkRootClosure::do_oop(oop* p)       { _worker->mark_root(p); }
inline void LullMarkRootClosure::do_oop(narrowOop* p) { _worker->mark_root(p); }

inline bool LullMarkClosure::do_metadata() { return _worker->follows_classes(); }

inline void LullMarkClosure::do_cld(ClassLoaderData* cld) { cld->oops_do(this, _worker->class_claim()); }

// One of an archive may have no loader yet.
inline void LullMarkClosure::do_klass(Klass* klass) {
  ClassLoaderData* const cld = klass->class_loader_data();
  if (cld != nullptr) {
    do_cld(cld);
  }
}

// With compressed references, others are outside of the heap: of class loaders.
inline void LullMarkClosure::do_oop(oop* p) {
  if (UseCompressedOops) {
    _worker->mark_root(p);
  } else {
    _worker->mark_field(p);
  }
}

inline void LullMarkClosure::do_oop(narrowOop* p) { _worker->mark_field(p); }

#endif // SHARE_GC_LULL_COLLECT_LULLMARKWORKER_INLINE_HPP
