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

#include "gc/lull/alloc/lullRunTable.inline.hpp"
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

TEST_F(LullRunTableTest, verify_finds_what_is_broken) {
  add(1, 3);
  add(2, 3);
  add(3, 20);
  _runs[2]._length = 4;
  EXPECT_STREQ(_table.verify(), "a run is in the list of another length");
  _runs[2]._length = 3;
  _runs[1]._prev = 3;
  EXPECT_STREQ(_table.verify(), "a list is not linked both ways");
  _runs[1]._prev = 2;
  EXPECT_EQ(_table.verify(), nullptr);
  _runs[3]._next = 3;
  EXPECT_NE(_table.verify(), nullptr);
}

// Each index must notice that it was not told of a change.
template <LullRunSearch Search>
static void verify_finds_a_forgotten_rebuild() {
  LullRun runs[2] = { { 0, 3, 0, 0 }, { 0, 80, 0, 0 } };
  LullRunTable<128, Search> table(runs);
  table.add_batched(0);
  table.add_batched(1);
  EXPECT_NE(table.verify(), nullptr);
  table.rebuild();
  EXPECT_EQ(table.verify(), nullptr);
}

TEST(LullRunTable, verify_finds_a_forgotten_rebuild) {
  verify_finds_a_forgotten_rebuild<LullRunSearch::NextHit>();
  verify_finds_a_forgotten_rebuild<LullRunSearch::Bitmap>();
}

TEST(LullRunTable, first_fit_takes_the_first_run_that_is_long_enough) {
  LullRun runs[4] = { { 0, 9, 0, 0 }, { 0, 5, 0, 0 }, { 0, 5, 0, 0 }, { 0, 600, 0, 0 } };
  LullRunTable<128, LullRunSearch::FirstFit> table(runs);
  for (uint32_t id = 0; id < 4; id++) {
    table.add(id);
  }
  EXPECT_EQ(table.find(5), 0u);
  EXPECT_EQ(table.find(10), 3u);
  EXPECT_EQ(table.find(601), UINT32_MAX);
  table.remove(0);
  EXPECT_EQ(table.find(5), 1u);
  table.remove(3);
  table.add(0);
  EXPECT_EQ(table.find(6), 0u);
  EXPECT_EQ(table.verify(), nullptr);
}

// What the Next Hit Table costs: entries from the list down to the next shorter one that is
// not empty. Between two runs of the last list there is nothing to write.
TEST(LullRunTable, counters_of_the_next_hit_table) {
  LullRun runs[3] = { { 0, 10, 0, 0 }, { 0, 4, 0, 0 }, { 0, 500, 0, 0 } };
  LullRunTable<128, LullRunSearch::NextHit, LullRunCounters> table(runs);
  table.add(0);
  EXPECT_EQ(table.counters()._became_non_empty, 1u);
  EXPECT_EQ(table.counters()._entries_written, 10u);
  table.add(1);
  EXPECT_EQ(table.counters()._entries_written, 14u);
  table.remove(0);
  EXPECT_EQ(table.counters()._became_empty, 1u);
  EXPECT_EQ(table.counters()._entries_written, 20u);
  table.add(2);
  table.remove(2);
  EXPECT_EQ(table.counters()._entries_written, 20u);
  EXPECT_EQ(table.find(1), 1u);
  EXPECT_EQ(table.counters()._look_ups, 1u);
  EXPECT_EQ(table.counters()._lists_passed, 0u);
}

TEST(LullRunTable, counters_of_a_traversal) {
  LullRun runs[3] = { { 0, 10, 0, 0 }, { 0, 500, 0, 0 }, { 0, 400, 0, 0 } };
  LullRunTable<128, LullRunSearch::Traverse, LullRunCounters> table(runs);
  table.add(0);
  EXPECT_EQ(table.find(10), 0u);
  EXPECT_EQ(table.counters()._lists_passed, 0u);
  EXPECT_EQ(table.find(4), 0u);
  EXPECT_EQ(table.counters()._lists_passed, 6u);
  table.add(1);
  table.add(2);
  EXPECT_EQ(table.find(11), 2u);
  EXPECT_EQ(table.counters()._lists_passed, 6u + 117u);
  EXPECT_EQ(table.counters()._runs_passed, 2u);
}

// Without counters a table is as large as its lists and its index.
TEST(LullRunTable, no_counters_take_no_space) {
  struct Plain { LullRun* _runs; uint32_t _count; uint32_t _heads[129]; uint16_t _next_hit[129]; };
  EXPECT_EQ(sizeof(LullRunTable<128>), sizeof(Plain));
}

// A million random operations against a plain multiset of lengths: what is found is always
// the shortest that fits (with first fit: some run that fits, if there is one; in which order
// is the business of the space's test), and the integrity of the table holds.
template <uint32_t N, LullRunSearch Search>
static void random_operations(uint32_t seed, uint32_t longest) {
  const uint32_t capacity = 300;
  const int steps = 1000 * 1000;
  std::mt19937 random(seed);
  std::vector<LullRun> runs(capacity);
  LullRunTable<N, Search> table(runs.data());
  std::multiset<uint32_t> model;
  std::vector<uint32_t> unused;
  std::vector<bool> used(capacity);
  for (uint32_t id = 0; id < capacity; id++) {
    unused.push_back(id);
  }
  const auto add = [&](bool batched) {
    const uint32_t id = unused.back();
    unused.pop_back();
    runs[id]._start = id;
    runs[id]._length = 1 + random() % longest;
    used[id] = true;
    if (batched) {
      table.add_batched(id);
    } else {
      table.add(id);
    }
    model.insert(runs[id]._length);
  };
  const auto remove = [&](uint32_t id) {
    table.remove(id);
    model.erase(model.find(runs[id]._length));
    used[id] = false;
    unused.push_back(id);
  };

  for (int step = 0; step < steps; step++) {
    // More runs and fewer of them by turns, so that both many and no lists are empty.
    const bool grow = random() % 16 < (step / 2000 % 2 == 0 ? 9 : 7);
    if (grow && !unused.empty()) {
      if (random() % 1000 == 0) {
        const uint32_t count = MIN2((uint32_t)unused.size(), 1 + (uint32_t)random() % 20);
        for (uint32_t i = 0; i < count; i++) {
          add(true);
        }
        table.rebuild();
      } else {
        add(false);
      }
    } else if (random() % 4 == 0) {
      // Any run, as coalescing does.
      const uint32_t id = random() % capacity;
      if (used[id]) {
        remove(id);
      }
    } else {
      const uint32_t wanted = 1 + random() % (longest + 5);
      const uint32_t id = table.find(wanted);
      const auto expected = model.lower_bound(wanted);
      if (expected == model.end()) {
        ASSERT_EQ(id, UINT32_MAX) << "seed " << seed << " step " << step;
      } else {
        ASSERT_NE(id, UINT32_MAX) << "seed " << seed << " step " << step;
        if (Search == LullRunSearch::FirstFit) {
          ASSERT_GE(runs[id]._length, wanted) << "seed " << seed << " step " << step;
        } else {
          ASSERT_EQ(runs[id]._length, *expected) << "seed " << seed << " step " << step;
        }
        remove(id);
      }
    }
    ASSERT_EQ(table.count(), model.size()) << "seed " << seed << " step " << step;
    // Each step at first, then now and then.
    if (step < 20000 || step % 61 == 0) {
      ASSERT_EQ(table.longest(), model.empty() ? 0u : *model.rbegin()) << "seed " << seed << " step " << step;
      const char* const error = table.verify();
      ASSERT_EQ(error, nullptr) << error << ", seed " << seed << " step " << step;
    }
  }
}

template <LullRunSearch Search>
static void random_operations_with_all_numbers_of_lists(uint32_t seed) {
  random_operations<2, Search>(seed, 5);
  random_operations<8, Search>(seed + 1, 40);
  random_operations<32, Search>(seed + 2, 40);
  random_operations<64, Search>(seed + 3, 64);
  random_operations<128, Search>(seed + 4, 128);
  random_operations<256, Search>(seed + 5, 400);
  random_operations<512, Search>(seed + 6, 600);
}

TEST(LullRunTable, random_operations_next_hit) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::NextHit>(100);
}

TEST(LullRunTable, random_operations_bitmap) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::Bitmap>(200);
}

TEST(LullRunTable, random_operations_traverse) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::Traverse>(300);
}

TEST(LullRunTable, random_operations_first_fit) {
  random_operations<128, LullRunSearch::FirstFit>(400, 200);
}
