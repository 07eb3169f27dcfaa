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


#ifndef SHARE_GC_LULL_POLICY_LULLWALKBUDGET_HPP
#define SHARE_GC_LULL_POLICY_LULLWALKBUDGET_HPP

#include "utilities/globalDefinitions.hpp"

// How much a thread must have allocated before it is worth to look at its stack. A local collection visits all frames,
// whatever little it frees: a million of them take as long as the program takes for some hundred megabytes. So each frame
// beyond those of a usual stack costs a number of allocated bytes, and a walk takes no more than a share of the time
// that it took to allocate them.
//
// How many frames there are is not known before the walk; how large the stack is, is. Frames of compiled code are
// smaller than those of the interpreter, and change while the program warms up: what counts is how large they were at
// the last walk of a stack that was not small.
class LullWalkBudget {
public:
  // A frame takes some 50 ns to visit, and so many bytes 200 to 500 to allocate and write.
  static const size_t BytesPerFrame = 512;

  // Of requests in frameworks, and of those that wait for them: less than LullLocalBudget's worth.
  static const size_t UsualFrames = 1000;

private:
  static const size_t FirstFrameSize = 64;    // before any was seen: one that makes them many
  static const size_t FramesToLearn  = 100;   // less say little of how large they are deeper down

  double _frame_size;

public:
  LullWalkBudget() : _frame_size(FirstFrameSize) {}

  // A walk has visited so many frames of a stack of so many bytes.
  void record(size_t depth, size_t frames) {
    if (frames >= FramesToLearn) {
      _frame_size = MAX2((double)depth / (double)frames, 1.0);
    }
  }

  size_t frames_at(size_t depth) const { return (size_t)((double)depth / _frame_size); }

  // Bytes to allocate before a walk of a stack of so many.
  size_t bytes_at(size_t depth) const {
    const size_t frames = frames_at(depth);
    return frames <= UsualFrames ? 0 : (frames - UsualFrames) * BytesPerFrame;
  }
};

#endif // SHARE_GC_LULL_POLICY_LULLWALKBUDGET_HPP
