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


// Links: gc/budget/heapBudgetPolicy.cpp gc/budget/heapBudgetWindow.cpp

// The policy against a model of a service whose index does not fit into memory, in a memory limit that heap and page cache
// share, on a disk of so many reads a second. The model's numbers are those of a Lucene service: at 8000 reads a second, search
// is about 2.5 times as fast with a heap of 500 MB as with one of 1800 MB, ingest 1.2 times as fast the other way.

#include "gc/budget/heapBudgetPolicy.hpp"
#include "unittest.hpp"

#include <vector>

namespace {

const size_t MB = 1024 * 1024;
const double Second = 1e9;
const uint32_t Processors = 2;

struct Phase {
  double threads;
  double cpu;          // seconds of processor time for a request
  double allocation;   // MB for a request
  double reads;        // pages of 4 KB that a request looks at, anywhere in the data
  double live;         // MB
  double written;      // threads stalled on writes, whatever the cache
};

const Phase Ingest = { 2, 0.00009, 0.025,  0, 330, 0.02 };
const Phase Search = { 4, 0.0005,  0.05,  28, 100, 0    };
const Phase Mixed  = { 4, 0.0008,  0.4,   28, 200, 0.02 };
const Phase Rarely = { 4, 0.0008,  0.05, 28, 200, 0.02 };
const Phase NoIO   = { 2, 0.00009, 0.025,  0, 330, 0    };
const Phase Idle   = { 4, 0.0008,  0.0,    0, 200, 0    };

// Sizes in MB, times in seconds.
class Model {
public:
  static constexpr double Data  = 2900;
  static constexpr double Other = 100;
  static constexpr double Most  = 1800;

  double limit;
  double reads_per_second;
  double least_latency;
  double noise;          // of the work that is done in a moment

  double time;
  double capacity;
  double cached;
  double work;           // requests that have been served
  double extra_latency;
  bool   hung;
  bool   sensor;
  bool   tells_allocation;
  double follows;        // the share of a step that the heap makes

private:
  HeapBudgetSample _sample;
  double _allocated;
  uint32_t _random;

  double random() {
    _random = _random * 1664525 + 1013904223;
    return (double)(_random >> 8) / (1 << 24);
  }

public:
  Model(double capacity, double reads_per_second) :
      limit(2560), reads_per_second(reads_per_second), least_latency(0.0001), noise(0.05), time(1), capacity(capacity), cached(0), work(0),
      extra_latency(0), hung(false), sensor(true), tells_allocation(true), follows(1), _sample(), _allocated(0), _random(1) {}

  static double reserve(const Phase& phase)  { return 20 + phase.live * 0.1; }
  static double pause(const Phase& phase)    { return 0.005 + phase.live * 0.00015; }
  double available() const                   { return limit - Other - 100; }
  double room_for_cache(double heap) const   { return MAX2(limit - Other - heap, 0.0); }

  static double garbage_until_collection(const Phase& phase, double heap) { return MAX2((heap - phase.live) * 0.6, 5.0); }

  // Requests per second while no collection is under way; how many threads are stalled meanwhile.
  double rate(const Phase& phase, double in_cache, double* stalled) const {
    const double missed = phase.reads * (1 - MIN2(in_cache / Data, 1.0));
    const double by_processors = Processors / phase.cpu;
    const double by_threads = phase.threads / (phase.cpu + missed * (least_latency + extra_latency));
    const double by_disk = missed > 0 ? reads_per_second / missed : by_threads;
    const double result = MIN3(by_processors, by_threads, by_disk);
    *stalled = missed == 0 ? phase.written
             : result == by_processors ? result * missed * (least_latency + extra_latency) : phase.threads - result * phase.cpu;
    return result;
  }

  // With that heap forever.
  double steady(const Phase& phase, double heap) const {
    double stalled;
    const double while_running = rate(phase, room_for_cache(heap), &stalled);
    const double stopped = while_running * phase.allocation / garbage_until_collection(phase, heap) * pause(phase);
    return while_running / (1 + stopped);
  }

  double best_static(const Phase& phase) const {
    double best = 0;
    for (double heap = phase.live + reserve(phase); heap <= MIN2((double)Most, available()); heap += 10) {
      best = MAX2(best, steady(phase, heap));
    }
    return best;
  }

  HeapBudgetSample take_sample(const Phase& phase) {
    HeapBudgetSample sample = _sample;
    sample.now = (uint64_t)(time * Second);
    sample.stalled_known = sensor;
    sample.read_known = true;
    sample.allocated_known = tells_allocation;
    sample.capacity = (size_t)capacity * MB;
    sample.live = (size_t)phase.live * MB;
    sample.reserve = (size_t)reserve(phase) * MB;
    sample.least = 64 * MB;
    sample.most = (size_t)Most * MB;
    sample.available = (size_t)available() * MB;
    _sample = HeapBudgetSample();
    return sample;
  }

  // A moment of work; true if it ended with a collection.
  bool run(const Phase& phase) {
    const double moment = 0.02;
    cached = MIN2(cached, room_for_cache(capacity));
    double stalled;
    double served = rate(phase, cached, &stalled) * moment * (1 + noise * (2 * random() - 1));
    if (hung) {
      served = 0;
      stalled = phase.threads;
    }
    const double read = served * phase.reads * (1 - MIN2(cached / Data, 1.0)) * 4 / 1024;
    cached = MIN2(cached + read, MIN2(room_for_cache(capacity), (double)Data));
    work += served;
    time += moment;
    _sample.running    += (uint64_t)(served * phase.cpu * Second);
    _sample.waiting    += (uint64_t)(MAX2(phase.threads - stalled - (double)Processors, 0.0) * moment * Second);
    _sample.stalled    += sensor ? (uint64_t)(stalled * moment * Second) : 0;
    _sample.read_bytes += (uint64_t)(read * MB);
    _sample.allocated  += (uint64_t)(served * phase.allocation * MB);
    // It grows when live data do not fit, whoever says what.
    capacity = MAX2(capacity, phase.live * 1.05);
    _allocated += served * phase.allocation;
    bool collected = false;
    while (_allocated > garbage_until_collection(phase, capacity)) {
      _allocated -= garbage_until_collection(phase, capacity);
      collect(phase);
      collected = true;
    }
    return collected;
  }

  void collect(const Phase& phase) {
    _sample.pause += (uint64_t)(pause(phase) * Second);
    _sample.collections++;
    time += pause(phase);
  }
};

struct Made {
  double time;
  HeapBudgetDecision decision;
  double capacity;
};

// Of a heap of such sizes in MB, of which all but allocation is known; the rest is to be filled in.
HeapBudgetSample sample_of(size_t live, size_t reserve, size_t most, size_t available, size_t capacity) {
  HeapBudgetSample sample = HeapBudgetSample();
  sample.stalled_known = sample.read_known = true;
  sample.live = live * MB;
  sample.reserve = reserve * MB;
  sample.least = 64 * MB;
  sample.most = most * MB;
  sample.available = available * MB;
  sample.capacity = capacity * MB;
  return sample;
}

class LullHeapBudgetPolicyTest : public ::testing::Test {
protected:
  HeapBudgetPolicy  _policy;
  std::vector<Made> _made;      // decisions that were not to hold

  LullHeapBudgetPolicyTest() : _policy(HeapBudgetSettings(Processors)) {}

  // Runs for so many seconds with the policy: at each collection, and each second without. Returns requests per second over the
  // last third.
  double run(Model* model, const Phase& phase, double seconds) {
    const double end = model->time + seconds;
    double measured_from = -1;
    double work = 0;
    double last_sample = model->time;
    while (model->time < end) {
      if (measured_from < 0 && model->time >= end - seconds / 3) {
        measured_from = model->time;
        work = model->work;
      }
      const bool collected = model->run(phase);
      if (collected || model->time - last_sample >= 1) {
        last_sample = model->time;
        sample(model, phase);
      }
    }
    return (model->work - work) / (model->time - measured_from);
  }

  HeapBudgetDecision sample(Model* model, const Phase& phase) {
    const HeapBudgetSample sample = model->take_sample(phase);
    const HeapBudgetDecision decision = _policy.interval(sample);
    const size_t needed = sample.live + sample.reserve;
    if (decision.action == HeapBudgetDecision::Grow) {
      EXPECT_GT(decision.target, sample.capacity);
      EXPECT_LE(decision.target, sample.most);
      EXPECT_LE(decision.target, sample.available);
    } else if (decision.action == HeapBudgetDecision::Shrink) {
      EXPECT_LT(decision.target, sample.capacity);
      EXPECT_TRUE(decision.target >= needed || decision.reason == HeapBudgetDecision::OverLimit);
      EXPECT_GE(decision.target, sample.least);
    }
    if (decision.action != HeapBudgetDecision::Hold) {
      model->capacity += ((double)decision.target / MB - model->capacity) * model->follows;
      if (decision.action == HeapBudgetDecision::Shrink && sample.collections == 0) {
        // At whose end a heap shrinks.
        model->collect(phase);
      }
      _made.push_back({ model->time, decision, model->capacity });
    }
    return decision;
  }

  size_t made(HeapBudgetDecision::Action action, double from, double to) const {
    size_t count = 0;
    for (const Made& m : _made) {
      if (m.decision.action == action && m.time >= from && m.time < to) { count++; }
    }
    return count;
  }

  void show(const char* what, const Model& model, double got, const Phase& phase) const {
    printf("%-34s %7.0f of %7.0f requests/s (%.3f), heap %.0f MB, %zu steps\n", what, got, model.best_static(phase),
           got / model.best_static(phase), model.capacity, _made.size());
  }
};

} // namespace

TEST_F(LullHeapBudgetPolicyTest, model_is_like_the_service) {
  Model model(1800, 8000);
  EXPECT_NEAR(model.steady(Search, 500) / model.steady(Search, 1800), 2.4, 0.3);
  EXPECT_NEAR(model.steady(Ingest, 1800) / model.steady(Ingest, 500), 1.25, 0.1);
  // In the mixed phase the best is neither end.
  EXPECT_GT(model.best_static(Mixed), 1.02 * model.steady(Mixed, 250));
  EXPECT_GT(model.best_static(Mixed), 1.5 * model.steady(Mixed, 1800));
}

TEST_F(LullHeapBudgetPolicyTest, comes_near_the_best_split_in_each_phase) {
  for (double reads : { 8000.0, 20000.0, 50000.0 }) {
    for (double start : { 1800.0, 500.0 }) {
      _policy = HeapBudgetPolicy(HeapBudgetSettings(Processors));
      _made.clear();
      Model model(start, reads);
      const struct { const char* name; const Phase* phase; } phases[] = {
        { "ingest", &Ingest }, { "search", &Search }, { "mixed", &Mixed }, { "ingest again", &Ingest }, { "mixed again", &Mixed }
      };
      for (const auto& p : phases) {
        const double got = run(&model, *p.phase, 600);
        char what[64];
        snprintf(what, sizeof(what), "%s, %.0f reads/s, from %.0f MB", p.name, reads, start);
        show(what, model, got, *p.phase);
        EXPECT_GE(got, 0.95 * model.best_static(*p.phase)) << what;
      }
    }
  }
}

TEST_F(LullHeapBudgetPolicyTest, does_not_oscillate_in_a_steady_phase) {
  for (double noise : { 0.0, 0.05, 0.2 }) {
    _policy = HeapBudgetPolicy(HeapBudgetSettings(Processors));
    _made.clear();
    Model model(1800, 8000);
    model.noise = noise;
    run(&model, Mixed, 600);
    const double from = model.time;
    double least = model.capacity;
    double most = model.capacity;
    const size_t before = _made.size();
    const double got = run(&model, Mixed, 1800);
    for (size_t i = before; i < _made.size(); i++) {
      least = MIN2(least, _made[i].capacity);
      most = MAX2(most, _made[i].capacity);
    }
    const size_t steps = _made.size() - before;
    printf("noise %.2f: %zu steps in 30 minutes, between %.0f and %.0f MB\n", noise, steps, least, most);
    EXPECT_LE(steps, 16u);
    EXPECT_LE(most - least, 0.15 * Model::Most);
    EXPECT_LE(made(HeapBudgetDecision::Grow, model.time - 600, model.time) + made(HeapBudgetDecision::Shrink, model.time - 600, model.time), 5u);
    EXPECT_GE(got, 0.95 * model.best_static(Mixed));
    EXPECT_GT(model.time, from);
  }
}

TEST_F(LullHeapBudgetPolicyTest, without_io_only_collections_count) {
  Model model(500, 8000);
  const double got = run(&model, NoIO, 900);
  show("no I/O at all", model, got, NoIO);
  EXPECT_GE(got, 0.95 * model.best_static(NoIO));
  EXPECT_GT(made(HeapBudgetDecision::Grow, 0, model.time), 0u);
  for (const Made& m : _made) {
    // Only to take back a step of growth.
    EXPECT_TRUE(m.decision.action == HeapBudgetDecision::Grow || m.decision.reason == HeapBudgetDecision::CostGrew);
  }
}

TEST_F(LullHeapBudgetPolicyTest, a_program_that_loses_nothing_is_left_alone) {
  Model model(700, 8000);
  run(&model, Idle, 600);
  EXPECT_EQ(_made.size(), 0u);
  EXPECT_EQ(sample(&model, Idle).state, HeapBudgetDecision::Stable);
}

TEST_F(LullHeapBudgetPolicyTest, a_lost_sensor_stops_all_but_emergencies) {
  Model model(1800, 8000);
  run(&model, Mixed, 300);
  EXPECT_GT(made(HeapBudgetDecision::Shrink, 0, model.time), 0u);
  model.sensor = false;
  // The step under way may still be judged.
  run(&model, Mixed, 15);
  const size_t before = _made.size();
  const double heap = model.capacity;
  run(&model, Mixed, 600);
  EXPECT_EQ(_made.size(), before);
  EXPECT_EQ(model.capacity, heap);

  // Live data grow until nearly all time goes into collections: room is made nevertheless.
  Phase crowded = Mixed;
  crowded.live = heap * 0.97;
  run(&model, crowded, 120);
  EXPECT_GT(_made.size(), before);
  for (size_t i = before; i < _made.size(); i++) {
    EXPECT_EQ(_made[i].decision.reason, HeapBudgetDecision::CollectionsOnly);
  }
  EXPECT_GT(model.capacity, heap);

  // The sensor is back.
  model.sensor = true;
  model.capacity = 1800;
  const double got = run(&model, Search, 600);
  EXPECT_GE(got, 0.95 * model.best_static(Search));
}

TEST_F(LullHeapBudgetPolicyTest, a_sensor_that_comes_late_is_used_at_once) {
  Model model(1800, 8000);
  model.sensor = false;
  run(&model, Rarely, 3);
  EXPECT_EQ(_made.size(), 0u);
  model.sensor = true;
  const double from = model.time;
  run(&model, Rarely, 20);
  ASSERT_GT(_made.size(), 0u);
  // Not at the end of the window that was under way, which is 10 s long.
  EXPECT_LE(_made[0].time, from + 6);
  EXPECT_EQ(_made[0].decision.action, HeapBudgetDecision::Shrink);
}

TEST_F(LullHeapBudgetPolicyTest, a_limit_that_shrinks_is_obeyed_at_once) {
  Model model(1800, 8000);
  run(&model, NoIO, 60);
  EXPECT_GT(model.capacity, 1000);
  model.limit = 1280;
  model.run(NoIO);
  const HeapBudgetDecision decision = sample(&model, NoIO);
  EXPECT_EQ(decision.action, HeapBudgetDecision::Shrink);
  EXPECT_EQ(decision.reason, HeapBudgetDecision::OverLimit);
  EXPECT_LE((double)decision.target / MB, model.available());
  run(&model, Mixed, 900);
  EXPECT_LE(model.capacity, model.available());
  // Less than the live data need: as far down as these permit, and no further.
  model.limit = 300;
  run(&model, Mixed, 60);
  EXPECT_GE(model.capacity, Mixed.live);
}

TEST_F(LullHeapBudgetPolicyTest, hung_storage_is_no_reason_to_shrink) {
  Model model(1800, 8000);
  run(&model, Search, 600);
  const size_t before = _made.size();
  model.hung = true;
  run(&model, Search, 10);
  model.hung = false;
  for (size_t i = before; i < _made.size(); i++) {
    EXPECT_NE(_made[i].decision.action, HeapBudgetDecision::Shrink);
  }
  const double got = run(&model, Search, 300);
  EXPECT_GE(got, 0.95 * model.best_static(Search));
}

TEST_F(LullHeapBudgetPolicyTest, a_heap_that_does_not_follow_is_not_asked_forever) {
  Model model(1800, 8000);
  model.follows = 0;
  run(&model, Search, 1800);
  EXPECT_GT(_made.size(), 0u);
  EXPECT_LE(_made.size(), 10u);
  EXPECT_EQ(model.capacity, 1800);
}

TEST_F(LullHeapBudgetPolicyTest, growing_live_data_get_room_fast) {
  Model model(1800, 8000);
  Phase search = Search;
  run(&model, search, 600);
  const double before = model.time;
  Phase large = Mixed;
  large.live = model.capacity * 0.95;
  run(&model, large, 60);
  ASSERT_GT(made(HeapBudgetDecision::Grow, before, model.time), 0u);
  for (const Made& m : _made) {
    if (m.time >= before && m.decision.action == HeapBudgetDecision::Grow) {
      EXPECT_LE(m.time - before, 15);
      break;
    }
  }
  const double got = run(&model, large, 600);
  show("large live data", model, got, large);
  EXPECT_GE(got, 0.95 * model.best_static(large));
}

// With 10 s between two collections, or 30: what there is to know is in the stalls.
TEST_F(LullHeapBudgetPolicyTest, rare_collections_do_not_make_it_slow) {
  for (double reads : { 8000.0, 20000.0 }) {
    _policy = HeapBudgetPolicy(HeapBudgetSettings(Processors));
    _made.clear();
    Model model(1800, reads);
    double waited = 0;
    while (model.steady(Rarely, model.capacity) < 0.9 * model.best_static(Rarely) && waited < 600) {
      run(&model, Rarely, 1);
      waited += 1;
    }
    printf("rare collections, %.0f reads/s: %.0f s and %zu steps to a heap of %.0f MB\n", reads, waited, _made.size(), model.capacity);
    EXPECT_LE(waited, 60);
    const double got = run(&model, Rarely, 600);
    show("rare collections", model, got, Rarely);
    EXPECT_GE(got, 0.95 * model.best_static(Rarely));
  }
}

// The page cache fills slowly, as the program reads little: the size that was too small must not stay for a minute.
TEST_F(LullHeapBudgetPolicyTest, a_step_after_which_collections_cost_more_than_all_before_is_judged_at_once) {
  HeapBudgetSample sample = sample_of(100, 30, 1200, 1500, 640);
  sample.running = (uint64_t)(1.5 * Second);
  sample.read_bytes = MB;
  HeapBudgetDecision decision;
  double stepped = -1;
  double grown = -1;
  for (int second = 1; second <= 40 && grown < 0; second++) {
    const bool small = sample.capacity < 600 * MB;
    sample.now = (uint64_t)(second * Second);
    sample.collections = small ? 15 : 1;
    sample.pause = (uint64_t)((small ? 0.4 : 0.02) * Second);
    sample.stalled = (uint64_t)(0.3 * Second);
    decision = _policy.interval(sample);
    if (decision.action == HeapBudgetDecision::Shrink && stepped < 0) {
      stepped = second;
      EXPECT_GT(decision.wait, (uint64_t)(30 * Second));
    } else if (decision.action == HeapBudgetDecision::Grow && stepped > 0) {
      grown = second;
      EXPECT_EQ(decision.target, 640 * MB);
    }
    if (decision.action != HeapBudgetDecision::Hold) {
      sample.capacity = decision.target;
    }
  }
  ASSERT_GT(stepped, 0);
  ASSERT_GT(grown, 0);
  EXPECT_LE(grown, stepped + 4);
}

namespace {

// A service as it was measured once a second, whose costs for each GB that it allocates are known for some sizes of its heap.
class Measured {
public:
  HeapBudgetSample sample;
  double cost;           // seconds lost for each GB
  double noise;          // of the work of a second, in turn more and less
  std::vector<Made> made;

  Measured() : sample(sample_of(336, 101, 1800, 2300, 757)), cost(9.0), noise(0.09), made() {
    sample.allocated_known = true;
  }

  // Of a service that loses the less the smaller its heap is.
  static double cost_at(size_t capacity) {
    const double heap = (double)capacity / MB;
    return heap > 608 ? 8.05 + (heap - 608) * 1.25 / 149 : heap > 528 ? 7.35 + (heap - 528) * 0.7 / 80 : 7.0 + (heap - 486) * 0.35 / 42;
  }

  // In which 64 threads wait for a disk.
  HeapBudgetDecision crowded_second(HeapBudgetPolicy* policy, uint32_t collections, double paused, double running) {
    sample.now += (uint64_t)Second;
    sample.collections = collections;
    sample.pause = (uint64_t)(paused * Second);
    sample.stalled = (uint64_t)(64 * Second);
    sample.read_bytes = 32 * MB;
    sample.running = sample.allocated = (uint64_t)(running * Second);
    return policy->interval(sample);
  }

  // In which nothing is read any more, and collections take much.
  HeapBudgetDecision full_second(HeapBudgetPolicy* policy, double paused) {
    sample.now += (uint64_t)Second;
    sample.collections = 100;
    sample.pause = (uint64_t)(paused * Second);
    sample.stalled = sample.read_bytes = 0;
    sample.running = (uint64_t)((1 - paused) * 1.8 * Second);
    sample.allocated = (uint64_t)((1 - paused) * 0.35e9);
    return policy->interval(sample);
  }

  // Until the effect of a step of growth is measured. There is no room for a smaller heap.
  void grow(HeapBudgetPolicy* policy) {
    sample.least = sample.capacity;
    noise = 0.8;
    while (second(policy).action != HeapBudgetDecision::Grow && made.size() < 10) {}
    for (int i = 0; i < 5; i++) {
      EXPECT_EQ(second(policy).state, HeapBudgetDecision::WaitGrow);
    }
    ASSERT_EQ(made.size(), 1u);
  }

  // What is decided then, within four such seconds.
  HeapBudgetDecision fill_after_growth(HeapBudgetPolicy* policy, double paused) {
    grow(policy);
    HeapBudgetDecision decision = {};
    for (int i = 0; i < 4 && decision.action == HeapBudgetDecision::Hold; i++) {
      decision = full_second(policy, paused);
    }
    return decision;
  }

  HeapBudgetDecision second(HeapBudgetPolicy* policy, bool follows = true) {
    sample.now += (uint64_t)Second;
    const uint64_t second = sample.now / (uint64_t)Second;
    sample.collections = second & 1;
    sample.pause = (uint64_t)((double)sample.collections * 0.03 * Second);
    sample.stalled = (uint64_t)(3.4 * Second);
    sample.read_bytes = 32 * MB;
    const double work = 3.5 / cost * ((second & 1) != 0 ? 1 + noise : 1 - noise);
    sample.allocated = (uint64_t)(work * 1e9);
    sample.running = (uint64_t)(work * 0.7 * Second);
    const HeapBudgetDecision decision = policy->interval(sample);
    if (decision.action != HeapBudgetDecision::Hold) {
      made.push_back({ (double)second, decision, (double)decision.target / MB });
      if (follows) {
        sample.capacity = decision.target;
      }
    }
    return decision;
  }
};

} // namespace

// What was measured before the first step is known badly, as it was short: no longer window after it makes up for that.
TEST_F(LullHeapBudgetPolicyTest, a_step_that_probably_helped_is_followed_by_another) {
  Measured service;
  for (int second = 1; second <= 60; second++) {
    service.cost = Measured::cost_at(service.sample.capacity);
    service.second(&_policy);
    if (second == 25) {
      EXPECT_LE(service.sample.capacity, 530 * MB);
    }
  }
  for (const Made& m : service.made) {
    printf("%3.0f s: %s: %s, to %.0f MB\n", m.time, HeapBudgetDecision::name(m.decision.action), HeapBudgetDecision::name(m.decision.reason), m.capacity);
  }
  EXPECT_LE(service.sample.capacity, 490 * MB);
  EXPECT_LE(service.made.size(), 5u);
}

TEST_F(LullHeapBudgetPolicyTest, steps_that_change_nothing_are_few) {
  for (double noise : { 0.02, 0.09, 0.2 }) {
    _policy = HeapBudgetPolicy(HeapBudgetSettings(Processors));
    Measured service;
    service.noise = noise;
    for (int second = 1; second <= 120; second++) {
      service.second(&_policy);
    }
    EXPECT_GE(service.made.size(), 1u);
    // Each direction now, after 30 s and after a minute more; and none of them twice in a row.
    EXPECT_LE(service.made.size(), 6u) << "noise " << noise;
    for (const Made& m : service.made) {
      EXPECT_EQ(m.decision.reason, HeapBudgetDecision::Try) << "noise " << noise << ", " << m.time << " s";
    }
  }
}

// A window after a step is long where it is noisy. What begins in it is not averaged with what was before.
TEST_F(LullHeapBudgetPolicyTest, an_emergency_is_seen_at_once_while_a_step_is_judged) {
  Measured service;
  const HeapBudgetDecision decision = service.fill_after_growth(&_policy, 0.65);
  const size_t capacity = service.sample.capacity;
  EXPECT_EQ(decision.reason, HeapBudgetDecision::CollectionsOnly);
  EXPECT_EQ(decision.target, capacity + capacity / 4);
}

TEST_F(LullHeapBudgetPolicyTest, a_program_that_becomes_another_one_is_seen_while_a_step_is_judged) {
  Measured service;
  const HeapBudgetDecision decision = service.fill_after_growth(&_policy, 0.45);
  const size_t capacity = service.sample.capacity;
  EXPECT_EQ(decision.reason, HeapBudgetDecision::Try);
  EXPECT_GT(decision.target, capacity + (service.sample.most - capacity) / 3);
}

// Many threads that wait for a disk lose much by a short pause; but collections do not take the processors.
TEST_F(LullHeapBudgetPolicyTest, short_pauses_of_many_threads_that_wait_are_no_emergency) {
  Measured service;
  for (int second = 1; second <= 120; second++) {
    const HeapBudgetDecision decision = service.crowded_second(&_policy, 1, 0.03, 1);
    EXPECT_NE(decision.reason, HeapBudgetDecision::CollectionsOnly);
    if (decision.action != HeapBudgetDecision::Hold) {
      service.sample.capacity = decision.target;
    }
  }
}

TEST_F(LullHeapBudgetPolicyTest, collections_that_take_the_processors_are_an_emergency_whatever_waits) {
  Measured service;
  bool emergency = false;
  for (int second = 1; second <= 10; second++) {
    emergency = emergency || service.crowded_second(&_policy, 10, 0.6, 0.25).reason == HeapBudgetDecision::CollectionsOnly;
  }
  EXPECT_TRUE(emergency);
}

// Where collections take the processors, the heap is not made smaller; but one above its limit is, for the system ends a program that has more.
TEST_F(LullHeapBudgetPolicyTest, a_limit_counts_more_than_what_collections_cost) {
  Measured service;
  const size_t before = service.sample.capacity;
  for (int second = 1; second <= 10; second++) {
    service.crowded_second(&_policy, 10, 0.6, 0.25);
  }
  service.sample.available = before / 2;
  service.sample.live = before / 8;
  bool shrinks = false;
  for (int second = 1; second <= 10; second++) {
    const HeapBudgetDecision decision = service.crowded_second(&_policy, 10, 0.6, 0.25);
    EXPECT_NE(decision.action, HeapBudgetDecision::Grow);
    shrinks = shrinks || (decision.reason == HeapBudgetDecision::OverLimit && decision.target <= service.sample.available);
  }
  EXPECT_TRUE(shrinks);
}

// What the heap has given up, and is still to be uncommitted, is not asked for a second time; after that it is.
TEST_F(LullHeapBudgetPolicyTest, memory_that_is_uncommitted_soon_is_not_asked_for_again) {
  Measured service;
  const size_t before = service.sample.capacity;
  service.second(&_policy, false);
  service.sample.live = before / 16;
  service.sample.available = before / 2;
  HeapBudgetDecision decision = service.second(&_policy, false);
  ASSERT_EQ(decision.reason, HeapBudgetDecision::OverLimit);
  service.sample.capacity = decision.target;
  service.sample.available = before / 4;
  service.sample.released = before / 4;
  decision = service.second(&_policy, false);
  EXPECT_EQ(decision.action, HeapBudgetDecision::Hold);
  service.sample.released = 0;
  decision = service.second(&_policy, false);
  EXPECT_EQ(decision.reason, HeapBudgetDecision::OverLimit);
  EXPECT_EQ(decision.target, before / 4);
}

// A heap of whole granules stays a little above a limit that others make smaller all the time: that is no reason to ask each second.
TEST_F(LullHeapBudgetPolicyTest, a_limit_that_creeps_down_is_followed_in_steps) {
  Measured service;
  const size_t granule = 8 * MB;
  service.sample.available = 757 * MB;
  size_t asked = 0;
  for (int second = 1; second <= 120; second++) {
    service.sample.available -= MB;
    const HeapBudgetDecision decision = service.second(&_policy, false);
    if (decision.action != HeapBudgetDecision::Hold) {
      asked += decision.reason == HeapBudgetDecision::OverLimit;
      service.sample.capacity = (decision.target + granule - 1) / granule * granule;
    }
    EXPECT_LE(service.sample.capacity, service.sample.available + 2 * granule);
  }
  EXPECT_LE(asked, 15u);
}

// Live data leave no room for what the limit asks for, and the heap cannot follow: what can be learned is learned.
TEST_F(LullHeapBudgetPolicyTest, a_limit_that_cannot_be_obeyed_is_asked_for_now_and_then) {
  Measured service;
  service.sample.available = 300 * MB;
  size_t asked = 0;
  for (int second = 1; second <= 120; second++) {
    asked += service.second(&_policy, false).reason == HeapBudgetDecision::OverLimit;
  }
  EXPECT_GE(asked, 2u);
  EXPECT_LE(asked, 30u);
}

TEST_F(LullHeapBudgetPolicyTest, a_sensor_that_is_late_once_is_not_lost) {
  Measured service;
  HeapBudgetDecision decision = {};
  while (decision.action != HeapBudgetDecision::Shrink) {
    ASSERT_LT(service.sample.now, (uint64_t)(10 * Second));
    decision = service.second(&_policy);
  }
  service.sample.stalled_known = false;
  decision = service.second(&_policy);
  decision = service.second(&_policy);
  EXPECT_EQ(decision.state, HeapBudgetDecision::WaitShrink);
  EXPECT_EQ(decision.reason, HeapBudgetDecision::Measuring);
  service.sample.stalled_known = true;
  decision = service.second(&_policy);
  EXPECT_EQ(decision.state, HeapBudgetDecision::WaitShrink);
  service.sample.stalled_known = false;
  // At the end of the next window.
  for (int second = 0; second < 20 && decision.reason == HeapBudgetDecision::Measuring; second++) {
    decision = service.second(&_policy);
  }
  EXPECT_EQ(decision.reason, HeapBudgetDecision::NoSensor);
}

// A heap may need a collection of its own to follow; what was before that says nothing of the step.
TEST_F(LullHeapBudgetPolicyTest, a_heap_that_follows_late_is_waited_for) {
  Measured service;
  HeapBudgetDecision decision = {};
  while (decision.action != HeapBudgetDecision::Shrink) {
    ASSERT_LT(service.sample.now, (uint64_t)(10 * Second));
    decision = service.second(&_policy, false);
  }
  const uint64_t stepped = service.sample.now;
  const size_t target = decision.target;
  while (service.sample.now < stepped + (uint64_t)(8 * Second)) {
    decision = service.second(&_policy, false);
    EXPECT_EQ(decision.state, HeapBudgetDecision::WaitShrink);
  }
  service.sample.capacity = target;
  service.cost = 4.5;
  do {
    ASSERT_LT(service.sample.now, stepped + (uint64_t)(30 * Second));
    decision = service.second(&_policy);
  } while (decision.reason == HeapBudgetDecision::Measuring);
  EXPECT_EQ(decision.reason, HeapBudgetDecision::Repeat);
}

TEST_F(LullHeapBudgetPolicyTest, step_share_is_in_proportion_but_for_the_extremes) {
  double last = 0;
  for (double demand = 0; demand <= 1.0; demand += 0.05) {
    const double share = HeapBudgetPolicy::step_share(demand);
    EXPECT_GT(share, last);
    EXPECT_LT(share, 0.5);
    last = share;
  }
  EXPECT_NEAR(HeapBudgetPolicy::step_share(0.5), 0.25, 1e-9);
}

TEST_F(LullHeapBudgetPolicyTest, concurrent_collection_counts_while_mutators_wait) {
  for (uint64_t waiting : { 0, 300, 2000 }) {
    HeapBudgetPolicy policy((HeapBudgetSettings(Processors)));
    HeapBudgetDecision decision = {};
    for (uint64_t second = 1; second <= 30; second++) {
      HeapBudgetSample sample = HeapBudgetSample();
      sample.now = second * (uint64_t)Second;
      sample.pause = 100000000;
      sample.concurrent = 500000000;
      sample.waiting = waiting * 1000000;
      sample.running = 2000000000;
      sample.collections = 4;
      sample.stalled_known = true;
      sample.capacity = sample.most = sample.available = 100 * MB;
      sample.live = 50 * MB;
      decision = policy.interval(sample);
    }
    // Two processors stopped for a tenth of the time; half a processor that mutators might have had.
    EXPECT_NEAR(decision.collection, 0.2 + MIN2((double)waiting / 1000, 0.5), 0.01) << waiting;
  }
}

TEST_F(LullHeapBudgetPolicyTest, a_pause_longer_than_the_window_costs_no_more_than_there_is) {
  for (uint64_t pause : { 1900, 2999, 3000, 4000, 60000 }) {
    HeapBudgetWindow window(Processors);
    window.restart((uint64_t)Second);
    for (uint64_t second = 2; second <= 4; second++) {
      HeapBudgetSample sample = HeapBudgetSample();
      sample.now = second * (uint64_t)Second;
      sample.stalled = 1000000000;
      sample.running = 100000000;
      sample.read_bytes = 1000000;
      sample.read_known = sample.stalled_known = true;
      if (second == 4) {
        sample.pause = pause * 1000000;
        sample.collections = 1;
      }
      window.add(sample);
    }
    window.measure();
    EXPECT_LE(window.paused(), 1.0) << pause;
    // One thread is stalled all the time that there is, which may be a tenth of the window.
    EXPECT_LE(window.lost_per_second().collection, Processors + 10.0) << pause;
    EXPECT_GE(window.lost_per_second().collection, 0.5) << pause;
  }
}
