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

#include "classfile/classLoaderDataGraph.hpp"
#include "code/codeCache.hpp"
#include "compiler/oopMap.hpp"
#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/collect/lullCollector.hpp"
#include "gc/lull/collect/lullHeapSizer.hpp"
#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/drive/lullComponents.hpp"
#include "gc/lull/drive/lullControlThread.hpp"
#include "gc/lull/drive/lullPause.hpp"
#include "gc/lull/drive/lullYoungSchedule.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullMutator.hpp"
#include "gc/lull/observe/lullBrokenHeap.hpp"
#include "gc/lull/observe/lullHeapExport.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/observe/lullPublicationReport.hpp"
#include "gc/lull/observe/lullVerify.hpp"
#include "gc/lull/observe/lullVerifyCycle.hpp"
#include "gc/lull/policy/lullHolePolicy.hpp"
#include "gc/lull/policy/lullUnloadingPolicy.hpp"
#include "gc/lull/policy/lullYoungPolicy.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullPauseProgress.hpp"
#include "gc/shared/classUnloadingContext.hpp"
#include "gc/shared/gcId.hpp"
#include "gc/shared/gcTraceTime.inline.hpp"
#include "gc/shared/gcVMOperations.hpp"
#include "gc/shared/isGCActiveMark.hpp"
#include "gc/shared/workerPolicy.hpp"
#include "gc/shared/workerThread.hpp"
#include "memory/iterator.hpp"
#include "memory/metaspaceUtils.hpp"
#include "memory/universe.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/threads.hpp"
#include "services/memoryService.hpp"

// What tells the pauses of one kind from those of another. Programs that read logs know "Pause Young" and "Pause Full",
// those that get notifications "end of minor GC" and "end of major GC": a global collection is what other collectors
// call full, or major.
struct LullPauseKind {
  const char*              _title;
  const char*              _end_message;   // of the memory manager's notification
  bool                     _is_full;
  bool                     _ends_cycle;    // of concurrent marking
  SvcGCMarker::reason_type _reason;
  GCTracer*                _tracer;
  CollectorCounters*       _counters;
  GCMemoryManager*         _manager;
  LullPauses*              _pauses;
};

size_t LullPause::used() const { return _components->_heap->used(); }

// ---- What the steps of all kinds are

static LullPauseForecast::Pause forecast_of(const LullPauseKind& kind) {
  return kind._is_full ? LullPauseForecast::Pause::Global :
         kind._ends_cycle ? LullPauseForecast::Pause::Remark : LullPauseForecast::Pause::Young;
}

// Steps 1 to 12, but for those that collect() takes in the middle.
template <typename Collect>
void LullPause::pause(const LullPauseKind& kind, Collect collect) {
  assert_at_safepoint();
  assert(Thread::current()->is_VM_thread(), "one pause at a time");
  CollectedHeap* const heap = _components->_heap;
  assert(heap->gc_cause() != GCCause::_no_gc, "who begins a pause says why");
  IsSTWGCActiveMark active_mark;
  _components->_monitoring->pause_progress()->begin(forecast_of(kind), used());    // before agents are told
  SvcGCMarker svc_marker(kind._reason);
  GCIdMark gc_id_mark;
  GCTraceCPUTime tcpu(kind._tracer);
  GCTraceTime(Info, gc) t(kind._title, nullptr, heap->gc_cause(), true);
  TraceCollectorStats tcs(kind._counters);
  TraceMemoryManagerStats tms(kind._manager, heap->gc_cause(), kind._end_message);
  heap->print_before_gc();
  heap->increment_total_collections(kind._is_full);

  const bool verifies = heap->total_collections() >= VerifyGCStartAt;
  verify_before(verifies && VerifyBeforeGC);
  set_workers();
  begin_tracing(kind);

  const size_t used_before = used();
  LullFarHeap::begin_pause();    // what was verified before is none of it
  const jlong start = os::javaTimeNanos();
  collect();
  const jlong end_ns = os::javaTimeNanos();

  record(kind, start, end_ns, used_before);
  heap->update_capacity_and_used_at_gc();
  end_tracing(kind);
  end(kind, verifies && VerifyAfterGC, end_ns - start);
}

void LullPause::set_workers() {
  WorkerThreads* const workers = _components->_workers;
  workers->set_active_workers(WorkerPolicy::calc_active_workers(workers->max_workers(), workers->active_workers(),
                                                                Threads::number_of_non_daemon_threads()));
}

void LullPause::begin_tracing(const LullPauseKind& kind) {
  STWGCTimer* const timer = _components->_collector->timer();
  timer->register_gc_start();
  kind._tracer->report_gc_start(_components->_heap->gc_cause(), timer->gc_start());
  _components->_heap->trace_heap_before_gc(kind._tracer);
}

void LullPause::end_tracing(const LullPauseKind& kind) {
  STWGCTimer* const timer = _components->_collector->timer();
  _components->_heap->trace_heap_after_gc(kind._tracer);
  timer->register_gc_end();
  kind._tracer->report_gc_end(timer->gc_end(), timer->time_partitions());
}

// P and R hold now because of the barriers.
void LullPause::verify_before(bool by_flag) {
  if (by_flag) {
    _components->_heap->prepare_for_verify();
    Universe::verify("Before GC");
  }
  if (!LullVerifyHeap) {
    return;
  }
  LullMemory* const memory = _components->_memory;
  LullBlockTable* const blocks = _components->_blocks;
  LullBlockSupply* const supply = _components->_supply;
  DEBUG_ONLY(LullBrokenHeap::break_if_asked(memory, blocks, supply, true /* before collection */);)
  const LullVerify verify(memory, blocks, supply, _components->_workers, LullVerify::Moment::BeforeCollection);
  verify.verify_holes();
  LullCycle* const cycle = _components->_cycle;
  if (cycle != nullptr && cycle->sparse()->is_left()) {
    LullVerifyCycle::verify_recorded(cycle, memory, blocks, _components->_workers);
  }
  if (LullTracking) {
    GCTraceTime(Debug, gc, verify) tm("Verify publication");
    verify.verify_publication();
  }
}

void LullPause::verify_after(bool by_flag) {
  if (by_flag) {
    Universe::verify("After GC");
  }
  if (!LullVerifyHeap) {
    return;
  }
  LullMemory* const memory = _components->_memory;
  LullBlockTable* const blocks = _components->_blocks;
  LullBlockSupply* const supply = _components->_supply;
  WorkerThreads* const workers = _components->_workers;
  LullCycle* const cycle = _components->_cycle;
  GCTraceTime(Debug, gc, verify) tm("Verify");
  DEBUG_ONLY(LullBrokenHeap::break_if_asked(memory, blocks, supply, false /* before collection */);)
  LullVerify(memory, blocks, supply, workers, LullVerify::Moment::AfterCollection).verify();
  if (cycle != nullptr) {
    LullVerifyCycle::verify_swept(cycle, memory, blocks, workers);
  }
  if (cycle != nullptr && cycle->is_marking() && !cycle->is_far()) {
    LullVerifyCycle::verify_black(cycle, memory, blocks, workers);
  }
}

// All that follows from what this pause has cost and left.
void LullPause::record(const LullPauseKind& kind, jlong start, jlong end, size_t used_before) {
  const GCCause::Cause cause = _components->_heap->gc_cause();
  const LullCollector* const collector = _components->_collector;
  kind._pauses->add(cause, start, end, used_before, used());
  if (!kind._ends_cycle) {
    _components->_young_schedule->record_young(end - start, collector->young_mark_ns(), collector->seen_bytes(),
                                               collector->private_bytes(), used_before);
  }
  _components->_young_schedule->plan(used());
  _components->_monitoring->record_left();
  // What was asked for is none of tracking's costs. That references need pauses of their own is.
  const bool is_cost = cause == GCCause::_allocation_failure || cause == GCCause::_lull_references ||
                       cause == GCCause::_lull_pause_goal;
  _components->_tracking_switch->end_collection(is_cost ? end - start : 0, cause == GCCause::_lull_references);
}

void LullPause::end(const LullPauseKind& kind, bool verifies, jlong ns) {
  CollectedHeap* const heap = _components->_heap;
  LullMonitoring* const monitoring = _components->_monitoring;
  log_info(gc, heap)("Used: %zuK, of it %zuK of slack, in which nothing lies and that nobody gets",
                     used() / K, _components->_supply->slack_bytes() / K);
  LullFarHeap::end_pause();
  if (_components->_cycle != nullptr) {
    const LullCycle::Ended ended = kind._is_full ? LullCycle::Ended::Global :
                                   kind._ends_cycle ? LullCycle::Ended::Remark : LullCycle::Ended::Young;
    _components->_cycle->end_pause(ended, ns, used(), heap->capacity(),
                                   monitoring->pause_progress()->expected_global_ns(used()));
  }
  verify_after(verifies);
  monitoring->update_counters();
  if (_components->_control_thread != nullptr) {
    _components->_control_thread->record_pause(kind._ends_cycle, _components->_collector->cleared_references());
  }
  LullPublicationReport::report(monitoring, false /* at exit */);
  LullLocalCollector::log_total();
  heap->print_after_gc();
  monitoring->pause_progress()->end(used(), ns);
}

// ---- Steps that depend on what the pause is for

// Whoever asks for a collection by name, or is at the end of all memory, gets all that there is: weak
// references to what is private are cleared, and all may move; objects that survive then are
// public. And code is unloaded that is not in use.
bool LullPause::is_routine(const LullEvacuationRequest& request, bool clear_soft_references) const {
  const GCCause::Cause cause = _components->_heap->gc_cause();
  const bool asked_for = cause != GCCause::_allocation_failure && cause != GCCause::_lull_references;
  return !asked_for && !clear_soft_references && !request.is_compact() && !LullCollector::must_slide(request);
}

// An idle program's private objects need not stay private, if its threads wait.
bool LullPause::may_keep_private() const {
  const bool is_idle = _components->_heap->gc_cause() == GCCause::_lull_idle;
  return (!is_idle || is_for_threads_at_work()) && !_components->_tracking_switch->publishes_all();
}

// One of the pauses of a cycle for a program that allocates little (LullIdlePolicy).
bool LullPause::is_for_threads_at_work() const {
  return _components->_heap->gc_cause() == GCCause::_lull_idle && _components->_cycle != nullptr &&
         _components->_cycle->is_for_idle();
}

bool LullPause::must_clear_soft_references() const {
  const GCCause::Cause cause = _components->_heap->gc_cause();
  return cause == GCCause::_metadata_GC_clear_soft_refs || cause == GCCause::_wb_full_gc;
}

void LullPause::choose_min_hole_lines(bool routine) {
  assert_at_safepoint();
  const bool all_public = !LullTracking || LullPublicMap::is_tracking_suspended();
  const bool scarce = !routine || _components->_sizer->was_useless();
  const uint before = _components->_supply->min_hole_lines();
  const uint shortest = LullBlockSupply::MinHoleLines;
  const uint lines = LullAdaptiveHoles ? LullHolePolicy::min_lines(shortest, all_public, scarce) : shortest;
  if (lines != before) {
    log_debug(gc, heap)("Least hole for allocation: %u lines, before %u (%s)", lines, before,
                        LullHolePolicy::reason(all_public, scarce));
  }
  _components->_supply->set_min_hole_lines(lines);
}

void LullPause::retire_tlabs() {
  _components->_heap->ensure_parsability(true /* retire TLABs */);
}

// ---- The three kinds

void LullPause::collect(const LullEvacuationRequest& request, bool clear_soft_references) {
  CollectedHeap* const heap = _components->_heap;
  LullCollector* const collector = _components->_collector;
  LullMonitoring* const monitoring = _components->_monitoring;
  const LullPauseKind kind = { "Pause Full", "end of major GC", true, true, SvcGCMarker::FULL, collector->tracer(),
                               monitoring->collector_counters(), monitoring->global_manager(),
                               monitoring->global_pauses() };
  pause(kind, [&]() {
    ClearedAllSoftRefs cleared(clear_soft_references, heap->soft_ref_policy());
    const MetaspaceCombinedStats metaspace_before = MetaspaceUtils::get_combined_statistics();
    const size_t used_before = used();
    const jlong start = os::javaTimeNanos();
    const bool routine = is_routine(request, clear_soft_references);
    if (!routine) {
      Atomic::store(&_requested_collections, _requested_collections + 1);
    }
    choose_min_hole_lines(routine);
    retire_tlabs();
    LullMutator::begin_collection(LullLocalCollections && routine && may_keep_private(), heap->gc_cause());
    if (!CodeCache::is_gc_marking_cycle_active()) {    // else a cycle of concurrent marking has begun it, and ends here
      CodeCache::on_gc_marking_cycle_start();
    }
    ClassUnloadingContext unloading_context(_components->_workers->active_workers(),
                                            false /* unregister while purging */,
                                            false /* lock while freeing */);
    heap->pre_full_gc_dump(collector->timer());

    // Not before the dump and the histogram above: they visit frames too, and a derived
    // pointer is to be recorded once.
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::clear());
    collector->collect(request, clear_soft_references, !routine);
    LullMutator::end_collection();
    _components->_supply->rebuild();

    // Everything has moved that will move.
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::update_pointers());
    // Purging forgets mirrors of classes that were never published, which have been marked.
    LullHeapExport::write_if_asked(_components->_memory, heap->gc_cause());
    purge_classes();
    ClassLoaderDataGraph::clear_claimed_marks();

    const jlong end = os::javaTimeNanos();
    _components->_sizer->record_collection(heap->gc_cause(), {start, end, used_before, used()});
    end_period();
    _components->_young_policy->record_global(end - start, used_before - MIN2(used_before, used()));
    _components->_sizer->resize(heap->gc_cause(), end);
    heap->record_whole_heap_examined_timestamp();

    AlwaysTrueClosure always_true;    // only what can be reached is counted
    collector->tracer()->report_object_count_after_gc(&always_true, nullptr);
    heap->post_full_gc_dump(collector->timer());
    MetaspaceUtils::print_metaspace_change(metaspace_before);
  });
}

// What follows on a trace that may have unloaded, whether it has or not.
void LullPause::purge_classes() {
  CodeCache::on_gc_marking_cycle_finish();
  CodeCache::arm_all_nmethods();
  ClassLoaderDataGraph::purge(true /* at safepoint */);
  DEBUG_ONLY(MetaspaceUtils::verify();)
  MetaspaceGC::compute_new_size();
}

LullPauseKind LullPause::young_kind(const char* title, bool ends_cycle) const {
  LullMonitoring* const monitoring = _components->_monitoring;
  return { title, "end of minor GC", false, ends_cycle, SvcGCMarker::MINOR, _components->_collector->young_tracer(),
           monitoring->young_collector_counters(), monitoring->young_manager(), monitoring->young_pauses() };
}

void LullPause::correct_freed() {
  if (_components->_cycle != nullptr) {
    _components->_young_policy->correct_freed(_components->_cycle->take_sweep_surplus());
  }
}

void LullPause::end_period() {
  correct_freed();
  if (_components->_cycle != nullptr) {
    _components->_cycle->end_period(_components->_young_policy->ns_per_byte());
  }
}

void LullPause::record_young(jlong start, jlong end, size_t used_before) {
  assert(LullYoungCollections && start <= end, "a pause of " JLONG_FORMAT " ns", end - start);
  correct_freed();
  const GCCause::Cause cause = _components->_heap->gc_cause();
  const size_t freed = used_before - MIN2(used_before, used());
  LullHeapSizer* const sizer = _components->_sizer;
  if (LullSizePolicy::is_asked_for(cause) || LullUnloadingPolicy::is_for_classes(cause)) {
    // It was not for memory: it says nothing of what the heap needs, or of whether the next one pays.
    sizer->update_reserve();
  } else if (cause == GCCause::_lull_pause_goal) {
    sizer->record_early({start, end, used_before, used()});
    _components->_young_policy->record_early(end - start, freed);
  } else {
    const LullCycle* const cycle = _components->_cycle;
    sizer->record_young_collection({start, end, used_before, used()}, cycle != nullptr && cycle->is_under_way());
    _components->_young_policy->record_young(end - start, freed);
  }
}

// What the markers have done counts: else a good remark would make each young pause after it look vain.
void LullPause::record_remark(GCCause::Cause cause, jlong start, jlong end, size_t used_before) {
  const jlong mark_ns = _components->_cycle->mark_ns(_components->_workers->active_workers());
  _components->_sizer->record_collection(cause, {start, end, used_before, used()});
  end_period();
  _components->_young_policy->record_global(end - start + mark_ns, used_before - MIN2(used_before, used()));
  _components->_sizer->resize(cause, end);
  _components->_heap->record_whole_heap_examined_timestamp();
  _components->_monitoring->pause_progress()->end_cycle(used());
}

// Steps 3 to 8 of the two kinds that copy young objects alone: how is told by collect, and what the policies learn by
// record, from when it began and what was in use then.
template <typename Collect, typename Record>
void LullPause::pause_for_young(const LullPauseKind& kind, Collect collect, Record record) {
  assert(LullYoungCollections && !kind._is_full, "all of the heap is looked at");
  pause(kind, [&]() {
    const size_t used_before = used();
    const jlong start = os::javaTimeNanos();
    choose_min_hole_lines(true /* routine */);
    retire_tlabs();
    LullMutator::begin_collection(may_keep_private(), _components->_heap->gc_cause());
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::clear());
    collect();
    LullMutator::end_collection();
    COMPILER2_OR_JVMCI_PRESENT(DerivedPointerTable::update_pointers());
    ClassLoaderDataGraph::clear_claimed_marks(ClassLoaderData::_claim_stw_fullgc_mark);    // a cycle's stay
    record(start, os::javaTimeNanos(), used_before);
  });
}

// Private objects stay private. The reserve for copies stays one, too: without it the
// next global collection could not evacuate, and holes would get smaller from cycle to cycle.
void LullPause::collect_young() {
  if (_components->_cycle != nullptr && _components->_cycle->must_remark()) {
    remark();
    return;
  }
  pause_for_young(young_kind("Pause Young", false /* ends cycle */),
                  [&]() { _components->_collector->collect_young(); },
                  [&](jlong start, jlong end, size_t used_before) { record_young(start, end, used_before); });
}

// A young pause, after which nothing is young, and old garbage is free. It stands for a global collection, but that
// nothing old moves.
void LullPause::remark() {
  assert(_components->_cycle != nullptr && _components->_cycle->is_marking(), "there is no cycle to end");
  const bool may_unload = _components->_cycle->follows_classes();
  // Threads at work do not wait until all that is free has gone back.
  const GCCause::Cause sized_as = is_for_threads_at_work() ? GCCause::_lull_references : _components->_heap->gc_cause();
  const MetaspaceCombinedStats metaspace_before = MetaspaceUtils::get_combined_statistics();
  ClassUnloadingContext unloading_context(_components->_workers->active_workers(),
                                          false /* unregister while purging */,
                                          false /* lock while freeing */);
  pause_for_young(young_kind("Pause Remark", true /* ends cycle */),
                  [&]() { _components->_collector->remark(); },
                  [&](jlong start, jlong, size_t used_before) {
    if (may_unload) {
      purge_classes();
    }
    ClassLoaderDataGraph::clear_claimed_marks();
    record_remark(sized_as, start, os::javaTimeNanos(), used_before);    // with what the purge has taken
    MetaspaceUtils::print_metaspace_change(metaspace_before);
  });
}

// ---- What an operation asks for

// Private objects stay private but those of threads whose private references wait for it.
void LullPause::collect_early(LullExtent extent) {
  if (extent == LullExtent::Slide) {
    collect(LullEvacuationRequest::slide(), false /* clear soft references */);
  } else if (extent == LullExtent::Global || !LullYoungCollections) {
    collect(LullEvacuationRequest::normal(), false /* clear soft references */);
  } else {
    if (extent == LullExtent::Cycle) {
      assert(_components->_cycle != nullptr, "there is no concurrent marking, of which a cycle could begin");
      _components->_cycle->ask_for();
    }
    collect_young();
  }
}

void LullPause::collect_as_asked(bool makes_room, bool clear_soft_references) {
  if (LullYoungCollections && _components->_heap->gc_cause() == GCCause::_wb_young_gc) {
    collect_young();
    return;
  }
  collect(makes_room ? LullEvacuationRequest::slide() : LullEvacuationRequest::normal(),
          clear_soft_references || must_clear_soft_references());
}
