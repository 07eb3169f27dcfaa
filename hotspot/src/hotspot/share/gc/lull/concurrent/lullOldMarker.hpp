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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLOLDMARKER_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLOLDMARKER_HPP

#include "gc/lull/concurrent/lullCodeSet.hpp"
#include "gc/lull/concurrent/lullPrefetchQueue.hpp"
#include "gc/lull/concurrent/lullSparseNotes.hpp"
#include "gc/shared/taskqueue.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/growableArray.hpp"

class LullCycleMarks;
class LullFarMarker;
class LullOldMarker;
class ReferenceProcessor;

// An old object that a cycle has marked, and that is to be looked at.
class LullOldTask {
public:
  enum class What : uint32_t {
    New,        // as a whole, for the first time
    Again,      // a mutator has written to it since
    Elements    // of an array
  };

private:
  oop      _obj;
  What     _what;
  uint32_t _start;
  uint32_t _end;    // exclusive

  LullOldTask(oop obj, What what, size_t start, size_t end)
    : _obj(obj), _what(what), _start((uint32_t)start), _end((uint32_t)end) {}

public:
  LullOldTask() : LullOldTask(nullptr, What::New, 0, 0) {}

  static LullOldTask of_new(oop obj)   { return LullOldTask(obj, What::New, 0, 0); }
  static LullOldTask of_again(oop obj) { return LullOldTask(obj, What::Again, 0, 0); }
  static LullOldTask of_elements(oop array, size_t start, size_t end) {
    return LullOldTask(array, What::Elements, start, end);
  }

  oop obj() const        { return _obj; }
  What what() const      { return _what; }
  size_t start() const   { return _start; }
  size_t end() const     { return _end; }

  DEBUG_ONLY(bool is_valid() const { return _obj != nullptr; })
};

typedef OverflowTaskQueue<LullOldTask, mtGC>        LullOldQueue;
typedef GenericTaskQueueSet<LullOldQueue, mtGC>     LullOldQueueSet;

// Visits the fields of an old object and, in a cycle that may unload classes, its class.
class LullMarkOldClosure final : public ClaimMetadataVisitingOopIterateClosure {
private:
  LullOldMarker* const         _marker;
  const ReferenceIterationMode _mode;

  template <typename T> void visit(T* p);

public:
  LullMarkOldClosure(LullOldMarker* marker, ReferenceDiscoverer* discoverer, ReferenceIterationMode mode);

  ReferenceIterationMode reference_iteration_mode() override { return _mode; }
  bool do_metadata() override;
  void do_nmethod(nmethod* nm) override;    // in a frame of a stack chunk
  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;
};

// One worker's trace of old objects, while mutators run. It looks at old objects only, which stay where they are, and
// writes nothing that mutators read. What a field refers to and is not old is not even looked at: young and private
// objects are traced in each pause.
//
// A mutator may write to a field before or after it is read here. Either way its card is dirty (R), and the next
// pause has the object looked at again.
//
// In a cycle that may unload classes each object leads to its class, and so to what the class's loader refers to, once
// for each loader (ClassLoaderData::_claim_strong). A handle that a loader gets later is visited in the next pause.
// Code in the frames of stack chunks is noted for the remark: only a pause may change code, and unlink it.
class LullOldMarker : public CHeapObj<mtGC> {
private:
  LullCycleMarks* const    _marks;
  LullOldQueueSet* const   _queues;
  LullOldQueue             _queue;
  LullPrefetchQueue<oop>   _candidates;     // found in fields, and perhaps neither old nor new to the cycle
  LullSparseNotes* const   _sparse_notes;
  LullMarkOldClosure       _new_closure;
  LullMarkOldClosure       _again_closure;  // no referents: References are looked at as new ones
  const LullFarMarker* const _far;          // knows what servers mark
  GrowableArrayCHeap<uint64_t, mtGC> _for_servers;
  LullCodeSet              _code;           // in frames of the chunks of this cycle
  bool                     _follows_classes;
  DEBUG_ONLY(bool          _is_far;)        // servers mark in this cycle: tasks may be of objects without a mark
  size_t                   _objects;        // marked, in this cycle
  size_t                   _words;

  void claim(oop obj);
  size_t do_new(oop obj);
  size_t do_elements(oop array, size_t start, size_t end);
  size_t do_task(const LullOldTask& task);    // returns about what it was, in objects
  bool take(LullOldTask* task);

public:
  LullOldMarker(LullCycleMarks* marks, LullOldQueueSet* queues, ReferenceDiscoverer* discoverer,
                LullSparseNotes* sparse_notes, const LullFarMarker* far_marker);

  LullOldQueue* queue() { return &_queue; }
  LullCodeSet* code()   { return &_code; }

  // Objects that were marked here, and that servers look at. The marker adds some; the thread of the cycle takes them
  // while it stands still.
  GrowableArrayCHeap<uint64_t, mtGC>* for_servers() { return &_for_servers; }
  bool follows_classes() const { return _follows_classes; }

  // This field of an old object refers to this one.
  void visit(const void* field, oop obj);

  // Visits so many objects or elements, about; returns whether some are left in the own queue. What is found in fields is in the queue then: nothing
  // is known of what the next pause moves.
  bool drain(size_t work);
  bool steal(uint worker_id);

  size_t objects() const { return _objects; }
  size_t words() const   { return _words; }
  void begin_cycle(bool follows_classes, bool is_far);
};

inline bool LullMarkOldClosure::do_metadata() { return _marker->follows_classes(); }

#endif // SHARE_GC_LULL_CONCURRENT_LULLOLDMARKER_HPP
