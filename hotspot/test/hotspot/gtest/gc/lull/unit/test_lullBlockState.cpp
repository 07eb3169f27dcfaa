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

#include "gc/lull/heap/lullBlockState.hpp"
#include "unittest.hpp"

#include <set>
#include <string>

// Who may change the state of a block from what to what, pair by pair, and its owner.

static const int States = (int)LullBlockState::Archive + 1;

// All pairs that the right permits, as "free>owned".
static std::set<std::string> pairs_of(LullBlockRight right) {
  std::set<std::string> pairs;
  for (int from = 0; from < States; from++) {
    for (int to = 0; to < States; to++) {
      if (LullBlockTransitions::permits((LullBlockState)from, (LullBlockState)to, right)) {
        pairs.insert(std::string(to_string((LullBlockState)from)) + ">" + to_string((LullBlockState)to));
      }
    }
  }
  return pairs;
}

typedef std::set<std::string> Pairs;

TEST(LullBlockState, the_supply_commits_gives_and_takes_back) {
  EXPECT_EQ(pairs_of(LullBlockRight::Supply), (Pairs{
    "uncommitted>free", "free>owned", "free>large head", "free>large tail", "free>archive",
    "owned>free", "large head>free", "large tail>free" }));
}

TEST(LullBlockState, a_taker_owns_what_was_recyclable) {
  EXPECT_EQ(pairs_of(LullBlockRight::Taker), (Pairs{ "recyclable>owned" }));
}

TEST(LullBlockState, an_owner_gives_back_with_holes_or_without) {
  EXPECT_EQ(pairs_of(LullBlockRight::Owner), (Pairs{ "owned>recyclable", "owned>full" }));
}

TEST(LullBlockState, the_sweep_goes_by_what_is_marked) {
  EXPECT_EQ(pairs_of(LullBlockRight::Sweep), (Pairs{
    "owned>free", "owned>recyclable", "owned>full", "owned>owned",
    "recyclable>free", "recyclable>recyclable", "recyclable>full",
    "full>free", "full>recyclable", "full>full", "full>owned",
    "large head>free", "large tail>free", "large head>owned" }));
}

TEST(LullBlockState, the_later_sweep_takes_what_is_full) {
  EXPECT_EQ(pairs_of(LullBlockRight::LaterSweep), (Pairs{ "full>owned" }));
}

TEST(LullBlockState, sliding_empties_blocks_and_fills_free_ones) {
  EXPECT_EQ(pairs_of(LullBlockRight::Slide), (Pairs{
    "recyclable>free", "full>free", "large head>free", "large tail>free",
    "free>full", "free>large head", "free>large tail" }));
}

TEST(LullBlockState, only_what_is_free_is_uncommitted) {
  EXPECT_EQ(pairs_of(LullBlockRight::Resize), (Pairs{ "free>uncommitted" }));
}

// Archive blocks stay, and what is not committed becomes free first, by whatever right.
TEST(LullBlockState, nobody_touches_the_archive) {
  for (int right = 0; right <= (int)LullBlockRight::Resize; right++) {
    for (const std::string& pair : pairs_of((LullBlockRight)right)) {
      EXPECT_NE(pair.find("archive>"), 0u) << pair;
      EXPECT_TRUE(pair.find("uncommitted>") != 0 || pair == "uncommitted>free") << pair;
    }
  }
}

// Owner after owner: a block is nobody's between two threads, unless all are stopped.
TEST(LullBlockState, a_thread_takes_what_is_nobodys_and_gives_up_its_own) {
  const LullBlockTransitions::Owner nobody = LullBlockTransitions::NoOwner;
  const LullBlockTransitions::Owner me = 1;
  const LullBlockTransitions::Owner other = 2;
  const struct { LullBlockTransitions::Owner _from, _to; bool _running, _stopped; } pairs[] = {
    { nobody, nobody, true,  true  },
    { nobody, me,     true,  true  },
    { nobody, other,  false, false },
    { me,     nobody, true,  true  },
    { me,     me,     true,  true  },
    { me,     other,  false, false },
    { other,  nobody, false, true  },
    { other,  me,     false, false },
    { other,  other,  false, false },
  };
  for (const auto& pair : pairs) {
    SCOPED_TRACE(std::to_string(pair._from) + " to " + std::to_string(pair._to));
    EXPECT_EQ(pair._running, LullBlockTransitions::permits_owner(pair._from, pair._to, me, false));
    EXPECT_EQ(pair._stopped, LullBlockTransitions::permits_owner(pair._from, pair._to, me, true));
  }
}
