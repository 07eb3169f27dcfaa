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
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/local/lullLocalCollector.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/observe/lullBlockCensus.hpp"
#include "gc/lull/observe/lullInfoDCmd.hpp"
#include "gc/lull/observe/lullMonitoring.hpp"
#include "gc/lull/publish/lullPublisher.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/lull/publish/lullTrackingSwitch.hpp"
#include "gc/lull/stat/lullPendingReferences.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/resourceArea.hpp"
#include "memory/universe.hpp"
#include "runtime/abstract_vm_version.hpp"
#include "runtime/flags/jvmFlag.hpp"
#include "runtime/javaThread.inline.hpp"
#include "runtime/os.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/growableArray.hpp"

#include <string.h>

// Threads in public mode that are named.
static const int ThreadsNamed = 20;

const LullMonitoring* LullInfoDCmd::_monitoring = nullptr;
const LullTrackingSwitch* LullInfoDCmd::_tracking_switch = nullptr;
const LullCycle* LullInfoDCmd::_cycle = nullptr;

void LullInfoDCmd::register_command(const LullMonitoring* monitoring, const LullTrackingSwitch* tracking_switch) {
  assert(_monitoring == nullptr, "once");
  _monitoring = monitoring;
  _tracking_switch = tracking_switch;
  const uint32_t everywhere = DCmd_Source_Internal | DCmd_Source_AttachAPI | DCmd_Source_MBean;
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LullInfoDCmd>(everywhere, true /* enabled */, false /* hidden */));
}

void LullInfoDCmd::line(const char* key, const char* format, ...) {
  output()->print("%s: ", key);
  va_list arguments;
  va_start(arguments, format);
  output()->vprint_cr(format, arguments);
  va_end(arguments);
}

void LullInfoDCmd::bytes(const char* key, size_t bytes) {
  line(key, "%.1f MB", (double)bytes / M);
}

static double seconds(jlong nanos)      { return (double)nanos / NANOSECS_PER_SEC; }
static double milliseconds(jlong nanos) { return (double)nanos / NANOSECS_PER_MILLISEC; }
static double percent(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

void LullInfoDCmd::execute(DCmdSource source, TRAPS) {
  assert(THREAD == Thread::current() && _monitoring != nullptr, "by a thread that stops for safepoints, when there is a heap");
  ResourceMark rm(THREAD);
  print_vm();
  print_flags();
  print_heap(THREAD);
  print_publication();
  print_local();
  print_threads();
  print_pauses("global", *_monitoring->global_pauses());
  if (LullYoungCollections) {
    print_pauses("young", *_monitoring->young_pauses());
  }
  print_marking();
  print_far();
}

void LullInfoDCmd::print_marking() {
  const LullCycle* const cycle = _cycle;
  if (cycle == nullptr) {
    return;
  }
  line("marking.state", "%s", LullCycle::to_string(cycle->state()));
  line("marking.cycles", "%zu", cycle->cycles());
  line("marking.late", "%zu", cycle->late());
  line("marking.given_up", "%zu", cycle->given_up());
  line("marking.to_sweep", "%zu blocks", cycle->later_sweep()->left());
  if (LullCardCleaner::is_on()) {
    const LullCardCleaner* const cleaner = cycle->cleaner();
    line("cards.cleanings", "%zu", cleaner->passes());
    line("cards.cleaned", "%zu", cleaner->taken() - MIN2(cleaner->kept(), cleaner->taken()));
    line("cards.kept", "%zu", cleaner->kept());
  }
  const jlong marking_ns = cycle->marking_for_ns(os::javaTimeNanos());
  if (marking_ns > 0) {
    const size_t marked = cycle->marked_bytes();
    const size_t expected = MAX2(cycle->expected_bytes(), marked);
    bytes("marking.marked", marked);
    bytes("marking.expected", expected);
    if (marked > 0) {
      line("marking.left", "%.1f s", (double)marking_ns / NANOSECS_PER_SEC * (double)(expected - marked) / (double)marked);
    }
  }
}

void LullInfoDCmd::print_vm() {
  line("vm.version", "%s %s", Abstract_VM_Version::vm_release(), Abstract_VM_Version::jdk_debug_level());
  line("vm.uptime", "%.1f s", os::elapsedTime());
}

// Lull's own that differ from their defaults. VM.flags has all others.
void LullInfoDCmd::print_flags() {
  line("flags.tracking", "%s", LullTracking ? "on" : "off");
  line("flags.local_collections", "%s", LullLocalCollections ? "on" : "off");
  line("flags.young_collections", "%s", LullYoungCollections ? "on" : "off");
  for (size_t i = 0; i < JVMFlag::numFlags; i++) {
    const JVMFlag& flag = JVMFlag::flags[i];
    if (flag.name() != nullptr && strncmp(flag.name(), "Lull", 4) == 0 && !flag.is_default()) {
      output()->print("flags.changed: ");
      flag.print_as_flag(output());
      output()->print(" ");
      flag.print_origin(output(), 0);
      output()->cr();
    }
  }
}

void LullInfoDCmd::print_heap(JavaThread* current) {
  CollectedHeap* const heap = Universe::heap();
  LullBlockCensus census(LullTables::blocks(), LullTables::public_map());
  census.take(current);
  bytes("heap.maximum", heap->max_capacity());
  bytes("heap.committed", heap->capacity());
  bytes("heap.used", heap->used());
  bytes("heap.slack", census.slack_lines() * LullGeometry::LineSize);

  line("blocks.size", "%zu KB", LullGeometry::BlockSize / K);
  const struct { const char* _key; LullBlockCensus::Kind _kind; } kinds[] = {
    { "blocks.free",       LullBlockCensus::Kind::Free },
    { "blocks.private",    LullBlockCensus::Kind::Private },
    { "blocks.mixed",      LullBlockCensus::Kind::Mixed },
    { "blocks.public",     LullBlockCensus::Kind::Public },
    { "blocks.large",      LullBlockCensus::Kind::Large },
    { "blocks.archive",    LullBlockCensus::Kind::Archive }
  };
  for (const auto& kind : kinds) {
    const size_t blocks = census.blocks(kind._kind);
    line(kind._key, "%zu blocks, %.1f MB", blocks, (double)(blocks * LullGeometry::BlockSize) / M);
  }
  bytes("blocks.holes", census.free_lines() * LullGeometry::LineSize);
  bytes("blocks.longest_free_run", census.longest_free_run() * LullGeometry::BlockSize);
}

void LullInfoDCmd::print_far() {
  LullFarStatistics now;
  if (!LullFarHeap::is_far()) {
    return;
  }
  if (!LullFarHeap::statistics(&now)) {
    line("far.pager", "asks nothing");
    return;
  }
  const struct { const char* _key; uint64_t _pages; } sizes[] = {
    { "far.local",             now._local },
    { "far.local_limit",       now._local_limit },
    { "far.remote",            LullFarHeap::remote_pages() },
    { "far.fetched",           now._fetched },
    { "far.fetched_in_pauses", LullFarHeap::fetched_in_pauses() },
    { "far.sent",              now._written },
    { "far.sent_young",        now._young_written },
    { "far.dropped_clean",     now._dropped_clean },
    { "far.dropped_free",      now._dropped_unused },
    { "far.forgotten",         now._forgotten },
    { "far.copied_again",      now._copied }
  };
  for (const auto& size : sizes) {
    if (size._pages != LullFarHeap::Unknown) {
      bytes(size._key, (size_t)size._pages * os::vm_page_size());
    }
  }
  const bool knows_waits = now._fetch_faults != LullFarHeap::Unknown;
  const struct { const char* _key; uint64_t _pages; } counts[] = {
    { "far.young_passed",      now._young_passed },
    { "far.held_left",         now._held_left },
    { "far.first_uses",        now._zero_faults },
    { "far.second_chances",    now._second_chances },
    { "far.waits",             now._fetch_faults },
    { "far.waits_in_pauses",   knows_waits ? LullFarHeap::waits_in_pauses() : LullFarHeap::Unknown },
    { "far.replica_fetches",   now._replica_fetches }
  };
  for (const auto& count : counts) {
    if (count._pages != LullFarHeap::Unknown) {
      line(count._key, "%zu pages", (size_t)count._pages);
    }
  }
  if (now._lost_servers != LullFarHeap::Unknown) {
    line("far.lost_servers", "%zu", (size_t)now._lost_servers);
  }
}

void LullInfoDCmd::print_publication() {
  if (!LullTracking) {
    return;
  }
  const LullPublicationStatistics total = LullPublisher::total();
  bytes("publication.allocated", total._allocated);
  bytes("publication.published", total.published_bytes());
  line("publication.share", "%.1f %%", percent((double)total.published_bytes(), (double)total._allocated));
  line("publication.objects", "%zu", total._objects);
  line("publication.longest_closure", "%zu objects", total._longest);
  line("publication.slow_calls", "%zu", total._slow_calls);
  output()->print("publication.tracking: ");
  _tracking_switch->print_on(output());
  output()->cr();
}

void LullInfoDCmd::print_local() {
  if (!LullLocalCollections) {
    return;
  }
  const LullLocalStatistics total = LullLocalCollector::total();
  line("local.collections", "%zu", total._collections);
  line("local.before_wait", "%zu", total._before_wait);
  line("local.requests", "%zu", total._requests);
  line("local.time", "%.3f s", seconds(total._time));
  line("local.processor_time", "%.3f s", seconds(total._cpu_time));
  line("local.longest", "%.3f ms", milliseconds(total._longest));
  line("local.longest_processor_time", "%.3f ms", milliseconds(total._longest_cpu_time));
  bytes("local.freed", total._freed);
  bytes("local.survived", total._survived);
  bytes("local.tenured", total._tenured);
  line("references.waiting", "%zu", LullPendingReferences::references());
  bytes("references.garbage", LullPendingReferences::garbage());
}

// A reason for public mode, and how many threads have it.
struct LullModeReason {
  const char* _reason;
  size_t      _threads;
};

static void count_reason(GrowableArray<LullModeReason>* reasons, const char* reason) {
  for (int i = 0; i < reasons->length(); i++) {
    if (strcmp(reasons->at(i)._reason, reason) == 0) {
      reasons->at(i)._threads++;
      return;
    }
  }
  reasons->append(LullModeReason{ reason, 1 });
}

void LullInfoDCmd::print_threads() {
  if (!LullTracking) {
    return;
  }
  size_t in_private_mode = 0;
  size_t in_public_mode = 0;
  int named = 0;
  GrowableArray<LullModeReason> reasons;
  stringStream names;
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    const LullPublisher* const publisher = LullThreadLocalData::publisher(thread);
    if (!LullThreadLocalData::is_public_mode(thread)) {
      in_private_mode++;
      continue;
    }
    in_public_mode++;
    const char* const reason = publisher->mode_reason() == nullptr ? "unknown" : publisher->mode_reason();
    count_reason(&reasons, reason);
    // Those of the VM are always.
    if (!thread->is_hidden_from_external_view() && !thread->is_exiting() && named++ < ThreadsNamed) {
      const LullPublicationStatistics& statistics = publisher->statistics();
      names.print_cr("threads.public_mode.thread: \"%s\", %s, %.1f MB allocated, %.0f %% of the last window in private mode published, "
                     "entered %zu times", thread->name(), reason, (double)statistics._allocated / M, publisher->published_share() * 100,
                     statistics._public_mode_entered);
    }
  }
  line("threads.private_mode", "%zu", in_private_mode);
  line("threads.public_mode", "%zu", in_public_mode);
  for (const LullModeReason& reason : reasons) {
    line("threads.public_mode.reason", "%zu, %s", reason._threads, reason._reason);
  }
  output()->print_raw(names.base(), names.size());
  if (named > ThreadsNamed) {
    line("threads.public_mode.unnamed", "%d", named - ThreadsNamed);
  }
}

void LullInfoDCmd::print_pauses(const char* kind, const LullPauses& pauses) {
  output()->print_cr("%s.collections: %zu", kind, pauses._number);
  output()->print_cr("%s.time: %.3f s", kind, seconds(pauses._time));
  output()->print_cr("%s.longest: %.3f ms", kind, milliseconds(pauses._longest));
  if (pauses._number > 0) {
    output()->print_cr("%s.last.cause: %s", kind, GCCause::to_string(pauses._last_cause));
    output()->print_cr("%s.last.ago: %.1f s", kind, seconds(os::javaTimeNanos() - pauses._last_end));
    output()->print_cr("%s.last.time: %.3f ms", kind, milliseconds(pauses._last_time));
    output()->print_cr("%s.last.used_before: %.1f MB", kind, (double)pauses._last_used_before / M);
    output()->print_cr("%s.last.used_after: %.1f MB", kind, (double)pauses._last_used_after / M);
  }
}
