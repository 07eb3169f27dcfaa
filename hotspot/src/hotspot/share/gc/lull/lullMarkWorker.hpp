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

#ifndef SHARE_GC_LULL_LULLMARKWORKER_HPP
#define SHARE_GC_LULL_LULLMARKWORKER_HPP

#include "gc/lull/lullAllocator.hpp"
#include "gc/shared/partialArraySplitter.hpp"
#include "gc/shared/partialArrayState.hpp"
#include "gc/shared/stringdedup/stringDedup.hpp"
#include "gc/shared/taskqueue.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "utilities/stack.hpp"

class LullBlockTable;
class LullMarkWorker;
class LullPublicMap;
class MarkBitMap;
class ReferenceProcessor;
class TaskTerminator;

typedef OverflowTaskQueue<ScannerTask, mtGC>        LullMarkQueue;
typedef GenericTaskQueueSet<LullMarkQueue, mtGC>    LullMarkQueueSet;

// Visits a reference field or root: marks what it refers to, moves that first if its
// block is evacuated, and stores the new address.
class LullMarkClosure final : public ClaimMetadataVisitingOopIterateClosure {
private:
  LullMarkWorker* const        _worker;
  const ReferenceIterationMode _mode;

  template <typename T> void do_oop_work(T* p);

public:
  LullMarkClosure(LullMarkWorker* worker, ReferenceProcessor* reference_processor, ReferenceIterationMode mode);

  ReferenceIterationMode reference_iteration_mode() override { return _mode; }

  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;

  // Code in the frames of a stack chunk.
  void do_nmethod(nmethod* nm) override;
};

// Elements of an array.
struct LullArrayPart {
  objArrayOop _array;
  size_t      _start;
  size_t      _end;      // exclusive
};

// Counts of one worker in one collection.
struct LullMarkStatistics {
  size_t _marked_objects;
  size_t _marked_words;
  size_t _private_objects;     // of the marked ones
  size_t _private_words;
  size_t _evacuated_objects;
  size_t _evacuated_words;
  size_t _failed_objects;      // of an evacuated block, left in place
  size_t _failed_words;

  void add(const LullMarkStatistics& other);
};

// One worker's part of the trace of a global collection: its queue, its copy
// allocator, its statistics.
//
// An object is claimed by exactly one worker:
//   in an evacuated block     by the CAS that forwards its header to the copy, or to
//                             itself if there is no room for a copy
//   elsewhere                 by setting its mark bit
// The claimer marks its lines and scans its fields.
//
// An object in a block with an owner stays where it is and what it is. By P and B a private one is
// met only from its own thread or other private objects of that thread; and whatever it refers to is
// marked as from any other object. A private Reference keeps its referent, as in a local
// collection: discovery would link it with references of other threads. But for entries of the maps of thread-local values:
// they need not be enqueued, and are cleared by the worker that has found them, when all is marked.

class LullMarkWorker : public CHeapObj<mtGC> {
private:
  LullBlockTable* const     _blocks;
  LullPublicMap* const      _public_map;
  MarkBitMap* const         _mark_bitmap;
  LullMarkQueueSet* const   _queues;

  LullMarkQueue             _queue;
  PartialArraySplitter      _array_splitter;
  LullMarkClosure           _closure;
  LullMarkClosure           _private_closure;   // discovers no references
  LullMarkClosure           _entry_closure;     // nor does it visit referents
  MarkingNMethodClosure     _code_closure;
  LullAllocator             _copy_allocator;
  StringDedup::Requests     _dedup_requests;
  Stack<oop, mtGC>          _self_forwarded;
  Stack<oop, mtGC>          _private_entries;   // of maps of thread-local values; their referents have not been visited
  Stack<oop, mtGC>          _remembered;        // old objects whose fields are to be visited
  Stack<LullArrayPart, mtGC> _remembered_parts; // and elements
  LullMarkStatistics        _statistics;
  bool                      _evacuating;        // some blocks are evacuated in this collection
  bool                      _young;             // marks of old objects are those of the last collection
  bool                      _copy_failed;       // no more room for copies in this collection
  DEBUG_ONLY(uint           _copies;)

  HeapWord* allocate_copy(size_t words);
  oop evacuate(oop obj);
  oop keep_in_place(oop obj, markWord mark, size_t words);

  LullMarkClosure* closure_of(oop obj, bool is_private);
  void mark_lines(oop obj, LullBlockIndex block, size_t words, bool has_owner, bool is_private);
  void follow(oop obj);
  void follow_array(objArrayOop array);
  void follow_array_part(objArrayOop array, size_t start, size_t end);
  void follow_task(ScannerTask task, bool stolen);
  void request_deduplication(oop obj, bool is_private);

public:
  LullMarkWorker(LullBlockTable* blocks,
                 LullBlockSupply* supply,
                 LullPublicMap* public_map,
                 MarkBitMap* mark_bitmap,
                 LullMarkQueueSet* queues,
                 PartialArrayStateManager* array_states,
                 uint max_workers,
                 ReferenceProcessor* reference_processor);

  LullMarkQueue* queue()      { return &_queue; }
  LullMarkClosure* closure()  { return &_closure; }

  // Code on stacks, of threads and of continuations: keeps it, marks what it refers to,
  // and patches its instructions, once for each method. The closure has moved an object
  // when it returns, so that code can be patched at once. Code that is on no stack is
  // updated by a later phase.
  MarkingNMethodClosure* code_closure() { return &_code_closure; }
  const LullMarkStatistics& statistics() const { return _statistics; }

  void prepare(bool evacuating, bool young);

  // Old objects, or parts of them, that may refer to young ones; then all of these.
  void remember(oop obj) { _remembered.push(obj); }
  void remember_part(objArrayOop array, size_t start, size_t end) { _remembered_parts.push(LullArrayPart{array, start, end}); }
  void follow_remembered();

  template <typename T> void mark_through(T* p);

  // Until the own queue is empty.
  void drain();
  // Until all queues are empty.
  void drain_and_steal(uint worker_id, TaskTerminator* terminator);

  // Removes the forwarding from objects that stayed in evacuated blocks, and referents that are not alive
  // from private entries. When all is marked, references are processed, and no other worker runs.
  void finish(BoolObjectClosure* is_alive);
};

#endif // SHARE_GC_LULL_LULLMARKWORKER_HPP
