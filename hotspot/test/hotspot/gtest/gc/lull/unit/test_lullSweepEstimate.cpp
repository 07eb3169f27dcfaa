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


#include "gc/lull/policy/lullSweepEstimate.hpp"
#include "unittest.hpp"

TEST(LullSweepEstimate, at_first_half_of_what_is_dead_beside_what_lives) {
  LullSweepEstimate estimate;
  EXPECT_EQ(estimate.garbage_bytes(0), 0u);
  EXPECT_EQ(estimate.garbage_bytes(1000), 500u * HeapWordSize);
}

TEST(LullSweepEstimate, then_the_share_that_got_free_the_last_time) {
  LullSweepEstimate estimate;
  estimate.record(100 * M, 10 * M);
  EXPECT_EQ(estimate.garbage_bytes(1000), 100u * HeapWordSize);
  estimate.record(100 * M, 80 * M);
  EXPECT_EQ(estimate.garbage_bytes(1000), 800u * HeapWordSize);
  estimate.record(100 * M, 0);
  EXPECT_EQ(estimate.garbage_bytes(1000), 0u);
}

TEST(LullSweepEstimate, never_more_than_is_dead) {
  LullSweepEstimate estimate;
  estimate.record(1 * M, 2 * M);    // ends of lines
  EXPECT_EQ(estimate.garbage_bytes(1000), 1000u * HeapWordSize);
}

TEST(LullSweepEstimate, a_sweep_that_has_seen_nothing_dead_says_nothing) {
  LullSweepEstimate estimate;
  estimate.record(100 * M, 20 * M);
  estimate.record(0, 0);
  EXPECT_EQ(estimate.garbage_bytes(1000), 200u * HeapWordSize);
}
