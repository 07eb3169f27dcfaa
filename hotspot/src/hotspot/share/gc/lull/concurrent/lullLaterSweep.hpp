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


#ifndef SHARE_GC_LULL_CONCURRENT_LULLLATERSWEEP_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLLATERSWEEP_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/policy/lullSweepEstimate.hpp"
#include "memory/allocation.hpp"
#include "runtime/atomic.hpp"

class LullCardTable;
class LullCycleMarks;
class LullMarkBitMap;
class LullMemory;
class LullPublicMap;
class LullSparseBlocks;
class WorkerThreads;

// The sweep after a cycle of concurrent marking, of the blocks that have no owner and nothing young. It runs beside the
// program: the pause that ends the cycle looks at a few bytes of tables for each of them, and leaves all else as it was.
//
//   pause     begin(): such a block is unswept (LullBlockTable), and has the live words of the cycle; what lies across
//             its start and is dead is forgotten. Those with holes leave the stacks that mutators take from
//   later     the thread of the cycle sweeps them in order of their addresses, then what is recyclable. An allocation
//             that takes a recyclable one sweeps it first. One that finds nothing sweeps some; so does a pause
//   done      before the next cycle clears its marks. A global collection sweeps the rest before it begins
//
// Nothing is allocated in a block before it is swept. So what is dead in it stays whole, no young collection sweeps it,
// and nobody but mutators that store to what is alive in it writes to its tables.
//
// Who sweeps a block has it alone:
//   Full, LargeHead   whose range of blocks was claimed. No program changes them but by sweeping
//   Recyclable        who has taken it off its stack. Who comes to it in a range leaves it alone
//
// A range, or a block that is taken, is done before its thread stops for a pause. What a block's sweep writes:
//   words, cards      of lines that hold nothing now; none of others, which mutators read, or dirty
//   free lines        and state, by giving the block back
class LullLaterSweep : public CHeapObj<mtGC>, public LullLeftSweeper {
private:
  // What one call has done.
  struct Done {
    size_t _blocks;
    size_t _dead_bytes;     // in blocks in which something lives
    size_t _freed_bytes;    // of them
    size_t _all_freed_bytes;
  };

  static const uint32_t BlocksPerClaim = 256;
  static const uint BlocksTaken = 16;

  LullBlockTable* const  _blocks;
  LullCycleMarks* const  _marks;
  const LullSparseBlocks* const _sparse;
  LullBlockSupply* const _supply;
  LullPublicMap* const   _public_map;
  LullCardTable* const   _card_table;
  LullMarkBitMap* const  _mark_bitmap;
  LullSweepEstimate      _estimate;
  volatile bool          _is_open;        // written in pauses, and by the thread of the cycle while it has joined
  volatile uint32_t      _next;           // block to claim
  uint32_t               _limit;          // written in pauses, as are the figures of the log
  volatile size_t        _left;           // blocks
  volatile size_t        _dead_bytes;     // as in Done, of all
  volatile size_t        _freed_bytes;
  volatile size_t        _all_freed_bytes;
  volatile size_t        _swept_in_pauses;
  volatile size_t        _swept_by_takers;
  size_t                 _blocks_at_begin;
  size_t                 _expected_bytes; // that were to get free
  ssize_t                _surplus;        // bytes more that did, until a pause asks; written as _is_open
  uint                   _gc_id;

  void record(const Done& done);
  void count(LullBlockIndex index, size_t garbage, size_t freed_bytes, Done* done);
  void forget_dead(LullBlockIndex index, uint32_t blocks);
  void sweep_lines(LullBlockIndex index, LullLineSet* free_lines, Done* done);
  void sweep_full(LullBlockIndex index, Done* done);
  void sweep_large(LullBlockIndex index, Done* done);
  void sweep_claimed(LullBlockIndex index, Done* done);
  bool sweep_recyclable(Done* done);

public:
  LullLaterSweep(LullMemory* memory, LullBlockTable* blocks, LullCycleMarks* marks, const LullSparseBlocks* sparse,
                 LullBlockSupply* supply);

  // Something may have to be swept.
  bool is_open() const { return Atomic::load(&_is_open); }

  // Blocks that are not swept yet.
  size_t left() const { return Atomic::load_acquire(&_left); }

  // Of the pause that has begun the cycle.
  uint gc_id() const { return _gc_id; }

  // ---- Of the pause that ends a cycle

  // The marks have changed places. Blocks in which there may be something young are the caller's to sweep. So is what
  // is recyclable to take off the stacks (LullBlockSupply::set_recyclable_unswept).
  void begin(WorkerThreads* workers, uint gc_id);

  // By begin(): leaves a block to be swept; returns whether it is. One that the next pause empties is not: that sweeps
  // it. Adds up what that changes.
  bool leave(LullBlockIndex index, ssize_t* wasted_lines, size_t* garbage_bytes);

  // ---- Of any thread, which does not stop for a pause meanwhile

  // Sweeps about so many blocks. False: others have the last ones, or there are none.
  bool sweep_some(uint32_t blocks = BlocksPerClaim);

  // The block was recyclable, and is the caller's now.
  void sweep_taken(LullBlockIndex index) override;

  // ---- Of the thread of the cycle, which has joined the suspendible threads, and of pauses

  // All are swept.
  void end();

  // ---- Of pauses

  // So many more, at least, or all. False: there were none.
  bool sweep_more(WorkerThreads* workers, size_t blocks);

  // So many bytes more than estimated have got free by the last sweep, if it has ended. Tells it once.
  ssize_t take_surplus();

  // About so many bytes of an unswept block will be free.
  size_t garbage_in(LullBlockIndex index) const;

  // Stops the VM if what is said of unswept blocks is not so.
  void verify() const;
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLLATERSWEEP_HPP
