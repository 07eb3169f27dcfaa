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

#include "gc/lull/policy/lullHoleUse.hpp"
#include "unittest.hpp"

// Lines free in blocks, and in holes.
static const size_t InBlocks = 1000;
static const size_t InHoles  = 4000;

TEST(LullHoleUseTest, half_of_it_at_first) {
  LullHoleUse use;
  EXPECT_EQ(use.room_in(InHoles), InHoles / 2);
}

TEST(LullHoleUseTest, holes_into_which_nothing_fits) {
  LullHoleUse use;
  // 2000 were to be copied; half found no room.
  use.record(1000, 1000, InBlocks, InHoles, InBlocks);
  EXPECT_EQ(use.share(), 0.0);
  // What goes into blocks only says nothing else.
  use.record(900, 0, InBlocks, InHoles, 900);
  EXPECT_EQ(use.share(), 0.0);
}

TEST(LullHoleUseTest, holes_into_which_all_fits) {
  LullHoleUse use;
  use.record(3000, 0, InBlocks, InHoles, 0);
  EXPECT_EQ(use.share(), 0.75);
  use.record(4000, 0, InBlocks, InHoles, 0);
  EXPECT_EQ(use.share(), 0.875);
}

TEST(LullHoleUseTest, a_little_that_fits_proves_little) {
  LullHoleUse use;
  use.record(100, 0, InBlocks, InHoles, 0);
  EXPECT_EQ(use.share(), 0.05);
}

TEST(LullHoleUseTest, finds_the_share_that_fits) {
  for (double fits : { 0.1, 0.3, 0.7, 0.9 }) {
    LullHoleUse use;
    for (int i = 0; i < 20; i++) {
      // As much is selected as there should be room for. Of what is copied, as much goes into holes as fits, in proportion.
      const double capacity = InBlocks + fits * InHoles;
      const double selected = InBlocks + use.room_in(InHoles);
      const double copied = MIN2(selected, capacity);
      use.record((size_t)copied, (size_t)(selected - copied), InBlocks, InHoles, (size_t)(InBlocks * copied / capacity));
      if (i > 10) {
        EXPECT_LE(selected, capacity + 40);
      }
    }
    EXPECT_NEAR(use.share(), fits, 0.15) << fits;
    EXPECT_LE(use.share(), fits + 0.01) << fits;
  }
}

TEST(LullHoleUseTest, comes_back_from_nothing) {
  LullHoleUse use;
  use.record(0, 100, 0, InHoles, 0);
  EXPECT_EQ(use.share(), 0.0);
  use.record_no_room();
  EXPECT_GT(use.room_in(InHoles), 0.0);
  for (int i = 0; i < 100; i++) {
    use.record_no_room();
  }
  EXPECT_EQ(use.share(), 1.0);
}

TEST(LullHoleUseTest, without_holes_there_is_nothing_to_learn) {
  LullHoleUse use;
  use.record(500, 500, InBlocks, 0, InBlocks);
  use.record(0, 0, InBlocks, InHoles, 0);
  EXPECT_EQ(use.share(), 0.5);
}
