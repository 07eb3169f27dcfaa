/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.
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

#include "gc/lull/lull_globals.hpp"
#include "gc/lull/lullRemovedFlags.hpp"
#include "unittest.hpp"

#include <string.h>

// Few flags: each is a promise, and doubles what there is to test. What was one once is told of.

struct LullFlag {
  enum class Kind { Plain, Locked, Develop };

  Kind        _kind;
  const char* _name;
};

// What comes behind the value of a product flag: EXPERIMENTAL or DIAGNOSTIC, or its help text.
static LullFlag::Kind kind_of_product(const char* rest) {
  const bool is_locked = strncmp(rest, "EXPERIMENTAL", 12) == 0 || strncmp(rest, "DIAGNOSTIC", 10) == 0;
  return is_locked ? LullFlag::Kind::Locked : LullFlag::Kind::Plain;
}

#define DEVELOP_FLAG(type, name, value, ...)  { LullFlag::Kind::Develop, #name },
#define DEVELOP_PD_FLAG(type, name, ...)      { LullFlag::Kind::Develop, #name },
#define PRODUCT_FLAG(type, name, value, ...)  { kind_of_product(#__VA_ARGS__), #name },
#define PRODUCT_PD_FLAG(type, name, ...)      { kind_of_product(#__VA_ARGS__), #name },
#define NO_RANGE(...)

static const LullFlag flags[] = {
  GC_LULL_FLAGS(DEVELOP_FLAG, DEVELOP_PD_FLAG, PRODUCT_FLAG, PRODUCT_PD_FLAG, NO_RANGE, NO_RANGE)
};

static int count_of(LullFlag::Kind kind) {
  int count = 0;
  for (const LullFlag& flag : flags) {
    count += flag._kind == kind ? 1 : 0;
  }
  return count;
}

TEST_VM(LullFlags, few_for_operators) {
  EXPECT_LE(count_of(LullFlag::Kind::Plain), 8);
  EXPECT_LE(count_of(LullFlag::Kind::Locked), 8);
  EXPECT_GE(count_of(LullFlag::Kind::Plain), 4) << "are they counted?";
  EXPECT_GE(count_of(LullFlag::Kind::Locked), 2);
  EXPECT_GE(count_of(LullFlag::Kind::Develop), 10);
}

#ifdef ASSERT
TEST_VM(LullFlags, none_is_said_to_be_removed) {
  for (const LullFlag& flag : flags) {
    EXPECT_EQ(nullptr, LullRemovedFlags::advice(flag._name, strlen(flag._name))) << flag._name;
  }
}
#endif

TEST_VM(LullFlags, removed_ones_are_known_by_the_whole_name) {
  const char* const name = "LullMinHoleLines=2";
  EXPECT_NE(nullptr, LullRemovedFlags::advice(name, 16));
  EXPECT_EQ(nullptr, LullRemovedFlags::advice(name, 15)) << "a part of the name";
  EXPECT_EQ(nullptr, LullRemovedFlags::advice(name, 18)) << "the name and more";
  EXPECT_EQ(nullptr, LullRemovedFlags::advice("", 0));
}
