// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// A trace in memory, ready to be replayed.
#ifndef LULL_BENCH_ALLOCATOR_TRACE_HPP
#define LULL_BENCH_ALLOCATOR_TRACE_HPP

#include <stdint.h>
#include <string>
#include <vector>

struct Trace {
  // An object is known by its slot while it lives; a slot is used again after its object's death.
  struct Event {
    uint32_t words;   // 0: the object in the slot dies
    uint32_t slot;
  };

  std::string        name;
  uint32_t           granularity = 0;    // bytes
  std::vector<Event> events;
  uint32_t           slots = 0;
  uint64_t           allocations = 0;
  uint64_t           deaths = 0;
  uint64_t           words = 0;          // of all allocations
  uint64_t           peak_live_words = 0;
  uint64_t           live_words_at_end = 0;

  // Reads a file. Returns what is wrong with it, with the offset, or an empty string.
  std::string read(const std::string& path);
};

#endif
