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

#ifndef SHARE_GC_LULL_LULL_GLOBALS_HPP
#define SHARE_GC_LULL_LULL_GLOBALS_HPP

#include "runtime/globals_shared.hpp"

#define GC_LULL_FLAGS(develop,                                              \
                      develop_pd,                                           \
                      product,                                              \
                      product_pd,                                           \
                      range,                                                \
                      constraint)                                           \
                                                                            \
  product(uint, LullMinHoleLines, 2, EXPERIMENTAL,                          \
          "The shortest hole, in lines of 256 bytes, into which objects "   \
          "are ever allocated. Smaller values use more of a fragmented "    \
          "heap, larger values refill allocation buffers less often.")      \
          range(1, 128)                                                     \
                                                                            \
  product(bool, LullAdaptiveHoles, true, EXPERIMENTAL,                      \
          "Leaves holes shorter than 4 KB alone while all objects are "     \
          "public and memory suffices: fewer refills of allocation "        \
          "buffers, more memory in use between collections. Off, each hole "\
          "of LullMinHoleLines is used at any time.")                       \
                                                                            \
  product(bool, LullEvacuation, true, EXPERIMENTAL,                         \
          "Moves objects out of fragmented blocks while marking. Off, "     \
          "collections copy nothing and fragmentation stays.")              \
                                                                            \
  product(uint, LullEvacuationReservePercent, 5, EXPERIMENTAL,              \
          "Share of the heap's blocks, in percent, that only a collection " \
          "may copy into. A larger reserve repairs more fragmentation at "  \
          "once, a smaller one leaves more memory to the application.")     \
          range(0, 50)                                                      \
                                                                            \
  product(uint, LullEvacuationMaxLivePercent, 50, EXPERIMENTAL,             \
          "A block is evacuated only if at most this share of it was live " \
          "at the last collection. Higher values copy more to win less. "   \
          "Two rules for young collections use it, too.")                   \
          range(0, 100)                                                     \
                                                                            \
  product(uint, LullFragmentationTriggerPercent, 15, EXPERIMENTAL,          \
          "Evacuates when at least this share of the committed heap is "    \
          "dead or free memory inside of partly used blocks; while "        \
          "collections take more time than GCTimeRatio allows, of what is " \
          "free or would be. Lower values keep the heap denser, higher "    \
          "values copy less.")                                              \
          range(0, 100)                                                     \
                                                                            \
  product(uint, LullUnloadClassesInterval, 8, EXPERIMENTAL,                 \
          "Every N-th automatic global collection unloads all dead "        \
          "classes; the others keep hidden ones while few of them are "     \
          "dead. Larger intervals shorten pauses, smaller ones free "       \
          "metaspace and code earlier (1: each unloads).")                  \
          range(1, 1000)                                                    \
                                                                            \
  product(bool, LullUncommit, true, EXPERIMENTAL,                           \
          "Returns memory that the heap does not need to the system. Off, " \
          "the heap never shrinks, and growing again costs nothing.")       \
                                                                            \
  product(bool, LullTracking, true,                                         \
          "Knows which objects are private to a thread. Each store of a "   \
          "reference costs a few instructions, and publishing an object "   \
          "costs a visit to it. Private garbage can be collected by its "   \
          "thread alone. Off, there are no local collections either.")      \
                                                                            \
  product(bool, LullYoungCollections, true,                                 \
          "Between two global collections, collects only what was "         \
          "allocated or published since the last one. Pauses are shorter. " \
          "Each store of a reference into a public object costs a few "     \
          "instructions more, and old garbage stays longer.")               \
                                                                            \
  product(bool, LullConcurrentMarking, false, EXPERIMENTAL,                 \
          "Marks old objects while the program runs. So old garbage is "    \
          "found in a pause that does not grow with what is alive. It "     \
          "takes a part of a processor meanwhile, and 2 percent more "      \
          "memory.")                                                        \
                                                                            \
  product(bool, LullAgeSurvivors, true,                                     \
          "What a young collection copies for the first time stays young "  \
          "until the next one. Less becomes old that is soon dead, so "     \
          "global collections are rarer. What lives on is copied twice.")   \
                                                                            \
  product(bool, LullAlwaysPublic, false, EXPERIMENTAL,                      \
          "With LullTracking, all threads stay in public mode. It shows "   \
          "what the barrier costs where it gains nothing.")                 \
                                                                            \
  product(bool, LullSuspendTracking, true, EXPERIMENTAL,                    \
          "Tests whether all threads together serve better without knowing "\
          "what is private, where much is published, and suspends tracking "\
          "as long as they do. A trial takes some windows of two seconds "  \
          "each way, and is repeated ever more rarely.")                    \
                                                                            \
  product(size_t, LullPublicationLimit, 100000, EXPERIMENTAL,               \
          "A store that publishes more objects than this publishes all "    \
          "that its thread has instead. Lower values bound the time of a "  \
          "store, higher values keep more objects private.")                \
          range(1, SIZE_MAX)                                                \
                                                                            \
  product(uint, LullPublicModePercent, 40, EXPERIMENTAL,                    \
          "A thread of whose allocated bytes a larger share is published, " \
          "in percent, stops tracking for a while. Lower values bound the " \
          "cost of publication, higher values keep more objects private.")  \
          range(1, 100)                                                     \
                                                                            \
  product(size_t, LullPublicModeWindow, 4 * M, EXPERIMENTAL,                \
          "Bytes that a thread allocates between two looks at that share. " \
          "Smaller windows react earlier, larger ones to less noise.")      \
          range(32 * K, 1 * G)                                              \
                                                                            \
  product(uint, LullPublicModeWindows, 16, EXPERIMENTAL,                    \
          "Windows after which a thread that has stopped tracking tries "   \
          "again; twice as many each time in vain. More windows cost less " \
          "where tracking is in vain, fewer notice earlier that it is not.")\
          range(1, 1024)                                                    \
                                                                            \
  product(size_t, LullPublicationSampling, 0, EXPERIMENTAL,                 \
          "Bytes that a thread publishes between two samples of what was "  \
          "stored and by which code (0: no samples). Smaller values find "  \
          "rarer stores, larger ones cost less.")                           \
          range(0, 1 * G)                                                   \
                                                                            \
  product(bool, LullLocalCollections, true,                                 \
          "Each thread collects its own private objects by itself. Needs "  \
          "LullTracking. It costs a look at the stack each time, and saves "\
          "global collections, which stop all threads.")                    \
                                                                            \
  product(bool, LullLocalDefragmentation, false, EXPERIMENTAL,              \
          "Before a global collection workers collect for threads that "    \
          "have much that is private. It makes the pause longer by what "   \
          "survives, and gives others the holes between it.")               \
                                                                            \
  product(uint, LullReferencePausePercent, 1, EXPERIMENTAL,                 \
          "Share of the time, in percent, that pauses may take which come " \
          "for java.lang.ref references alone, while garbage dies in local "\
          "collections; ten times that where the process runs short of "    \
          "memory, descriptors or threads. Smaller shares clear later; 0: " \
          "no such pauses.")                                                \
          range(0, 50)                                                      \
                                                                            \
  product(bool, LullPrivateThreadLocals, true, EXPERIMENTAL,                \
          "What a thread keeps in ThreadLocals, or has bound to "           \
          "ScopedValues, stays private to it, until a program looks up how "\
          "to read those of other threads. It costs a copy of its map now " \
          "and then, and saves the publication of each value.")             \
                                                                            \
  product(bool, LullPrivateCarriers, true, EXPERIMENTAL,                    \
          "Threads that carry virtual threads have private objects. It "    \
          "costs a look at the frames each time a virtual thread is "       \
          "unmounted. Off, all that carriers allocate is public.")          \
                                                                            \
  product(size_t, LullLocalBudget, 512 * K, EXPERIMENTAL,                   \
          "Bytes that a thread allocates between two of its own "           \
          "collections, while little survives them. Smaller budgets stay "  \
          "in the cache, larger ones look at the stack less often.")        \
          range(64 * K, 1 * G)                                              \
                                                                            \
  product(size_t, LullTenureSize, 4 * M, EXPERIMENTAL,                      \
          "When more than this survives two local collections in a row, or "\
          "four times as much one of them, in bytes, all of it becomes "    \
          "public and is left to global collections. Smaller sizes copy "   \
          "less, larger ones keep more objects private.")                   \
          range(0, SIZE_MAX)                                                \
                                                                            \
  product(bool, LullVerifyHeap, trueInDebug, DIAGNOSTIC,                    \
          "Checks all invariants of the heap after each collection. Visits "\
          "every object once more.")                                        \
                                                                            \
  product(bool, LullElideBarriers, true, DIAGNOSTIC,                        \
          "In C2, leaves out the barrier of a store into a new object that "\
          "is known to be still private in the final schedule.")            \
                                                                            \
  develop(bool, LullCheckElision, false,                                    \
          "Stop the VM if a store without a barrier, by LullElideBarriers, "\
          "meets a public object")                                          \
                                                                            \
  develop(bool, LullLoadCheck, false,                                       \
          "Check at each load that a public object refers to public ones, " \
          "in the interpreter, in C1's code and in the VM")                 \
                                                                            \
  develop(uint, LullLookInterval, 5000,                                     \
          "Milliseconds between two looks at whether the program is idle "  \
          "or has more memory than it uses")                                \
          range(10, 3600000)                                                \
                                                                            \
  develop(uint, LullPublishAllALot, 0,                                      \
          "Stress: enter public mode at each N-th publication of a thread " \
          "(0: off)")                                                       \
                                                                            \
  develop(uint, LullFlipModeALot, 0,                                        \
          "Stress: change between private and public mode at each N-th "    \
          "refill (0: off)")                                                \
                                                                            \
  develop(uint, LullSuspendALot, 0,                                         \
          "Suspend tracking for so many collections, resume it for as "     \
          "many, and so on; 0: as LullSuspendTracking says.")               \
                                                                            \
  develop(uint, LullLocalCollectALot, 0,                                    \
          "Stress: collect locally at each N-th slow allocation of a "      \
          "thread, and make TLABs of one line (0: off)")                    \
                                                                            \
  develop(bool, LullProtectFree, false,                                     \
          "Stress: nobody can read or write a block that was freed until "  \
          "it is used again. For small heaps without large pages.")         \
                                                                            \
  develop(bool, LullDefragmentALot, false,                                  \
          "Stress, with LullLocalDefragmentation: workers collect for all " \
          "threads that have anything private")                             \
                                                                            \
  develop(uint, LullThreadNames, max_juint,                                 \
          "Stress: the names that there are for threads, after which the "  \
          "first one that no thread has is used again")                     \
          range(1000, max_juint)                                            \
                                                                            \
  develop(uint, LullDropBarrier, 0,                                         \
          "Fault injection, to see that the checks can fail: leave out the "\
          "barrier of 1: the interpreter, 2: C1, 3: C2, 4: array copy "     \
          "stubs, 5: the runtime's stores, 6: stores to roots (0: of none), "\
          "7: do as if references to new objects were never stored, "       \
          "8: leave all cards clean, or 9: remember no survivors")          \
          range(0, 9)                                                       \
                                                                            \
  develop(bool, LullCycleALot, false,                                       \
          "Stress, with LullConcurrentMarking: the next cycle begins as "   \
          "soon as the last one has ended")                                 \
                                                                            \
  develop(bool, LullMarkInRemark, false,                                    \
          "Stress, with LullConcurrentMarking: markers do nothing, so that "\
          "what mutators hide has to be found in the remark")               \
                                                                            \
  develop(uint, LullDropMarking, 0,                                         \
          "Fault injection, to see that the checks can fail: a cycle of "   \
          "concurrent marking leaves out 1: objects on dirty cards, 2: "    \
          "classes and code, 3: enqueued references, 4: lines (0: nothing)")\
          range(0, 4)                                                       \
                                                                            \
  develop(uint, LullEvacuateALot, 0,                                        \
          "Stress: evacuate every block that may be moved at each N-th "    \
          "collection (0: off)")                                            \
                                                                            \
  develop(bool, LullYoungALot, false,                                       \
          "Stress: whenever memory is lacking, try a young collection "     \
          "first")                                                          \
                                                                            \
  develop(uint, LullSlideALot, 0,                                           \
          "Stress: slide all objects together at each "                     \
          "N-th collection (0: off)")                                       \
                                                                            \
  develop(uint, LullEvacuationFailureALot, 0,                               \
          "Stress: fail each N-th copy of an evacuation (0: off)")          \
                                                                            \
  product(bool, LullFitMedium, true, DIAGNOSTIC,                            \
          "An object of more than a line that does not fit the hole in use "\
          "gets the shortest hole that it fits. Off, it gets a free block, "\
          "as in Immix.")                                                   \
                                                                            \
  product(ccstr, LullAllocation, "regions", DIAGNOSTIC,                     \
          "regions: the Lull heap. segregated: free lists in which nothing "\
          "moves, for the allocator study. That needs -XX:-LullTracking, "  \
          "-XX:-UseTLAB and a heap of one size.")                           \
                                                                            \
  product(ccstr, LullSegregatedSearch, "next-hit", DIAGNOSTIC,              \
          "For the allocator study: how the free list is found; traverse, " \
          "next-hit, bitmap or first-fit.")                                 \
                                                                            \
  product(ccstr, LullSegregatedCoalescing, "immediate", DIAGNOSTIC,         \
          "For the allocator study: when free chunks that touch each other "\
          "become one; never, deferred or immediate.")                      \
                                                                            \
  product(uint, LullSegregatedLists, 128, DIAGNOSTIC,                       \
          "For the allocator study: lists of free chunks of one length "    \
          "each, in words of 8 bytes; the last has all longer ones. 32, "   \
          "64, 128, 256 or 512.")                                           \
          range(32, 512)                                                    \
                                                                            \
  product(size_t, LullSegregatedBytes, 0, DIAGNOSTIC,                       \
          "For the allocator study: bytes of the heap, from its start, "    \
          "that objects are allocated in (0: all of it).")                  \
          range(0, SIZE_MAX)

// end of GC_LULL_FLAGS

#endif // SHARE_GC_LULL_LULL_GLOBALS_HPP
