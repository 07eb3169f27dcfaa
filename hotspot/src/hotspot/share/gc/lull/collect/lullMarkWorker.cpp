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

#include "classfile/classLoaderData.hpp"
#include "classfile/javaClasses.inline.hpp"
#include "gc/lull/collect/lullMarkWorker.inline.hpp"
#include "gc/lull/collect/lullSweep.hpp"
#include "gc/lull/collect/lullUpdate.inline.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/concurrent/lullSparseBlocks.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullThreadLocalMap.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/shared/continuationGCSupport.inline.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/partialArraySplitter.inline.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "gc/shared/taskTerminator.hpp"
#include "memory/iterator.inline.hpp"
#include "oops/objArrayOop.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/prefetch.inline.hpp"
#include "utilities/copy.hpp"
#include "utilities/stack.inline.hpp"

// Tasks that remembered objects may leave in the queue before others are looked at: enough of them to fetch ahead.
static const uint RememberedBatch = 256;

// Objects between two reports of how much is traced: a fraction of a millisecond, but where they are large.
static const size_t ReportStep = 2048;

LullMarkClosure::LullMarkClosure(LullMarkWorker* worker, ReferenceProcessor* reference_processor, ReferenceIterationMode mode)
  : ClaimMetadataVisitingOopIterateClosure(ClassLoaderData::_claim_none /* see do_cld() */, reference_processor),
    _worker(worker),
    _mode(mode) {}

void LullMarkClosure::do_nmethod(nmethod* nm) {
  _worker->visit_chunk_code(nm);
}

// Not nmethod::follow_nmethod, HotSpot's own way: that is for collectors that do not move objects while they mark, and
// leaves the old addresses in the instructions. What code refers to that is young any young collection finds, by its
// list of such code. What is old is alive for the cycle only if the code still is when it ends.
void LullMarkWorker::visit_chunk_code(nmethod* nm) {
  if (_young && !_remark) {
    _chunk_code.add(nm);
  } else {
    keep_chunk_code(nm);
  }
}

void LullMarkWorker::keep_chunk_code(nmethod* nm) {
  if (!_remark || !lull_is_left_out("RemarkChunks")) {
    _code_closure.do_nmethod(nm);
  }
}

// If not: when something leads to the loader all its handles are visited. The object of one that has got its data
// after a marker has looked at that object leads nowhere.
bool LullMarkWorker::is_known_alive(const ClassLoaderData* cld) const {
  if (!_marks_old || !_cycle->follows_classes() || cld->claimed(ClassLoaderData::_claim_strong)) {
    return true;
  }
  const oop holder = cld->holder_no_keepalive();
  return holder == nullptr ? cld->is_alive() : _cycle_marks->is_alive(holder);
}

void LullMarkStatistics::add(const LullMarkStatistics& other) {
  _marked_objects    += other._marked_objects;
  _marked_words      += other._marked_words;
  _private_objects   += other._private_objects;
  _private_words     += other._private_words;
  _evacuated_objects += other._evacuated_objects;
  _evacuated_words   += other._evacuated_words;
  _failed_objects    += other._failed_objects;
  _failed_words      += other._failed_words;
  _survivor_objects  += other._survivor_objects;
  _survivor_words    += other._survivor_words;
  _mature_words      += other._mature_words;
  _cleared_references += other._cleared_references;
  _sparse_words      += other._sparse_words;
  _greyed_objects    += other._greyed_objects;
}

LullMarkWorker::LullMarkWorker(LullBlockTable* blocks,
                               LullBlockSupply* supply,
                               LullMemory* memory,
                               LullMarkQueueSet* queues,
                               PartialArrayStateManager* array_states,
                               uint max_workers,
                               ReferenceProcessor* reference_processor,
                               LullPauseProgress* progress,
                               LullCycle* cycle)
  : _blocks(blocks),
    _public_map(memory->public_map()),
    _mark_bitmap(memory->mark_bitmap()),
    _card_table(memory->card_table()),
    _queues(queues),
    _progress(progress),
    _reference_processor(reference_processor),
    _queue(),
    _fetched(),
    _array_splitter(array_states, max_workers, ObjArrayMarkingStride),
    _root_closure(this),
    _closure(this, reference_processor, OopIterateClosure::DO_DISCOVERY),
    _private_closure(this, nullptr, OopIterateClosure::DO_FIELDS),
    _entry_closure(this, nullptr, OopIterateClosure::DO_FIELDS_EXCEPT_REFERENT),
    _code_closure(&_root_closure, NMethodToOopClosure::FixRelocations, true /* keepalive */),
    _copy_allocator(supply, blocks, LullReserveUse::Allow, LullBlockTable::NoOwner, nullptr /* what lives is public */),
    _survivor_allocator(supply, blocks),
    _dedup_requests(),
    _self_forwarded(),
    _private_entries(),
    _remembered(),
    _remembered_parts(),
    _statistics(),
    _reported_words(0),
    _evacuating(false),
    _young(false),
    _copy_failed(false),
    _cycle(cycle),
    _cycle_marks(cycle == nullptr ? nullptr : cycle->marks()),
    _grey(),
    _left(),
    _marks_old(false),
    _remark(false),
    _greys(false),
    _follows_classes(true),
    _may_unload(false),
    _class_claim(ClassLoaderData::_claim_stw_fullgc_mark),
    _chunk_code(),
    _left_code(),
    _sparse(nullptr),
    _sparse_notes(cycle == nullptr ? nullptr : cycle->sparse()->new_notes()) {
  DEBUG_ONLY(_copies = 0;)
}

void LullMarkWorker::prepare(bool evacuating, bool young) {
  assert(_queue.is_empty() && _fetched.is_empty(), "left over from the last collection");
  _copy_allocator.reset();
  _survivor_allocator.reset();
  _statistics = LullMarkStatistics();
  _reported_words = 0;
  _evacuating = evacuating;
  _young = young;
  _copy_failed = false;
  _marks_old = false;
  _remark = false;
  _greys = false;
  _follows_classes = !young;
  _may_unload = false;
  _class_claim = ClassLoaderData::_claim_stw_fullgc_mark;
  _chunk_code.clear();
  _sparse = nullptr;
  _closure.discover_with(_reference_processor);
}

void LullMarkWorker::prepare_cycle(bool remark) {
  assert(_young && _grey.is_empty() && _left.is_empty() && _left_code.is_empty(),
         "cycles are those of young collections");
  _marks_old = true;
  _remark = remark;
  _greys = true;
  if (_cycle->follows_classes()) {
    _follows_classes = !remark || !lull_is_left_out("RemarkLoaders");
    _may_unload = remark;
    _class_claim = ClassLoaderData::_claim_strong;
  }
  if (remark) {
    _closure.discover_with(_cycle->references());
  }
}

HeapWord* LullMarkWorker::allocate_copy(size_t words, LullFate fate) {
  assert(_evacuating && fate != LullFate::Stay, "its block is not evacuated");
  if (_copy_failed || words > LullGeometry::WordsPerBlock) {   // a long straddler
    return nullptr;
  }
#ifdef ASSERT
  if (LullEvacuationFailureALot > 0 && ++_copies % LullEvacuationFailureALot == 0) {
    return nullptr;
  }
#endif
  if (fate == LullFate::Age) {
    HeapWord* const to = _survivor_allocator.allocate(words);
    if (to != nullptr) {
      return to;
    }
  }
  HeapWord* const to = _copy_allocator.allocate(words);
  if (to == nullptr && words <= LullGeometry::WordsPerLine) {
    _copy_failed = true;  // not even one line is left
  }
  return to;
}

oop LullMarkWorker::evacuate(oop obj, bool* claimed) {
  assert(_blocks->is_evacuated(obj), "others stay");
  assert(_blocks->owner_of(cast_from_oop<void*>(obj)) == LullBlockTable::NoOwner, "objects in a block with an owner stay");
  const LullBlockIndex block = LullGeometry::block_of(cast_from_oop<void*>(obj));
  if (_young && _blocks->has_marks(block) && _mark_bitmap->is_marked(obj)) {
    if (_marks_old) {
      push(ScannerTask(obj));
    }
    return obj;   // old, beside young ones; or a worker has just left it where it is. Not even its header is looked at
  }
  // Other workers may forward the object at any time: everything is taken from this
  // one load of the header. With compact headers that is also where the class is.
  const markWord mark = obj->mark();
  if (mark.is_forwarded()) {
    return obj->forwardee(mark);
  }
  Klass* const klass = UseCompactObjectHeaders ? mark.klass() : obj->klass();
  const size_t words = obj->size_given_klass(klass);

  const LullFate fate = _blocks->fate(block);
  HeapWord* const to = allocate_copy(words, fate);
  if (to == nullptr) {
    return keep_in_place(obj, mark, words, fate, claimed);
  }
  Copy::aligned_disjoint_words(cast_from_oop<HeapWord*>(obj), to, words);

  // Release: a worker that finds the forwarding may visit the field once more in which it stores the new address,
  // and be the one that marks the copy and reads it.
  const oop copy = cast_to_oop(to);
  const oop winner = obj->forward_to_atomic(copy, mark, memory_order_release);
  if (winner != nullptr) {
    // Not both: where the one's memory ends, that of the other may begin.
    if (_blocks->has_survivors(LullGeometry::block_of(to))) {
      _survivor_allocator.undo(to, words);
    } else {
      _copy_allocator.undo(to, words);
    }
    return winner;
  }
  _statistics._evacuated_objects++;
  _statistics._evacuated_words += words;
  count_moved(block, words, fate);
  if (fate == LullFate::Age && _blocks->has_survivors(LullGeometry::block_of(to))) {
    _statistics._survivor_objects++;
    _statistics._survivor_words += words;
  }
  *claimed = true;
  return copy;
}

// Or left there, of a block that was to be empty.
inline void LullMarkWorker::count_moved(LullBlockIndex block, size_t words, LullFate fate) {
  if (fate == LullFate::Mature) {
    _statistics._mature_words += words;
  } else if (_sparse != nullptr && _sparse->is_sparse(block)) {
    _statistics._sparse_words += words;
  }
}

oop LullMarkWorker::keep_in_place(oop obj, markWord mark, size_t words, LullFate fate, bool* claimed) {
  const oop winner = obj->forward_to_self_atomic(mark, memory_order_relaxed);
  if (winner != nullptr) {
    return winner;
  }
  _statistics._failed_objects++;
  _statistics._failed_words += words;
  count_moved(LullGeometry::block_of(cast_from_oop<void*>(obj)), words, fate);
  _self_forwarded.push(obj);
  *claimed = true;
  return obj;
}

template <typename T>
void LullMarkWorker::evacuate_field(T* p) {
  const oop obj = CompressedOops::decode_not_null(*p);
  if (!_blocks->is_evacuated(obj)) {
    return;   // updated meanwhile: what a Thread object refers to is a root, too
  }
  bool claimed = false;
  const oop new_obj = evacuate_through(p, obj, &claimed);
  if (claimed) {
    visit(new_obj);   // at once: it has just been written
  }
}

void LullMarkWorker::finish(BoolObjectClosure* is_alive) {
  assert(_queue.is_empty() && _fetched.is_empty(), "not all is marked");
  while (!_private_entries.is_empty()) {
    const oop entry = _private_entries.pop();
    const oop referent = java_lang_ref_Reference::unknown_referent_no_keepalive(entry);
    if (referent != nullptr && !is_alive->do_object_b(referent)) {
      java_lang_ref_Reference::clear_referent_raw(entry);
    } else if (UseCompressedOops) {
      LullUpdate::update(_blocks, (narrowOop*)java_lang_ref_Reference::referent_addr_raw(entry));
    } else {
      LullUpdate::update(_blocks, (oop*)java_lang_ref_Reference::referent_addr_raw(entry));
    }
  }
  while (!_self_forwarded.is_empty()) {
    _self_forwarded.pop()->unset_self_forwarded();
  }
  _dedup_requests.flush();
}

// A string is a candidate once in its life: when it has survived as many collections
// as the flag says. Its age is kept in its header, which only its claimer writes. A
// private one is no other thread's business.
void LullMarkWorker::request_deduplication(oop obj, bool is_private) {
  if (is_private || !java_lang_String::is_instance(obj) || obj->is_self_forwarded()) {
    return;
  }
  const uint age = obj->age();
  if (age < StringDeduplicationAgeThreshold) {
    obj->incr_age();
    if (age + 1 == StringDeduplicationAgeThreshold) {
      _dedup_requests.add(obj);
    }
  }
}

void LullMarkWorker::follow_array_part(objArrayOop array, size_t start, size_t end) {
  assert(start <= end && end <= (size_t)array->length(), "elements %zu to %zu of %d", start, end, array->length());
  array->oop_iterate_range(&_closure, (int)start, (int)end);
}

void LullMarkWorker::follow_array(objArrayOop array) {
  if (_closure.do_metadata()) {
    _closure.do_klass(array->klass());
  }
  const size_t length = array->length();
  const size_t first_part = _array_splitter.start(&_queue, array, nullptr, length);
  follow_array_part(array, 0, first_part);
}

// Of an array the elements, by the closure of all arrays. Returns how many words the object has.
inline size_t LullMarkWorker::follow_fields(oop obj, LullMarkClosure* closure) {
  if (obj->is_objArray()) {
    const size_t words = obj->size();
    follow_array((objArrayOop)obj);
    return words;
  }
  ContinuationGCSupport::transform_stack_chunk(obj);
  return obj->oop_iterate_size(closure);
}

// In a block with an owner the words stay as they are, and say which objects are public.
inline void LullMarkWorker::mark_lines(oop obj, LullBlockIndex block, size_t words, bool has_owner, bool is_private) {
  if (!has_owner) {
    _public_map->mark_lines(cast_from_oop<HeapWord*>(obj), words);
  } else if (is_private) {
    LullLineSet& lines = _blocks->at(block)->free_lines();
    const uint first = LullGeometry::line_in_block(LullGeometry::line_of(cast_from_oop<void*>(obj)));
    const uint last = LullGeometry::line_in_block(LullGeometry::line_of(cast_from_oop<HeapWord*>(obj) + words - 1));
    for (uint line = first; line <= last; line++) {
      if (!lines.contains(line)) {
        Atomic::fetch_then_or(lines.word_addr(line), LullLineSet::bit_in_word(line), memory_order_relaxed);
      }
    }
  }
}

// It is public, and old since it has slid: only a global collection comes to it. Each of its blocks may have an owner
// or not.
void LullMarkWorker::mark_straddler(HeapWord* obj, size_t words) {
  assert(!_young, "straddler " PTR_FORMAT " is old", p2i(obj));
  LullGeometry::parts_do(obj, words, [&](LullBlockIndex block, HeapWord* part, size_t part_words) {
    assert(part == obj || _blocks->straddler(block) == obj,
           "block %u: its straddler is not " PTR_FORMAT, untype(block), p2i(obj));
    _blocks->set_marks(block);
    if (_blocks->owner(block) == LullBlockTable::NoOwner) {
      _public_map->mark_lines(part, part_words);
    } else {
      assert(_public_map->is_extent_public(part, part_words), "straddler " PTR_FORMAT " is public", p2i(obj));
    }
    _blocks->add_live(block, part_words);
  });
}

LullMarkClosure* LullMarkWorker::closure_of(oop obj, bool is_private) {
  if (!is_private) {
    return &_closure;
  }
  if (LullThreadLocalMap::is_entry(obj->klass())) {
    _private_entries.push(obj);
    return &_entry_closure;
  }
  return &_private_closure;
}

void LullMarkWorker::report_progress() {
  _progress->add_traced(_statistics._marked_words - _reported_words);
  _reported_words = _statistics._marked_words;
}

void LullMarkWorker::follow(oop obj) {
  const LullBlockIndex block = LullGeometry::block_of(cast_from_oop<void*>(obj));
  _blocks->set_marks(block);
  const bool has_owner = _blocks->owner(block) != LullBlockTable::NoOwner;
  const bool is_private = has_owner && !_public_map->is_public(obj);
  const size_t words = follow_fields(obj, closure_of(obj, is_private));
  _statistics._marked_objects++;
  _statistics._marked_words += words;
  if (_statistics._marked_objects % ReportStep == 0) {
    report_progress();
  }
  if (is_private) {
    _statistics._private_objects++;
    _statistics._private_words += words;
  }

  // A large object lives or dies as a whole, by its mark bit.
  const bool has_lines = _blocks->at(block)->has_lines();
  if (has_lines && LullGeometry::leaves_block(cast_from_oop<HeapWord*>(obj), words)) {
    mark_straddler(cast_from_oop<HeapWord*>(obj), words);
  } else if (words <= LullGeometry::MaxBlockObjectWords || has_lines) {
    mark_lines(obj, block, words, has_owner, is_private);
    // In a young collection the sweep counts what becomes old.
    if (!_young) {
      _blocks->add_live(block, words);
    }
  }
  if (_marks_old) {
    note_for_cycle(obj, block, words, is_private);
  }
  if (StringDedup::is_enabled()) {
    request_deduplication(obj, is_private);
  }
}

// What is old when the collection ends has been visited here. In a remark all that is alive has a mark of the cycle
// then; elsewhere not what stays young: it may be dead soon.
void LullMarkWorker::note_for_cycle(oop obj, LullBlockIndex block, size_t words, bool is_private) {
  if (is_private) {
    if (_remark) {
      _cycle_marks->note_private(block, words);
    }
    return;
  }
  if (_remark) {
    _cycle_marks->note(obj, words);
    return;
  }
  // If another worker has met it already, and left it to the markers, they count it.
  if (!_blocks->has_survivors(block) && !LullYoungSweepTask::marks_new(_blocks, _card_table, obj) &&
      _cycle_marks->par_mark(obj)) {
    _cycle_marks->note(obj, words);
  }
}

// Is it old, or will it be when the collection has ended, and does the sweep not mark it? The object is alive, and
// where it will be then.
bool LullMarkWorker::may_grey(oop obj) const {
  const void* const addr = cast_from_oop<void*>(obj);
  return !_blocks->has_survivors(LullGeometry::block_of(addr)) &&
         (_public_map->is_public(obj) || _blocks->owner_of(addr) == LullBlockTable::NoOwner) &&
         !LullYoungSweepTask::marks_new(_blocks, _card_table, obj);
}

void LullMarkWorker::grey(oop obj) {
  if (!_cycle_marks->is_alive(obj) && may_grey(obj) && _cycle_marks->par_mark(obj)) {
    _grey.push(LullOldTask::of_new(obj));
    _statistics._greyed_objects++;
  }
}

void LullMarkWorker::grey_enqueued(const void* field, oop obj) {
  if (_marks_old && obj != nullptr) {
    _sparse_notes->note(field, obj, LullSparseNotes::By::Pause);
  }
#ifdef ASSERT
  if (LullDropMarking == LullCycle::DropEnqueued) {
    return;
  }
#endif
  if (_marks_old && !_remark && obj != nullptr) {
    grey(obj);
  }
}

// It is old, and has just got its mark of the cycle.
void LullMarkWorker::follow_grey(oop obj) {
  _cycle_marks->note(obj, follow_fields(obj, &_closure));
  _statistics._greyed_objects++;
}

void LullMarkWorker::visit_in_remark(oop obj) {
  if (!_cycle_marks->par_mark(obj)) {
    return;
  }
  if (_mark_bitmap->par_mark(obj)) {
    follow(obj);
  } else {
    follow_grey(obj);
  }
}

inline void LullMarkWorker::visit(oop obj) {
  if (_remark) {
    visit_in_remark(obj);
  } else if (_mark_bitmap->par_mark(obj)) {
    follow(obj);
  } else if (_marks_old) {
    grey(obj);
  }
}

// An old object that somebody has written to. In a remark a Reference among them keeps what it refers to, if that is
// young: the Reference may be dead. One that is alive, and was perhaps looked at before its constructor has stored what
// is old, is discovered now, if nobody has.
LullMarkClosure* LullMarkWorker::closure_of_holder(oop holder) {
  if (!_remark || !holder->klass()->is_reference_instance_klass()) {
    return &_closure;
  }
  const oop referent = java_lang_ref_Reference::unknown_referent_no_keepalive(holder);
  if (referent != nullptr && !_mark_bitmap->is_marked(referent)) {
    return &_private_closure;
  }
  return _greys && !lull_is_left_out("LateRemark") ? &_closure : &_entry_closure;
}

// Of an old object: has the cycle marked it? While servers mark nobody here knows, and each counts as marked.
bool LullMarkWorker::may_be_marked(oop obj) const {
  return _marks_old && (_cycle_marks->is_alive(obj) || (_cycle->is_far() && !lull_is_left_out("FarAgain")));
}

void LullMarkWorker::follow_old(oop obj) {
  const bool is_alive = may_be_marked(obj);
  _greys = _remark && is_alive;
  follow_fields(obj, closure_of_holder(obj));
  _greys = _marks_old;
  if (is_alive && !_remark) {
    _grey.push(LullOldTask::of_again(obj));
  }
}

void LullMarkWorker::follow_old_part(const LullArrayPart& part) {
  const bool is_alive = may_be_marked(part._array);
  _greys = _remark && is_alive;
  follow_array_part(part._array, part._start, part._end);
  _greys = _marks_old;
  if (is_alive && !_remark) {
    _grey.push(LullOldTask::of_elements(part._array, part._start, part._end));
  }
}

void LullMarkWorker::follow_left(const LullOldTask& task) {
  assert(_remark, "else the markers do it");
  const oop obj = task.obj();
  switch (task.what()) {
    case LullOldTask::What::New:
      follow_grey(obj);
      break;
    case LullOldTask::What::Again:
      follow_old(obj);
      break;
    case LullOldTask::What::Elements:
      for (size_t start = task.start(); start < task.end(); start += ObjArrayMarkingStride) {
        follow_array_part((objArrayOop)obj, start, MIN2(task.end(), start + (size_t)ObjArrayMarkingStride));
        drain();    // the queue stays short, and others can steal
      }
      break;
  }
}

void LullMarkWorker::leave(const LullOldTask& task) { _left.push(task); }
void LullMarkWorker::leave_code(nmethod* nm)        { _left_code.push(nm); }

void LullMarkWorker::follow_left() {
  while (!_left_code.is_empty()) {
    keep_chunk_code(_left_code.pop());
    drain();
  }
  while (!_left.is_empty()) {
    follow_left(_left.pop());
    drain();
  }
}

void LullMarkWorker::give_grey_to_cycle() {
  _chunk_code.take_all([&](nmethod* nm) { _cycle->add_chunk_code(nm); });
  while (!_grey.is_empty()) {
    const LullOldTask task = _grey.pop();
#ifdef ASSERT
    if (LullDropMarking == LullCycle::DropDirty && task.what() != LullOldTask::What::New) {
      continue;
    }
#endif
    _cycle->add(task);
  }
}

void LullMarkWorker::follow_remembered() {
  while (!_remembered_parts.is_empty()) {
    follow_old_part(_remembered_parts.pop());
    drain();
  }
  LullPrefetchQueue<oop> fetched;
  while (!_remembered.is_empty() || !fetched.is_empty()) {
    while (!_remembered.is_empty() && !fetched.is_full()) {
      const oop obj = _remembered.pop();
      Prefetch::read(cast_from_oop<void*>(obj), 0);
      fetched.add(obj);
    }
    follow_old(fetched.take());
    if (_queue.size() > RememberedBatch) {
      drain();
    }
  }
  drain();
}

// A part of an array is followed; anything else is only fetched, and done later.
void LullMarkWorker::start_task(ScannerTask task, bool stolen) {
  if (task.is_partial_array_state()) {
    PartialArrayState* const state = task.to_partial_array_state();
    const oop array = state->source();    // claim() releases the state
    const PartialArraySplitter::Claim claim = _array_splitter.claim(state, &_queue, stolen);
    follow_array_part((objArrayOop)array, claim._start, claim._end);
  } else {
    fetch(task);
  }
}

inline void LullMarkWorker::do_task(ScannerTask task) {
  if (!task.is_narrow_oop_ptr()) {
    visit(task.to_oop());
  } else if (UseCompressedOops) {
    evacuate_field(task.to_narrow_oop_ptr());
  } else {
    evacuate_field((oop*)task.to_narrow_oop_ptr());
  }
}

// The overflow stack first, so that others can steal from the queue meanwhile.
inline bool LullMarkWorker::take(ScannerTask* task) {
  while (_queue.pop_overflow(*task)) {
    if (!_queue.try_push_to_taskqueue(*task)) {
      return true;
    }
  }
  return _queue.pop_local(*task);
}

void LullMarkWorker::drain() {
  for (;;) {
    ScannerTask task;
    while (!_fetched.is_full() && take(&task)) {
      start_task(task, false /* stolen */);
    }
    if (_fetched.is_empty()) {
      return;
    }
    do_task(_fetched.take());
  }
}

void LullMarkWorker::drain_and_steal(uint worker_id, TaskTerminator* terminator) {
  do {
    drain();
    ScannerTask task;
    while (_queues->steal(worker_id, task)) {
      start_task(task, true /* stolen */);
      drain();
    }
  } while (!terminator->offer_termination());
}
