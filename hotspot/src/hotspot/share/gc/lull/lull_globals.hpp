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

// What an operator can decide is a product flag, at most eight; what is young, or shows something, needs unlocking, at most
// eight. What only a test decides is a develop flag: a constant in a release build. All else is a constant of the class
// that uses it. Names that were flags once are in lullRemovedFlags.cpp.
#define GC_LULL_FLAGS(develop,                                              \
                      develop_pd,                                           \
                      product,                                              \
                      product_pd,                                           \
                      range,                                                \
                      constraint)                                           \
                                                                            \
  product(bool, LullTracking, true,                                         \
          "Knows which objects are private to a thread. Each store of a "   \
          "reference costs a few instructions, and publishing an object "   \
          "costs a visit to it. Private garbage can be collected by its "   \
          "thread alone. Off, there are no local collections either.")      \
                                                                            \
  product(bool, LullLocalCollections, true,                                 \
          "Each thread collects its own private objects by itself. Needs "  \
          "LullTracking. It costs a look at the stack each time, and saves "\
          "global collections, which stop all threads.")                    \
                                                                            \
  product(bool, LullYoungCollections, true,                                 \
          "Between two global collections, collects only what was "         \
          "allocated or published since the last one. Pauses are shorter. " \
          "Each store of a reference into a public object costs a few "     \
          "instructions more, and old garbage stays longer.")               \
                                                                            \
  product(bool, LullAgeSurvivors, true,                                     \
          "What a young collection copies for the first time stays young "  \
          "until the next one. Less becomes old that is soon dead, so "     \
          "global collections are rarer. What lives on is copied twice.")   \
                                                                            \
  product(bool, LullUncommit, true,                                         \
          "Returns memory that the heap does not need to the system. Off, " \
          "the heap never shrinks, and growing again costs nothing.")       \
                                                                            \
  product(uint, LullReferencePausePercent, 1,                               \
          "Share of the time, in percent, that pauses may take which come " \
          "for java.lang.ref references alone, while garbage dies in local "\
          "collections; ten times that where the process runs short of "    \
          "memory, descriptors or threads. Smaller shares clear later; 0: " \
          "no such pauses.")                                                \
          range(0, 50)                                                      \
                                                                            \
  product(bool, LullConcurrentMarking, true, EXPERIMENTAL,                  \
          "Marks old objects while the program runs, where a pause for "    \
          "the whole heap would be long. So old garbage is found in a "     \
          "pause that does not grow with what is alive. It takes a part of "\
          "a processor meanwhile, and 2 percent more memory.")              \
                                                                            \
  product(bool, LullSuspendTracking, true, EXPERIMENTAL,                    \
          "Tests whether all threads together serve better without knowing "\
          "what is private, where much is published, and suspends tracking "\
          "as long as they do. A trial takes some windows of two seconds "  \
          "each way, and is repeated ever more rarely.")                    \
                                                                            \
  product(size_t, LullLocalBudget, 512 * K, EXPERIMENTAL,                   \
          "Bytes that a thread allocates between two of its own "           \
          "collections, while little survives them. Smaller budgets stay "  \
          "in the cache, larger ones look at the stack less often.")        \
          range(64 * K, 1 * G)                                              \
                                                                            \
  product(size_t, LullPublicationSampling, 0, EXPERIMENTAL,                 \
          "Bytes that a thread publishes between two samples of what was "  \
          "stored and by which code (0: no samples). Smaller values find "  \
          "rarer stores, larger ones cost less.")                           \
          range(0, 1 * G)                                                   \
                                                                            \
  product(bool, LullAlwaysPublic, false, EXPERIMENTAL,                      \
          "With LullTracking, all threads stay in public mode. It shows "   \
          "what the barrier costs where it gains nothing.")                 \
                                                                            \
  product(bool, LullAlwaysPrivate, false, EXPERIMENTAL,                     \
          "With LullTracking, no thread enters public mode for how much it "\
          "publishes. It shows what tracking costs where it does not pay.") \
                                                                            \
  product(bool, LullVerifyHeap, trueInDebug, DIAGNOSTIC,                    \
          "Checks all invariants of the heap after each collection. Visits "\
          "every object once more.")                                        \
                                                                            \
  product(bool, LullElideBarriers, true, DIAGNOSTIC,                        \
          "In C2, leaves out the barrier of a store into a new object that "\
          "is known to be still private in the final schedule.")            \
                                                                            \
  develop(bool, LullEvacuation, true,                                       \
          "Moves objects out of fragmented blocks while marking. Off, "     \
          "collections copy nothing and fragmentation stays.")              \
                                                                            \
  develop(uint, LullEvacuationMaxLivePercent, 50,                           \
          "A block is evacuated only if at most this share of it was live " \
          "at the last collection. Higher values copy more to win less. "   \
          "Two rules for young collections use it, too.")                   \
          range(0, 100)                                                     \
                                                                            \
  develop(uint, LullFragmentationTriggerPercent, 15,                        \
          "Evacuates when at least this share of the committed heap is "    \
          "dead or free memory inside of partly used blocks; while "        \
          "collections take more time than GCTimeRatio allows, of what is " \
          "free or would be. Lower values keep the heap denser, higher "    \
          "values copy less.")                                              \
          range(0, 100)                                                     \
                                                                            \
  develop(uint, LullUnloadClassesInterval, 8,                               \
          "Every N-th automatic global collection unloads all dead "        \
          "classes; the others keep hidden ones while few of them are "     \
          "dead. Larger intervals shorten pauses, smaller ones free "       \
          "metaspace and code earlier (1: each unloads).")                  \
          range(1, 1000)                                                    \
                                                                            \
  develop(bool, LullAdaptiveHoles, true,                                    \
          "Leaves holes shorter than 4 KB alone while all objects are "     \
          "public and memory suffices: fewer refills of allocation "        \
          "buffers, more memory in use between collections. Off, each hole "\
          "of two lines or more is used at any time.")                      \
                                                                            \
  develop(bool, LullFitMedium, true,                                        \
          "An object of more than a line that does not fit the hole in use "\
          "gets the shortest hole that it fits. Off, it gets a free block, "\
          "as in Immix.")                                                   \
                                                                            \
  develop(size_t, LullPublicationLimit, 100000,                             \
          "A store that publishes more objects than this publishes all "    \
          "that its thread has instead. Lower values bound the time of a "  \
          "store, higher values keep more objects private.")                \
          range(1, SIZE_MAX)                                                \
                                                                            \
  develop(size_t, LullPublicModeWindow, 4 * M,                              \
          "Bytes that a thread allocates between two looks at how much of " \
          "them it publishes. Smaller windows react earlier, larger ones "  \
          "to less noise.")                                                 \
          range(32 * K, 1 * G)                                              \
                                                                            \
  develop(uint, LullPublicModeWindows, 16,                                  \
          "Windows after which a thread that has stopped tracking tries "   \
          "again; twice as many each time in vain. More windows cost less " \
          "where tracking is in vain, fewer notice earlier that it is not.")\
          range(1, 1024)                                                    \
                                                                            \
  develop(bool, LullPrivateThreadLocals, true,                              \
          "What a thread keeps in ThreadLocals, or has bound to "           \
          "ScopedValues, stays private to it, until a program looks up how "\
          "to read those of other threads. It costs a copy of its map now " \
          "and then, and saves the publication of each value.")             \
                                                                            \
  develop(bool, LullPrivateCarriers, true,                                  \
          "Threads that carry virtual threads have private objects. It "    \
          "costs a look at the frames each time a virtual thread is "       \
          "unmounted. Off, all that carriers allocate is public.")          \
                                                                            \
  develop(size_t, LullTenureSize, 4 * M,                                    \
          "When more than this survives two local collections in a row, or "\
          "four times as much one of them, in bytes, all of it becomes "    \
          "public and is left to global collections. Smaller sizes copy "   \
          "less, larger ones keep more objects private.")                   \
          range(0, SIZE_MAX)                                                \
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
  develop(bool, LullCleanCards, true,                                       \
          "With LullConcurrentMarking: cleans dirty cards of old objects "  \
          "while the program runs, so that the next young pause need not "  \
          "look at them. It takes a part of a processor, and handshakes.")  \
                                                                            \
  develop(bool, LullCleanALot, false,                                       \
          "Stress, with LullConcurrentMarking: cleans cards all the time, " \
          "and mutators in the VM wait now and then between the barrier of "\
          "a store and the store")                                          \
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
  develop(ccstr, LullBreakInvariant, "",                                    \
          "Fault injection, to see that the checks can fail: before the "   \
          "heap is verified, what it knows of itself is changed so that "   \
          "the invariant of this name does not hold")                       \
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
          "Stress: fail each N-th copy of an evacuation (0: off)")

// end of GC_LULL_FLAGS

#endif // SHARE_GC_LULL_LULL_GLOBALS_HPP
