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

#include "gc/lull/policy/lullHolePolicy.hpp"
#include "unittest.hpp"

TEST(LullHolePolicyTest, short_holes_are_left_alone_only_where_nobody_misses_them) {
  EXPECT_GT(LullHolePolicy::min_lines(2, true, false), 2u);
  EXPECT_EQ(LullHolePolicy::min_lines(2, true, true), 2u);
  EXPECT_EQ(LullHolePolicy::min_lines(2, false, false), 2u);
  EXPECT_EQ(LullHolePolicy::min_lines(2, false, true), 2u);
}

TEST(LullHolePolicyTest, the_log_says_what_has_decided) {
  EXPECT_STREQ(LullHolePolicy::reason(true, false), "all objects are public");
  EXPECT_STREQ(LullHolePolicy::reason(true, true), LullHolePolicy::reason(false, true));
  EXPECT_STREQ(LullHolePolicy::reason(false, false), "threads have private objects");
}
