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

#ifndef SHARE_GC_LULL_COLLECT_LULLSWEPTBLOCKS_HPP
#define SHARE_GC_LULL_COLLECT_LULLSWEPTBLOCKS_HPP

#include "gc/lull/alloc/lullBlockSupply.hpp"
#include "memory/allocation.hpp"
#include "utilities/growableArray.hpp"

// What one worker's part of a young sweep changes in the supply, which stays as it is otherwise. So the lists cost
// what is young.
//
//   free runs     some at a time, under the supply's lock; a block is not Free before it is listed, so that it is not
//                 joined with what is not listed either
//   recyclable    blocks that are in a stack already become Owned before they are swept, and are dropped from there
//                 after the sweep; then those that have holes now are added, each at the place of its address
//
// Slack is summed up here, too: lines that hold nothing and that nobody gets. And what has survived.
class LullSweptBlocks : public CHeapObj<mtGC> {
private:
  static const int RunsAtOnce = 64;

  LullBlockSupply* const                 _supply;
  GrowableArrayCHeap<LullBlockRun, mtGC> _free;         // not listed yet
  GrowableArrayCHeap<uint32_t, mtGC>     _recyclable;   // in no stack yet
  size_t                                 _taken_off;
  size_t                                 _freed;
  ssize_t                                _more_slack;   // lines
  size_t                                 _survived;     // words

public:
  explicit LullSweptBlocks(LullBlockSupply* supply)
    : _supply(supply), _free(), _recyclable(), _taken_off(0), _freed(0), _more_slack(0), _survived(0) {}

  // The block is about to be swept, and is in a stack.
  void take_off(LullBlockIndex index);

  // So many blocks hold nothing, and nobody looks at them any more. The worker comes to blocks in order.
  void add_free(LullBlockIndex index, uint32_t blocks);

  // The block's free lines are known.
  void add_recyclable(LullBlockIndex index) { _recyclable.append(untype(index)); }

  void add_slack(ssize_t lines) { _more_slack += lines; }

  // So many words were young, and are old now.
  void add_survived(size_t words) { _survived += words; }

  // Lists what is free.
  void flush();

  size_t freed() const     { return _freed; }
  size_t taken_off() const { return _taken_off; }
  size_t survived() const  { return _survived; }

  // When all have flushed: puts what all so many workers have found into the supply. Returns how many blocks of
  // stacks were looked at for those that were taken off. What is recyclable and was not taken off is to be swept, if
  // told so. One thread.
  static size_t finish(LullBlockSupply* supply, LullSweptBlocks* const* swept, uint workers, bool leaves_unswept = false);
};

#endif // SHARE_GC_LULL_COLLECT_LULLSWEPTBLOCKS_HPP
