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

#ifndef SHARE_GC_LULL_HEAP_LULLBLOCKSTATE_HPP
#define SHARE_GC_LULL_HEAP_LULLBLOCKSTATE_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// The states of a block, who may change them, and who may own a block. Pure: LullBlockTable has the states and asks here.

enum class LullBlockState : uint8_t {
  Uncommitted,
  Free,
  Owned,
  Recyclable,
  Full,
  LargeHead,
  LargeTail,
  Archive
};

inline const char* to_string(LullBlockState state) {
  switch (state) {
    case LullBlockState::Uncommitted: return "uncommitted";
    case LullBlockState::Free:        return "free";
    case LullBlockState::Owned:       return "owned";
    case LullBlockState::Recyclable:  return "recyclable";
    case LullBlockState::Full:        return "full";
    case LullBlockState::LargeHead:   return "large head";
    case LullBlockState::LargeTail:   return "large tail";
    case LullBlockState::Archive:     return "archive";
  }
  return "unknown";
}

// By what right somebody changes the state of a block. Each excludes all others from this block.
enum class LullBlockRight : uint8_t {
  Supply,     // holds the supply's lock
  Taker,      // has taken the block off the stacks of recyclable ones, which nobody else can any more
  Owner,      // has had the block from the supply, and gives it back
  Sweep,      // the worker that sweeps the block, at a safepoint
  LaterSweep, // has claimed a block that a cycle of concurrent marking has left to be swept, beside the program
  Slide,      // the VM thread that moves objects, at a safepoint
  Resize      // the VM thread that uncommits memory, at a safepoint
};

inline const char* to_string(LullBlockRight right) {
  switch (right) {
    case LullBlockRight::Supply: return "the supply";
    case LullBlockRight::Taker:  return "a taker";
    case LullBlockRight::Owner:  return "its owner";
    case LullBlockRight::Sweep:  return "the sweep";
    case LullBlockRight::LaterSweep: return "the later sweep";
    case LullBlockRight::Slide:  return "the sliding compaction";
    case LullBlockRight::Resize: return "the heap's sizer";
  }
  return "nobody";
}

class LullBlockTransitions : public AllStatic {
private:
  typedef LullBlockState S;

  static bool has_lines(S state) { return state == S::Owned || state == S::Recyclable || state == S::Full; }
  static bool is_large(S state)  { return state == S::LargeHead || state == S::LargeTail; }

public:
  // Names a thread for its whole life; see LullThreadLocalData.
  typedef uint32_t Owner;
  static const Owner NoOwner = 0;

  // May a block go from one state to another by this right? Archive blocks stay: their objects are marked through but
  // neither moved nor swept.
  static bool permits(S from, S to, LullBlockRight by) {
    switch (by) {
      case LullBlockRight::Supply:
        // Memory is committed. A block, a run for a large object, or one for the archive is taken; one comes back.
        return (from == S::Uncommitted && to == S::Free) ||
               (from == S::Free && (to == S::Owned || is_large(to) || to == S::Archive)) ||
               ((from == S::Owned || is_large(from)) && to == S::Free);
      case LullBlockRight::Taker:
        return from == S::Recyclable && to == S::Owned;
      case LullBlockRight::Owner:
        // A thread ends, or its local collection has left nothing private in the block.
        return from == S::Owned && (to == S::Recyclable || to == S::Full);
      case LullBlockRight::Sweep:
        // Lines: by what is marked. A large object is dead. What a young sweep makes Free or Recyclable is Owned in
        // between, until the supply's lists are right (LullSweptBlocks); a Recyclable block it takes off first.
        return (has_lines(from) && (to == S::Free || to == S::Recyclable || to == S::Full)) ||
               (is_large(from) && to == S::Free) ||
               ((from == S::Owned || from == S::Full || from == S::LargeHead) && to == S::Owned);
      case LullBlockRight::LaterSweep:
        // Until it is swept. Then it is given back, as by an owner.
        return from == S::Full && to == S::Owned;
      case LullBlockRight::Slide:
        // Objects leave, all before others come. The sweep that follows finds which lines are free.
        return ((from == S::Recyclable || from == S::Full || is_large(from)) && to == S::Free) ||
               (from == S::Free && (to == S::Full || is_large(to)));
      case LullBlockRight::Resize:
        return from == S::Free && to == S::Uncommitted;
    }
    return false;
  }

  // May the owner of a block be changed, by this thread or at a safepoint? A thread takes what nobody has, and gives
  // up what is its own.
  static bool permits_owner(Owner from, Owner to, Owner by, bool at_safepoint) {
    if (to == NoOwner) {
      return from == NoOwner || from == by || at_safepoint;
    }
    return to == by && (from == NoOwner || from == by);
  }
};

#endif // SHARE_GC_LULL_HEAP_LULLBLOCKSTATE_HPP
