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

#ifndef SHARE_GC_LULL_C2_LULLBARRIERELISION_HPP
#define SHARE_GC_LULL_C2_LULLBARRIERELISION_HPP

#include "libadt/vectset.hpp"
#include "memory/allocation.hpp"
#include "opto/node.hpp"
#include "utilities/growableArray.hpp"

class Block;
class Block_List;
class Compile;
class MachNode;
class PhaseCFG;

// Finds, in the final schedule, the stores into new objects that need no barrier.
//
// A store S into an object A, allocated by the same code, needs none if on no path from the
// allocation to S there is
//
//   a safepoint or a call, a leaf call too: nothing that happens there is looked into
//   an escape of A: an instruction that uses the reference as anything but an address or
//   one side of a comparison. A store of it, an exchange, a lock; whatever is not known to
//   be harmless counts.
//
// Why this is enough. Let T be the thread, and "T is public" mean its public mode: then all
// that T can store is public (lullPublisher.hpp), and what S stores needs no barrier.
// Claim: when S is executed, A is private or T is public.
//
// 1. At its birth A is private, or T is public.
//    From the TLAB: as long as T is in private mode the words of its TLAB are 0. Who enters
//    public mode sets them, who leaves it has no TLAB left (LullPublisher).
//    From the runtime: A may have been published there, by a collection, by an agent or the
//    flight recorder that were told of it, by whoever stopped T on its way back. The last
//    thing before the return, behind all safepoints, is on_slowpath_allocation_exit: if A is
//    public then, T enters public mode; unless a collection did it, or the handshake that
//    publishes what T has (LullPublisher::publish_present), after which T has nothing
//    private. What S stores is older than A then: an allocation between them is a call.
//    And there is no safepoint between the allocation and the phi that joins the two ways,
//    for the address is raw till then, and no collector would update it.
// 2. From there to S, only T can publish A: others do so only while T is stopped, and T does
//    not stop. Mode and TLAB are changed at safepoints, and by 4.
// 3. No store of T publishes A. What a barrier publishes is its value, and what that leads
//    to. Its value is not A: that would be an escape. Nothing leads to A: a reference to A
//    would have to be in the heap, and nobody has put it there.
// 4. A publication may become one of all objects of T (LullPublicationLimit). Then A is public,
//    and so is T. To leave public mode takes a refill, which is a call.
//
// The path from the allocation to S begins at the last execution of the allocation: in a
// loop, what has become of the objects of earlier turns is of no interest. An alias that
// lives from one turn to the next is taken for one of A all the same.
//
// What C2 could still change is nothing: after this no instruction moves. Before it any
// may, which is why no earlier phase can answer the question: C2 knows that a store of A into
// another object and a store into A do not touch the same memory, so it puts them in either
// order.
//
// Upstream's elide_dominated_barriers finds the same allocations and asks for safepoints only.
// That is right for a collector whose new objects stay new until a safepoint, and wrong here:
//
//   n = new N(); tail.next = n; n.item = p;    // the first store publishes n
//
// Two more that tempt. An object that C2's escape analysis calls NoEscape is known to no other
// thread; but a safepoint publishes it, if a freeze takes its frame or the thread enters public
// mode, and values that come later are private again. And a barrier of the same object before
// this one says nothing: the object may have been published between them.
class LullBarrierElision : public StackObj {
private:
  // An object that this code allocates.
  class NewObject : public ArenaObj {
  public:
    const Node* const           _allocation;    // the phi that joins fast and slow path
    bool                        _is_known;      // where it comes from, and all its aliases
    GrowableArray<const Node*>  _escapes;

    NewObject(Arena* arena, const Node* allocation)
      : _allocation(allocation),
        _is_known(false),
        _escapes(arena, 4, 0, nullptr) {}
  };

  Compile* const              _C;
  PhaseCFG* const             _cfg;
  Arena* const                _arena;
  GrowableArray<uint>         _positions;           // of nodes, by index: place in its block + 1, 0: in none
  VectorSet                   _blocks_with_calls;   // by the index of the block's head
  GrowableArray<MachNode*>    _accesses;            // that have a barrier
  GrowableArray<NewObject*>   _objects;

  void read_schedule();

  bool is_scheduled(const Node* node) const { return _positions.at(node->_idx) != 0; }
  uint position(const Node* node) const     { return _positions.at(node->_idx) - 1; }
  bool has_escape(const NewObject* object, const Block* block, uint from, uint to) const;
  bool has_call(const Block* block, uint from, uint to) const;

  // The object in the heap that is accessed, if this code allocates it.
  NewObject* destination(const MachNode* access);
  NewObject* new_object(const Node* allocation);

  // Adds the aliases of those in the list, and finds what they are used for else. Does not
  // go through stop.
  void follow(Unique_Node_List& aliases, const Node* stop, GrowableArray<const Node*>& escapes) const;

  void push_predecessors(const Block* block, Block_List& stack, VectorSet& visited) const;
  bool is_private_at(const NewObject* object, const MachNode* access) const;

public:
  // Uses the thread's resource area.
  explicit LullBarrierElision(Compile* C);

  void run();
};

#endif // SHARE_GC_LULL_C2_LULLBARRIERELISION_HPP
