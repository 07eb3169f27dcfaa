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

#include "classfile/javaClasses.inline.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullMarkBitMap.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/heap/lullZap.hpp"
#include "gc/lull/local/lullLocalCollection.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullPrivateReference.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullThreadLocalMap.hpp"
#include "gc/lull/publish/lullVisitFramesMark.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/metaspace.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/stackFrameStream.inline.hpp"
#include "utilities/copy.hpp"
#include "utilities/resourceHash.hpp"
#include "utilities/stack.inline.hpp"

// Private and in a block of the thread, from before the collection. The blocks of another thread that collects at the same
// time are marked too; what this one can reach of them is public.
inline bool LullLocalCollection::is_from(oop obj) const {
  return _blocks->is_evacuated(obj) && !_public_map->is_public(obj);
}

template <typename T>
inline void LullLocalClosure::do_oop_work(T* p) {
  const T heap_oop = RawAccess<>::oop_load(p);
  if (CompressedOops::is_null(heap_oop)) {
    return;
  }
  const oop obj = CompressedOops::decode_not_null(heap_oop);
  if (_collection->is_from(obj)) {
    const oop new_obj = _collection->survive(obj);
    if (new_obj != obj) {
      RawAccess<IS_NOT_NULL>::oop_store(p, new_obj);
    }
  }
}

void LullLocalClosure::do_oop(oop* p)       { do_oop_work(p); }
void LullLocalClosure::do_oop(narrowOop* p) { do_oop_work(p); }

LullLocalCollection::LullLocalCollection(JavaThread* thread, LullAllocator* allocator)
  : _thread(thread),
    _allocator(allocator),
    _blocks(LullTables::blocks()),
    _supply(allocator->supply()),
    _public_map(LullTables::public_map()),
    _mark_bitmap(LullTables::mark_bitmap()),
    _closure(this, OopIterateClosure::DO_FIELDS),
    _weak_closure(this, OopIterateClosure::DO_FIELDS_EXCEPT_REFERENT),
    _from(),
    _stack(),
    _in_place(),
    _weak(),
    _queued(),
    _pending(0),
    _copy_failed(false),
    _survived_words(0),
    _copied_words(0),
    _unused_lines(0),
    _freed_lines(0),
    _frames(0),
    _tenured(false) {}

LullLocalCollection::~LullLocalCollection() {
  assert(_from.is_empty() && _stack.is_empty() && _in_place.is_empty() && _weak.is_empty() && _queued.is_empty(),
         "a collection is complete when it returns");
}

// The mark means "evacuated" for a global collection; those have no say meanwhile.
void LullLocalCollection::mark_from_blocks(bool value) {
  for (int i = 0; i < _from.length(); i++) {
    _blocks->set_fate(_from.at(i), value ? LullFate::Move : LullFate::Stay);
  }
}

void LullLocalCollection::collect(size_t blocks_to_keep, size_t tenure_size) {
  assert(_thread == Thread::current() && _thread->thread_state() == _thread_in_vm,
         "a thread collects its own objects, and no pause comes meanwhile");
  _unused_lines = _allocator->begin_collection(&_from);
  mark_from_blocks(true);
  visit_roots();
  drain();
  keep_referents_of_queued();
  const size_t references = _weak.size();
  clear_dead_referents();
  mark_from_blocks(false);
  if (survived_bytes() > tenure_size) {
    tenure();
    _pending += references;    // they are public now
  }
  sweep(blocks_to_keep);
  _allocator->end_copying();
  DEBUG_ONLY(verify();)
}

void LullLocalCollection::collect_at_exit() {
  assert(Threads_lock->owned_by_self() && !_thread->has_last_Java_frame(), "the thread ends, and has no roots");
  _unused_lines = _allocator->begin_collection(&_from);
  sweep(0);
}

// Returns the number of frames.
static size_t roots_do(JavaThread* thread, OopClosure* closure) {
  LullVisitFramesMark mark(Thread::current());
  thread->oops_do_no_frames(closure, nullptr);
  LullThreadFields::oops_do(thread, closure);
  size_t count = 0;
  if (thread->has_last_Java_frame()) {
    // Derived pointers at once: the table that collections at safepoints use is not of one thread.
    for (StackFrameStream frames(thread, true /* update */, false /* process_frames */); !frames.is_done(); frames.next()) {
      frames.current()->oops_do(closure, nullptr, frames.register_map(), DerivedPointerIterationMode::_directly);
      count++;
    }
  }
  return count;
}

void LullLocalCollection::visit_roots() {
  _frames = roots_do(_thread, &_closure);
}

void LullLocalCollection::drain() {
  while (!_stack.is_empty()) {
    const oop obj = _stack.pop();
    switch (LullPrivateReference::kind(obj)) {
      case LullPrivateReference::Kind::Strong:
        obj->oop_iterate(&_closure);
        break;
      case LullPrivateReference::Kind::Weak:
        _weak.push(obj);
        obj->oop_iterate(&_weak_closure);
        break;
      case LullPrivateReference::Kind::WeakWithQueue:
        _queued.push(obj);
        obj->oop_iterate(&_weak_closure);
        break;
    }
  }
}

// A public referent is not this collection's business. What is old a young collection would not clear.
bool LullLocalCollection::may_be_cleared_in_pause(oop referent) const {
  return LullYoungCollections && referent != nullptr && !is_from(referent) && !LullTables::is_old(referent);
}

// What is kept may lead to more of them.
void LullLocalCollection::keep_referents_of_queued() {
  while (!_queued.is_empty()) {
    const oop reference = _queued.pop();
    const oop referent = LullPrivateReference::referent(reference);
    if (referent != nullptr && is_from(referent)) {
      _pending += referent->is_forwarded() ? 0 : 1;
      LullPrivateReference::set_referent(reference, survive(referent));
      drain();
    } else {
      _pending += may_be_cleared_in_pause(referent) ? 1 : 0;
    }
  }
}

// All that is reachable by other ways has survived.
void LullLocalCollection::clear_dead_referents() {
  assert(_stack.is_empty() && _queued.is_empty(), "not all that is alive is known");
  while (!_weak.is_empty()) {
    const oop reference = _weak.pop();
    const oop referent = LullPrivateReference::referent(reference);
    if (referent != nullptr && is_from(referent)) {
      LullPrivateReference::set_referent(reference, referent->is_forwarded() ? referent->forwardee() : (oop)nullptr);
    } else if (may_be_cleared_in_pause(referent) && !LullThreadLocalMap::is_entry(reference->klass())) {
      _pending++;
    }
  }
}

HeapWord* LullLocalCollection::allocate_copy(LullBlockIndex from, size_t words) {
  if (_copy_failed || !_blocks->at(from)->has_lines() || _blocks->at(from)->is_pinned()) {
    return nullptr;
  }
#ifdef ASSERT
  if (LullEvacuationFailureALot > 0 && os::random() % LullEvacuationFailureALot == 0) {
    return nullptr;
  }
#endif
  HeapWord* const to = _allocator->allocate_copy(words);
  _copy_failed = to == nullptr;
  return to;
}

// The object is private, in a block of the thread, and was so before the collection.
oop LullLocalCollection::survive(oop obj) {
  assert(is_from(obj) && !_public_map->is_public(obj), "B: " PTR_FORMAT " is not this collection's", p2i(obj));
  const LullBlockIndex from = LullGeometry::block_of(cast_from_oop<void*>(obj));
  assert(_blocks->owner_of(cast_from_oop<void*>(obj)) == LullThreadLocalData::owner(_thread),
         "B: thread %u reaches private " PTR_FORMAT " of thread %u", LullThreadLocalData::owner(_thread), p2i(obj),
         _blocks->owner_of(cast_from_oop<void*>(obj)));
  if (obj->is_forwarded()) {
    return obj->forwardee();
  }
  const size_t words = obj->size();
  _survived_words += words;
  HeapWord* const to = allocate_copy(from, words);
  if (to == nullptr) {
    keep_in_place(obj, from, words);
    return obj;
  }
  Copy::aligned_disjoint_words(cast_from_oop<HeapWord*>(obj), to, words);
  const oop copy = cast_to_oop(to);
  obj->forward_to(copy);
  _copied_words += words;
  _stack.push(copy);
  return copy;
}

void LullLocalCollection::keep_in_place(oop obj, LullBlockIndex index, size_t words) {
  assert(!obj->is_forwarded(), "object " PTR_FORMAT " has been copied", p2i(obj));
  LullBlock* const block = _blocks->at(index);
  if (block->has_lines()) {
    const uint first = LullGeometry::line_in_block(LullGeometry::line_of(cast_from_oop<void*>(obj)));
    const uint last = LullGeometry::line_in_block(LullGeometry::line_of(cast_from_oop<HeapWord*>(obj) + words - 1));
    block->free_lines().add_range(first, last + 1 - first);
  }
  obj->forward_to_self();
  _in_place.push(obj);
  _stack.push(obj);
}

void LullLocalCollection::sweep(size_t blocks_to_keep) {
  // Last in, first out: what was used last is swept last, and used first.
  for (int i = 0; i < _from.length(); i++) {
    const LullBlockIndex index = _from.at(i);
    if (_blocks->at(index)->has_lines()) {
      sweep_lines(index, blocks_to_keep);
    } else {
      sweep_large(index);
    }
  }
  _from.clear();
  while (!_in_place.is_empty()) {
    _in_place.pop()->unset_self_forwarded();
  }
}

// Objects that the last global collection has left private are dead now. Free blocks have no marks.
void LullLocalCollection::forget_marks(LullBlockIndex index) {
  _blocks->set_young_live(index, 0);
  _blocks->clear_live(index);
  if (_blocks->has_marks(index)) {
    _mark_bitmap->clear_range_large(MemRegion(LullGeometry::start_of(index), LullGeometry::WordsPerBlock));
    _blocks->clear_marks(index);
  }
}

void LullLocalCollection::sweep_lines(LullBlockIndex index, size_t blocks_to_keep) {
  LullLineSet& lines = _blocks->at(index)->free_lines();
  const LullLineSet in_place = lines;
  LullLineSet free_lines;
  _public_map->unused_lines(index, &free_lines);
  free_lines.remove(in_place);
  LullZap::lines(index, free_lines);
  lines.clear_all();
  _freed_lines += free_lines.count();
  if (free_lines.count() == LullGeometry::LinesPerBlock) {
    forget_marks(index);
  } else if (in_place.is_empty()) {
    _blocks->set_young_live(index, 0);    // copied, or dead
  }
  if (!in_place.is_empty() && !_tenured) {
    lines = free_lines;
    _allocator->keep(index);
  } else if (free_lines.count() == LullGeometry::LinesPerBlock && _allocator->free_blocks_kept() < blocks_to_keep) {
    _allocator->keep_free(index);
  } else {
    _allocator->disown(index, free_lines);
  }
}

void LullLocalCollection::sweep_large(LullBlockIndex head) {
  assert(_blocks->at(head)->state() == LullBlockState::LargeHead, "block %u is %s", untype(head),
         to_string(_blocks->at(head)->state()));
  HeapWord* const start = LullGeometry::start_of(head);
  if (_public_map->is_public(start)) {
    // Left to the global collection.
    _blocks->disown(head, LullThreadLocalData::owner(_thread));
  } else if (cast_to_oop(start)->is_self_forwarded()) {
    _allocator->own_large(head, 0);
  } else {
    _freed_lines += (size_t)_blocks->at(head)->large_blocks() * LullGeometry::LinesPerBlock;
    _blocks->disown(head, LullThreadLocalData::owner(_thread));
    if (_blocks->has_marks(head)) {
      _mark_bitmap->clear(start);
      _blocks->clear_marks(head);
    }
    _supply->give_back_large(head);
  }
}

// All private objects of the thread become public, by their blocks; not what it allocates
// from here on. No reference is stored before its target is public: none is stored.
void LullLocalCollection::tenure() {
  assert(!_tenured && _stack.is_empty(), "once, when all has survived that will");
  _tenured = true;
  _allocator->publish_and_release();
  for (StackIterator<oop, mtGC> it(_in_place); !it.is_empty(); ) {
    const oop obj = it.next();
    _public_map->publish(cast_from_oop<HeapWord*>(obj), obj->size());
  }
  OrderAccess::storestore();
}

#ifdef ASSERT

// Visits once more what the thread can reach.
class LullVerifyLocalClosure : public BasicOopIterateClosure {
private:
  // Not in the resource area: that of the frames' visit ends before.
  typedef ResourceHashtable<uintptr_t, bool, 1009, AnyObj::C_HEAP, mtGC> Visited;

  JavaThread* const     _thread;
  LullBlockTable* const _blocks;
  LullPublicMap* const  _public_map;
  Visited               _visited;
  Stack<oop, mtGC>      _stack;

  template <typename T> void do_oop_work(T* p) {
    const T heap_oop = RawAccess<>::oop_load(p);
    if (CompressedOops::is_null(heap_oop)) {
      return;
    }
    const oop obj = CompressedOops::decode_not_null(heap_oop);
    void* const addr = cast_from_oop<void*>(obj);
    if (_public_map->is_public(addr)) {
      return;
    }
    guarantee(_blocks->owner_of(addr) == LullThreadLocalData::owner(_thread),
              "B: after its local collection thread %u reaches private " PTR_FORMAT " of thread %u by " PTR_FORMAT,
              LullThreadLocalData::owner(_thread), p2i(addr), _blocks->owner_of(addr), p2i(p));
    const LullBlock* const block = _blocks->block_of(addr);
    guarantee(!block->has_lines() || !block->free_lines().contains(LullGeometry::line_in_block(LullGeometry::line_of(addr))),
              "Reach: " PTR_FORMAT " refers to " PTR_FORMAT " in a line that a local collection has freed", p2i(p), p2i(addr));
    guarantee(!obj->is_forwarded() && Metaspace::contains(obj->klass()),
              "Reach: " PTR_FORMAT " refers to " PTR_FORMAT ", which is not an object", p2i(p), p2i(addr));
    if (_visited.put((uintptr_t)addr, true)) {
      _stack.push(obj);
    }
  }

public:
  LullVerifyLocalClosure(JavaThread* thread, LullBlockTable* blocks, LullPublicMap* map)
    : _thread(thread), _blocks(blocks), _public_map(map), _visited(), _stack() {}

  ReferenceIterationMode reference_iteration_mode() override { return DO_FIELDS; }
  void do_oop(oop* p) override       { do_oop_work(p); }
  void do_oop(narrowOop* p) override { do_oop_work(p); }

  void drain() {
    while (!_stack.is_empty()) {
      _stack.pop()->oop_iterate(this);
    }
  }
};

void LullLocalCollection::verify() {
  if (LullVerifyHeap) {
    LullVerifyLocalClosure closure(_thread, _blocks, _public_map);
    roots_do(_thread, &closure);
    closure.drain();
  }
}

#endif // ASSERT
