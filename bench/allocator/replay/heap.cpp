// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Replays a trace on one instantiation of LullSegregatedSpace for each policy, with and without counters.
//
// Deaths do nothing to a mark-sweep heap until its next collection. So allocations are made in batches, and only they are
// between two readings of the clock; the bookkeeping of who is alive follows each batch.

#include "heap.hpp"

#include "gc/lull/study/lullSegregatedSpace.inline.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

namespace {

constexpr size_t BatchSize = 1024;
constexpr uint32_t NotLive = UINT32_MAX;

// Of this thread's processor, so that other processes of the machine do not count.
uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t traversals(const LullRunCounters& c) { return c._lists_passed + c._runs_passed; }
uint64_t updates(const LullRunCounters& c) { return c._became_empty + c._became_non_empty; }
LullRunCounters counters_of(const LullRunCounters& counters) { return counters; }
LullRunCounters counters_of(const LullNoRunCounters&) { return LullRunCounters(); }

template <typename Space> struct Traits;
template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing, typename Counters>
struct Traits<LullSegregatedSpace<N, Search, Coalescing, Counters>> {
  static constexpr bool Counted = Counters::Enabled;
  static constexpr bool Immediate = Coalescing == LullCoalescing::Immediate;
};

template <typename Space>
class Run {
  static constexpr bool Counted = Traits<Space>::Counted;
  static constexpr bool Immediate = Traits<Space>::Immediate;

  const Replay&         _replay;
  Space                 _space;
  std::vector<uint32_t> _object_in;   // by slot
  std::vector<uint32_t> _sizes;       // of the batch
  std::vector<uint32_t> _objects;     // of the batch
  Result                _result;
  LullRunCounters       _at_window_start;
  int                   _tries = 0;   // for the allocation that is to be done: 1 after a collection, 2 after a coalescing of all chunks

  void verify(bool swept) {
    const char* const error = _replay.verify ? _space.verify(swept && Immediate) : nullptr;
    if (error != nullptr) {
      fprintf(stderr, "error: %s, at collection %llu\n", error, (unsigned long long)_result.collections);
      abort();
    }
  }

  void collect() {
    verify(false);
    if (Counted) {
      _result.free_words_when_full += _space.free_words();
      _result.longest_when_full += _space.longest_free();
    }
    const uint64_t start = now();
    uint64_t marked = 0;
    for (const uint32_t object : _object_in) {
      if (object != NotLive) {
        _space.mark(object);
        marked++;
      }
    }
    const uint64_t middle = now();
    _space.sweep();
    const uint64_t end = now();
    _result.mark_ns += middle - start;
    _result.sweep_ns += end - middle;
    _result.marked_objects += marked;
    _result.collections++;
    verify(true);
  }

  bool coalesce() {
    const uint64_t start = now();
    const bool done = _space.coalesce();
    _result.sweep_ns += now() - start;
    verify(false);
    return done;
  }

  // Allocates the objects of the batch from number i on; returns how many of the batch have been.
  size_t allocate(size_t i) {
    const uint64_t start = now();
    for (; i < _sizes.size(); i++) {
      const uint32_t object = _space.allocate(_sizes[i]);
      if (object == Space::None) {
        break;
      }
      _objects[i] = object;
    }
    _result.allocation_ns += now() - start;
    return i;
  }

  void end_window() {
    if (!Counted) {
      return;
    }
    const LullRunCounters c = counters_of(_space.counters());
    _result.windows.push_back({ _result.allocations, traversals(c) - traversals(_at_window_start), updates(c) - updates(_at_window_start),
                                c._entries_written - _at_window_start._entries_written, _result.collections });
    _at_window_start = c;
  }

 public:
  Run(const Replay& replay, uint32_t words)
    : _replay(replay),
      _space(LullChunks(replay.memory.at_least(words)), words),
      _object_in(replay.trace.slots, NotLive),
      _objects(BatchSize) {
    _sizes.reserve(BatchSize);
  }

  Result run() {
    const std::vector<Trace::Event>& events = _replay.trace.events;
    size_t at = 0;
    while (at < events.size()) {
      size_t batch_end = at;
      _sizes.clear();
      while (batch_end < events.size() && _sizes.size() < BatchSize) {
        if (events[batch_end].words != 0) {
          _sizes.push_back(events[batch_end].words);
        }
        batch_end++;
      }
      size_t applied = 0;
      for (size_t done = 0; ; ) {
        const size_t before = done;
        done = allocate(done);
        if (done > before) {
          _tries = 0;
        }
        // Up to the allocation that has failed, or to the end of the batch.
        for (; at < batch_end && !(events[at].words != 0 && applied == done); at++) {
          _object_in[events[at].slot] = events[at].words != 0 ? _objects[applied++] : NotLive;
        }
        if (done == _sizes.size()) {
          break;
        }
        if (_tries == 0) {
          if (_result.collections == _replay.most_collections) {
            _result.outcome = Outcome::Thrashes;
            return finish(done);
          }
          collect();
          _tries = 1;
        } else if (_tries == 1 && coalesce()) {
          _tries = 2;
        } else {
          _result.outcome = Outcome::Full;
          return finish(done);
        }
      }
      count(_sizes.size());
      end_window();
    }
    return finish(0);
  }

 private:
  void count(size_t allocations) {
    _result.allocations += allocations;
    for (size_t i = 0; i < allocations; i++) {
      _result.allocated_words += _sizes[i];
    }
  }

  Result finish(size_t allocations) {
    count(allocations);
    _result.counters = counters_of(_space.counters());
    return _result;
  }
};

typedef Result (*Runner)(const Replay&, uint32_t words);

template <typename Space>
Result run(const Replay& replay, uint32_t words) { return Run<Space>(replay, words).run(); }

struct Instance {
  Policy policy;
  Runner timed;
  Runner counted;
};

template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing>
Instance instance() {
  return { { Search, Coalescing, Search == LullRunSearch::FirstFit ? 1 : N },
           run<LullSegregatedSpace<N, Search, Coalescing, LullNoRunCounters>>,
           run<LullSegregatedSpace<N, Search, Coalescing, LullRunCounters>> };
}

template <uint32_t N, LullRunSearch Search>
void add_coalescings(std::vector<Instance>* instances) {
  instances->push_back(instance<N, Search, LullCoalescing::Never>());
  instances->push_back(instance<N, Search, LullCoalescing::Deferred>());
  instances->push_back(instance<N, Search, LullCoalescing::Immediate>());
}

template <uint32_t N>
void add_searches(std::vector<Instance>* instances) {
  add_coalescings<N, LullRunSearch::Traverse>(instances);
  add_coalescings<N, LullRunSearch::NextHit>(instances);
  add_coalescings<N, LullRunSearch::Bitmap>(instances);
}

const std::vector<Instance>& instances() {
  static const std::vector<Instance> all = [] {
    std::vector<Instance> made;
    add_searches<32>(&made);
    add_searches<64>(&made);
    add_searches<128>(&made);
    add_searches<256>(&made);
    add_searches<512>(&made);
    add_coalescings<2, LullRunSearch::FirstFit>(&made);
    return made;
  }();
  return all;
}

}  // namespace

Result replay(const Replay& replay, const Policy& policy, uint32_t words, bool counted) {
  for (const Instance& i : instances()) {
    if (i.policy == policy) {
      return (counted ? i.counted : i.timed)(replay, words);
    }
  }
  fprintf(stderr, "error: the policy %s, %s, %u lists is not built in\n", to_string(policy.search), to_string(policy.coalescing), policy.lists);
  abort();
}

const std::vector<Policy>& policies() {
  static const std::vector<Policy> all = [] {
    std::vector<Policy> made;
    for (const Instance& i : instances()) {
      made.push_back(i.policy);
    }
    return made;
  }();
  return all;
}

const char* to_string(LullRunSearch search) {
  switch (search) {
    case LullRunSearch::Traverse: return "traverse";
    case LullRunSearch::NextHit:  return "next-hit";
    case LullRunSearch::Bitmap:   return "bitmap";
    case LullRunSearch::FirstFit: return "first-fit";
  }
  abort();
}

const char* to_string(LullCoalescing coalescing) {
  switch (coalescing) {
    case LullCoalescing::Never:     return "never";
    case LullCoalescing::Deferred:  return "deferred";
    case LullCoalescing::Immediate: return "immediate";
  }
  abort();
}

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Fits:     return "fits";
    case Outcome::Full:     return "full";
    case Outcome::Thrashes: return "thrashes";
  }
  abort();
}
