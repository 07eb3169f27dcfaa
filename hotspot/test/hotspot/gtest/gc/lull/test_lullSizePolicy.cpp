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

#include "gc/lull/policy/lullSizePolicy.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/flags/flagSetting.hpp"
#include "runtime/globals.hpp"
#include "runtime/os.hpp"
#include "unittest.hpp"
#include "utilities/autoRestore.hpp"

#include <math.h>

static const size_t Used = 20 * M;
static const size_t Capacity = 60 * M;

// -Xms16m -Xmx400m and the usual ratios, whatever the VM that runs the test has.
class LullTestHeapFlags {
private:
  AutoModifyRestore<size_t> _min;
  AutoModifyRestore<size_t> _max;
  AutoModifyRestore<size_t> _soft_max;
  AutoModifyRestore<uintx>  _min_free;
  AutoModifyRestore<uintx>  _max_free;
  AutoModifyRestore<uint>   _time_ratio;

public:
  explicit LullTestHeapFlags(uintx max_free)
    : _min(MinHeapSize, 16 * M),
      _max(MaxHeapSize, 400 * M),
      _soft_max(SoftMaxHeapSize, 0),
      _min_free(MinHeapFreeRatio, 40),
      _max_free(MaxHeapFreeRatio, max_free),
      _time_ratio(GCTimeRatio, 19) {}
};

// Young collections, one each 100 ms; none of it by the clock.
class LullSizePolicyTest : public ::testing::Test {
protected:
  LullTestHeapFlags _flags;
  LullSizePolicy    _policy;
  jlong             _now_ms;

  LullSizePolicyTest() : _flags(70), _policy(), _now_ms(0) {
    _policy.record_collection({0, 0, Capacity, Used}, Capacity, MaxHeapSize);
  }

  // Now, after so many ms.
  LullSizedCollection ended(jlong ms, size_t used_before, size_t used) {
    return {(_now_ms - ms) * NANOSECS_PER_MILLISEC, _now_ms * NANOSECS_PER_MILLISEC, used_before, used};
  }

  size_t young(jlong ms, size_t used = Used, size_t capacity = Capacity) {
    _now_ms += 100;
    _policy.record_young_collection(ended(ms, capacity, used), capacity, MaxHeapSize);
    return _policy.desired_capacity_after_young(used, capacity, _now_ms * NANOSECS_PER_MILLISEC);
  }

  static const jlong CostlyMs = 10;
  static const jlong CheapMs = 2;
};

TEST_VM_F(LullSizePolicyTest, costly_young_collections_double_the_room) {
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(young(CostlyMs), Capacity) << "too few to tell";
  }
  EXPECT_EQ(young(CostlyMs), Capacity + (Capacity - Used));
  EXPECT_EQ(young(CostlyMs), Capacity) << "the next four count by themselves";
}

TEST_VM_F(LullSizePolicyTest, cheap_ones_do_not) {
  for (int i = 0; i < 20; i++) {
    EXPECT_EQ(young(CheapMs), Capacity);
  }
}

TEST_VM_F(LullSizePolicyTest, a_global_collection_begins_anew) {
  for (int i = 0; i < 3; i++) {
    young(CostlyMs);
  }
  _policy.record_collection(ended(0, Capacity, Used), Capacity, MaxHeapSize);
  EXPECT_EQ(young(CostlyMs), Capacity);
}

// Old garbage fills the heap then, and the cycle will free it. What is alive does not wait for that.
TEST_VM_F(LullSizePolicyTest, costs_while_a_cycle_runs_count_where_use_grows) {
  auto while_cycle_runs = [&](size_t used) {
    _now_ms += 100;
    const LullSizedCollection collection = ended(CostlyMs, Capacity, used);
    _policy.record_young_collection(collection, Capacity, MaxHeapSize);
    _policy.await_cycle(collection, Capacity);
    return _policy.desired_capacity_after_young(used, Capacity, _now_ms * NANOSECS_PER_MILLISEC);
  };
  for (int i = 0; i < 20; i++) {
    EXPECT_EQ(while_cycle_runs(Used), Capacity);
  }
  size_t desired = Capacity;
  for (int i = 1; i <= 8 && desired == Capacity; i++) {
    desired = while_cycle_runs(Used + i * M);
  }
  EXPECT_GT(desired, Capacity);
}

// A larger heap would have as many.
TEST_VM_F(LullSizePolicyTest, early_ones_do_not_make_the_heap_larger) {
  for (int i = 0; i < 20; i++) {
    for (int k = 0; k < 4; k++) {
      _now_ms += 20;
      _policy.record_early(ended(10, Capacity, Used), MaxHeapSize);
    }
    EXPECT_EQ(young(CheapMs), Capacity);
  }
}

// But time is time: all of it in early ones, no memory and no room to grow is useless.
TEST_VM_F(LullSizePolicyTest, early_ones_count_for_the_overhead_limit) {
  FlagSetting on(UseGCOverheadLimit, true);   // a debug build has it off
  const jlong second = NANOSECS_PER_SEC;
  jlong now = 0;
  for (int i = 0; i < 20; i++) {
    _policy.record_early({now, now + 99 * second, MaxHeapSize, MaxHeapSize}, MaxHeapSize);
    EXPECT_TRUE(_policy.young_left_little());
    now += 99 * second;
    _policy.record_collection({now, now + second, MaxHeapSize, MaxHeapSize}, MaxHeapSize, MaxHeapSize);
    now += second;
  }
  EXPECT_TRUE(_policy.overhead_limit_exceeded());
}

// Whoever asks for a collection has no less memory for it: that is not what the limit is for.
TEST_VM_F(LullSizePolicyTest, what_was_asked_for_does_not_count) {
  FlagSetting on(UseGCOverheadLimit, true);   // a debug build has it off
  const jlong second = NANOSECS_PER_SEC;
  jlong now = 0;
  // Nearly all time, no memory, and no room to grow: useless.
  auto collect = [&] {
    _policy.record_collection({now, now + second, MaxHeapSize, MaxHeapSize}, MaxHeapSize, MaxHeapSize);
    now += second;
  };
  auto asked_for = [&] {
    now += second;
    _policy.record_asked_for({now - second, now, MaxHeapSize, MaxHeapSize});
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
    young(CostlyMs);
  }
  EXPECT_EQ(young(CostlyMs, Capacity - M), Capacity + Capacity / 5);
}

TEST_VM_F(LullSizePolicyTest, the_maximum_is_a_bound) {
  for (int i = 0; i < 3; i++) {
    young(CostlyMs);
  }
  EXPECT_EQ(young(CostlyMs, Used, MaxHeapSize - M), MaxHeapSize);
}

// What is in use is not all alive, and the free ratios allow less for what is.
TEST_VM_F(LullSizePolicyTest, young_collections_shrink_half_of_the_way_to_what_the_free_ratios_allow) {
  young(0);
  const size_t allowed = (size_t)((double)Used / 0.3);
  EXPECT_NEAR((double)young(0, Used, 2 * Capacity), (double)(2 * Capacity + allowed) / 2, 1.0);
}

TEST_VM_F(LullSizePolicyTest, but_not_where_collections_would_cost_too_much_then) {
  for (int i = 0; i < 20; i++) {
    EXPECT_GE(young(4, Used, 2 * Capacity), 2 * Capacity);
  }
}

TEST_VM_F(LullSizePolicyTest, when_the_heap_has_grown_costs_count_anew) {
  size_t capacity = Capacity;
  auto global = [&] {
    _now_ms += 100;
    const LullSizedCollection collection = ended(CostlyMs, capacity, Used);
    _policy.record_collection(collection, capacity, MaxHeapSize);
    return _policy.desired_capacity(Used, capacity, GCCause::_allocation_failure, collection._end_ns);
  };
  capacity = global();
  EXPECT_LE(capacity, (size_t)((double)Used / 0.3)) << "one: no more than the free ratios allow";
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(global(), capacity);
  }
  const size_t grown = global();
  EXPECT_EQ(grown, capacity + (capacity - Used));
  capacity = grown;
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(global(), capacity);
  }
}

// Of a hundred, one each 100 ms: 1 % of the time.
TEST_VM_F(LullSizePolicyTest, the_whole_cycle_pays_for_its_global_collection) {
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(young(1), Capacity);
  }
  _now_ms += 200;
  const LullSizedCollection collection = ended(100, Capacity, Used);
  _policy.record_collection(collection, Capacity, MaxHeapSize);
  EXPECT_EQ(_policy.desired_capacity(Used, Capacity, GCCause::_allocation_failure, collection._end_ns), Capacity);
}

TEST_VM_F(LullSizePolicyTest, a_young_collection_that_leaves_little_is_followed_by_a_global_one) {
  FlagSetting on(UseGCOverheadLimit, true);
  const size_t limit = MaxHeapSize / 100 * GCHeapFreeLimit;
  young(CheapMs, MaxHeapSize - limit - M, MaxHeapSize);
  EXPECT_FALSE(_policy.young_left_little());
  young(CheapMs, MaxHeapSize - limit + M, MaxHeapSize);
  EXPECT_TRUE(_policy.young_left_little());
  _policy.record_collection(ended(0, MaxHeapSize, MaxHeapSize - limit + M), MaxHeapSize, MaxHeapSize);
  EXPECT_FALSE(_policy.young_left_little());
}

// A program in a heap that the policy sizes, by a clock of its own: it allocates so many MB a second, of which so many
// MB are alive at a time; what dies of that stays until the next global collection. Collections take a millisecond and
// one for each 50 MB that they trace.
class LullSizedProgram {
private:
  LullTestHeapFlags _flags;
  LullSizePolicy    _policy;
  jlong             _now_ns;
  size_t            _capacity;
  size_t            _used;          // as the last collection has left it
  size_t            _old;           // of it, before the next global one
  uint              _young_between; // two global ones
  uint              _young;
  uint              _globals;
  size_t            _largest;

  // In full, less the copy reserve.
  size_t room() const { return _capacity / 100 * 95 - MIN2(_capacity / 100 * 95, _used); }

  void global(size_t live, size_t used_before, jlong start_ns) {
    _now_ns = start_ns + NANOSECS_PER_MILLISEC + (jlong)(live / 50);
    _used = _old = live;
    _policy.record_collection({start_ns, _now_ns, used_before, _used}, _capacity, MaxHeapSize);
    _capacity = _policy.desired_capacity(_used, _capacity, GCCause::_allocation_failure, _now_ns);
    _young = 0;
    _globals++;
  }

  void young(size_t live, size_t used_before, jlong start_ns) {
    _now_ns = start_ns + NANOSECS_PER_MILLISEC + (jlong)((live > _old ? live - _old : 0) / 50);
    _used = _old = MAX2(_old, live);
    _policy.record_young_collection({start_ns, _now_ns, used_before, _used}, _capacity, MaxHeapSize);
    _capacity = _policy.desired_capacity_after_young(_used, _capacity, _now_ns);
    _young++;
  }

public:
  explicit LullSizedProgram(uint young_between, uintx max_free = 40)
    : _flags(max_free),
      _policy(),
      _now_ns(os::javaTimeNanos()),
      _capacity(MinHeapSize),
      _used(0),
      _old(0),
      _young_between(young_between),
      _young(0),
      _globals(0),
      _largest(0) {}

  size_t capacity_mb() const { return _capacity / M; }
  size_t largest_mb() const  { return _largest / M; }
  uint globals() const       { return _globals; }

  // live_mb at the end of each of so many seconds, as far from now on as the number says.
  template <typename Live>
  void run(double seconds, size_t mb_a_second, Live live_mb) {
    const jlong start_ns = _now_ns;
    const jlong end_ns = start_ns + (jlong)(seconds * NANOSECS_PER_SEC);
    _largest = _capacity;
    while (_now_ns < end_ns) {
      const jlong next_ns = _now_ns + (jlong)((double)room() / (double)(mb_a_second * M) * NANOSECS_PER_SEC);
      const size_t used_before = _used + room();
      const size_t live = MIN2((size_t)live_mb((double)(next_ns - start_ns) / NANOSECS_PER_SEC) * M, used_before);
      // The first one of all is global (LullYoungPolicy).
      if (_globals > 0 && _young < _young_between && live < _capacity / 100 * 90 &&
          !_policy.wants_global_to_shrink(_capacity, next_ns)) {
        young(live, used_before, next_ns);
      } else {
        global(live, used_before, next_ns);
      }
      _largest = MAX2(_largest, _capacity);
    }
  }

  void steady(double seconds, size_t mb_a_second, size_t live_mb) {
    run(seconds, mb_a_second, [&](double) { return (double)live_mb; });
  }
};

// Whether young collections pay or not.
static const uint Cycles[] = {0, 3, 1000000};

TEST_VM(LullSizedProgramTest, a_spike_and_then_little) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    program.run(0.3, 500, [](double second) { return 500 * second; });
    EXPECT_GT(program.capacity_mb(), 150u);
    const size_t after_spike = program.capacity_mb();
    program.steady(7, 200, 1);
    EXPECT_LE(program.largest_mb(), after_spike) << "it does not grow at the moment that it is empty";
    EXPECT_LE(program.capacity_mb(), 20u) << "cycles of " << cycle;
  }
}

TEST_VM(LullSizedProgramTest, a_spike_and_then_a_trickle) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    program.run(0.5, 500, [](double second) { return 400 * second; });
    program.steady(60, 20, 2);
    EXPECT_LE(program.capacity_mb(), 24u) << "cycles of " << cycle;
  }
}

// All that is known of costs is of what has died: the first collection that finds it dead gives back half.
TEST_VM(LullSizedProgramTest, a_full_heap_that_becomes_empty) {
  LullSizedProgram program(0);
  program.steady(10, 1000, 340);
  EXPECT_EQ(program.capacity_mb(), 400u);
  program.steady(0.5, 100, 1);
  EXPECT_LE(program.capacity_mb(), 210u);
}

TEST_VM(LullSizedProgramTest, two_spikes) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    for (int i = 0; i < 2; i++) {
      program.run(0.3, 500, [](double second) { return 500 * second; });
      EXPECT_GT(program.capacity_mb(), 150u);
      program.steady(10, 200, 1);
      EXPECT_LE(program.capacity_mb(), 20u) << "cycles of " << cycle;
    }
  }
}

TEST_VM(LullSizedProgramTest, a_staircase_up_and_down) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    for (size_t live : {20, 60, 100, 140, 180, 120, 80, 40, 10}) {
      program.steady(20, 100, live);
      EXPECT_GE(program.capacity_mb(), live);
      EXPECT_LE(program.capacity_mb(), live * 100 / 60 + live / 5 + 20) << "cycles of " << cycle << ", " << live;
    }
  }
}

// Teeth of a second: growing again costs less than a tenth of the time, as keeping it would cost the memory.
TEST_VM(LullSizedProgramTest, a_sawtooth_is_not_paid_for_at_each_tooth) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    program.run(60, 300, [](double second) { return 20 + 130 * (second - floor(second)); });
    EXPECT_LE(program.globals(), 60u * 8) << "cycles of " << cycle;
    program.steady(20, 100, 20);
    EXPECT_LE(program.capacity_mb(), 60u);
  }
}

// More than the free ratios allow, where collections cost their share else; and not more than that.
TEST_VM(LullSizedProgramTest, collections_that_cost_too_much_let_it_grow) {
  for (uint cycle : Cycles) {
    LullSizedProgram program(cycle);
    program.steady(20, 2000, 10);
    // 1.2 ms and 0.2 each: 2000 MB/s * 1.2 ms * 19.
    const size_t needed = 10 + 46;
    EXPECT_GE(program.capacity_mb(), cycle == 0 ? needed : needed / 2) << "cycles of " << cycle;
    EXPECT_LE(program.capacity_mb(), 10 + 2 * 46u) << "cycles of " << cycle;
    const size_t settled = program.capacity_mb();
    program.steady(20, 2000, 10);
    EXPECT_EQ(program.capacity_mb(), settled) << "and it stays so";
    EXPECT_EQ(program.largest_mb(), settled);
  }
}

// Old garbage that no young collection finds: global ones look for it, ever more rarely, and cost a hundredth at most.
TEST_VM(LullSizedProgramTest, looking_for_old_garbage_in_vain_is_rare) {
  LullSizedProgram program(1000000, 70);
  program.steady(1, 200, 100);
  const uint before = program.globals();
  program.steady(600, 200, 100);
  EXPECT_LE(program.globals() - before, 600u * 10 / (3 * 64) + 7);
}
