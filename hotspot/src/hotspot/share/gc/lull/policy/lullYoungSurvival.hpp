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


#ifndef SHARE_GC_LULL_POLICY_LULLYOUNGSURVIVAL_HPP
#define SHARE_GC_LULL_POLICY_LULLYOUNGSURVIVAL_HPP

#include "gc/lull/heap/lullGeometry.hpp"
#include "utilities/globalDefinitions.hpp"

// How much of what is young lives on, and whether the next young collection copies it.
//
// A block is copied for what is dead in it: that becomes free, at the cost of what is alive. While a program fills a
// cache nearly all is alive, and copies win nothing. So where more than a given share has lived on, a young collection
// leaves all where it is. What is alive is old then, and what is dead are holes.
//
// The price is what is dead beside it: it can be used in whole lines only, and blocks do not get free. It is bounded.
// Less than the rest of that share is dead, on an average, and no longer than the share stays above it: it is counted
// in place, too. Where it falls, copies are back after some collections.
//
// Shares go up at once and down by halves: one copy too many costs a pause, one too few some holes. What little is
// young right after another pause is nearly all alive, and says nothing: shares are of a megabyte or more.
//
// Pure. Written at safepoints.
class LullYoungSurvival {
public:
  // What one collection has found of young blocks: lines that were in use, and words alive of these.
  struct Seen {
    size_t _lines;
    size_t _live_words;
  };

private:
  // Where most survivors live on, after so many young collections two have survivors: whole ones, for what is old at
  // once and soon dead would keep survivors alive that it refers to.
  static const size_t VainStep = 16;

  static const size_t MinLines = M / LullGeometry::LineSize;

  class Share {
  private:
    double _expected;    // 0 to 1
    double _mean;        // the last one counts half, and so on

  public:
    explicit Share(double first) : _expected(first), _mean(first) {}

    double expected() const { return _expected; }
    double mean() const     { return _mean; }

    // What was seen counts in full, or less: a weight from 0 to 1.
    void record(const Seen& seen, double weight = 1) {
      // What is young beside old objects in the same line is counted as alive, and its line is not.
      assert(seen._lines > 0, "nothing was seen");
      assert(weight >= 0 && weight <= 1, "weight %f", weight);
      const double share = MIN2((double)seen._live_words / LullGeometry::WordsPerLine / (double)seen._lines, 1.0);
      _expected += (MAX2(share, (_expected + share) / 2) - _expected) * weight;
      _mean += (share - _mean) / 2 * weight;
    }
  };

  const double _most_copied;       // share up to which blocks are worth a copy
  const bool   _may_age;
  Share        _new;
  Share        _survivors;
  Seen         _seen_new;          // not enough for a share yet
  size_t       _since_survivors;   // collections since one has seen how many survivors live on

  bool is_dense(double share) const { return share > _most_copied; }

  void record_new(const Seen& seen) {
    _seen_new._lines += seen._lines;
    _seen_new._live_words += seen._live_words;
    if (_seen_new._lines >= MinLines) {
      _new.record(_seen_new);
      _seen_new = {0, 0};
    }
  }

public:
  // Before anything is known, an eighth of what is new is taken to live on, and half of what has survived once.
  LullYoungSurvival(uint max_live_percent, bool may_age)
    : _most_copied((double)max_live_percent / 100), _may_age(may_age), _new(1.0 / 8), _survivors(1.0 / 2),
      _seen_new({0, 0}), _since_survivors(0) {
    assert(max_live_percent <= 100, "%u percent of a block", max_live_percent);
  }

  double of_new() const       { return _new.expected(); }
  double of_survivors() const { return _survivors.expected(); }

  // Does the next young collection copy what is young? Else all stays where it is, survivors of the last one, too.
  bool copies() const { return !is_dense(_new.expected()); }

  // And do copies of what is new stay young? Where most survivors live on, it is vain to copy them twice.
  bool must_age() const {
    return _may_age && copies() && (!is_dense(_survivors.mean()) || _since_survivors >= VainStep);
  }

  void begin_collection() { _since_survivors++; }

  // It has copied, from blocks of either kind. None: nothing is learned.
  void record_copied(const Seen& new_blocks, const Seen& survivor_blocks) {
    if (new_blocks._lines > 0) {
      record_new(new_blocks);
    }
    if (survivor_blocks._lines > 0 && new_blocks._lines > 0) {
      _survivors.record(survivor_blocks, MIN2((double)new_blocks._lines / MinLines, 1.0));
      _since_survivors = 0;
    }
  }

  // It has left all where it was. If there were survivors, they are among it.
  void record_in_place(const Seen& blocks) { record_new(blocks); }
};

#endif // SHARE_GC_LULL_POLICY_LULLYOUNGSURVIVAL_HPP
