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

#ifndef SHARE_GC_LULL_OBSERVE_LULLVERIFY_HPP
#define SHARE_GC_LULL_OBSERVE_LULLVERIFY_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

class LullBlockSupply;
class LullMemory;
class nmethod;
class WorkerThreads;

// Checks every invariant of the heap, and stops the VM with the invariant's name, the
// block and the object if one does not hold. Safepoint only.
//
//   Memory      a block is Uncommitted exactly if its memory is
//   Runs        the free runs hold exactly the free blocks, neighbours in one; the run table is in order
//   Recyclable  free lines are in Recyclable blocks only, and make at least one hole
//   Large       a head is followed by its tails, and only a head is
//   Slack       only heads and Full blocks have lines that nobody gets, a head those behind the end of its object;
//               they add up
//   Straddler   an object lies in one block, but for arrays of some KB, which are old and public, and lie in
//               one span; each block that such a one reaches knows it
//   Used        the bytes in use add up
//   Idle        no block is evacuated, and no object is forwarded, between collections
//   H           a hole of a thread's allocator is whole lines of one block that is in use; each line is in one hole, and
//               not among the block's free lines
//   Reach       no reference leads into a free line, a free block, or outside
//   Code        instructions hold the addresses that their method's table of oops holds
//   Marked      after a collection: what can be reached is marked, and so are its lines; but for private objects and survivors
//   Survivors   after a young collection: a block with survivors is Full, of no thread, and has no marks, and no lines with old objects
//   Words       free lines of blocks that hold something have word 0 in the public map
//   Marks       a block that is said to have no marks has none, and it is said of all free blocks
//   Live        nor do they count anything as alive
//   P           no public object, and no root of all threads, strong or weak, refers to a private object; an
//               object is public as a whole
//   B           a block holds private objects of one thread at most: what a thread or its
//               private objects refer to is public, or in a block of that thread; a virtual thread whose fields may refer to such
//               objects is mounted on that thread, or has ended
//   R           with young collections: what is not marked is young, its block knows that it has such objects, and what old objects, code
//               and class loaders have of it is remembered
//   Young       with young collections: a block that has an owner, or in which something is not marked, is said to
//               have something young, and no block that is free is
//   Waste       what blocks waste adds up, and is what the last collection has found alive in them
//   Stretches   the stretch of a dirty card is touched

class LullVerify : public StackObj {
  friend class LullVerifyPublicationVisitor;
  friend class LullVerifyVisitor;

public:
  enum class Moment {
    AnyTime,
    BeforeCollection,   // allocators have holes yet
    AfterCollection     // no mutator has run since: marks are complete
  };

private:
  LullMemory* const      _memory;
  LullBlockTable* const  _blocks;
  LullBlockSupply* const _supply;
  WorkerThreads* const   _workers;
  const Moment           _moment;

  void verify_block(LullBlockIndex index, size_t* used) const;
  void verify_blocks() const;
  void verify_reference(const void* field, oop holder, oop target) const;
  void verify_object(oop obj) const;
  void verify_lines(oop obj, LullBlockIndex index, HeapWord* part, size_t words) const;
  void verify_words(LullBlockIndex index) const;
  void verify_straddler(LullBlockIndex index) const;
  bool verify_survivors(LullBlockIndex index) const;    // does it have any?
  void verify_cards(LullBlockIndex index, bool may_be_dirty) const;
  void verify_young(LullBlockIndex index) const;
  void verify_waste(LullBlockIndex index) const;
  void verify_stretches() const;
  void verify_reachable() const;
  void verify_code() const;
  void verify_names() const;
  void verify_mounted() const;
  void verify_class_loaders() const;

public:
  LullVerify(LullMemory* memory, LullBlockTable* blocks, LullBlockSupply* supply, WorkerThreads* workers, Moment moment)
    : _memory(memory), _blocks(blocks), _supply(supply), _workers(workers), _moment(moment) {}

  void verify() const;

  // H alone: allocators have holes before a collection.
  void verify_holes() const;

  // P, B and R alone.
  void verify_publication() const;

  // P of code that has just been made. Any thread may run it. A compiler reaches public objects only, so there is nothing
  // to publish: a private one has come by a store without a barrier. Not only at a safepoint.
  static void verify_new_code(nmethod* nm);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLVERIFY_HPP
