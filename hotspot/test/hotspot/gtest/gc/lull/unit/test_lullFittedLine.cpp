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

#include "gc/lull/policy/lullPauseGoal.hpp"
#include "gc/lull/policy/lullFittedLine.hpp"
#include "unittest.hpp"

TEST(LullFittedLineTest, no_point_and_one_tell_nothing) {
  LullFittedLine line;
  EXPECT_FALSE(line.has_slope());
  line.add(10, 100);
  EXPECT_FALSE(line.has_slope());
}

TEST(LullFittedLineTest, points_at_zero_tell_nothing) {
  LullFittedLine line;
  line.add(0, 1);
  line.add(0, 2);
  EXPECT_FALSE(line.has_slope());
}

TEST(LullFittedLineTest, points_close_together_tell_nothing) {
  LullFittedLine line;
  for (int i = 0; i < 10; i++) {
    line.add(100 + i % 3, 50);
  }
  EXPECT_FALSE(line.has_slope());
}

TEST(LullFittedLineTest, points_on_a_line_tell_its_slope_whatever_lies_below_it) {
  for (double below : {0.0, 7.0, 1000.0}) {
    LullFittedLine line;
    for (int i = 1; i <= 10; i++) {
      line.add(i, below + 3 * i);
    }
    ASSERT_TRUE(line.has_slope());
    EXPECT_NEAR(line.slope(), 3, 1e-6) << below;
    EXPECT_GE(line.ratio(), 3 - 1e-6);
  }
}

TEST(LullFittedLineTest, older_points_count_less) {
  LullFittedLine line;
  for (int i = 0; i < 20; i++) {
    line.add(1 + i % 4, 100 * (1 + i % 4));
  }
  for (int i = 0; i < 20; i++) {
    line.add(1 + i % 4, 2 * (1 + i % 4));
  }
  EXPECT_NEAR(line.slope(), 2, 2);
}
