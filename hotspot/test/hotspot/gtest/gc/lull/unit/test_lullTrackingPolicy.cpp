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

// Links: gc/lull/policy/lullTrackingPolicy.cpp

#include "gc/lull/policy/lullTrackingPolicy.hpp"
#include "unittest.hpp"

#include <math.h>

// A service whose collections end twice a second: what a byte costs it with tracking and without, in nanoseconds, give
// or take noise.
class LullTestService {
private:
  LullTrackingPolicy _policy;
  jlong              _now;
  bool               _is_suspended;
  bool               _suspends_next;
  uint64_t           _random;
  uint               _suspended;      // collections
  uint               _collections;
  uint               _trials;

  // Around 1, uniformly.
  double noise() {
    _random = _random * 6364136223846793005u + 1442695040888963407u;
    return 1.0 + _noise * (2.0 * (double)(_random >> 11) / (double)(UINT64_C(1) << 53) - 1.0);
  }

public:
  double _with;
  double _without;
  double _noise;
  double _drift;                // of both, each collection
  size_t _freed_per_published;
  size_t _public_percent;       // of what is allocated, by threads in public mode
  bool   _has_memory;           // pauses come for references alone

  explicit LullTestService(uint64_t seed)
    : _policy(), _now(1000), _is_suspended(false), _suspends_next(false), _random(seed), _suspended(0), _collections(0), _trials(0),
      _with(4), _without(4), _noise(0.15), _drift(1), _freed_per_published(4), _public_percent(0), _has_memory(false) {}

  void collect() {
    const LullTrackingPolicy::State before = _policy.state();
    const bool costs = _policy.wants_costs();
    LullTrackingPolicy::Interval interval = LullTrackingPolicy::Interval();
    _now += NANOSECS_PER_SEC / 2;
    interval._end = _now;
    interval._allocated = 40 * M;
    interval._by_references = _has_memory;
    if (costs) {
      const double cost = (_is_suspended ? _without : _with) * noise() * (double)interval._allocated;
      interval._mutators = (jlong)(cost * 0.9);
      interval._collection = (jlong)(cost * 0.1);
    }
    if (!_is_suspended) {
      interval._allocated_public = interval._allocated / 100 * _public_percent;
      interval._published = M;
      interval._freed = _freed_per_published * M;
    }
    _policy.record(interval, _is_suspended);
    // The next collection publishes all before tracking is suspended; to resume it needs nothing.
    _is_suspended = _policy.wants_suspension() && (_is_suspended || _suspends_next);
    _suspends_next = _policy.wants_suspension();
    _collections++;
    _suspended += _is_suspended ? 1 : 0;
    _trials += before != LullTrackingPolicy::State::Trial && _policy.state() == LullTrackingPolicy::State::Trial ? 1 : 0;
    _with *= _drift;
    _without *= _drift;
  }

  // Returns the share of collections at whose end tracking was suspended.
  double run(uint seconds) {
    _suspended = 0;
    _collections = 0;
    _trials = 0;
    for (uint i = 0; i < 2 * seconds; i++) {
      collect();
    }
    return (double)_suspended / _collections;
  }

  uint trials() const { return _trials; }
  LullTrackingPolicy::State state() const { return _policy.state(); }
  double last_ratio() const { return _policy.last_ratio(); }
};

static const uint64_t Seeds[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

TEST(LullTrackingPolicyTest, without_doubt_there_is_no_trial) {
  LullTestService service(1);
  service._freed_per_published = 100;
  service._without = 1;             // even where it would pay: nobody asks
  EXPECT_EQ(service.run(3600), 0.0);
  EXPECT_EQ(service.trials(), 0u);
}

// Where memory suffices a trial could only bring pauses. As soon as it does not there is one.
TEST(LullTrackingPolicyTest, without_pauses_for_memory_there_is_no_trial) {
  LullTestService service(1);
  service._freed_per_published = 1;
  service._has_memory = true;
  EXPECT_EQ(service.run(3600), 0.0);
  EXPECT_EQ(service.trials(), 0u);
  service._has_memory = false;
  service.run(60);
  EXPECT_GT(service.trials(), 0u);
}

// What a service publishes while it starts says nothing of its requests.
TEST(LullTrackingPolicyTest, a_start_is_no_reason_to_doubt) {
  LullTestService service(1);
  service._freed_per_published = 1;
  service.run(5);
  service._freed_per_published = 100;
  EXPECT_EQ(service.run(3600), 0.0);
  EXPECT_EQ(service.trials(), 0u);
}

TEST(LullTrackingPolicyTest, suspends_where_that_costs_less) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._without = 0.88 * service._with;
    service.run(60);
    EXPECT_EQ(service.state(), LullTrackingPolicy::State::Suspended) << "seed " << seed << ", ratio " << service.last_ratio();
    EXPECT_NEAR(service.last_ratio(), 0.88, 0.1) << "seed " << seed;     // three standard errors of three comparisons
    EXPECT_GT(service.run(3600), 0.9) << "seed " << seed;
  }
}

TEST(LullTrackingPolicyTest, goes_on_where_tracking_costs_less) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._without = 1.15 * service._with;
    service.run(60);
    EXPECT_EQ(service.state(), LullTrackingPolicy::State::Tracking) << "seed " << seed << ", ratio " << service.last_ratio();
    EXPECT_LT(service.run(3600), 0.1) << "seed " << seed;
  }
}

// On a machine that others use what is measured is their doing: tracking goes on, and nobody asks again and again.
TEST(LullTrackingPolicyTest, goes_on_where_nothing_stands_out) {
  uint suspended = 0;
  uint trials = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    LullTestService service(seed);
    service._noise = 0.7;
    service._without = 0.99 * service._with;
    service.run(60);
    suspended += service.state() == LullTrackingPolicy::State::Suspended ? 1 : 0;
    service.run(3600);
    trials += service.trials();
  }
  EXPECT_LE(suspended, 8u);         // two standard errors of few comparisons are no proof
  EXPECT_LE(trials, 40u * 20u);
}

// To ask again costs a window, not a trial.
TEST(LullTrackingPolicyTest, what_is_found_again_ends_a_trial) {
  for (double without : { 3.0, 5.0 }) {
    LullTestService service(1);
    service._noise = 0.05;
    service._without = without;
    service.run(60);
    const bool suspends = without < service._with;
    const double share = service.run(3600);
    const double other_seconds = 3600 * (suspends ? 1 - share : share);
    EXPECT_GE(service.trials(), 4u) << without;
    EXPECT_LE(other_seconds, 4.0 * service.trials()) << without;
    EXPECT_GE(other_seconds, 2.0 * service.trials()) << without;
  }
}

// Where what a byte costs changes with the load, which is no other program.
TEST(LullTrackingPolicyTest, a_load_that_changes) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._noise = 0.05;
    service._with = 4;
    service._without = 3;
    service.run(60);
    uint trials = 0;
    double suspended = 0;
    for (uint i = 0; i < 60; i++) {
      const double load = i % 2 == 0 ? 2.0 : 0.5;
      service._with *= load;
      service._without *= load;
      suspended += service.run(15) / 60;
      trials += service.trials();
    }
    EXPECT_GT(suspended, 0.85) << "seed " << seed;
    EXPECT_GT(trials, 5u) << "seed " << seed << ": the load has to be noticed, or this tests nothing";
  }
}

// While a service warms up all gets cheaper. That must not count for the half of each comparison that comes later.
TEST(LullTrackingPolicyTest, a_service_that_warms_up) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._noise = 0.05;
    service._drift = 0.995;         // a third in 40 s
    service._without = 1.1 * service._with;
    service.run(60);
    EXPECT_EQ(service.state(), LullTrackingPolicy::State::Tracking) << "seed " << seed << ", ratio " << service.last_ratio();
    EXPECT_NEAR(service.last_ratio(), 1.1, 0.05) << "seed " << seed;
  }
}

TEST(LullTrackingPolicyTest, another_program_is_noticed_at_once) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._without = 0.8 * service._with;
    service.run(200);
    ASSERT_EQ(service.state(), LullTrackingPolicy::State::Suspended) << "seed " << seed;
    service._without = 2 * service._with;
    service.run(60);
    EXPECT_EQ(service.state(), LullTrackingPolicy::State::Tracking) << "seed " << seed << ", ratio " << service.last_ratio();
  }
}

TEST(LullTrackingPolicyTest, trials_become_rare) {
  for (double without : { 3.0, 5.0 }) {
    LullTestService service(1);
    service._without = without;
    service.run(3600);
    const uint first_hour = service.trials();
    EXPECT_LE(first_hour, 7u) << without;
    service.run(2 * 3600);
    EXPECT_LE(service.trials(), 5u) << without;
    EXPECT_GE(service.trials(), 2u) << without;
  }
}

TEST(LullTrackingPolicyTest, threads_in_public_mode_raise_doubt) {
  LullTestService service(1);
  service._freed_per_published = 100;
  service._public_percent = 90;
  service._without = 0.8 * service._with;
  service.run(60);
  EXPECT_EQ(service.state(), LullTrackingPolicy::State::Suspended);
}

// What makes no difference is decided all the same, and not asked for ever.
TEST(LullTrackingPolicyTest, a_trial_ends) {
  for (uint64_t seed : Seeds) {
    LullTestService service(seed);
    service._noise = 0.5;
    service.run(75);
    EXPECT_NE(service.state(), LullTrackingPolicy::State::Trial) << "seed " << seed;
  }
}
