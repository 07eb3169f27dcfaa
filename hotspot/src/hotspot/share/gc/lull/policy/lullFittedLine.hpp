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


#ifndef SHARE_GC_LULL_POLICY_LULLFITTEDLINE_HPP
#define SHARE_GC_LULL_POLICY_LULLFITTEDLINE_HPP

#include "utilities/debug.hpp"
#include "utilities/globalDefinitions.hpp"

// The line through points by least squares, of which each counts three quarters of the next one: how much y there is
// for each x, whatever y is without any.
class LullFittedLine {
private:
  static constexpr double Kept = 3.0 / 4;
  static constexpr double LeastSpread = 1.0 / 8;    // of the mean

  double _points;    // sums, the last one's weight is 1
  double _x;
  double _y;
  double _xx;
  double _xy;

  double variance() const { return _xx / _points - mean_x() * mean_x(); }

public:
  LullFittedLine() : _points(0), _x(0), _y(0), _xx(0), _xy(0) {}

  void add(double x, double y) {
    assert(x >= 0 && y >= 0, "the least spread is one of positive points");
    _points = Kept * _points + 1;
    _x  = Kept * _x + x;
    _y  = Kept * _y + y;
    _xx = Kept * _xx + x * x;
    _xy = Kept * _xy + x * y;
  }

  // Points that are close together tell nothing.
  bool has_slope() const {
    return _points > 0 && _x > 0 && variance() > (LeastSpread * mean_x()) * (LeastSpread * mean_x());
  }

  double slope() const {
    assert(has_slope(), "points that lie too close");
    return (_xy / _points - mean_x() * mean_y()) / variance();
  }

  double mean_x() const { return _x / _points; }
  double mean_y() const { return _y / _points; }

  // Of all y for all x.
  double ratio() const { return _y / _x; }
};

#endif // SHARE_GC_LULL_POLICY_LULLFITTEDLINE_HPP
