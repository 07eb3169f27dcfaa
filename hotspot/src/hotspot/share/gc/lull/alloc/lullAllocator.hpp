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

#ifndef SHARE_GC_LULL_ALLOC_LULLALLOCATOR_HPP
#define SHARE_GC_LULL_ALLOC_LULLALLOCATOR_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "gc/lull/alloc/lullRunTable.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

// Allocates objects in blocks, for one thread: a mutator, or a worker that evacuates. It takes no lock but the
// supply's.
//
//   small objects      bump through a hole; a mutator's hole is its TLAB
//   medium objects     if they do not fit the current hole: the shortest hole of the run table that they fit, in one
//                      look-up. Immix takes an overflow block. A mutator takes the shortest of the long holes
//   no hole fits       the free blocks and holes that the last local collection of this thread has left; then those of
//                      further recyclable blocks; then a free block
//
// The run table holds the holes of blocks that this thread owns. Each hole of a mutator is a call into the VM. So it
// takes long holes first, those of recyclable blocks too, and short ones when there is neither such a hole nor a free
// block of its own. Holes below LullBlockSupply::min_hole_lines stay unused until the next collection; so do the
// shortest ones when the table is full.

class LullPublicMap;

typedef GrowableArrayCHeap<LullBlockIndex, mtGC> LullBlockList;

// How requests for medium objects, of more than a line, were served that did not fit the hole in use.
struct LullMediumRequests {
  size_t _in_holes;     // by a hole that fits
  size_t _in_blocks;    // by a free block

  void add(const LullMediumRequests& other) {
    _in_holes += other._in_holes;
    _in_blocks += other._in_blocks;
  }
};

class LullAllocator : public CHeapObj<mtGC> {
  friend class LullHeapBreaker;    // of debug builds

private:
  // A block has at most 64 holes; room for those of two or more blocks. The shortest of a mutator's yield when there is not.
  static const uint32_t MaxRuns = 160;
  static const uint32_t MaxRunsOfBlock = LullGeometry::LinesPerBlock / 2;

  // How many more recyclable blocks to look at for a hole before taking a free block.
  static const uint MaxBlocksToSearch = 4;

  // Mutators leave holes that are shorter alone while there are others: 8 KB.
  static const uint PreferredHoleLines = 32;

  typedef LullRunTable<LullGeometry::LinesPerBlock, LullRunSearch::Bitmap> LineRunTable;

  LullBlockSupply* const _supply;
  LullBlockTable* const  _blocks;
  const LullReserveUse   _reserve_use;
  const LullBlockTable::Owner _owner;       // of the blocks that it takes
  LullPublicMap* const   _public_map;       // nullptr: the words of holes are somebody else's business
  bool                   _born_public;      // are objects that are allocated from now on public?
  size_t                 _handed_out;       // bytes of holes, without those that have come back unused

  LullMediumRequests     _medium_requests;
  static volatile size_t _released_in_holes;
  static volatile size_t _released_in_blocks;

  // The hole in which allocate() bumps; not a mutator's TLAB.
  HeapWord*              _top;
  HeapWord*              _end;

  LullRun                _storage[MaxRuns];
  uint32_t               _unused_head;      // list of unused elements of _storage
  uint32_t               _unused_count;
  LineRunTable           _holes;

  // Blocks that this thread owns, large objects by their heads; only with tracking. Those
  // that a local collection has found to have free lines, or to be free, are in one of
  // the other three as well, until they are used: last in, first out, for they are warm. What
  // is free of a block is in its free_lines().
  LullBlockList          _owned;
  LullBlockList          _own_recyclable;   // with a hole of PreferredHoleLines or more
  LullBlockList          _own_fragmented;   // with short ones alone
  LullBlockList          _own_free;
  size_t                 _blocks_for_copies; // of the local collection under way; not counted as used yet
  size_t                 _skipped_lines;    // unused ones in owned blocks, in too short a hole to be listed

  uint min_hole_lines() const;

  uint32_t new_run(uint32_t start, uint32_t length);
  void delete_run(uint32_t id);
  bool is_listed(uint32_t id) const { return _storage[id]._length != 0; }

  void own(LullBlockIndex index);
  void forget_holes();
  void forget_memory();   // all but which blocks are owned
  bool take_own_free(LullRun* hole);

  // False: it is too short, or there is no room; its lines are unused until a collection finds them.
  bool add_hole(uint32_t first_line, uint32_t lines);
  void add_holes_of(LullBlockIndex index);
  bool has_room_for_block() const;
  void make_room_for_block();
  bool add_holes_of_own_block();
  bool add_holes_of_own_fragmented_block();

  // Which block of those with a hole of so many lines, or about so many?
  enum class HoleChoice { Longest, Fit };
  bool add_holes_of_recyclable_block(uint lines, LullReserveUse use, HoleChoice choice);

  // Mutators prefer long holes, of PreferredHoleLines at least.
  uint preferred_hole_lines(uint lines) const;
  bool take_long_hole(uint lines, LullReserveUse use, LullRun* hole);

  // Takes a hole of at least so many lines.
  bool take_hole(uint lines, LullReserveUse use, LullRun* hole);
  bool take_known_hole(uint lines, LullRun* hole);
  bool take_free_block(LullReserveUse use, LullRun* hole);
  bool take_block_for_copies(LullRun* hole);

  // The same for an object of so many words that does not fit the hole in use.
  bool take_hole_for(size_t words, uint min_lines, LullRun* hole);

  // Puts the whole free lines of the bump region back into the table.
  void return_bump_region();
  size_t unused_in_bump_region() const { return pointer_delta(_end, _top, 1); }

  HeapWord* allocate_in_hole(const LullRun& hole, size_t words);

  // The words of a hole's lines, before anything is allocated in it.
  void prepare(const LullRun& hole);
  void forget(LullBlockIndex index, const LullLineSet& lines);
  size_t forget_free_lines(const LullBlockList& blocks);   // how many they were
  void disown_recyclable(LullBlockList* blocks);

public:
  LullAllocator(LullBlockSupply* supply, LullBlockTable* table, LullReserveUse reserve_use,
                LullBlockTable::Owner owner, LullPublicMap* public_map);

  // Memory for an object of at most a block, nullptr if there is none without a
  // collection. words is object aligned.
  HeapWord* allocate(size_t words);

  // The same at a safepoint after a collection, by any thread: searches all recyclable
  // blocks, and may use the reserve if told so.
  HeapWord* allocate_at_safepoint(size_t words, LullReserveUse use);

  // A hole of at least min_words for a TLAB, all of it; sets *actual_words.
  HeapWord* allocate_tlab(size_t min_words, size_t* actual_words);

  // Takes back the latest allocate(), if nothing was allocated since.
  void undo(HeapWord* start, size_t words);

  // Forgets all memory: the sweep of a collection will find what is free.
  void reset();

  // A global collection starts: forgets all memory, and the blocks too, unless what is private
  // in them is to stay private.
  void begin_global_collection(bool keep_private);

  // It has ended: blocks in which nothing private is left have no owner any more. What is
  // free of the others is used again.
  void end_global_collection();

  // Objects from here on are born public, or private: those in the bump region too.
  bool is_born_public() const { return _born_public; }
  void set_born_public(bool value);

  // Calls f(const LullRun&) for each hole that is listed: memory of this allocator that nothing was put into.
  template <typename Function>
  void holes_do(Function f) const {
    for (uint32_t id = 0; id < MaxRuns; id++) {
      if (is_listed(id)) {
        f(_storage[id]);
      }
    }
  }

  // Of the hole in which objects are allocated one by one; nullptr: there is none.
  HeapWord* bump_end() const { return _end; }

  // Of this thread since it has last released its memory, and of all up to there.
  const LullMediumRequests& medium_requests() const { return _medium_requests; }
  static LullMediumRequests released_medium_requests();

  // Bytes taken so far: TLABs, objects outside of them, copies of a local collection, and what is lost between them.
  // Of a mutator it never falls; of a mark worker, undo() takes back a copy that another made.
  size_t allocated() const { return _handed_out - unused_in_bump_region(); }

  // A large object of this thread, which is private or will be.
  void own_large(LullBlockIndex head, size_t blocks);

  // False: it has no private object. Only with tracking.
  LullBlockSupply* supply() const     { return _supply; }
  bool owns_blocks() const { return !_owned.is_empty(); }

  // All objects in its blocks become public, and the blocks are the thread's no more; what
  // is left of its TLAB still is.
  void publish_and_release();

  // ---- For a local collection of this thread

  // Forgets all memory as reset() does, and hands over the blocks that it had. Returns how
  // many lines of them were unused.
  size_t begin_collection(LullBlockList* blocks);

  // Memory for a copy: in a free block of its own, nullptr if there is none.
  HeapWord* allocate_copy(size_t words);

  // It has ended: what it has copied into is used from now on.
  void end_copying();

  // A collection has left private objects in the block: it stays, and its free_lines()
  // are used again. Or a local one has found it empty, and the thread keeps it.
  void keep(LullBlockIndex index);
  void keep_free(LullBlockIndex index);

  // The block goes back, with what is public in it.
  void disown(LullBlockIndex index, const LullLineSet& free_lines);
  size_t free_blocks_kept() const { return (size_t)_own_free.length(); }

  // Gives back all unused lines: the thread ends.
  void release();
};

#endif // SHARE_GC_LULL_ALLOC_LULLALLOCATOR_HPP
