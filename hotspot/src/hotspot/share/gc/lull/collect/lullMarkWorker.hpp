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

#ifndef SHARE_GC_LULL_COLLECT_LULLMARKWORKER_HPP
#define SHARE_GC_LULL_COLLECT_LULLMARKWORKER_HPP

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/alloc/lullSurvivorAllocator.hpp"
#include "gc/lull/concurrent/lullCodeSet.hpp"
#include "gc/lull/concurrent/lullOldMarker.hpp"
#include "gc/lull/concurrent/lullPrefetchQueue.hpp"
#include "gc/shared/partialArraySplitter.hpp"
#include "gc/shared/partialArrayState.hpp"
#include "gc/shared/stringdedup/stringDedup.hpp"
#include "gc/shared/taskqueue.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "utilities/stack.hpp"

class LullBlockTable;
class LullCardTable;
class LullCycle;
class LullCycleMarks;
class LullMarkBitMap;
class LullMarkWorker;
class LullMemory;
class LullPauseProgress;
class LullPublicMap;
class LullSparseBlocks;
class ReferenceProcessor;
class TaskTerminator;

typedef OverflowTaskQueue<ScannerTask, mtGC>        LullMarkQueue;
typedef GenericTaskQueueSet<LullMarkQueue, mtGC>    LullMarkQueueSet;

// Visits a root: what it refers to will be marked, and is moved before this returns if its block is evacuated and it is not old.
class LullMarkRootClosure final : public OopClosure {
private:
  LullMarkWorker* const _worker;

public:
  explicit LullMarkRootClosure(LullMarkWorker* worker) : _worker(worker) {}

  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;
};

// Visits the fields of an object and, in a collection that may unload classes, its class. What they refer to will be
// marked, moved if its block is evacuated and they are not old, and the field updated before marking has ended.
class LullMarkClosure final : public ClaimMetadataVisitingOopIterateClosure {
private:
  LullMarkWorker* const        _worker;
  const ReferenceIterationMode _mode;

public:
  LullMarkClosure(LullMarkWorker* worker, ReferenceProcessor* reference_processor, ReferenceIterationMode mode);

  ReferenceIterationMode reference_iteration_mode() override { return _mode; }

  // A young collection finds the classes that lead to something young by their loaders. But one of a cycle that may
  // unload classes has to know which are alive.
  bool do_metadata() override;
  void do_klass(Klass* klass) override;
  void do_cld(ClassLoaderData* cld) override;

  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;

  // Code in the frames of a stack chunk.
  void do_nmethod(nmethod* nm) override;

  // The References of this collection are the business of this one.
  void discover_with(ReferenceDiscoverer* discoverer) { set_ref_discoverer_internal(discoverer); }
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
  size_t _survivor_objects;    // of the evacuated ones, those whose copies stay young
  size_t _survivor_words;
  size_t _mature_words;        // of survivors of the last young collection, in evacuated blocks
  size_t _cleared_references;  // or enqueued, if final
  size_t _sparse_words;        // of sparse old blocks, copied or left there
  size_t _greyed_objects;      // old ones that a cycle of concurrent marking has got from this pause

  void add(const LullMarkStatistics& other);
};

// One worker's part of a trace: its queue, its allocators for copies, its statistics.
//
// A task is a reference that has been visited: the object; or the field, if the object's block is evacuated; or a part
// of an array. The object is looked at when the task is done, for only then has its memory come into the cache (Garner,
// Blackburn and Frampton, "Effective prefetch for mark-sweep garbage collection", ISMM 2007). So an object is a task as
// often as a reference to it is visited, and exactly one worker claims it:
//   in an evacuated block     by the CAS that forwards its header to the copy, or to itself if there is no room for a
//                             copy; and then
//   everywhere                by setting its mark bit
// Who has claimed it marks its lines and scans its fields. In a young collection old objects are marked already, so
// nobody claims them.
//
// A worker that stores a reference to a survivor has the field remembered, for the field may turn out to be one of an
// old object (R).
//
// An object in a block with an owner stays where it is, and private if it is. By P and B a private object is met only
// from its own thread, or from other private objects of that thread. What it refers to is marked as from any other
// object. A private Reference keeps its referent: discovery would link it with references of other threads. Entries of
// the maps of thread-local values are the exception. They need not be enqueued, and the worker that has found them
// clears them when all is marked.
//
// While a cycle of concurrent marking runs (lullCycle.hpp), a young collection also marks for it:
//   what becomes old          has a mark of the cycle at once: its fields are visited here
//   what is old already       and met from roots or from what is not old, is marked and left to the markers
//   old holders on dirty cards  are looked at again by the markers, if they have a mark of the cycle; else a marker
//                             will come to them, or they are dead: then what is old does not live by them
// In the cycle's last pause, the remark, the workers follow what they meet themselves. There the cycle's mark claims
// an object, old or young.
//
// In a cycle that may unload classes an object that is followed for it leads to its class's loader, which is claimed
// once in the cycle, by whoever comes first. Code in frames of stack chunks waits for the remark.

class LullMarkWorker : public CHeapObj<mtGC> {
private:
  LullBlockTable* const     _blocks;
  LullPublicMap* const      _public_map;
  LullMarkBitMap* const     _mark_bitmap;
  LullCardTable* const      _card_table;        // nullptr without young collections
  LullMarkQueueSet* const   _queues;
  LullPauseProgress* const  _progress;
  ReferenceProcessor* const _reference_processor;

  LullMarkQueue             _queue;
  LullPrefetchQueue<ScannerTask> _fetched;      // tasks whose memory has been asked for
  PartialArraySplitter      _array_splitter;
  LullMarkRootClosure       _root_closure;
  LullMarkClosure           _closure;
  LullMarkClosure           _private_closure;   // discovers no references
  LullMarkClosure           _entry_closure;     // nor does it visit referents
  MarkingNMethodClosure     _code_closure;
  LullAllocator             _copy_allocator;
  LullSurvivorAllocator     _survivor_allocator;
  StringDedup::Requests     _dedup_requests;
  Stack<oop, mtGC>          _self_forwarded;
  Stack<oop, mtGC>          _private_entries;   // of maps of thread-local values; their referents have not been visited
  Stack<oop, mtGC>          _remembered;        // old objects whose fields are to be visited
  Stack<LullArrayPart, mtGC> _remembered_parts; // and elements
  LullMarkStatistics        _statistics;
  size_t                    _reported_words;    // of the marked ones, those that others have been told of
  bool                      _evacuating;        // some blocks are evacuated in this collection
  bool                      _young;             // marks of old objects are those of the last collection
  bool                      _copy_failed;       // no more room for copies in this collection
  LullCycle* const          _cycle;             // nullptr without concurrent marking
  LullCycleMarks* const     _cycle_marks;       // as well
  Stack<LullOldTask, mtGC>  _grey;              // for the markers of the cycle
  Stack<LullOldTask, mtGC>  _left;              // by them, for a remark
  bool                      _marks_old;         // a cycle runs
  bool                      _remark;            // and this is its last pause
  bool                      _greys;             // what is visited now leads to old objects that are alive
  bool                      _follows_classes;   // from objects; else all classes are roots
  bool                      _may_unload;        // a remark after which classes and code that nothing leads to are dead
  int                       _class_claim;       // with which a class loader is claimed
  LullCodeSet               _chunk_code;        // in frames of chunks, for the remark
  Stack<nmethod*, mtGC>     _left_code;         // of that, for a remark
  const LullSparseBlocks*   _sparse;            // whose objects this collection moves; else nullptr
  LullSparseNotes* const    _sparse_notes;      // nullptr without concurrent marking
  DEBUG_ONLY(uint           _copies;)

  template <typename T, typename F> void mark_through(T* p, F visit_evacuated);
  template <typename T> void evacuate_field(T* p);
  template <typename T> oop evacuate_through(T* p, oop obj, bool* claimed);   // and stores in p where it is now

  HeapWord* allocate_copy(size_t words, LullFate fate);
  oop evacuate(oop obj, bool* claimed);
  oop keep_in_place(oop obj, markWord mark, size_t words, LullFate fate, bool* claimed);
  void count_moved(LullBlockIndex block, size_t words, LullFate fate);

  LullMarkClosure* closure_of(oop obj, bool is_private);
  void mark_lines(oop obj, LullBlockIndex block, size_t words, bool has_owner, bool is_private);
  void mark_straddler(HeapWord* obj, size_t words);
  void push(ScannerTask task);
  void fetch(ScannerTask task);
  bool take(ScannerTask* task);
  void do_task(ScannerTask task);
  void visit(oop obj);
  void visit_in_remark(oop obj);
  void grey(oop obj);
  bool may_grey(oop obj) const;
  bool may_be_marked(oop obj) const;
  void note_for_cycle(oop obj, LullBlockIndex block, size_t words, bool is_private);
  size_t follow_fields(oop obj, LullMarkClosure* closure);
  void follow(oop obj);
  void follow_grey(oop obj);
  LullMarkClosure* closure_of_holder(oop holder);
  void follow_old(oop obj);
  void follow_old_part(const LullArrayPart& part);
  void follow_left(const LullOldTask& task);
  void follow_array(objArrayOop array);
  void follow_array_part(objArrayOop array, size_t start, size_t end);
  void start_task(ScannerTask task, bool stolen);
  void request_deduplication(oop obj, bool is_private);
  void report_progress();
  void keep_chunk_code(nmethod* nm);

public:
  LullMarkWorker(LullBlockTable* blocks,
                 LullBlockSupply* supply,
                 LullMemory* memory,
                 LullMarkQueueSet* queues,
                 PartialArrayStateManager* array_states,
                 uint max_workers,
                 ReferenceProcessor* reference_processor,
                 LullPauseProgress* progress,
                 LullCycle* cycle);

  LullMarkQueue* queue()      { return &_queue; }
  OopClosure* root_closure()  { return &_root_closure; }

  // Code on stacks, of threads and of continuations: keeps it, marks what it refers to,
  // and patches its instructions, once for each method. The closure has moved an object
  // when it returns, so that code can be patched at once. Code that is on no stack is
  // updated by a later phase.
  MarkingNMethodClosure* code_closure() { return &_code_closure; }
  const LullMarkStatistics& statistics() const { return _statistics; }

  void prepare(bool evacuating, bool young);

  // The cycle marks in this young collection, or it is the remark. After prepare().
  void prepare_cycle(bool remark);

  // This young collection moves what is in sparse old blocks. After prepare().
  void prepare_move(const LullSparseBlocks* sparse) { _sparse = sparse; }

  // What the markers of the cycle have left to do; then all of that. Only in a remark.
  void leave(const LullOldTask& task);
  void leave_code(nmethod* nm);
  void follow_left();

  // An object that is alive has been linked to the list of References for the Java program, in this field, which
  // nobody visits after it.
  void grey_enqueued(const void* field, oop obj);

  // Gives the markers what they have to do. One thread.
  void give_grey_to_cycle();

  // Old objects, or parts of them, that may refer to young ones; then all of these.
  void remember(oop obj);
  void remember_part(objArrayOop array, size_t start, size_t end);
  void follow_remembered();

  // Does what is visited now lead to its class?
  bool follows_classes() const { return _follows_classes && (_greys || !_young); }
  int class_claim() const      { return _class_claim; }

  // Are classes that nothing leads to, and code that is on no stack, dead when this pause ends?
  bool may_unload() const { return _may_unload; }

  // Is what the handles of this loader refer to alive, as far as is known before the trace?
  bool is_known_alive(const ClassLoaderData* cld) const;

  // What is visited until this is called again is perhaps referred to by something dead. What is young of it is
  // followed, as always; what is old is not alive for it.
  void set_doubtful(bool is_doubtful) { _greys = _marks_old && !is_doubtful; }

  // Code in the frame of a stack chunk.
  void visit_chunk_code(nmethod* nm);

  // A reference to this object has been stored in this place, or found there. Nothing to do unless that is one in the heap, and the object a
  // survivor of this collection. Returns whether it is one.
  bool remember_survivor(const void* place, oop obj);

  // One more Reference is for the Java program to look at.
  void count_cleared_reference() { _statistics._cleared_references++; }

  template <typename T> void mark_root(T* p);
  template <typename T> void mark_field(T* p);

  // Until the own queue is empty.
  void drain();
  // Until all queues are empty.
  void drain_and_steal(uint worker_id, TaskTerminator* terminator);

  // Removes the forwarding from objects that stayed in evacuated blocks, and referents that are not alive
  // from private entries. When all is marked, references are processed, and no other worker runs.
  void finish(BoolObjectClosure* is_alive);
};

#endif // SHARE_GC_LULL_COLLECT_LULLMARKWORKER_HPP
