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

#ifndef SHARE_GC_LULL_POLICY_LULLUNLOADINGPOLICY_HPP
#define SHARE_GC_LULL_POLICY_LULLUNLOADINGPOLICY_HPP

#include "gc/shared/gcCause.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/allocation.hpp"
#include "runtime/globals.hpp"
#include "utilities/globalDefinitions.hpp"

// What the trace from the strong roots has not found, of what classes hang on.
struct LullDeadClasses {
  size_t _loaders;    // class loaders
  size_t _hidden;     // hidden classes that are not strong: each dies by itself

  LullDeadClasses() : _loaders(0), _hidden(0) {}
};

// Does a global collection, or a remark, that nobody has asked for unload classes and code?
//
// To unlink what is dead HotSpot looks at all compiled code. That takes as long as all the rest of the pause. A service
// goes on making hidden classes, and dropping some, long after it has warmed up: frameworks call through method
// handles. These classes are small. So where only few of them are dead they are kept, with whatever code still refers
// to. Nothing is kept for good: after LullUnloadClassesInterval collections in a row all that is dead is unloaded.
//
// It is unloaded at once
//
//   if a class loader has died, which may hold much of the heap;
//   if a collection has freed nearly nothing;
//   if somebody asks, or metaspace or the code cache fills.
//
// HotSpot asks when the code cache has grown by SweeperThreshold since the last collection, and takes it for granted
// that that one has unloaded. Most have not, so what counts is the growth since the last one that has.
//
// Written at safepoints.
class LullUnloadingPolicy {
private:
  static const size_t MaxHidden = 256;  // about two megabytes of metaspace

  uint   _kept;       // collections that have kept what is dead, since the last one that has not
  size_t _code_used;  // bytes of the code cache after code was unloaded last

public:
  LullUnloadingPolicy() : _kept(0), _code_used(0) {}

  // Does somebody ask because metaspace, or the code cache, fills? Then not memory of the heap is lacking.
  static bool is_for_classes(GCCause::Cause cause) {
    return cause == GCCause::_metadata_GC_threshold || cause == GCCause::_codecache_GC_threshold ||
           cause == GCCause::_codecache_GC_aggressive;
  }

  // Of a code cache with so many bytes in use: is it time to unload what is cold? As CodeCache::gc_on_allocation: each SweeperThreshold percent,
  // and more often the fuller it is.
  bool has_code_grown(size_t used, size_t capacity) const {
    assert(used <= capacity, "%zu bytes of %zu are in use", used, capacity);
    const double threshold = SweeperThreshold / 100 * (double)capacity;
    const double free_ratio = (double)(capacity - used) / (double)capacity;
    return (double)used > (double)_code_used + ((double)used > threshold ? threshold * free_ratio : threshold);
  }

  void record_unloading(size_t code_used) { _code_used = code_used; }

  // Asked after the trace, of a collection that may keep.
  bool keeps(const LullDeadClasses& dead) const {
    return dead._loaders == 0 && dead._hidden <= MaxHidden && _kept + 1 < LullUnloadClassesInterval;
  }

  void record(bool kept) { _kept = kept ? _kept + 1 : 0; }
};

#endif // SHARE_GC_LULL_POLICY_LULLUNLOADINGPOLICY_HPP
