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

#ifndef SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTION_HPP
#define SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTION_HPP

#include "gc/lull/alloc/lullAllocator.hpp"
#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.hpp"
#include "memory/iterator.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/stack.hpp"

class JavaThread;
class LullBlockSupply;
class LullLocalCollection;
class LullPublicMap;
class MarkBitMap;

// Visits references to objects that the collection may move, and updates them.
class LullLocalClosure final : public BasicOopIterateClosure {
private:
  LullLocalCollection* const   _collection;
  const ReferenceIterationMode _mode;

  template <typename T> void do_oop_work(T* p);

public:
  LullLocalClosure(LullLocalCollection* collection, ReferenceIterationMode mode) : _collection(collection), _mode(mode) {}

  ReferenceIterationMode reference_iteration_mode() override { return _mode; }
  void do_oop(oop* p) override;
  void do_oop(narrowOop* p) override;
};

// One thread collects its own private objects, by itself, while all others run (Iso, section 4). It needs no
// safepoint, and no lock but the supply's while a block is taken or given back:
//
//   P   no public object and no shared root refers to a private object. So the roots are the frames, handles and fields
//       of the thread, and what hangs on its Thread object (lullThreadFields.hpp)
//   B   its blocks hold no other thread's private objects. So it sweeps them alone
//
//        thread's roots                       blocks of the thread
//        frames    ----> private A  ---->  private B     dead C      public D
//        handles             |                 |                         ^
//                            v                 v                         |
//                          copied            copied   --------->  stops the trace
//                     into free blocks of its own
//
// It runs on the thread's stack, in _thread_in_vm, where HotSpot may collect anyway. It does not poll: no safepoint,
// handshake or VM operation can begin for this thread before it has ended. Nothing else keeps a global collection away.
// Compiled code is not touched, for all that it refers to is public.
//
// Some objects stay in place: those in pinned blocks, large ones, and all once there is no free block. After the trace
// a block is
//
//   kept, and its holes are used again     if something private has stayed in it
//   kept as it is, for it is warm          if nothing is in it
//   given back                             if only public objects are in it
//
// Survivors are copied again each time. So the next collection waits until a multiple of what survived has been
// allocated. When too much has survived all of it is made public (tenured), and left to global collections.

class LullLocalCollection : public StackObj {
  friend class LullLocalClosure;

private:
  JavaThread* const                _thread;
  LullAllocator* const             _allocator;
  LullBlockTable* const            _blocks;
  LullBlockSupply* const           _supply;
  LullPublicMap* const             _public_map;
  MarkBitMap* const                _mark_bitmap;   // of the last global collection
  LullLocalClosure                 _closure;
  LullLocalClosure                 _weak_closure;  // of References that may lose their referents: see lullPrivateReference.hpp
  LullBlockList                    _from;          // the thread's blocks
  Stack<oop, mtGC>                 _stack;         // survivors whose fields are still to be visited
  Stack<oop, mtGC>                 _in_place;      // survivors that stay; forwarded to themselves
  Stack<oop, mtGC>                 _weak;          // survivors whose referents have not been visited: those that lose them
  Stack<oop, mtGC>                 _queued;        // and those that keep them
  size_t                           _pending;       // references that only a pause can process
  bool                             _copy_failed;
  size_t                           _survived_words;
  size_t                           _copied_words;
  size_t                           _unused_lines;    // when the collection began
  size_t                           _freed_lines;     // those too
  size_t                           _frames;          // visited
  bool                             _tenured;

  void mark_from_blocks(bool value);
  void visit_roots();
  void drain();
  bool is_from(oop obj) const;
  bool may_be_cleared_in_pause(oop referent) const;
  void keep_referents_of_queued();
  void clear_dead_referents();
  oop survive(oop obj);
  HeapWord* allocate_copy(LullBlockIndex from, size_t words);
  void keep_in_place(oop obj, LullBlockIndex index, size_t words);
  void sweep(size_t blocks_to_keep);
  void sweep_lines(LullBlockIndex index, size_t blocks_to_keep);
  void forget_marks(LullBlockIndex index);
  void sweep_large(LullBlockIndex head);
  void tenure();
  void verify();

public:
  // Copies may use the reserve if told so.
  LullLocalCollection(JavaThread* thread, LullAllocator* allocator);
  ~LullLocalCollection();

  // By the thread in the VM, or by a worker at a safepoint. The thread has no TLAB, and holds no reference outside of its
  // roots. If more than tenure_size bytes survive all of them become public.
  void collect(size_t blocks_to_keep, size_t tenure_size);

  // The thread ends and has no roots any more.
  void collect_at_exit();

  size_t survived_bytes() const { return _survived_words * HeapWordSize; }
  size_t copied_bytes() const   { return _copied_words * HeapWordSize; }
  size_t frames() const         { return _frames; }
  bool is_tenured() const       { return _tenured; }
  size_t pending_references() const { return _pending; }

  // Of whole lines that were in use before, less what the copies take: those are freed when they die.
  size_t freed_bytes() const {
    const size_t given_back = _freed_lines * LullGeometry::LineSize;
    return given_back - MIN2(_unused_lines * LullGeometry::LineSize + copied_bytes(), given_back);
  }
};

#endif // SHARE_GC_LULL_LOCAL_LULLLOCALCOLLECTION_HPP
