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

#include "gc/lull/lullRunTable.inline.hpp"
#include "unittest.hpp"

#include <random>
#include <set>
#include <vector>

// A table of 16 lists over room for 64 runs.
class LullRunTableTest : public ::testing::Test {
protected:
  static const uint32_t N = 16;
  typedef LullRunTable<N> Table;

  LullRun _runs[64];
  Table   _table;

  LullRunTableTest() : _runs(), _table(_runs) {}

  void set(uint32_t id, uint32_t length) {
    _runs[id]._start = id * 100;
    _runs[id]._length = length;
  }

  void add(uint32_t id, uint32_t length) {
    set(id, length);
    _table.add(id);
    ASSERT_EQ(_table.verify(), nullptr);
  }

  uint32_t length_of(uint32_t id) const { return id == Table::None ? 0 : _runs[id]._length; }
};

TEST_F(LullRunTableTest, an_empty_table_finds_nothing) {
  EXPECT_EQ(_table.verify(), nullptr);
  EXPECT_EQ(_table.count(), 0u);
  EXPECT_EQ(_table.longest(), 0u);
  for (uint32_t length = 1; length < 3 * N; length++) {
    EXPECT_EQ(_table.find(length), Table::None + 0);
  }
}

TEST_F(LullRunTableTest, finds_the_next_longer_run) {
  add(1, 3);
  add(2, 7);
  EXPECT_EQ(length_of(_table.find(1)), 3u);
  EXPECT_EQ(length_of(_table.find(3)), 3u);
  EXPECT_EQ(length_of(_table.find(4)), 7u);
  EXPECT_EQ(length_of(_table.find(7)), 7u);
  EXPECT_EQ(_table.find(8), Table::None + 0);
  EXPECT_EQ(_table.longest(), 7u);

  _table.remove(1);
  EXPECT_EQ(_table.verify(), nullptr);
  EXPECT_EQ(length_of(_table.find(1)), 7u);
}

TEST_F(LullRunTableTest, the_last_list_is_best_fit) {
  add(1, 40);
  add(2, 16);
  add(3, 25);
  EXPECT_EQ(length_of(_table.find(5)), 16u);
  EXPECT_EQ(length_of(_table.find(16)), 16u);
  EXPECT_EQ(length_of(_table.find(17)), 25u);
  EXPECT_EQ(length_of(_table.find(26)), 40u);
  EXPECT_EQ(_table.find(41), Table::None + 0);
  EXPECT_EQ(_table.longest(), 40u);
}

TEST_F(LullRunTableTest, runs_of_a_length_are_taken_last_in_first_out) {
  add(1, 5);
  add(2, 5);
  EXPECT_EQ(_table.find(5), 2u);
  _table.remove(2);
  EXPECT_EQ(_table.find(5), 1u);
}

TEST_F(LullRunTableTest, removing_from_the_middle_of_a_list) {
  add(1, 5);
  add(2, 5);
  add(3, 5);
  _table.remove(2);
  EXPECT_EQ(_table.verify(), nullptr);
  _table.remove(3);
  _table.remove(1);
  EXPECT_EQ(_table.verify(), nullptr);
  EXPECT_EQ(_table.count(), 0u);
}

TEST_F(LullRunTableTest, batched_additions_after_one_rebuild) {
  for (uint32_t id = 0; id < 20; id++) {
    set(id, 1 + (id * 7) % 20);
    _table.add_batched(id);
  }
  _table.rebuild();
  EXPECT_EQ(_table.verify(), nullptr);
  EXPECT_EQ(_table.count(), 20u);
  EXPECT_EQ(length_of(_table.find(9)), 9u);
  _table.clear();
  EXPECT_EQ(_table.verify(), nullptr);
  EXPECT_EQ(_table.find(1), Table::None + 0);
}

// Random operations against a plain multiset of lengths: what is found is always the
// shortest that fits, and the integrity of the table holds after each step.
template <uint32_t N>
static void random_operations(uint32_t seed, uint32_t longest, int steps) {
  const uint32_t capacity = 300;
  std::mt19937 random(seed);
  std::vector<LullRun> runs(capacity);
  LullRunTable<N> table(runs.data());
  std::multiset<uint32_t> model;
  std::vector<uint32_t> unused;
  std::vector<bool> used(capacity);
  for (uint32_t id = 0; id < capacity; id++) {
    unused.push_back(id);
  }

  for (int step = 0; step < steps; step++) {
    const bool grow = random() % 2 == 0;
    if (grow && !unused.empty()) {
      const uint32_t id = unused.back();
      unused.pop_back();
      runs[id]._start = id;
      runs[id]._length = 1 + random() % longest;
      used[id] = true;
      table.add(id);
      model.insert(runs[id]._length);
    } else if (random() % 4 == 0) {
      // Remove any run, as coalescing does.
      const uint32_t id = random() % capacity;
      if (used[id]) {
        table.remove(id);
        model.erase(model.find(runs[id]._length));
        used[id] = false;
        unused.push_back(id);
      }
    } else {
      const uint32_t wanted = 1 + random() % (longest + 5);
      const uint32_t id = table.find(wanted);
      const auto expected = model.lower_bound(wanted);
      if (expected == model.end()) {
        ASSERT_EQ(id, UINT32_MAX) << "seed " << seed << " step " << step;
      } else {
        ASSERT_NE(id, UINT32_MAX) << "seed " << seed << " step " << step;
        ASSERT_EQ(runs[id]._length, *expected) << "seed " << seed << " step " << step;
        table.remove(id);
        model.erase(expected);
        used[id] = false;
        unused.push_back(id);
      }
    }
    ASSERT_EQ(table.count(), model.size()) << "seed " << seed << " step " << step;
    ASSERT_EQ(table.longest(), model.empty() ? 0u : *model.rbegin()) << "seed " << seed << " step " << step;
    const char* const error = table.verify();
    ASSERT_EQ(error, nullptr) << error << ", seed " << seed << " step " << step;
  }
}

TEST(LullRunTable, random_operations_on_lines) {
  for (uint32_t seed = 1; seed <= 10; seed++) {
    random_operations<128>(seed, 128, 3000);
  }
}

TEST(LullRunTable, random_operations_with_a_long_last_list) {
  for (uint32_t seed = 11; seed <= 20; seed++) {
    random_operations<8>(seed, 40, 3000);
  }
}

TEST(LullRunTable, random_operations_on_the_smallest_table) {
  random_operations<2>(21, 5, 3000);
}
