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

#include "gc/lull/alloc/lullRecyclableBlocks.hpp"
#include "memory/allocation.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/safepoint.hpp"
#include "utilities/growableArray.hpp"

LullRecyclableBlocks::LullRecyclableBlocks(LullBlockTable* table)
  : _blocks(table),
    _next(MmapArrayAllocator<uint32_t>::allocate(table->count(), mtGC)),
    _stacks() {
  clear();
}

void LullRecyclableBlocks::clear() {
  for (uint part = 0; part < Parts; part++) {
    clear((Part)part);
  }
}

void LullRecyclableBlocks::clear(Part part) {
  for (uint i = 0; i < Classes; i++) {
    volatile uint64_t* const stack = &_stacks[(uint)part][i];
    *stack = changed(*stack, None);
  }
}

void LullRecyclableBlocks::set_unswept() {
  assert_at_safepoint();
  for (uint i = 0; i < Classes; i++) {
    volatile uint64_t* const mutators = &_stacks[(uint)Part::Mutators][i];
    volatile uint64_t* const unswept = &_stacks[(uint)Part::Unswept][i];
    assert(first_of(*unswept) == None, "all that was to be swept is swept");
    *unswept = changed(*unswept, first_of(*mutators));
    *mutators = changed(*mutators, None);
  }
}

uint LullRecyclableBlocks::class_of(LullBlockIndex index) const {
  return MIN2(_blocks->at(index)->longest_hole() / LinesPerClass, Classes - 1);
}

void LullRecyclableBlocks::give_back(LullBlockIndex index) {
  assert(_blocks->at(index)->is_recyclable(), "block %u is %s", untype(index), to_string(_blocks->at(index)->state()));
  volatile uint64_t* const stack = &_stacks[(uint)Part::Mutators][class_of(index)];
  uint64_t old = Atomic::load(stack);
  for (;;) {
    Atomic::store(&_next[untype(index)], first_of(old));
    const uint64_t found = Atomic::cmpxchg(stack, old, changed(old, untype(index)));
    if (found == old) {
      return;
    }
    old = found;
  }
}

void LullRecyclableBlocks::add_at_safepoint(Part part, LullBlockIndex index) {
  volatile uint64_t* const stack = &_stacks[(uint)part][class_of(index)];
  _next[untype(index)] = first_of(*stack);
  *stack = changed(*stack, untype(index));
}

void LullRecyclableBlocks::merge_at_safepoint(const GrowableArrayCHeap<uint32_t, mtGC>& blocks) {
  assert_at_safepoint();
  volatile uint64_t* const stacks = _stacks[(uint)Part::Mutators];
  uint32_t before[Classes];
  uint32_t after[Classes];
  for (uint i = 0; i < Classes; i++) {
    before[i] = None;
    after[i] = first_of(stacks[i]);
  }
  for (int i = 0; i < blocks.length(); i++) {
    const uint32_t block = blocks.at(i);
    const uint c = class_of(to_block_index(block));
    while (after[c] != None && after[c] < block) {
      before[c] = after[c];
      after[c] = _next[after[c]];
    }
    assert(after[c] != block, "block %u is in this stack already", block);
    _next[block] = after[c];
    if (before[c] == None) {
      stacks[c] = changed(stacks[c], block);
    } else {
      _next[before[c]] = block;
    }
    before[c] = block;
  }
}

size_t LullRecyclableBlocks::drop_owned() {
  assert_at_safepoint();
  size_t seen = 0;
  // What is to be swept has nothing young, and is not swept now.
  for (uint part = 0; part <= (uint)Part::Reserve; part++) {
    for (uint i = 0; i < Classes; i++) {
      uint32_t first = None;
      uint32_t last = None;
      for (uint32_t block = first_of(_stacks[part][i]); block != None; block = _next[block]) {
        seen++;
        if (!_blocks->at(to_block_index(block))->is_recyclable()) {
          continue;
        }
        if (last == None) {
          first = block;
        } else {
          _next[last] = block;
        }
        last = block;
      }
      if (last != None) {
        _next[last] = None;
      }
      _stacks[part][i] = changed(_stacks[part][i], first);
    }
  }
  return seen;
}

bool LullRecyclableBlocks::pop(Part part, uint hole_class, LullBlockIndex* index) {
  volatile uint64_t* const stack = &_stacks[(uint)part][hole_class];
  uint64_t old = Atomic::load_acquire(stack);
  while (first_of(old) != None) {
    // If another thread has taken the block meanwhile, and perhaps pushed it elsewhere, the number tells.
    const uint32_t next = Atomic::load(&_next[first_of(old)]);
    const uint64_t found = Atomic::cmpxchg(stack, old, changed(old, next));
    if (found == old) {
      *index = to_block_index(first_of(old));
      return true;
    }
    old = found;
  }
  return false;
}

bool LullRecyclableBlocks::take_longest(Part part, uint lines, LullBlockIndex* index) {
  for (uint i = Classes; i > lines / LinesPerClass; i--) {
    if (pop(part, i - 1, index)) {
      return true;
    }
  }
  return false;
}

bool LullRecyclableBlocks::take_fit(Part part, uint lines, LullBlockIndex* index) {
  for (uint i = (lines + LinesPerClass - 1) / LinesPerClass; i < Classes; i++) {
    if (pop(part, i, index)) {
      return true;
    }
  }
  return false;
}

bool LullRecyclableBlocks::take_fit_at_safepoint(Part part, uint lines, LullBlockIndex* index) {
  assert_at_safepoint();
  if (take_fit(part, lines, index)) {
    return true;
  }
  // Longer than the class's shortest, and perhaps not than this.
  volatile uint64_t* const stack = &_stacks[(uint)part][MIN2(lines / LinesPerClass, Classes - 1)];
  uint32_t before = None;
  for (uint32_t block = first_of(*stack); block != None; before = block, block = _next[block]) {
    if (_blocks->at(to_block_index(block))->longest_hole() >= lines) {
      if (before == None) {
        *stack = changed(*stack, _next[block]);
      } else {
        _next[before] = _next[block];
      }
      *index = to_block_index(block);
      return true;
    }
  }
  return false;
}

// No more than there are, should a stack be damaged: verify() tells.
template <typename Function>
void LullRecyclableBlocks::blocks_do(Function f) const {
  uint32_t left = _blocks->count();
  for (uint part = 0; part < Parts; part++) {
    for (uint i = 0; i < Classes; i++) {
      for (uint32_t block = first_of(_stacks[part][i]); block != None && left > 0; block = _next[block], left--) {
        f((Part)part, i, to_block_index(block));
      }
    }
  }
}

uint32_t LullRecyclableBlocks::set_reserve(size_t lines) {
  GrowableArrayCHeap<uint32_t, mtGC> blocks;
  size_t lines_of[LullGeometry::LinesPerBlock + 1] = {};   // by free lines of a block
  blocks_do([&](Part part, uint hole_class, LullBlockIndex index) {
    if (part == Part::Unswept) {
      return;    // nobody knows how many lines it will have
    }
    LullBlock* const block = _blocks->at(index);
    block->set_in_reserve(false);
    lines_of[block->free_lines().count()] += block->free_lines().count();
    blocks.append(untype(index));
  });
  uint at_least = LullGeometry::LinesPerBlock;
  size_t sum = lines_of[at_least];
  while (sum < lines && at_least > 1) {
    at_least--;
    sum += lines_of[at_least];
  }
  clear(Part::Mutators);
  clear(Part::Reserve);
  sum = 0;
  uint32_t reserved = 0;
  // From the last to the first: they come to lie as they were.
  for (int i = blocks.length() - 1; i >= 0; i--) {
    LullBlock* const block = _blocks->at(to_block_index(blocks.at(i)));
    const uint free_lines = block->free_lines().count();
    const bool to_reserve = free_lines >= at_least && sum < lines;
    if (to_reserve) {
      sum += free_lines;
      reserved++;
      block->set_in_reserve(true);
    }
    add_at_safepoint(to_reserve ? Part::Reserve : Part::Mutators, to_block_index(blocks.at(i)));
  }
  return reserved;
}

const char* LullRecyclableBlocks::verify() const {
  const char* error = nullptr;
  uint32_t listed = 0;
  blocks_do([&](Part part, uint hole_class, LullBlockIndex index) {
    const LullBlock* const block = _blocks->at(index);
    listed++;
    if (!block->is_recyclable()) {
      error = "a stack of recyclable blocks holds one that is not recyclable";
    } else if (block->longest_hole() != block->free_lines().longest_run() || class_of(index) != hole_class) {
      error = "a recyclable block's longest hole is not as long as its stack says";
    } else if (block->is_in_reserve() != (part == Part::Reserve)) {
      error = "a recyclable block and its stack do not agree on whether it is in the reserve";
    } else if (_blocks->is_unswept(index) != (part == Part::Unswept)) {
      error = "a recyclable block and its stack do not agree on whether it is to be swept";
    }
  });
  uint32_t recyclable = 0;
  for (uint32_t i = 0; i < _blocks->limit(); i++) {
    recyclable += _blocks->at(to_block_index(i))->is_recyclable() && !_blocks->is_evacuated(to_block_index(i)) ? 1 : 0;
  }
  return error != nullptr ? error : listed != recyclable ? "not every recyclable block is in a stack, once" : nullptr;
}
