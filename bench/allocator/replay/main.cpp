// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// The program: its commands and options, and what they print, which is CSV.

#include "heap.hpp"
#include "synthetic.hpp"

#include <algorithm>
#include <errno.h>
#include <map>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

const char* const Usage =
    "usage: replay COMMAND OPTIONS\n"
    "\n"
    "  describe     sizes, deaths and live words of a trace\n"
    "  smallest     the smallest heap of each policy, found by bisection to 1 %\n"
    "  run          replays the trace with each policy in each heap\n"
    "  over-time    traversals and updates along one replay, for one policy in one heap\n"
    "  synthesize   writes a trace:  synthesize KIND SEED ALLOCATIONS FILE\n"
    "\n"
    "  --trace FILE           required\n"
    "  --search LIST          of traverse, next-hit, bitmap, first-fit; or all (the default)\n"
    "  --coalescing LIST      of never, deferred, immediate; or all (the default)\n"
    "  --lists LIST           of 32, 64, 128, 256, 512; 128 by default; first-fit has one list\n"
    "  --heaps LIST           sizes in bytes, k or m; or\n"
    "  --factors LIST         multiples, from 1 to 1000, of the smallest heap of next-hit, immediate, 128 lists\n"
    "  --repeats N            timed replays of each, 1 to 1000, interleaved; medians are printed; 3 by default; 0: counters only\n"
    "  --most-collections N   a replay with more is given up; 300 by default\n"
    "  --verify               the integrity of the heap at each collection, and no times\n"
    "  --no-header            without the names of the columns\n";

[[noreturn]] void die(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

struct Options {
  std::string                 trace;
  std::vector<LullRunSearch>  searches;
  std::vector<LullCoalescing> coalescings;
  std::vector<uint32_t>       lists = { 128 };
  std::vector<uint64_t>       heaps;       // bytes
  std::vector<double>         factors;
  uint64_t                    repeats = 3;
  uint64_t                    most_collections = 300;
  bool                        verify = false;
  bool                        header = true;
};

std::vector<std::string> split(const char* option, const std::string& list) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (;;) {
    const size_t comma = list.find(',', at);
    parts.push_back(list.substr(at, comma - at));
    if (parts.back().empty()) {
      die("%s '%s' has an empty item", option, list.c_str());
    }
    if (comma == std::string::npos) {
      return parts;
    }
    at = comma + 1;
  }
}

uint64_t number(const char* option, const std::string& text, uint64_t low, uint64_t high) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = strtoull(text.c_str(), &end, 10);
  if (errno != 0 || text.empty() || !isdigit((unsigned char)text[0]) || *end != '\0' || value < low || value > high) {
    die("%s '%s' must be a number from %llu to %llu", option, text.c_str(), (unsigned long long)low, (unsigned long long)high);
  }
  return value;
}

uint64_t bytes(const std::string& text) {
  std::string digits = text;
  uint64_t unit = 1;
  if (!digits.empty() && strchr("kKmM", digits.back()) != nullptr) {
    unit = tolower(digits.back()) == 'k' ? 1024 : 1024 * 1024;
    digits.pop_back();
  }
  // A space is at most 2^32 words; 16 GB are enough for a study.
  return number("--heaps", digits, 1, ((uint64_t)16 << 30) / unit) * unit;
}

template <typename Enum>
std::vector<Enum> names(const char* option, const std::string& list, const std::vector<Enum>& all) {
  if (list == "all") {
    return all;
  }
  std::vector<Enum> chosen;
  for (const std::string& name : split(option, list)) {
    const auto found = std::find_if(all.begin(), all.end(), [&](Enum e) { return name == to_string(e); });
    if (found == all.end()) {
      std::string known;
      for (Enum e : all) {
        known += std::string(known.empty() ? "" : ", ") + to_string(e);
      }
      die("%s '%s' is unknown; there are %s", option, name.c_str(), known.c_str());
    }
    chosen.push_back(*found);
  }
  return chosen;
}

const std::vector<LullRunSearch> AllSearches = { LullRunSearch::Traverse, LullRunSearch::NextHit, LullRunSearch::Bitmap, LullRunSearch::FirstFit };
const std::vector<LullCoalescing> AllCoalescings = { LullCoalescing::Never, LullCoalescing::Deferred, LullCoalescing::Immediate };

Options parse(int argc, char** argv) {
  Options o;
  o.searches = AllSearches;
  o.coalescings = AllCoalescings;
  for (int i = 2; i < argc; i++) {
    const std::string option = argv[i];
    if (option == "--verify") {
      o.verify = true;
      continue;
    }
    if (option == "--no-header") {
      o.header = false;
      continue;
    }
    const bool known = option == "--trace" || option == "--search" || option == "--coalescing" || option == "--lists" || option == "--heaps" ||
        option == "--factors" || option == "--repeats" || option == "--most-collections";
    if (!known) {
      die("unknown option '%s'; replay --help tells of all", option.c_str());
    }
    if (++i == argc) {
      die("%s needs a value", option.c_str());
    }
    const std::string value = argv[i];
    if (option == "--trace") {
      o.trace = value;
    } else if (option == "--search") {
      o.searches = names("--search", value, AllSearches);
    } else if (option == "--coalescing") {
      o.coalescings = names("--coalescing", value, AllCoalescings);
    } else if (option == "--lists") {
      o.lists.clear();
      for (const std::string& n : split("--lists", value)) {
        const uint32_t lists = (uint32_t)number("--lists", n, 32, 512);
        if ((lists & (lists - 1)) != 0) {
          die("--lists '%s' is not one of 32, 64, 128, 256, 512", n.c_str());
        }
        o.lists.push_back(lists);
      }
    } else if (option == "--heaps") {
      for (const std::string& size : split("--heaps", value)) {
        o.heaps.push_back(bytes(size));
      }
    } else if (option == "--factors") {
      for (const std::string& factor : split("--factors", value)) {
        char* end = nullptr;
        const double f = strtod(factor.c_str(), &end);
        if (*end != '\0' || !(f >= 1 && f <= 1000)) {
          die("--factors '%s' must be a number from 1 to 1000", factor.c_str());
        }
        o.factors.push_back(f);
      }
    } else if (option == "--repeats") {
      o.repeats = number("--repeats", value, 0, 1000);
    } else if (option == "--most-collections") {
      o.most_collections = number("--most-collections", value, 1, 1000000000);
    }
  }
  if (o.trace.empty()) {
    die("--trace FILE is missing");
  }
  return o;
}

std::vector<Policy> chosen(const Options& o) {
  std::vector<Policy> result;
  for (const LullRunSearch search : o.searches) {
    for (const LullCoalescing coalescing : o.coalescings) {
      for (const uint32_t lists : o.lists) {
        const Policy policy = { search, coalescing, search == LullRunSearch::FirstFit ? 1 : lists };
        if (std::find(result.begin(), result.end(), policy) == result.end()) {
          result.push_back(policy);
        }
      }
    }
  }
  return result;
}

const Policy Reference = { LullRunSearch::NextHit, LullCoalescing::Immediate, 128 };

// In words; 0 if there is none of up to 16 GB.
uint32_t smallest_heap(const Replay& how, const Policy& policy) {
  const auto fits = [&](uint64_t words) { return replay(how, policy, (uint32_t)words, false).outcome == Outcome::Fits; };
  const uint64_t most = ((uint64_t)16 << 30) / 8;
  uint64_t low = how.trace.peak_live_words - 1;    // does not fit
  uint64_t high = how.trace.peak_live_words;
  while (high <= most && !fits(high)) {
    low = high;
    high += high / 3 + 16;
  }
  if (high > most) {
    return 0;
  }
  while (high - low > high / 100 + 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return (uint32_t)high;
}

std::vector<uint32_t> heap_words(const Options& o, const Replay& how) {
  if (o.heaps.empty() == o.factors.empty()) {
    die("either --heaps or --factors is needed");
  }
  std::vector<uint32_t> words;
  for (const uint64_t size : o.heaps) {
    words.push_back((uint32_t)std::max<uint64_t>(size / 8, 2));
  }
  if (!o.factors.empty()) {
    const uint32_t reference = smallest_heap(how, Reference);
    for (const double factor : o.factors) {
      const double wanted = reference * factor;
      if (reference == 0 || wanted * 8 > 16.0 * (1 << 30)) {
        die("--factors %g: that heap would have more than 16 GB", factor);
      }
      words.push_back((uint32_t)wanted);
    }
  }
  return words;
}

uint64_t median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

typedef unsigned long long ull;

int describe(const Options& o, const Trace& trace) {
  std::map<uint32_t, uint64_t> sizes;
  for (const Trace::Event& event : trace.events) {
    if (event.words != 0) {
      sizes[event.words]++;
    }
  }
  std::vector<uint64_t> counts;
  for (const auto& size : sizes) {
    counts.push_back(size.second);
  }
  std::sort(counts.rbegin(), counts.rend());
  const auto classes_of = [&](double share) {
    uint64_t sum = 0;
    size_t n = 0;
    while (n < counts.size() && (double)sum < share * (double)trace.allocations) {
      sum += counts[n++];
    }
    return n;
  };
  uint64_t below_1k = 0;
  for (const auto& size : sizes) {
    below_1k += size.first < 128 ? size.second : 0;
  }
  if (o.header) {
    printf("trace,allocations,deaths,bytes,mean_bytes,peak_live_bytes,live_bytes_at_end,death_granularity_bytes,sizes,sizes_of_90_percent,sizes_of_99_percent,"
           "share_below_1_kb\n");
  }
  printf("%s,%llu,%llu,%llu,%.1f,%llu,%llu,%u,%zu,%zu,%zu,%.4f\n", trace.name.c_str(), (ull)trace.allocations, (ull)trace.deaths, (ull)trace.words * 8,
         (double)trace.words * 8 / (double)trace.allocations, (ull)trace.peak_live_words * 8, (ull)trace.live_words_at_end * 8, trace.granularity, sizes.size(),
         classes_of(0.9), classes_of(0.99), (double)below_1k / (double)trace.allocations);
  return 0;
}

int smallest(const Options& o, const Replay& how) {
  if (o.header) {
    printf("trace,search,coalescing,lists,smallest_heap_bytes,peak_live_bytes\n");
  }
  for (const Policy& policy : chosen(o)) {
    printf("%s,%s,%s,%u,%llu,%llu\n", how.trace.name.c_str(), to_string(policy.search), to_string(policy.coalescing), policy.lists,
           (ull)smallest_heap(how, policy) * 8, (ull)how.trace.peak_live_words * 8);
  }
  return 0;
}

int run(const Options& o, const Replay& how) {
  struct Point {
    uint32_t words;
    Policy   policy;
    Result   counted;
    std::vector<uint64_t> allocation, mark, sweep, management;
  };
  std::vector<Point> points;
  for (const uint32_t words : heap_words(o, how)) {
    for (const Policy& policy : chosen(o)) {
      points.push_back({ words, policy, replay(how, policy, words, true), {}, {}, {}, {} });
    }
  }
  for (uint64_t repeat = 0; repeat < (how.verify ? 0 : o.repeats); repeat++) {
    for (Point& point : points) {
      if (point.counted.outcome == Outcome::Fits) {
        const Result r = replay(how, point.policy, point.words, false);
        point.allocation.push_back(r.allocation_ns);
        point.mark.push_back(r.mark_ns);
        point.sweep.push_back(r.sweep_ns);
        point.management.push_back(r.management_ns());
      }
    }
  }
  if (o.header) {
    printf("trace,search,coalescing,lists,heap_bytes,outcome,allocations,allocated_words,collections,marked_objects,look_ups,lists_passed,runs_passed,"
           "became_empty,became_non_empty,entries_written,rebuilds,splits,wasted_words,chunks_swept,chunks_freed,chunks_joined,passes_to_join,"
           "free_words_when_full,longest_when_full,repeats,allocation_ns,mark_ns,sweep_ns,management_ns,management_ns_low,management_ns_high\n");
  }
  for (const Point& point : points) {
    const Result& r = point.counted;
    const LullRunCounters& c = r.counters;
    printf("%s,%s,%s,%u,%llu,%s,%llu,%llu,%llu,%llu", how.trace.name.c_str(), to_string(point.policy.search), to_string(point.policy.coalescing),
           point.policy.lists, (ull)point.words * 8, to_string(r.outcome), (ull)r.allocations, (ull)r.allocated_words, (ull)r.collections,
           (ull)r.marked_objects);
    for (const uint64_t value : { c._look_ups, c._lists_passed, c._runs_passed, c._became_empty, c._became_non_empty, c._entries_written, c._rebuilds,
                                  c._splits, c._wasted_words, c._chunks_swept, c._chunks_freed, c._chunks_joined, c._passes_to_join,
                                  r.free_words_when_full, r.longest_when_full }) {
      printf(",%llu", (ull)value);
    }
    printf(",%zu", point.management.size());
    if (point.management.empty()) {
      printf(",,,,,,\n");
    } else {
      printf(",%llu,%llu,%llu,%llu,%llu,%llu\n", (ull)median(point.allocation), (ull)median(point.mark), (ull)median(point.sweep),
             (ull)median(point.management), (ull)*std::min_element(point.management.begin(), point.management.end()),
             (ull)*std::max_element(point.management.begin(), point.management.end()));
    }
  }
  return 0;
}

int over_time(const Options& o, const Replay& how) {
  const std::vector<Policy> policies = chosen(o);
  const std::vector<uint32_t> heaps = heap_words(o, how);
  if (policies.size() != 1 || heaps.size() != 1) {
    die("over-time is for one policy in one heap: name --search, --coalescing, --lists, and one heap");
  }
  const Result r = replay(how, policies[0], heaps[0], true);
  if (o.header) {
    printf("trace,search,coalescing,lists,heap_bytes,allocations,traversals_per_allocation,updates_per_allocation,entries_per_allocation,collections\n");
  }
  if (r.outcome != Outcome::Fits) {
    fprintf(stderr, "note: %s, %s: that heap is too small (%s), so there is nothing over time\n", how.trace.name.c_str(),
            to_string(policies[0].coalescing), to_string(r.outcome));
    return 0;
  }
  // 240 points are as many as a picture shows.
  const size_t step = std::max<size_t>(1, r.windows.size() / 240);
  uint64_t before = 0;
  for (size_t i = 0; i < r.windows.size(); i += step) {
    uint64_t traversals = 0, updates = 0, entries = 0;
    const size_t end = std::min(i + step, r.windows.size());
    for (size_t j = i; j < end; j++) {
      traversals += r.windows[j].traversals;
      updates += r.windows[j].updates;
      entries += r.windows[j].entries_written;
    }
    const Window& last = r.windows[end - 1];
    const double n = (double)(last.allocations - before);
    before = last.allocations;
    printf("%s,%s,%s,%u,%llu,%llu,%.4f,%.5f,%.5f,%llu\n", how.trace.name.c_str(), to_string(policies[0].search), to_string(policies[0].coalescing),
           policies[0].lists, (ull)heaps[0] * 8, (ull)last.allocations, (double)traversals / n, (double)updates / n, (double)entries / n,
           (ull)last.collections);
  }
  return 0;
}

int synthesize(int argc, char** argv) {
  if (argc != 6) {
    die("synthesize needs KIND SEED ALLOCATIONS FILE");
  }
  const std::string kind = argv[2];
  const uint64_t seed = number("SEED", argv[3], 0, UINT64_MAX / 2);
  const uint64_t allocations = number("ALLOCATIONS", argv[4], 1, trace_format::MostAllocations);
  FILE* const file = fopen(argv[5], "wb");
  if (file == nullptr) {
    die("%s cannot be written: %s", argv[5], strerror(errno));
  }
  bool written = false;
  const bool known = synthesize(kind, seed, allocations, file, &written);
  const bool closed = fclose(file) == 0;
  if (!known) {
    remove(argv[5]);
    die("synthesize '%s' is unknown; there are %s", kind.c_str(), synthetic_kinds);
  }
  if (!written || !closed) {
    die("%s could not be written: %s", argv[5], strerror(errno));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);   // who waits for a long study sees how far it is
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h") {
    fputs(Usage, stdout);
    return 0;
  }
  if (command == "synthesize") {
    return synthesize(argc, argv);
  }
  if (command != "describe" && command != "smallest" && command != "run" && command != "over-time") {
    fprintf(stderr, "error: unknown command '%s'\n%s", command.c_str(), Usage);
    return 2;
  }
  const Options options = parse(argc, argv);
  Trace trace;
  const std::string error = trace.read(options.trace);
  if (!error.empty()) {
    die("%s %s", options.trace.c_str(), error.c_str());
  }
  if (command == "describe") {
    return describe(options, trace);
  }
  Memory memory;
  const Replay how = { trace, memory, options.most_collections, options.verify };
  return command == "smallest" ? smallest(options, how) : command == "run" ? run(options, how) : over_time(options, how);
}
