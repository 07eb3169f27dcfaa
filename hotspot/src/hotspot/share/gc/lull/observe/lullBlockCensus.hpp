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

#ifndef SHARE_GC_LULL_OBSERVE_LULLBLOCKCENSUS_HPP
#define SHARE_GC_LULL_OBSERVE_LULLBLOCKCENSUS_HPP

#include "gc/lull/heap/lullBlockTable.hpp"
#include "memory/allocation.hpp"
#include "utilities/resourceHash.hpp"

class JavaThread;
class LullPublicMap;
class outputStream;

// How many committed blocks there are of each kind, for those who look at the heap from outside. Counted while
// threads run, without a safepoint and without keeping one waiting for long: each block is counted once, as it is in
// the moment in which it is looked at.
class LullBlockCensus : public StackObj {
public:
  enum class Kind {
    Free,
    Private,      // of a thread in private mode; nothing in it is public
    Mixed,        // of a thread in private mode; something in it is public
    Public,       // nothing in it is private
    Large,        // parts of large objects
    Archive,
    End
  };

private:
  // A safepoint waits for the count of so many blocks at most.
  static const uint32_t BlocksAtOnce = 32 * K;

  LullBlockTable* const      _blocks;
  const LullPublicMap* const _public_map;

  // Threads that have no private objects.
  ResourceHashtable<LullBlockTable::Owner, bool> _public_owners;

  size_t                     _counts[(int)Kind::End];
  size_t                     _free_lines;   // of recyclable blocks
  size_t                     _slack_lines;  // of others: nobody gets them
  size_t                     _free_run;     // free blocks up to the last one that was counted
  size_t                     _longest_free_run;

  void find_public_owners();
  Kind kind_of(LullBlockIndex index, LullBlockState state) const;
  void count(uint32_t begin, uint32_t end);

public:
  LullBlockCensus(LullBlockTable* table, const LullPublicMap* map);

  // Needs a ResourceMark. Not at a safepoint, with no lock.
  void take(JavaThread* current);

  size_t blocks(Kind kind) const { return _counts[(int)kind]; }
  size_t free_lines() const      { return _free_lines; }
  size_t slack_lines() const     { return _slack_lines; }

  // In blocks. What a large object would get without a collection.
  size_t longest_free_run() const { return _longest_free_run; }

  // How many blocks are in which state. At any time, in an error report too: without a lock, which may be the crashed
  // thread's, and while others allocate.
  static void print_states_on(outputStream* st, const LullBlockTable* table);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLBLOCKCENSUS_HPP
