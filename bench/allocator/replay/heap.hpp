// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// A heap of a chosen size and policy, on which a trace is replayed: the interface behind which the instantiations of
// LullSegregatedSpace are.
#ifndef LULL_BENCH_ALLOCATOR_HEAP_HPP
#define LULL_BENCH_ALLOCATOR_HEAP_HPP

#include "gc/lull/study/lullSegregatedSpace.hpp"
#include "trace.hpp"

#include <stdint.h>
#include <string>
#include <vector>

struct Policy {
  LullRunSearch  search;
  LullCoalescing coalescing;
  uint32_t       lists;      // 1 with FirstFit

  bool operator==(const Policy& o) const { return search == o.search && coalescing == o.coalescing && lists == o.lists; }
};

// Zeroed and touched memory that heaps are laid out in, one after the other.
class Memory {
  std::vector<uint64_t> _words;

 public:
  HeapWord* at_least(uint32_t words) {
    if (_words.size() < words) {
      _words = std::vector<uint64_t>(words);
    }
    return reinterpret_cast<HeapWord*>(_words.data());
  }
};

enum class Outcome {
  Fits,
  Full,       // an object found no room even after a collection
  Thrashes    // more collections than were allowed
};

// A stretch of allocations, for pictures over time.
struct Window {
  uint64_t allocations;      // at its end, since the start
  uint64_t traversals;       // in it: lists and runs passed
  uint64_t updates;          // in it: lists that became empty or non-empty
  uint64_t entries_written;  // in it
  uint64_t collections;      // at its end, since the start
};

struct Result {
  Outcome  outcome = Outcome::Fits;
  uint64_t allocations = 0;
  uint64_t allocated_words = 0;
  uint64_t collections = 0;
  uint64_t marked_objects = 0;
  uint64_t free_words_when_full = 0;   // sum over collections; only with counters
  uint64_t longest_when_full = 0;      // the same of the longest free chunk
  // Processor time of the thread, ns.
  uint64_t allocation_ns = 0;
  uint64_t mark_ns = 0;
  uint64_t sweep_ns = 0;               // deferred coalescing of all chunks too
  LullRunCounters counters;            // zero without them
  std::vector<Window> windows;         // only with counters

  uint64_t collection_ns() const { return mark_ns + sweep_ns; }
  uint64_t management_ns() const { return allocation_ns + collection_ns(); }
};

struct Replay {
  const Trace& trace;
  Memory&      memory;
  uint64_t     most_collections;
  bool         verify = false;         // the integrity of the space before and after each collection
};

// Replays all of the trace in a heap of words words. counted: with counters, whose times are not to be used.
Result replay(const Replay& replay, const Policy& policy, uint32_t words, bool counted);

// All policies that were built in.
const std::vector<Policy>& policies();

const char* to_string(LullRunSearch search);
const char* to_string(LullCoalescing coalescing);
const char* to_string(Outcome outcome);

#endif
