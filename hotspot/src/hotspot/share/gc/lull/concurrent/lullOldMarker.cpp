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

#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/concurrent/lullFarMarker.hpp"
#include "gc/lull/concurrent/lullOldMarker.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/continuationGCSupport.inline.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/prefetch.inline.hpp"

// As much work as an object.
static const size_t ElementsPerObject = 4;

template <typename T>
inline void LullMarkOldClosure::visit(T* p) {
  const T heap_oop = RawAccess<MO_RELAXED>::oop_load(p);
  if (!CompressedOops::is_null(heap_oop)) {
    _marker->visit(p, CompressedOops::decode_not_null(heap_oop));
  }
}

LullMarkOldClosure::LullMarkOldClosure(LullOldMarker* marker, ReferenceDiscoverer* discoverer,
                                       ReferenceIterationMode mode)
  : ClaimMetadataVisitingOopIterateClosure(ClassLoaderData::_claim_strong, discoverer), _marker(marker), _mode(mode) {}

void LullMarkOldClosure::do_nmethod(nmethod* nm) { _marker->code()->add(nm); }

void LullMarkOldClosure::do_oop(oop* p)       { visit(p); }
void LullMarkOldClosure::do_oop(narrowOop* p) { visit(p); }

LullOldMarker::LullOldMarker(LullCycleMarks* marks, LullOldQueueSet* queues, ReferenceDiscoverer* discoverer,
                             LullSparseNotes* sparse_notes, const LullFarMarker* far_marker)
  : _marks(marks),
    _queues(queues),
    _queue(),
    _candidates(),
    _sparse_notes(sparse_notes),
    _new_closure(this, discoverer, OopIterateClosure::DO_DISCOVERY),
    _again_closure(this, nullptr, OopIterateClosure::DO_FIELDS_EXCEPT_REFERENT),
    _far(far_marker),
    _for_servers(1),
    _code(),
    _follows_classes(false),
    _objects(0),
    _words(0) {
  DEBUG_ONLY(_is_far = false;)
}

void LullOldMarker::begin_cycle(bool follows_classes, bool is_far) {
  DEBUG_ONLY(_is_far = is_far;)
  _follows_classes = follows_classes DEBUG_ONLY(&& LullDropMarking != LullCycle::DropClasses);
  _code.clear();
  _for_servers.clear();
  _objects = 0;
  _words = 0;
}

void LullOldMarker::visit(const void* field, oop obj) {
  _sparse_notes->note(field, obj, LullSparseNotes::By::Marker);
  if (_candidates.is_full()) {
    claim(_candidates.take());
  }
  _marks->prefetch(obj);
  Prefetch::read(cast_from_oop<void*>(obj), 0);
  _candidates.add(obj);
}

// Its mark says that it is an object, and old; without one not even its header may be read.
inline void LullOldMarker::claim(oop obj) {
  if (_marks->is_old(obj) && _marks->par_mark(obj)) {
    _queue.push(LullOldTask::of_new(obj));
  }
}

size_t LullOldMarker::do_elements(oop array, size_t start, size_t end) {
  const size_t part_end = MIN2(end, start + (size_t)ObjArrayMarkingStride);
  if (part_end < end) {
    _queue.push(LullOldTask::of_elements(array, part_end, end));   // others can steal it
  }
  objArrayOop(array)->oop_iterate_range(&_again_closure, (int)start, (int)part_end);
  return 1 + (part_end - start) / ElementsPerObject;
}

size_t LullOldMarker::do_new(oop obj) {
  if (_far->is_on() && _far->is_for_servers(obj)) {
    _for_servers.append(cast_from_oop<uint64_t>(obj));
    return 1;
  }
  size_t words;
  size_t work = 1;
  if (obj->is_objArray()) {
    words = obj->size();
    if (_follows_classes) {
      _new_closure.do_klass(obj->klass());
    }
    work = do_elements(obj, 0, (size_t)objArrayOop(obj)->length());
  } else {
    ContinuationGCSupport::transform_stack_chunk(obj);
    words = obj->oop_iterate_size(&_new_closure);
  }
  _marks->note(obj, words);
  _objects++;
  _words += words;
  return work;
}

// A Reference was perhaps looked at before its constructor has stored what it refers to: then it is discovered when it is
// looked at again. One that was discovered stays so: ReferenceProcessor links it once.
static bool may_be_discovered(oop obj) {
  return obj->klass()->is_reference_instance_klass() && !lull_is_left_out("LateMarkers");
}

size_t LullOldMarker::do_task(const LullOldTask& task) {
  const oop obj = task.obj();
  const bool is_alive = _marks->is_alive(obj);
  assert(_marks->is_old(obj) && (is_alive || _is_far), PTR_FORMAT " is not one of the cycle", p2i(obj));
  if (!is_alive && !_far->is_on()) {
    return 1;   // a pause has left it while nobody knew what servers have marked: it has no mark
  }
  switch (task.what()) {
    case LullOldTask::What::New:
      return do_new(obj);
    case LullOldTask::What::Again:
      if (obj->is_objArray()) {
        return do_elements(obj, 0, (size_t)objArrayOop(obj)->length());
      }
      ContinuationGCSupport::transform_stack_chunk(obj);
      // One that perhaps is dead must not be discovered: somebody would get it.
      obj->oop_iterate(is_alive && may_be_discovered(obj) ? &_new_closure : &_again_closure);
      return 1;
    case LullOldTask::What::Elements:
      return do_elements(obj, task.start(), task.end());
  }
  ShouldNotReachHere();
  return 0;
}

inline bool LullOldMarker::take(LullOldTask* task) {
  while (_queue.pop_overflow(*task)) {
    if (!_queue.try_push_to_taskqueue(*task)) {
      return true;
    }
  }
  return _queue.pop_local(*task);
}

bool LullOldMarker::drain(size_t work) {
  bool is_empty = false;
  for (size_t done = 0; done < work && !is_empty; ) {
    LullOldTask task;
    while (!take(&task)) {
      if (_candidates.is_empty()) {
        is_empty = true;
        break;
      }
      claim(_candidates.take());
    }
    if (!is_empty) {
      done += do_task(task);
    }
  }
  while (!_candidates.is_empty()) {
    claim(_candidates.take());
  }
  return !_queue.is_empty();
}

bool LullOldMarker::steal(uint worker_id) {
  LullOldTask task;
  if (!_queues->steal(worker_id, task)) {
    return false;
  }
  _queue.push(task);
  return true;
}
