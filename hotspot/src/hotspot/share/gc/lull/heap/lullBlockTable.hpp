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

#ifndef SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_HPP
#define SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_HPP

#include "gc/lull/heap/lullBlock.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullSparseBytes.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/atomic.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/safepoint.hpp"

// One LullBlock for each block of the reserved heap, at the side, so that a block
// has no header and blocks do not compete for the same cache sets.
//
// Beside it what marking must know and say of a block, dense enough to stay cached:
// what the running collection does with it, and how much of it is alive.

// What a collection does with the objects of a block that are alive; a young one, with those that are young.
enum class LullFate : uint8_t {
  Stay,       // where they are
  Move,       // copied; if the collection is global or young, the copies are old when it has ended
  Age,        // copied, and the copies stay young for one collection more: young collections only
  Mature      // survivors of the last young collection: copied, and the copies are old
};

class Mutex;

class LullBlockTable : public CHeapObj<mtGC> {
  friend class LullHeapBreaker;    // of debug builds

public:
  typedef LullBlockTransitions::Owner Owner;
  static const Owner NoOwner = LullBlockTransitions::NoOwner;

private:
  LullBlock* const _blocks;
  LullFate* const  _fates;
  uint16_t* const  _live_words; // found alive by the last collection; with young collections, of old objects; 0 for large objects
  uint16_t* const  _young_live_words; // with young collections: found alive by the last one, and not old, for being private or survivors
  // B: a block holds private objects of its owner only. Written by the thread that takes
  // the block, or for it at a safepoint; a global collection leaves an owner to blocks in
  // which private objects are alive. For a large object that of its head counts. Without
  // tracking no block has an owner.
  Owner* const     _owners;
  // Has it had an owner since the last global or young collection, or has the running one copied objects into it, or is it of the
  // archive before the first? Then there may be young objects in it; else what is alive in it is marked. Written with the owner, or
  // by who has taken it; cleared by the sweep, but for survivors, and by who frees the block. So a young collection
  // finds what it has to look at here.
  enum class Young : uint8_t {
    None,
    Some,
    Survivors   // copies that the running or the last young collection has made, and that stay young; nothing else is in it
  };
  Young* const     _young;
  // Marks: is any object of the block marked, by the head of a large one? Said of some in which none is marked any more; where it is
  // not said the bitmap is clear, and nobody looks at it. Written by workers that mark, all the same value, and by who clears the marks.
  bool* const      _marked;
  // Of the straddler that lies across the start of the block, if there is one: how many words before it that begins.
  // And how many it has. Written at safepoints: by sliding, which has put it there, and by the sweep that finds it dead.
  uint16_t* const  _straddlers;
  uint16_t* const  _straddler_words;
  // Lines that would be won if what is alive in the block was moved elsewhere, as of the last sweep that came to it;
  // and of all blocks. Written by who sweeps the block, by who frees it, and when the lists are rebuilt.
  uint8_t* const   _wasted;
  // Has a cycle of concurrent marking found what is alive in the block, and has nobody swept it since? By the head of a
  // large object. Then the block has no owner and nothing young, and its free lines, words and cards are as before the
  // end of that cycle. Written in the pause that ends the cycle, and by the one who sweeps the block (LullLaterSweep).
  uint8_t* const   _unswept;
  volatile size_t  _all_wasted;
  const uint32_t   _count;
  uint32_t         _limit;      // blocks from here on were never committed; written under the supply's lock
  const Mutex*     _supply_lock; // nullptr: of a test without a supply. Written once, by the supply

  // The block goes to this state: may it from where it is, and may the current thread? Whoever gives a block another
  // use has given up its ownership first.
  void assert_may_become(LullBlockIndex index, LullBlockState to, LullBlockRight by) const NOT_DEBUG_RETURN;
  void assert_may_own(LullBlockIndex index, Owner to, Owner by) const NOT_DEBUG_RETURN;

public:
  explicit LullBlockTable(size_t reserved_bytes);

  // Blocks of the reserved heap.
  uint32_t count() const { return _count; }

  // Blocks to look at: those that were ever committed lie below this.
  uint32_t limit() const { return _limit; }
  void raise_limit(uint32_t limit) {
    assert(limit <= _count, "block %u of %u", limit, _count);
    _limit = MAX2(_limit, limit);
  }

  void set_supply_lock(const Mutex* lock) { _supply_lock = lock; }

  // The only ways from one state to another (LullBlockTransitions).
  void make_free(LullBlockIndex index, LullBlockRight by);
  void make_owned(LullBlockIndex index, LullBlockRight by);
  void make_recyclable(LullBlockIndex index, LullBlockRight by);    // its free lines are known
  void make_full(LullBlockIndex index, uint slack_lines, LullBlockRight by);    // so many of its lines hold nothing
  void make_large(LullBlockIndex head, uint32_t blocks, LullBlockRight by);
  void make_archive(LullBlockIndex index, LullBlockRight by);
  void make_uncommitted(LullBlockIndex index, LullBlockRight by);

  // A large object has moved down, perhaps by less than its length: block by block, from low addresses up.
  void move_large(LullBlockIndex from, LullBlockIndex to, uint32_t blocks);

  LullBlock* at(LullBlockIndex index) const {
    assert(untype(index) < _count, "block %u of %u", untype(index), _count);
    return &_blocks[untype(index)];
  }

  LullBlock* block_of(const void* addr) const { return at(LullGeometry::block_of(addr)); }

  // Is this address one of the reserved heap?
  bool covers(const void* addr) const {
    return (size_t)((const char*)addr - LullGeometry::heap_base()) < (size_t)_count * LullGeometry::BlockSize;
  }

  LullFate fate(LullBlockIndex index) const { return _fates[untype(index)]; }
  void set_fate(LullBlockIndex index, LullFate fate) { _fates[untype(index)] = fate; }
  bool is_evacuated(LullBlockIndex index) const { return fate(index) != LullFate::Stay; }
  void all_stay() { memset(_fates, (int)LullFate::Stay, _limit * sizeof(LullFate)); }    // a byte each
  bool is_evacuated(oop obj) const;

  // Words of live objects. Workers add to it without an atomic instruction: now and then
  // an object is lost from the count, which only the choice of blocks to evacuate reads.
  void add_live(LullBlockIndex index, size_t words);
  bool has_live(LullBlockIndex index) const { return _live_words[untype(index)] != 0; }
  size_t live_words(LullBlockIndex index) const { return _live_words[untype(index)]; }
  void clear_live(LullBlockIndex index) {
    _live_words[untype(index)] = 0;
    _young_live_words[untype(index)] = 0;
  }

  // Words of objects that are alive and not in the count of the live ones: private ones, or survivors. The thread may have published or
  // dropped them since: only the choice of blocks to evacuate reads it, when the block has no owner any more.
  void set_young_live(LullBlockIndex index, size_t words) { _young_live_words[untype(index)] = (uint16_t)words; }

  // Lines that the live objects would fill if they were packed.
  uint packed_lines(LullBlockIndex index) const {
    const size_t words = (size_t)_live_words[untype(index)] + _young_live_words[untype(index)];
    return (uint)((MIN2(words, LullGeometry::WordsPerBlock) + LullGeometry::WordsPerLine - 1) / LullGeometry::WordsPerLine);
  }

  // Nothing of a block that is not of lines, or across whose start something lies, which does not move with it.
  uint waste_of(LullBlockIndex index) const {
    const uint lines = packed_lines(index);
    return lines > 0 && at(index)->has_lines() && !has_straddler(index) ? LullGeometry::LinesPerBlock - lines : 0;
  }

  uint wasted(LullBlockIndex index) const { return _wasted[untype(index)]; }
  size_t all_wasted() const { return _all_wasted; }
  void set_wasted(LullBlockIndex index, uint lines);
  // The same without the sum: returns by how much it grows, for who adds that up.
  ssize_t change_wasted(LullBlockIndex index, uint lines);
  void add_wasted(ssize_t lines);
  void update_wasted(LullBlockIndex index) { set_wasted(index, waste_of(index)); }

  Owner owner(LullBlockIndex index) const { return _owners[untype(index)]; }
  // A thread takes a block that is nobody's for private objects, and gives up one of its own. At a safepoint it is done
  // for the thread.
  void own(LullBlockIndex index, Owner owner) {
    assert(at(index)->state() == LullBlockState::Owned || at(index)->state() == LullBlockState::LargeHead,
           "B: block %u of thread %u is %s", untype(index), owner, to_string(at(index)->state()));
    assert_may_own(index, owner, owner);
    _owners[untype(index)] = owner;
    set_young(index);
  }
  void disown(LullBlockIndex index, Owner by) {
    assert_may_own(index, NoOwner, by);
    _owners[untype(index)] = NoOwner;
  }
  void disown_at_safepoint(LullBlockIndex index) {
    assert_at_safepoint();
    _owners[untype(index)] = NoOwner;
  }

  bool has_young(LullBlockIndex index) const { return _young[untype(index)] != Young::None; }
  bool has_survivors(LullBlockIndex index) const { return _young[untype(index)] == Young::Survivors; }
  void set_young(LullBlockIndex index) { _young[untype(index)] = Young::Some; }
  void set_survivors(LullBlockIndex index) {
    assert(owner(index) == NoOwner, "survivors are public, and block %u is of thread %u", untype(index), owner(index));
    _young[untype(index)] = Young::Survivors;
  }
  void clear_young(LullBlockIndex index) { _young[untype(index)] = Young::None; }

  // Calls f(LullBlockIndex) for each block from start to end in which there may be something young, in order; large
  // objects by their heads. f may clear what is said of its block.
  template <typename Function>
  void young_do(uint32_t start, uint32_t end, Function f) const {
    STATIC_ASSERT(sizeof(Young) == 1 && (int)Young::None == 0);
    LullSparseBytes::non_zero_do((const uint8_t*)_young, start, end, [&](uint32_t i) { f(to_block_index(i)); });
  }

  bool has_marks(LullBlockIndex index) const { return _marked[untype(index)]; }
  void set_marks(LullBlockIndex index) {
    if (!_marked[untype(index)]) {    // many objects are in a block: keep it clean in the cache
      _marked[untype(index)] = true;
    }
  }
  void clear_marks(LullBlockIndex index) { _marked[untype(index)] = false; }

  bool has_straddler(LullBlockIndex index) const { return _straddlers[untype(index)] != 0; }
  HeapWord* straddler(LullBlockIndex index) const {
    assert(has_straddler(index), "block %u", untype(index));
    return LullGeometry::start_of(index) - _straddlers[untype(index)];
  }
  size_t straddler_words(LullBlockIndex index) const { return _straddler_words[untype(index)]; }
  void set_straddler(LullBlockIndex index, const HeapWord* obj, size_t words) {
    STATIC_ASSERT(LullGeometry::MaxStraddlerWords <= UINT16_MAX);
    const HeapWord* const start = LullGeometry::start_of(index);
    assert(obj < start && start < obj + words && LullGeometry::is_straddler_size(words),
           "block %u, " PTR_FORMAT ", %zu words", untype(index), p2i(obj), words);
    _straddlers[untype(index)] = (uint16_t)(start - obj);
    _straddler_words[untype(index)] = (uint16_t)words;
  }
  // Words of the straddler that begins in this block and lies across its end; 0: there is none.
  size_t leaving_words(LullBlockIndex index) const {
    const uint32_t next = untype(index) + 1;
    const bool is_there = next < _limit && _straddlers[next] != 0 && _straddlers[next] <= LullGeometry::WordsPerBlock;
    return is_there ? _straddler_words[next] : 0;
  }
  void clear_straddler(LullBlockIndex index) { _straddlers[untype(index)] = 0; }

  bool is_unswept(LullBlockIndex index) const { return Atomic::load(&_unswept[untype(index)]) != 0; }
  void set_unswept(LullBlockIndex index)      { _unswept[untype(index)] = 1; }
  // Whoever finds the block in a later state sees that it is swept: that state is written after this.
  void set_swept(LullBlockIndex index) {
    Atomic::store(&_unswept[untype(index)], (uint8_t)0);
    OrderAccess::storestore();
  }
  // Calls f(LullBlockIndex) for each block from start to end that is to be swept, in order.
  template <typename Function>
  void unswept_do(uint32_t start, uint32_t end, Function f) const {
    LullSparseBytes::non_zero_do(_unswept, start, end, [&](uint32_t i) { f(to_block_index(i)); });
  }

  // The only thread that may have private objects where this address is.
  Owner owner_of(const void* addr) const { return owner(large_head_of(LullGeometry::block_of(addr))); }

  // The head of the large object that covers this LargeHead or LargeTail block.
  LullBlockIndex large_head_of(LullBlockIndex index) const;
};

#endif // SHARE_GC_LULL_HEAP_LULLBLOCKTABLE_HPP
