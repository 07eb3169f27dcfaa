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

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/publish/lullPrivateReference.hpp"
#include "gc/lull/publish/lullPublicationEvents.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullStackAnchor.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/stat/lullPublicationSamples.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/iterator.inline.hpp"
#include "memory/resourceArea.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threadSMR.hpp"
#include "runtime/vframe.inline.hpp"
#include "runtime/vmThread.hpp"
#include "utilities/stack.inline.hpp"

// A closure of more objects is worth a line in the most detailed log.
static const size_t LoggedClosure = 1000;

LullPublicationStatistics LullPublisher::_ended;

template <typename T>
inline void LullPublishClosure::do_oop_work(T* p) {
  if (_publisher->is_long()) {
    return;    // of a long array: all that its thread has becomes public
  }
  const T heap_oop = RawAccess<>::oop_load(p);
  if (!CompressedOops::is_null(heap_oop)) {
    const oop obj = CompressedOops::decode_not_null(heap_oop);
    if (!_publisher->_public_map->is_public(obj)) {
      _publisher->visit(obj);
    }
  }
}

void LullPublishClosure::do_oop(oop* p)       { do_oop_work(p); }
void LullPublishClosure::do_oop(narrowOop* p) { do_oop_work(p); }

LullPublisher::LullPublisher(Thread* thread, LullPublicMap* map, LullBlockTable* blocks)
  : _thread(thread),
    _owner(LullThreadLocalData::owner(thread)),
    _public_map(map),
    _blocks(blocks),
    _stack(),
    _closure(this),
    _objects_in_closure(0),
    _is_bounded(false),
    _policy(),
    _mode_reason(nullptr),
    _statistics(),
    _work(),
    _sample_due(SIZE_MAX),
    _sampled(0),
    _leaf_frame(nullptr) {
  choose_next_sample();
}

LullPublisher::~LullPublisher() {
  assert(_stack.is_empty(), "a publication is complete when it returns");
}

void LullPublisher::retire() {
  assert(Threads_lock->owned_by_self() || !_thread->is_Java_thread(), "it guards what is counted of threads that have ended");
  _ended.add(_statistics);
  _statistics = LullPublicationStatistics();
}

LullPublisher* LullPublisher::of(Thread* thread) {
  LullPublisher* const publisher = LullThreadLocalData::publisher(thread);
  assert(publisher != nullptr, "thread %u is not attached, or all objects are public", LullThreadLocalData::owner(thread));
  return publisher;
}

static bool has_references(const Klass* klass) {
  return !klass->is_typeArray_klass() &&
         !(klass->is_other_instance_klass() && InstanceKlass::cast(klass)->nonstatic_oop_map_count() == 0);
}

#ifdef ASSERT
// Is the thread of that name stopped, so that this one may act for it? Slow.
static bool is_stopped_for(Thread* thread, LullBlockTable::Owner owner) {
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* other = jtiwh.next(); ) {
    if (LullThreadLocalData::owner(other) == owner) {
      return other->is_handshake_safe_for(thread);
    }
  }
  return false;
}
#endif

void LullPublisher::visit(oop obj) {
  assert(_blocks->owner_of(cast_from_oop<void*>(obj)) == _owner ||
         SafepointSynchronize::is_at_safepoint() ||
         is_stopped_for(_thread, _blocks->owner_of(cast_from_oop<void*>(obj))),
         "B: thread %u meets private object " PTR_FORMAT " of thread %u", _owner, p2i(obj),
         _blocks->owner_of(cast_from_oop<void*>(obj)));
  const size_t words = obj->size();
  _public_map->publish(cast_from_oop<HeapWord*>(obj), words);
  _objects_in_closure++;
  _statistics._words += words;
  const Klass* const klass = obj->klass();
  if (has_references(klass)) {
    _stack.push(obj);
    _statistics._references += LullPrivateReference::is_processed_in_pauses(klass) ? 1 : 0;
  }
}

void LullPublisher::publish(oop obj) {
  assert(Thread::current() == _thread, "a thread publishes by its own publisher");
  assert(_stack.is_empty(), "publications do not nest");
  const bool is_own = _blocks->owner_of(cast_from_oop<void*>(obj)) == _owner;
#ifdef ASSERT
  if (LullPublishAllALot > 0 && is_own && _statistics._closures % LullPublishAllALot == LullPublishAllALot - 1) {
    publish_all("stress", false);
  }
#endif
  _statistics._closures++;
  _objects_in_closure = 0;
  _is_bounded = is_own;
  const size_t words_before = _statistics._words;
  if (!_public_map->is_public(obj)) {
    visit(obj);
  }
  while (!_stack.is_empty() && !is_long()) {
    _stack.pop()->oop_iterate(&_closure);
  }
  if (is_long()) {
    // What has not been visited becomes public, too.
    _stack.clear();
    publish_all("long closure", false);
  }
  _statistics._objects += _objects_in_closure;
  _statistics._longest = MAX2(_statistics._longest, _objects_in_closure);
  // The bits are there before the reference is.
  OrderAccess::storestore();
  if (_objects_in_closure > LoggedClosure && log_is_enabled(Trace, gc, publish)) {
    ResourceMark rm;
    log_trace(gc, publish)("Thread %u: closure of %zu objects, %zuK, from a %s", _owner, _objects_in_closure,
                           (_statistics._words - words_before) * HeapWordSize / K, obj->klass()->external_name());
  }
  if (_statistics._words >= _sample_due) {
    take_sample(obj, _statistics._words - words_before);
  }
}

// At random around the interval, so that what a program repeats is not always hit at the
// same place.
void LullPublisher::choose_next_sample() {
  if (LullPublicationSampling == 0) {
    return;
  }
  const size_t bytes = LullPublicationSampling / 2 + (size_t)os::random() % LullPublicationSampling;
  _sampled = _statistics._words;
  _sample_due = _sampled + MAX2(bytes / HeapWordSize, (size_t)1);
}

// The sample stands for all that was published since the last one, so a place is found by
// the bytes that it publishes, be it by many stores or by few.
void LullPublisher::take_sample(oop obj, size_t words) {
  assert(Thread::current() == _thread, "the frames are this thread's");
  const size_t weight = (_statistics._words - _sampled) * HeapWordSize;
  choose_next_sample();
  if (!_thread->is_Java_thread()) {
    return;
  }
  JavaThread* const thread = JavaThread::cast(_thread);
  // A walk makes handles, if only for stacks of virtual threads.
  DEBUG_ONLY(ResetNoHandleMark rnhm;)
  HandleMark hm(thread);
  ResourceMark rm(thread);
  LullStackAnchor anchor(thread, _leaf_frame);
  const Method* method = nullptr;
  int bci = 0;
  if (thread->has_last_Java_frame()) {
    vframeStream stream(thread, false /* stop at call stub */, false /* process frames */);
    if (!stream.at_end()) {
      method = stream.method();
      bci = stream.bci();
    }
  }
  LullPublicationSamples::add(obj->klass(), method, bci, _objects_in_closure, weight);
  LullPublicationEvents::send_sample(obj->klass(), _objects_in_closure, words * HeapWordSize, weight);
}

void LullPublisher::begin_slow_call(intptr_t* frame) {
  assert(Thread::current() == _thread && _leaf_frame == nullptr, "a thread makes one such call at a time");
  _leaf_frame = frame;
  _statistics._slow_calls++;
}

void LullPublisher::end_slow_call(LullStoreOutcome outcome) {
  _leaf_frame = nullptr;
  switch (outcome) {
    case LullStoreOutcome::PrivateDestination: _statistics._calls_private_destination++; break;
    case LullStoreOutcome::PublicValue:        _statistics._calls_public_value++; break;
    case LullStoreOutcome::Published:          _statistics._calls_published++; break;
  }
}

void LullPublisher::publish_all(const char* reason, bool for_good) {
  _policy.entered(for_good);
  if (!LullThreadLocalData::is_public_mode(_thread)) {
    enter_public_mode(reason);
  }
}

void LullPublisher::publish_present() {
  assert(JavaThread::cast(_thread)->is_handshake_safe_for(Thread::current()), "the thread runs");
  LullAllocator* const allocator = LullThreadLocalData::allocator(_thread);
  if (LullThreadLocalData::is_public_mode(_thread)) {
    return;
  }
  // What is left of the TLAB is about to have the words of public objects.
  _thread->retire_tlab();
  allocator->publish_and_release();
  log_debug(gc, publish)("Thread %u: all that it has is public now", _owner);
}

void LullPublisher::enter_public_mode(const char* reason) {
  assert(Thread::current() == _thread || (_thread->is_Java_thread() && JavaThread::cast(_thread)->is_handshake_safe_for(Thread::current())),
         "thread %u runs, and another one takes what is private from it", _owner);
  assert(!LullThreadLocalData::is_public_mode(_thread), "thread %u is in public mode", _owner);
  LullAllocator* const allocator = LullThreadLocalData::allocator(_thread);
  allocator->publish_and_release();
  allocator->set_born_public(true);
  _statistics._references++;    // for those that may be among what is published by blocks
  Atomic::store(&_mode_reason, reason);
  OrderAccess::storestore();
  LullThreadLocalData::set_public_mode(_thread, true);
  _statistics._public_mode_entered++;
  log_debug(gc, publish)("Thread %u: public mode, %s (%.0f%% published)", _owner, reason, _policy.share() * 100);
  LullPublicationEvents::send_mode(true, reason, _policy.share());
}

// The TLAB and the bump region are gone, so the next object is in a new hole.
void LullPublisher::leave_public_mode(const char* reason) {
  assert(Thread::current() == _thread, "a thread leaves public mode at its own refills");
  assert(LullThreadLocalData::is_public_mode(_thread), "thread %u is in private mode", _owner);
  LullThreadLocalData::allocator(_thread)->set_born_public(false);
  LullThreadLocalData::set_public_mode(_thread, false);
  Atomic::store(&_mode_reason, reason);
  _statistics._public_mode_left++;
  log_debug(gc, publish)("Thread %u: private mode, %s", _owner, reason);
  LullPublicationEvents::send_mode(false, reason, _policy.share());
}

void LullPublisher::choose_mode() {
  assert(Thread::current() == _thread, "a thread chooses at its own refills");
  const bool is_public = LullThreadLocalData::is_public_mode(_thread);
  const char* reason = nullptr;
  const bool wants_public = _policy.wants_public_mode(_thread, is_public, {_statistics, LullThreadLocalData::local_statistics(_thread)}, &reason);
  if (wants_public && !is_public) {
    enter_public_mode(reason);
  } else if (!wants_public && is_public) {
    leave_public_mode(reason);
  }
}

void LullPublisher::private_objects_lost() {
  assert_at_safepoint();
  if (!LullThreadLocalData::is_public_mode(_thread)) {
    _policy.private_objects_lost({_statistics, LullThreadLocalData::local_statistics(_thread)});
  }
}

// The lock keeps threads from ending between the two counts. The VM thread has it at
// safepoints.
LullPublicationStatistics LullPublisher::total() {
  ConditionalMutexLocker ml(Threads_lock, !Threads_lock->owned_by_self());
  LullPublicationStatistics total = _ended;
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    total.add(of(thread)->statistics());
  }
  total.add(of(VMThread::vm_thread())->statistics());
  return total;
}
