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

#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/lullArguments.hpp"
#include "gc/lull/lullHeap.hpp"
#include "gc/lull/observe/lullBrokenHeap.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/tlab_globals.hpp"
#include "gc/shared/workerPolicy.hpp"
#if INCLUDE_JVMCI
#include "jvmci/jvmci_globals.hpp"
#endif
#include "logging/log.hpp"
#include "runtime/globals.hpp"
#include "runtime/globals_extension.hpp"
#include "runtime/java.hpp"
#include "utilities/formatBuffer.hpp"

size_t LullArguments::conservative_max_heap_alignment() {
  return LullMemory::granule_size();
}

void LullArguments::initialize_alignments() {
  SpaceAlignment = LullMemory::granule_size();
  HeapAlignment  = LullMemory::granule_size();
}

void LullArguments::initialize_heap_flags_and_sizes() {
  GCArguments::initialize_heap_flags_and_sizes();
  if (MaxHeapSize >= LullGeometry::MaxHeapSize) {
    // The number behind the last line must fit into 32 bits, too.
    vm_exit_during_initialization(
      err_msg("-XX:+UseLullGC supports heaps of less than %zuG, the maximum heap size is %zuG. Use a smaller -Xmx.",
              LullGeometry::MaxHeapSize / G, MaxHeapSize / G));
  }
}

// Marks by the cards of young collections.
static void initialize_concurrent_marking() {
  if (UseHeapBudget && FLAG_IS_DEFAULT(LullConcurrentMarking)) {
    // The budget asks for collections of the whole heap, one after the other until it is small enough: each would give
    // up the cycle that runs.
    FLAG_SET_ERGO(LullConcurrentMarking, false);
  }
  if (LullConcurrentMarking && !LullYoungCollections) {
    if (FLAG_IS_CMDLINE(LullConcurrentMarking)) {
      vm_exit_during_initialization("-XX:+LullConcurrentMarking needs young collections: "
                                    "it cannot be used with -XX:-LullTracking or -XX:-LullYoungCollections.");
    }
    FLAG_SET_ERGO(LullConcurrentMarking, false);
  }
  if (FLAG_IS_DEFAULT(ConcGCThreads)) {
    FLAG_SET_DEFAULT(ConcGCThreads, MAX2((ParallelGCThreads + 2) / 4, 1u));
  } else if (ConcGCThreads == 0 && LullConcurrentMarking) {
    if (FLAG_IS_CMDLINE(LullConcurrentMarking)) {
      vm_exit_during_initialization("-XX:+LullConcurrentMarking needs at least one thread that marks: "
                                    "-XX:ConcGCThreads=0 cannot be used with it.");
    }
    FLAG_SET_ERGO(LullConcurrentMarking, false);
  }
}

static void initialize_workers() {
  FLAG_SET_DEFAULT(ParallelGCThreads, WorkerPolicy::parallel_worker_threads());
  if (ParallelGCThreads == 0) {
    vm_exit_during_initialization("-XX:+UseLullGC needs at least one GC thread: "
                                  "-XX:ParallelGCThreads=0 cannot be used with it.");
  }
  if (FLAG_IS_DEFAULT(ParallelRefProcEnabled) && ParallelGCThreads > 1) {
    FLAG_SET_DEFAULT(ParallelRefProcEnabled, true);
  }
}

// What HotSpot has, and Lull does not do with.
static void check_vm() {
  // Forwarding uses the bits of the mark word that other locking modes need.
  if (LockingMode != LM_LIGHTWEIGHT) {
    vm_exit_during_initialization("-XX:+UseLullGC needs -XX:LockingMode=2 (lightweight locking).");
  }
#if INCLUDE_JVMTI
  // An event's method would run on a thread whose frames have left it already.
  if (!DoJVMTIVirtualThreadTransitions) {
    vm_exit_during_initialization("-XX:+UseLullGC needs virtual threads that hide their events while they unmount: "
                                  "it cannot be used with -XX:-DoJVMTIVirtualThreadTransitions.");
  }
#endif
#if INCLUDE_JVMCI
  if (EnableJVMCI) {
    vm_exit_during_initialization("-XX:+UseLullGC does not support the JVM compiler interface (-XX:+EnableJVMCI).");
  }
#endif
}

// What needs to know which objects are private is refused without tracking if it was asked for, else switched off.
static void initialize_tracking() {
  if (!LullTracking && LullLocalCollections) {
    if (FLAG_IS_CMDLINE(LullLocalCollections)) {
      vm_exit_during_initialization("-XX:+LullLocalCollections needs to know which objects are private: "
                                    "it cannot be used with -XX:-LullTracking.");
    }
    FLAG_SET_ERGO(LullLocalCollections, false);
  }

  if (LullAlwaysPrivate && LullAlwaysPublic) {
    vm_exit_during_initialization("-XX:+LullAlwaysPrivate and -XX:+LullAlwaysPublic say the opposite of each other: "
                                  "leave one of them out.");
  }

  // Without local collections tracking is for measurements only: it cannot pay.
  if ((!LullLocalCollections || LullAlwaysPublic || LullAlwaysPrivate) && LullSuspendTracking) {
    if (FLAG_IS_CMDLINE(LullSuspendTracking)) {
      vm_exit_during_initialization("-XX:+LullSuspendTracking finds out whether local collections pay: it cannot be used with "
                                    "-XX:-LullTracking, -XX:-LullLocalCollections, -XX:+LullAlwaysPublic or "
                                    "-XX:+LullAlwaysPrivate.");
    }
    FLAG_SET_ERGO(LullSuspendTracking, false);
  }

  if (!LullTracking && LullYoungCollections) {
    if (FLAG_IS_CMDLINE(LullYoungCollections)) {
      vm_exit_during_initialization("-XX:+LullYoungCollections needs the barrier of stores into public objects: "
                                    "it cannot be used with -XX:-LullTracking.");
    }
    FLAG_SET_ERGO(LullYoungCollections, false);
  }
}

// Flags of debug builds that are nothing without others.
static void check_stress_flags() {
#ifdef ASSERT
  if (!LullBrokenHeap::is_known(LullBreakInvariant)) {
    vm_exit_during_initialization(err_msg("-XX:LullBreakInvariant=%s: there is no such invariant that it can break. "
                                          "Their names are in lullBrokenHeap.cpp.", LullBreakInvariant));
  }
  if (LullProtectFree && UseLargePages && !UseTransparentHugePages) {
    vm_exit_during_initialization("-XX:+LullProtectFree protects single blocks: it cannot be used with -XX:+UseLargePages.");
  }
#endif
}

static void initialize_tlabs() {
  // A TLAB is a hole, whatever its length is.
  FLAG_SET_DEFAULT(ResizeTLAB, false);
  if (FLAG_IS_DEFAULT(TLABSize)) {
    FLAG_SET_DEFAULT(TLABSize, LullGeometry::BlockSize);
  }
  if (FLAG_IS_DEFAULT(MinTLABSize)) {
    FLAG_SET_DEFAULT(MinTLABSize, LullGeometry::LineSize);
  }
  // A TLAB lies in a block: larger sizes, set for another collector, mean the largest.
  if (TLABSize > LullGeometry::BlockSize) {
    log_warning(gc)("-XX:TLABSize=%zu is more than a block of the Lull heap: using %zu", TLABSize, LullGeometry::BlockSize);
    FLAG_SET_ERGO(TLABSize, LullGeometry::BlockSize);
  }
  // What is asked for as one piece must not be a large object.
  const size_t most = LullGeometry::MaxBlockObjectWords * HeapWordSize;
  if (MinTLABSize > most) {
    log_warning(gc)("-XX:MinTLABSize=%zu is more than a block of the Lull heap can always give: using %zu", MinTLABSize, most);
    FLAG_SET_ERGO(MinTLABSize, most);
  }
}

// HotSpot's first threshold, 21 MB, stops each server while it starts, for classes that all live. A service of fifteen
// thousand classes stays below this one. In a small container what is dead may not wait so long.
static void initialize_metaspace() {
  const size_t most = MIN2((size_t)(128 * M), (size_t)(os::physical_memory() / 16));
  if (FLAG_IS_DEFAULT(MetaspaceSize) && most > MetaspaceSize) {
    FLAG_SET_DEFAULT(MetaspaceSize, MIN2(most, MaxMetaspaceSize));
  }
}

// A thread serves the faults of a far heap on its own stack, wherever in the VM it is.
static void initialize_stacks() {
  if (FLAG_IS_DEFAULT(StackShadowPages)) {
    FLAG_SET_DEFAULT(StackShadowPages, StackShadowPages + LullFarHeap::more_shadow_pages());
  }
}

static void initialize_pauses() {
  // Every collection visits the whole heap: give it a twentieth of the time.
  if (FLAG_IS_DEFAULT(GCTimeRatio)) {
    FLAG_SET_DEFAULT(GCTimeRatio, 19);
  }

  // Short enough that a service does not show it, long enough that most programs never need an early pause for it.
  if (FLAG_IS_DEFAULT(MaxGCPauseMillis)) {
    FLAG_SET_DEFAULT(MaxGCPauseMillis, 50);
  }

#ifdef COMPILER2
  // Keep the time to a safepoint short.
  if (FLAG_IS_DEFAULT(UseCountedLoopSafepoints)) {
    FLAG_SET_DEFAULT(UseCountedLoopSafepoints, true);
    if (FLAG_IS_DEFAULT(LoopStripMiningIter)) {
      FLAG_SET_DEFAULT(LoopStripMiningIter, 1000);
    }
  }
#endif
}

#ifdef ASSERT

// What the rest of the collector takes for granted of the flags that switch its parts on.
static void assert_modes() {
  assert(LullTracking || (!LullLocalCollections && !LullYoungCollections), "their barriers are tracking's");
  assert(LullYoungCollections || !LullConcurrentMarking, "a cycle ends in a young pause");
  assert(LullLocalCollections || !LullSuspendTracking, "nothing could pay");
  assert(!LullConcurrentMarking || ConcGCThreads > 0, "nobody marks");
  assert(ParallelGCThreads > 0, "nobody collects");
  assert(MinTLABSize <= LullGeometry::MaxBlockObjectWords * HeapWordSize && TLABSize <= LullGeometry::BlockSize && !ResizeTLAB,
         "a TLAB of %zu to %zu bytes is a hole of a block", MinTLABSize, TLABSize);
  assert(LockingMode == LM_LIGHTWEIGHT, "forwarding needs the bits of the mark word");
}

#endif // ASSERT

void LullArguments::initialize() {
  GCArguments::initialize();
  assert(UseLullGC, "Sanity");
  initialize_workers();
  check_vm();
  initialize_tracking();
  initialize_concurrent_marking();
  check_stress_flags();
  initialize_tlabs();
  initialize_metaspace();
  initialize_stacks();
  initialize_pauses();
  DEBUG_ONLY(assert_modes();)
}

CollectedHeap* LullArguments::create_heap() {
  return new LullHeap();
}

bool LullArguments::is_supported() const {
  return true;
}
