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

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/collect/lullSlidingPlan.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullComponents.hpp"
#include "gc/lull/drive/lullFailedAllocation.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullVMOperations.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/policy/lullCyclePolicy.hpp"
#include "gc/lull/policy/lullEvacuationPolicy.hpp"
#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/vmThread.hpp"

// Percent of the heap: with less of it free, fragmentation is not what is wrong.
static const size_t LittlePercent = 5;

// ---- By the thread

// What a cycle has left to be swept may be what is lacking. The thread may stop for a pause after it. False: nothing is
// left that it could do.
bool LullFailedAllocation::help_to_sweep() const {
  LullCycle* const cycle = _components->_cycle;
  Thread* const thread = _mutator->thread();
  if (cycle == nullptr || !thread->is_Java_thread() || !cycle->later_sweep()->sweep_some()) {
    return false;
  }
  ThreadBlockInVM safepoint_may_begin(JavaThread::cast(thread));
  return true;
}

HeapWord* LullFailedAllocation::resolve(bool* overhead) {
  assert(_mutator->thread() == Thread::current(), "a thread resolves its own allocation");
  HeapWord* result = nullptr;
  for (uint attempt = 1; result == nullptr; attempt++) {
    while (help_to_sweep()) {
      result = _mutator->allocate(_words);
      if (result != nullptr) {
        return result;
      }
    }
    if (_mutator->collect_before_global()) {
      result = _mutator->allocate(_words);
      if (result != nullptr) {
        return result;
      }
    }
    uint collections_before;
    {
      MutexLocker ml(Heap_lock);
      // Another thread's collection may have ended meanwhile.
      result = _mutator->allocate(_words);
      if (result != nullptr) {
        return result;
      }
      collections_before = _components->_heap->total_collections();
    }
    VM_LullCollectForAllocation op(this, _words, collections_before);
    VMThread::execute(&op);
    if (op.gc_succeeded()) {
      *overhead = op.result() == nullptr && _components->_sizer->overhead_limit_exceeded();
      return op.result();
    }
    if (QueuedAllocationWarningCount > 0 && attempt % QueuedAllocationWarningCount == 0) {
      log_warning(gc, ergo)("Thread \"%s\" has tried %u times to allocate %zu words", _mutator->thread()->name(), attempt,
                            _words);
    }
    result = _mutator->allocate(_words);
  }
  return result;
}

// ---- By the VM thread

// A global pause would be long, and young ones, or a larger heap, last until a cycle has done its work beside the
// program.
bool LullFailedAllocation::may_wait_for_cycle() const {
  const LullCycle* const cycle = _components->_cycle;
  return (_components->_sizer->may_expand_for_cycle() || cycle->was_enough_left()) && !cycle->must_remark() && is_cycle_better();
}

bool LullFailedAllocation::is_cycle_better() const {
  const LullPauseProgress* const progress = _components->_monitoring->pause_progress();
  return _components->_cycle->is_better(progress->expected_global_ns(_components->_heap->used()));
}

// A cycle that is late ends here: what it has found need not be traced. But where the last one was late for nothing a
// global collection comes at once, instead of after that.
bool LullFailedAllocation::may_end_cycle() const {
  const LullCycle* const cycle = _components->_cycle;
  return cycle->is_marking() && !cycle->is_far() && (cycle->must_remark() || !cycle->was_vain());
}

// False: only a global collection is left.
bool LullFailedAllocation::collect_young() {
  LullCycle* const cycle = _components->_cycle;
  if (_components->_young_policy->wants_young() && !_components->_sizer->wants_global(os::javaTimeNanos())) {
    _components->_pause->collect_young();
  } else if (cycle == nullptr) {
    return false;
  } else if (may_wait_for_cycle()) {
    cycle->ask_for();
    _components->_pause->collect_young();
  } else if (may_end_cycle()) {
    _components->_pause->remark();
  } else {
    return false;
  }
  return true;
}

// Sweeps more and more of what a cycle has left, until there is room.
HeapWord* LullFailedAllocation::allocate_swept() {
  const size_t FirstBlocks = 1024;
  LullCycle* const cycle = _components->_cycle;
  HeapWord* result = _mutator->allocate_at_safepoint(_words, LullReserveUse::Keep);
  for (size_t blocks = FirstBlocks;
       result == nullptr && cycle != nullptr && cycle->later_sweep()->sweep_more(_components->_workers, blocks); blocks *= 2) {
    result = _mutator->allocate_at_safepoint(_words, LullReserveUse::Keep);
  }
  return result;
}

HeapWord* LullFailedAllocation::allocate_within_limit() {
  assert_at_safepoint();
  return _components->_sizer->is_within_use_limit(_words) ? allocate_swept() : nullptr;
}

// Threads sweep before they come here, but not so much that they would hold up a pause.
HeapWord* LullFailedAllocation::allocate_in_what_is_left() {
  const LullCycle* const cycle = _components->_cycle;
  return cycle != nullptr && cycle->later_sweep()->is_open() ? allocate_within_limit() : nullptr;
}

HeapWord* LullFailedAllocation::grow_and_allocate() {
  LullHeapSizer* const sizer = _components->_sizer;
  return sizer->grows_first(_words) && sizer->expand_for(_words) ? allocate_within_limit() : nullptr;
}

// Instead of a global collection, which would be long.
HeapWord* LullFailedAllocation::begin_cycle_and_retry() {
  assert(_components->_cycle != nullptr && is_cycle_better(), "a global collection is cheaper");
  LullCycle* const cycle = _components->_cycle;
  HeapWord* result = nullptr;
  if (_components->_sizer->may_expand_for_cycle()) {
    cycle->ask_for();
    _components->_sizer->expand_for_cycle();
    result = allocate_within_limit();
  }
  if (result == nullptr && may_end_cycle()) {
    _components->_pause->remark();
    result = allocate_within_limit();
  }
  return result;
}

// A heap in which nearly nothing is free would have a young pause for each megabyte, until the cycle that runs has ended.
void LullFailedAllocation::make_room_for_cycle() {
  const LullCycle* const cycle = _components->_cycle;
  const CollectedHeap* const heap = _components->_heap;
  if (cycle != nullptr && cycle->is_under_way() && LullCyclePolicy::is_nearly_full(heap->used(), heap->capacity()) &&
      _components->_sizer->may_expand_for_cycle()) {
    _components->_sizer->expand_for_cycle();
  }
}

// The heap is not made larger for it: what a young collection leaves is not all alive. But for a cycle, which finds what
// is dead of it; and for a large object of a program that starts.
HeapWord* LullFailedAllocation::collect_young_and_retry() {
  if (_components->_sizer->was_useless() || !collect_young()) {
    return grow_and_allocate();
  }
  make_room_for_cycle();
  HeapWord* result = allocate_within_limit();
  if (result == nullptr) {
    result = grow_and_allocate();
  }
  return result != nullptr || _components->_cycle == nullptr || !is_cycle_better() ? result : begin_cycle_and_retry();
}

// Was a cycle late, and for nothing?
HeapWord* LullFailedAllocation::collect_by_cycle_and_retry() {
  LullCycle* const cycle = _components->_cycle;
  const size_t late_before = cycle == nullptr ? 0 : cycle->late();
  HeapWord* const result = collect_young_and_retry();
  if (result == nullptr && cycle != nullptr && cycle->late() != late_before) {
    log_info(gc, marking)("A late cycle has left too little: a global collection follows it");
    cycle->record_vain();
  }
  return result;
}

HeapWord* LullFailedAllocation::collect_and_allocate() {
  assert_at_safepoint();
  HeapWord* const result = climb();
  _components->_sizer->record_allocation_at_safepoint();
  return result;
}

HeapWord* LullFailedAllocation::climb() {
  LullHeapSizer* const sizer = _components->_sizer;
  LullPause* const pause = _components->_pause;
  if (sizer->is_too_large(_words)) {
    // For SoftReference's promise only: all are cleared before an OutOfMemoryError.
    pause->collect(LullEvacuationRequest::normal(), true /* clear soft references */);
    return nullptr;
  }
  HeapWord* const in_left = allocate_in_what_is_left();
  if (in_left != nullptr) {
    return in_left;
  }
  HeapWord* const in_young = collect_by_cycle_and_retry();
  if (in_young != nullptr) {
    return in_young;
  }
  // Give up only when compaction, and in the end the clearing of soft references, has
  // not helped either.
  pause->collect(sizer->was_useless() ? LullEvacuationRequest::compact() :
                 sizer->is_costly() ? LullEvacuationRequest::dense() : LullEvacuationRequest::normal(),
                 pause->must_clear_soft_references() || sizer->is_near_overhead_limit());
  if (sizer->overhead_limit_exceeded()) {
    log_warning(gc)("GC overhead limit exceeded: nearly all time was spent in collections that freed nearly nothing");
    return nullptr;
  }
  HeapWord* const result = allocate();
  return result != nullptr ? result : compact_and_retry();
}

// In blocks, in holes, and behind the ends of large objects, if these may share their blocks once they have slid.
size_t LullFailedAllocation::free_bytes() const {
  const size_t capacity = _components->_heap->capacity();
  const size_t used = _components->_heap->used();
  return capacity - MIN2(used, capacity) + LullSlidingPlan::slack_of_large(_components->_blocks);
}

// Enough is free for a large object, and without the reserve it has it.
bool LullFailedAllocation::is_in_one_run() const {
  return LullGeometry::is_large(_words) &&
         LullGeometry::blocks_for(_words) <= _components->_supply->longest_free_run();
}

// Enough is free for a large object, but not in one run.
bool LullFailedAllocation::must_slide() const {
  return LullGeometry::is_large(_words) && LullGeometry::blocks_for(_words) * LullGeometry::BlockSize <= free_bytes();
}

// Some blocks are free, but in holes that are too short for the object. Where many are as long as it, evacuation
// leaves as much at the end of each block as there was before.
bool LullFailedAllocation::may_pack() const {
  return LullGeometry::is_straddler_size(_words) && !LullGeometry::is_large(_words) &&
         LullGeometry::BlockSize <= free_bytes();
}

bool LullFailedAllocation::is_little_free() const {
  return free_bytes() < _words * HeapWordSize + _components->_heap->capacity() / 100 * LittlePercent;
}

// In the heap as it is, or a larger one. The reserve stays: what has no room for copies cannot be compacted the next time.
HeapWord* LullFailedAllocation::allocate() {
  HeapWord* const result = _mutator->allocate_at_safepoint(_words, LullReserveUse::Keep);
  if (result != nullptr || !_components->_sizer->expand_for(_words)) {
    return result;
  }
  return _mutator->allocate_at_safepoint(_words, LullReserveUse::Keep);
}

HeapWord* LullFailedAllocation::collect_and_retry(const LullEvacuationRequest& request, bool clear_soft_references) {
  _components->_pause->collect(request, clear_soft_references);
  return allocate();
}

// Until the next collection mutators get all that there is, or they would come here for each hole of the reserve.
HeapWord* LullFailedAllocation::allocate_with_reserve() {
  HeapWord* const result = _mutator->allocate_at_safepoint(_words, LullReserveUse::Allow);
  if (result != nullptr) {
    _components->_supply->set_reserve(0, false);
  }
  return result;
}

// After a collection that was not enough. Evacuation leaves what it has no room for; when all has slid together there is
// nothing left to gain but the reserve, and what soft references hold.
HeapWord* LullFailedAllocation::compact_and_retry() {
  assert(!_components->_sizer->is_too_large(_words), "no heap has room for %zu words", _words);
  if (!LullEvacuation) {
    // Nothing moves.
    HeapWord* const result = collect_and_retry(LullEvacuationRequest::normal(), true /* clear soft references */);
    return result != nullptr ? result : allocate_with_reserve();
  }
  HeapWord* result = is_in_one_run() ? allocate_with_reserve() : nullptr;
  if (result != nullptr) {
    return result;
  }
  bool slides = must_slide();
  const bool clears = is_little_free();
  result = collect_and_retry(slides ? LullEvacuationRequest::slide() : LullEvacuationRequest::compact(), clears);
  if (result == nullptr && !slides && may_pack()) {
    slides = true;
    result = collect_and_retry(LullEvacuationRequest::slide(), clears);
  }
  if (result == nullptr && !clears) {
    result = allocate_with_reserve();
  }
  if (result == nullptr && !(slides && clears)) {
    result = collect_and_retry(LullEvacuationRequest::slide(), true);
  }
  return result != nullptr ? result : allocate_with_reserve();
}
