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

#include "gc/lull/lullSizePolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/flags/flagSetting.hpp"
#include "runtime/globals.hpp"
#include "unittest.hpp"

static const size_t Used = 20 * M;
static const size_t Capacity = 60 * M;

// Young collections, one each 100 ms; none of it by the clock.
class LullSizePolicyTest : public ::testing::Test {
protected:
  LullSizePolicy _policy;
  jlong          _now_ms;

  LullSizePolicyTest() : _policy(), _now_ms(0) {
    _policy.record_collection(0, 0, Used, Capacity, MaxHeapSize);
  }

  size_t young(jlong ms, size_t used = Used, size_t capacity = Capacity) {
    _now_ms += 100;
    _policy.record_young_collection((_now_ms - ms) * NANOSECS_PER_MILLISEC, _now_ms * NANOSECS_PER_MILLISEC, used, MaxHeapSize);
    return _policy.desired_capacity_after_young(used, capacity, _now_ms * NANOSECS_PER_MILLISEC);
  }

  // GCTimeRatio is 19 with this collector, which is 5 % of the time; another one may run the test.
  static jlong costly_ms() { return 200 / (1 + GCTimeRatio); }
  static jlong cheap_ms()  { return 50 / (1 + GCTimeRatio); }
};

TEST_VM_F(LullSizePolicyTest, costly_young_collections_double_the_room) {
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(young(costly_ms()), Capacity) << "too few to tell";
  }
  EXPECT_EQ(young(costly_ms()), Capacity + (Capacity - Used));
  EXPECT_EQ(young(costly_ms()), Capacity) << "the next four count by themselves";
}

TEST_VM_F(LullSizePolicyTest, cheap_ones_do_not) {
  for (int i = 0; i < 20; i++) {
    EXPECT_EQ(young(cheap_ms()), Capacity);
  }
}

TEST_VM_F(LullSizePolicyTest, a_global_collection_begins_anew) {
  for (int i = 0; i < 3; i++) {
    young(costly_ms());
  }
  _policy.record_collection(_now_ms * NANOSECS_PER_MILLISEC, _now_ms * NANOSECS_PER_MILLISEC, Used, Capacity, MaxHeapSize);
  EXPECT_EQ(young(costly_ms()), Capacity);
}

// Whoever asks for a collection has no less memory for it: that is not what the limit is for.
TEST_VM_F(LullSizePolicyTest, what_was_asked_for_does_not_count) {
  FlagSetting on(UseGCOverheadLimit, true);   // a debug build has it off
  const jlong second = NANOSECS_PER_SEC;
  jlong now = 0;
  // Nearly all time, no memory, and no room to grow: useless.
  auto collect = [&] {
    _policy.record_collection(now, now + second, MaxHeapSize, MaxHeapSize, MaxHeapSize);
    now += second;
  };
  auto asked_for = [&] {
    now += second;
    _policy.record_asked_for(now);
  };
  for (int i = 0; i < 100; i++) {
    asked_for();
    EXPECT_FALSE(_policy.is_near_overhead_limit() || _policy.overhead_limit_exceeded() || _policy.is_costly());
  }
  now += 1000 * second;
  for (int i = 0; i < 100; i++) {
    collect();
  }
  EXPECT_TRUE(_policy.is_costly());
  EXPECT_TRUE(_policy.is_near_overhead_limit() && _policy.overhead_limit_exceeded());
}

TEST_VM_F(LullSizePolicyTest, what_is_nearly_full_grows_by_a_fifth) {
  for (int i = 0; i < 3; i++) {
    young(costly_ms());
  }
  EXPECT_EQ(young(costly_ms(), Capacity - M), Capacity + Capacity / 5);
}

TEST_VM_F(LullSizePolicyTest, the_maximum_is_a_bound_and_the_heap_does_not_shrink) {
  for (int i = 0; i < 3; i++) {
    young(costly_ms());
  }
  EXPECT_EQ(young(costly_ms(), 0, MaxHeapSize - M), MaxHeapSize);
  for (int i = 0; i < 3; i++) {
    young(cheap_ms());
  }
  EXPECT_EQ(young(cheap_ms(), 0, MaxHeapSize), MaxHeapSize);
}

TEST_VM_F(LullSizePolicyTest, a_young_collection_that_leaves_little_is_followed_by_a_global_one) {
  FlagSetting on(UseGCOverheadLimit, true);
  const size_t limit = MaxHeapSize / 100 * GCHeapFreeLimit;
  young(cheap_ms(), MaxHeapSize - limit - M, MaxHeapSize);
  EXPECT_FALSE(_policy.young_left_little());
  young(cheap_ms(), MaxHeapSize - limit + M, MaxHeapSize);
  EXPECT_TRUE(_policy.young_left_little());
  _policy.record_collection(_now_ms * NANOSECS_PER_MILLISEC, _now_ms * NANOSECS_PER_MILLISEC, MaxHeapSize - limit + M, MaxHeapSize, MaxHeapSize);
  EXPECT_FALSE(_policy.young_left_little());
}
