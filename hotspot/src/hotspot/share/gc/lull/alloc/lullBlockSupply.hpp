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

#ifndef SHARE_GC_LULL_ALLOC_LULLBLOCKSUPPLY_HPP
#define SHARE_GC_LULL_ALLOC_LULLBLOCKSUPPLY_HPP

#include "gc/lull/alloc/lullRecyclableBlocks.hpp"
#include "gc/lull/alloc/lullRunTable.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "memory/allocation.hpp"
#include "runtime/mutex.hpp"
#include "utilities/growableArray.hpp"

// Where allocators get memory: free blocks, runs of free blocks for large objects, and recyclable blocks, in which the
// last sweep found holes.
//
// Free blocks are kept as maximal runs in a run table. A run that is freed is joined with its free neighbours at once.
// Recyclable blocks are kept by their longest hole.
//
// A part is a reserve, into which only a collection may copy; and mutators as the last step before an OutOfMemoryError.
// It has free blocks, and where there are too few of them the recyclable blocks with the most free lines.
//
// The public map says nothing of free blocks. What the last objects there have left in it is cleared by the thread that
// takes the block, which writes these words anyway. The pause that finds the block free does not touch them.

enum class LullReserveUse {
  Keep,     // leave the reserve alone
  Allow     // the reserve may be used
};

class LullPublicMap;

// Sweeps a block that a cycle of concurrent marking has left to be swept.
class LullLeftSweeper {
public:
  // The block, of lines, was just taken, and is Owned. Its free lines become all that hold nothing.
  virtual void sweep_taken(LullBlockIndex index) = 0;
};

// Is told that so much is in use as somebody waits for. By any thread that takes memory, without the supply's lock.
class LullUseListener {
public:
  virtual void on_use() = 0;
};

struct LullBlockRun {
  uint32_t _start;
  uint32_t _length;
};

class LullBlockSupply : public CHeapObj<mtGC> {
  friend class VMStructs;

public:
  // The shortest hole, in lines, into which objects are ever allocated: a hole of one line is refilled too often for
  // what it holds.
  static const uint MinHoleLines = 2;

  // Exact lists up to 8 MB; longer runs are rare and searched.
  static const uint32_t RunLists = 256;

private:
  LullBlockTable* const  _blocks;
  LullPublicMap* const   _public_map;         // or nullptr
  Mutex                  _lock;               // guards the free runs and state changes of their blocks

  // Free runs. The run that starts at block b is run number b; the last block of a
  // run of two or more repeats _start, so that a neighbour to the right finds it.
  LullRun* const         _runs;
  LullRunTable<RunLists, LullRunSearch::Bitmap> _free_runs;
  volatile uint32_t      _free_blocks;        // written under the lock
  uint32_t               _reserve_blocks;     // written at safepoints

  LullRecyclableBlocks   _recyclable;
  uint32_t               _recyclable_reserve; // blocks set apart; written at safepoints

  uint                   _min_hole_lines;     // written at safepoints

  uint32_t               _wanted_reserve;     // free blocks, though there may be fewer; written at safepoints

  volatile size_t        _used_bytes;
  volatile size_t        _unswept_garbage;    // of them, bytes that are estimated to be free when all is swept
  LullLeftSweeper*       _left_sweeper;       // or nullptr; written once, at start-up
  size_t                 _use_limit;          // see set_use_limit(); written at safepoints
  volatile size_t        _slack_lines;        // of them
  volatile size_t        _notify_at;          // bytes in use; written at safepoints, and by who tells the listener
  LullUseListener*       _listener;

  bool is_over_use_limit(size_t bytes, LullReserveUse use) const;
  void add_free_run(uint32_t start, uint32_t length);
  bool take_free_run_locked(uint32_t length, LullReserveUse use, uint32_t* start);
  bool take_run_locked(uint32_t length, LullReserveUse use, uint32_t* start);
  void clear_words(LullBlockIndex index);
  template <typename Take>
  bool take_recyclable_by(Take take, LullReserveUse use, LullBlockIndex* index);
  void free_blocks_locked(uint32_t start, uint32_t count);
  void fill_reserve(uint32_t freed);
  void notify_if_due();

public:
  // Without a map: a test that has no heap.
  LullBlockSupply(LullBlockTable* table, LullPublicMap* public_map = nullptr);

  // But for what is known to be garbage, and is not swept yet: about.
  size_t used_bytes() const;

  // Of the bytes in use, those that hold nothing and that nobody gets as things lie: behind the ends of large
  // objects, and in holes that are too short.
  size_t slack_bytes() const;
  void add_slack(ssize_t lines);
  uint32_t free_blocks() const { return _free_blocks; }

  // Sets memory of that many blocks apart: free ones as far as there are, then, if told
  // so, holes. Lasts until the next time, or until the next rebuild. Safepoint or start-up.
  void set_reserve(uint32_t blocks, bool with_holes);
  uint32_t reserve_blocks() const { return _reserve_blocks; }
  uint32_t recyclable_reserve() const { return _recyclable_reserve; }

  // Mutators get nothing that would make more than so many bytes used, as if there was nothing. Who may use the
  // reserve does, and so does whoever allocates at a safepoint. Threads that take recyclable blocks at the same time
  // may exceed it by a block each. Safepoint or start-up.
  void set_use_limit(size_t bytes);
  size_t use_limit() const { return _use_limit; }

  // The listener is told, once, when more than so many bytes are in use. Safepoint or start-up.
  void set_listener(LullUseListener* listener) {
    assert(_listener == nullptr, "one is told");
    _listener = listener;
  }
  void set_notification(size_t bytes);
  void renew_notification(size_t bytes);    // if it was told meanwhile, and a local collection has freed enough since; by any thread

  // The shortest hole that mutators allocate into: the sweep makes only blocks that have one Recyclable. Safepoint only.
  void set_min_hole_lines(uint lines);
  uint min_hole_lines() const { return _min_hole_lines; }

  // One free block; it becomes Owned, and its words are 0.
  bool take_block(LullReserveUse use, LullBlockIndex* index);

  // The same for copies of a local collection: whatever the use limit says. It counts as used only when the collection
  // says so, after it has given back what it has copied from.
  bool take_block_for_copies(LullBlockIndex* index);
  void use_for_copies(size_t blocks);

  // A run of free blocks; they become LargeHead and LargeTail, or Archive. Their words are as they were.
  bool take_large(uint32_t blocks, LullReserveUse use, LullBlockIndex* head);
  bool take_archive(uint32_t blocks, LullBlockIndex* head);

  // A block with free lines, and with the longest hole that there is if one has at least about so many lines; it
  // becomes Owned, and its free lines are the caller's. Not one that a collection evacuates: that is out of the
  // stacks when it is met.
  bool take_recyclable(uint lines, LullReserveUse use, LullBlockIndex* index);

  // One with a hole of so many lines, not much longer if there is such a one. Misses some whose hole is just long enough.
  bool take_recyclable_with_hole(uint lines, LullReserveUse use, LullBlockIndex* index);

  // The same, and misses none. Safepoint only, while nobody else takes any.
  bool take_recyclable_with_hole_at_safepoint(uint lines, LullReserveUse use, LullBlockIndex* index);

  // A thread gives a block back: it ends, or its local collection has left nothing
  // private there. The block is Owned, and free_lines are lines of it that hold nothing:
  // perhaps all.
  void give_back(LullBlockIndex index, const LullLineSet& free_lines);

  // The same for a private large object that is dead.
  void give_back_large(LullBlockIndex head);

  // Free blocks that the heap has gained.
  void add_committed(uint32_t start, uint32_t count);

  // Drops all lists and builds them again from block states: the sweep's results of a global collection, or
  // before marking, without the blocks that are evacuated. Safepoint only, one thread.
  void rebuild();

  // A young sweep changes what is young alone (LullSweptBlocks). Blocks that hold nothing and are in no list become
  // Free.
  void free_runs(const GrowableArrayCHeap<LullBlockRun, mtGC>& runs);

  // A Recyclable block becomes Owned. Who has not taken it off its stack has it dropped from there: safepoint only.
  void own_recyclable(LullBlockIndex index);

  // Drops what is in stacks and has become Owned; returns how many blocks it has looked at. Safepoint only, one thread.
  size_t drop_owned() { return _recyclable.drop_owned(); }

  // ---- Of blocks that a cycle of concurrent marking has left to be swept (LullLaterSweep)

  void set_left_sweeper(LullLeftSweeper* sweeper) {
    assert(_left_sweeper == nullptr, "threads that take memory read it without a lock");
    _left_sweeper = sweeper;
  }

  size_t unswept_garbage() const;
  void add_unswept_garbage(ssize_t bytes);

  // All recyclable blocks are to be swept, or may be. Safepoint only.
  void set_recyclable_unswept();

  // One of these, as it is; it becomes Owned.
  bool take_unswept(LullBlockIndex* index);

  // Who has taken it, or has claimed a Full one, which is Owned since, gives it back when it is swept. What becomes free
  // goes to the reserve first, as far as that lacks blocks.
  void give_back_swept(LullBlockIndex index, const LullLineSet& free_lines);
  void give_back_large_swept(LullBlockIndex head);

  // These blocks, of nobody and in no stack, in order, become Recyclable: they have free lines. Safepoint only, one
  // thread.
  void add_recyclable_at_safepoint(const GrowableArrayCHeap<uint32_t, mtGC>& blocks);

  // Free lines of all recyclable blocks, in a heap of so many bytes. Safepoint only.
  size_t recyclable_lines(size_t capacity) const;

  // The longest run of free blocks, in blocks. Safepoint only.
  uint32_t longest_free_run() const;

  // Checks the tables against the block states; returns nullptr or what is wrong.
  const char* verify() const;
};

#endif // SHARE_GC_LULL_ALLOC_LULLBLOCKSUPPLY_HPP
