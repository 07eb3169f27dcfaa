// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Synthetic traces:
//
//   generations   few sizes are common, as in programs in Java (claim C11 of docs/measurements/allocator-study.md); most objects die young, some
//                 live long, a few for ever
//   phases        the common sizes change eight times, and what of a phase lives on keeps its chunks apart: free chunks of
//                 sizes that are no longer asked for
//   uniform       all sizes from 2 to 64 words alike, lifetimes exponential: no locality of size

#include "synthetic.hpp"

#include <math.h>
#include <queue>
#include <vector>

const char* const synthetic_kinds = "generations, phases, uniform";

namespace {

class Random {
  uint64_t _state;

 public:
  explicit Random(uint64_t seed) : _state(seed) {}

  // splitmix64
  uint64_t next() {
    uint64_t z = (_state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }
  // With a mean of so many allocations, at least 1.
  uint64_t lifetime(double mean) {
    const double u = (double)(next() >> 11) / 9007199254740992.0;
    return 1 + (uint64_t)(-log(1 - u) * mean);
  }
};

// 90 % of the objects have one of eight sizes, the first of them most often.
uint64_t local_size(Random* random, uint64_t phase) {
  static const uint64_t common[] = { 3, 2, 4, 5, 6, 8, 3, 10 };
  if (random->below(10) == 0) {
    return random->below(50) == 0 ? 128 + random->below(2000) : 2 + random->below(80);
  }
  uint64_t i = 0;
  while (i < 7 && random->below(2) == 0) {
    i++;
  }
  return common[i] + phase * 3;
}

}  // namespace

bool synthesize(const std::string& kind, uint64_t seed, uint64_t allocations, FILE* file, bool* written) {
  const bool generations = kind == "generations";
  const bool phases = kind == "phases";
  if (!generations && !phases && kind != "uniform") {
    return false;
  }
  Random random(seed);
  trace_format::Writer out(file, (kind + "-" + std::to_string(seed)).c_str(), 0);
  typedef std::pair<uint64_t, uint64_t> Death;   // when, who
  std::priority_queue<Death, std::vector<Death>, std::greater<Death>> deaths;
  for (uint64_t now = 0; now < allocations; now++) {
    while (!deaths.empty() && deaths.top().first <= now) {
      out.death(deaths.top().second);
      deaths.pop();
    }
    const uint64_t phase = phases ? now * 8 / allocations : 0;
    const uint64_t object = out.allocation(kind == "uniform" ? 2 + random.below(63) : local_size(&random, phase));
    const uint64_t fate = random.below(1000);
    if (generations || phases) {
      if (fate < 950) {
        deaths.push({ now + random.lifetime(200), object });
      } else if (fate < 995) {
        deaths.push({ now + random.lifetime((double)allocations / 10), object });
      }
    } else {
      deaths.push({ now + random.lifetime((double)allocations / 50), object });
    }
  }
  out.end();
  *written = out.ok();
  return true;
}
