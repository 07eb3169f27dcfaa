// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// The collector's own two run tables, driven as LullAllocator and LullBlockSupply drive them, with each search: for counting
// what they do (this program) and their instructions (tables.sh, under valgrind).
//
//   tables lines|blocks next-hit|bitmap batched|single PERCENT
//
// lines: a thread's holes. Blocks of 128 lines of which about PERCENT are in use, in clusters; their holes are added to the
// table, together and then indexed (batched) or each by itself (single). Requests are for a TLAB, which takes the shortest
// hole of two lines or more, and one in eight for a medium object, the rest of whose hole comes back.
// blocks: the heap's free runs. Of 4096 blocks about PERCENT are taken when it starts; then single blocks and runs for large
// objects are taken and freed at random, and neighbours are joined.
//
// Both do the same whatever the search is, from the same seed; the checksum says so.

#include "gc/lull/alloc/lullRunTable.inline.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <random>
#include <vector>

namespace {

constexpr int Requests = 50 * 1000;
constexpr int RecyclableBlocks = 1000;
constexpr uint32_t Lines = 128;
constexpr uint32_t Blocks = 4096;

// What a run does, prepared in advance, so that only the table is between the two ends of a measured function.
struct Work {
  std::vector<std::vector<LullRun>> holes_of;   // of each recyclable block
  std::vector<uint32_t>             requests;   // lines: 2 is a TLAB's; blocks: 0 frees the one that was taken longest ago
};

uint64_t checksum;

// Stretches of lines in use and of free ones, with lengths that are geometrically distributed.
Work lines_work(int percent, std::mt19937* random) {
  Work work;
  std::geometric_distribution<uint32_t> used(1.0 / 8);
  std::geometric_distribution<uint32_t> free(percent / 8.0 / (100 - percent));
  for (int block = 0; block < RecyclableBlocks; block++) {
    std::vector<LullRun> holes;
    for (uint32_t line = 0; line < Lines; ) {
      line += 1 + used(*random);
      const uint32_t length = 1 + free(*random);
      const uint32_t end = line + length < Lines ? line + length : Lines;
      if (line + 2 <= end) {
        holes.push_back({ line, end - line, 0, 0 });
      }
      line = end;
    }
    work.holes_of.push_back(holes);
  }
  for (int i = 0; i < Requests; i++) {
    work.requests.push_back((*random)() % 8 == 0 ? 2 + (*random)() % 30 : 2);
  }
  return work;
}

// LullAllocator's: take_known_hole, add_holes_of, return_bump_region.
template <typename Table>
struct Thread {
  static constexpr uint32_t MaxRuns = 160;
  LullRun  runs[MaxRuns] = {};
  uint32_t unused[MaxRuns];
  uint32_t unused_count = 0;
  Table    table;
  uint64_t clean_blocks = 0;

  Thread() : table(runs) {
    for (uint32_t id = 0; id < MaxRuns; id++) {
      unused[unused_count++] = id;
    }
  }

  bool take(uint32_t lines, LullRun* hole) {
    const uint32_t id = table.find(lines);
    if (id == Table::None) {
      return false;
    }
    table.remove(id);
    *hole = runs[id];
    unused[unused_count++] = id;
    return true;
  }

  uint32_t new_run(const LullRun& hole) {
    const uint32_t id = unused[--unused_count];
    runs[id] = hole;
    return id;
  }
};

template <typename Table, bool Batched>
__attribute__((noinline)) void measured_lines(Thread<Table>* thread, const Work& work) {
  size_t block = 0;
  for (const uint32_t lines : work.requests) {
    LullRun hole;
    bool found = thread->take(lines, &hole);
    for (int i = 0; i < 4 && !found && thread->unused_count >= Lines / 2; i++) {
      for (const LullRun& h : work.holes_of[block++ % work.holes_of.size()]) {
        if (Batched) {
          thread->table.add_batched(thread->new_run(h));
        } else {
          thread->table.add(thread->new_run(h));
        }
      }
      if (Batched) {
        thread->table.rebuild();
      }
      found = thread->take(lines, &hole);
    }
    if (!found) {
      hole = { 0, Lines, 0, 0 };
      thread->clean_blocks++;
    }
    checksum = checksum * 31 + hole._length;
    // A TLAB takes all of it; a medium object leaves the rest, which is a hole again when the next one does not fit.
    if (lines > 2 && hole._length >= lines + 2 && thread->unused_count > 0) {
      thread->table.add(thread->new_run({ hole._start + lines, hole._length - lines, 0, 0 }));
    }
  }
}

Work blocks_work(std::mt19937* random) {
  Work work;
  for (int i = 0; i < Requests; i++) {
    const uint32_t kind = (*random)() % 16;
    work.requests.push_back(kind < 8 ? 0 : kind < 15 ? 1 : 1 + (*random)() % 32);
  }
  return work;
}

// LullBlockSupply's: take_run_locked, add_free_run.
template <typename Table>
struct Supply {
  LullRun              runs[Blocks] = {};
  uint8_t              free[Blocks];
  Table                table;
  std::vector<LullRun> taken;
  size_t               oldest = 0;

  Supply() : table(runs) { memset(free, 0, sizeof free); }

  void add(uint32_t start, uint32_t length) {
    memset(free + start, 1, length);
    if (start > 0 && free[start - 1]) {
      const uint32_t left = runs[start - 1]._start;
      table.remove(left);
      length += runs[left]._length;
      start = left;
    }
    const uint32_t right = start + length;
    if (right < Blocks && free[right]) {
      table.remove(right);
      length += runs[right]._length;
    }
    runs[start]._start = start;
    runs[start]._length = length;
    runs[start + length - 1]._start = start;
    table.add(start);
  }

  bool take(uint32_t length) {
    const uint32_t start = table.find(length);
    if (start == Table::None) {
      return false;
    }
    table.remove(start);
    const uint32_t all = runs[start]._length;
    memset(free + start, 0, length);
    if (all > length) {
      runs[start + length]._start = start + length;
      runs[start + length]._length = all - length;
      runs[start + all - 1]._start = start + length;
      table.add(start + length);
    }
    taken.push_back({ start, length, 0, 0 });
    checksum = checksum * 31 + length;
    return true;
  }
};

template <typename Table>
__attribute__((noinline)) void measured_blocks(Supply<Table>* supply, const Work& work) {
  for (const uint32_t length : work.requests) {
    if ((length == 0 || !supply->take(length)) && supply->oldest < supply->taken.size()) {
      const LullRun run = supply->taken[supply->oldest++];
      supply->add(run._start, run._length);
    }
  }
}

template <typename Counters>
void print(const char* what, const Counters& c, uint64_t clean) {
  printf("%s: look-ups %llu, lists that became empty %llu, non-empty %llu, entries or words written %llu, rebuilds %llu, runs passed in the last list %llu, "
         "clean blocks %llu, checksum %016llx\n", what, (unsigned long long)c._look_ups, (unsigned long long)c._became_empty, (unsigned long long)c._became_non_empty,
         (unsigned long long)c._entries_written, (unsigned long long)c._rebuilds, (unsigned long long)c._runs_passed, (unsigned long long)clean,
         (unsigned long long)checksum);
}
void print(const char*, const LullNoRunCounters&, uint64_t) {}

template <LullRunSearch Search, bool Batched, typename Counters>
void run_lines(const Work& work) {
  typedef LullRunTable<Lines, Search, Counters> Table;
  Thread<Table>* const thread = new Thread<Table>();
  measured_lines<Table, Batched>(thread, work);
  print("lines", thread->table.counters(), thread->clean_blocks);
}

template <LullRunSearch Search, typename Counters>
void run_blocks(const Work& work, int percent) {
  typedef LullRunTable<256, Search, Counters> Table;
  Supply<Table>* const supply = new Supply<Table>();
  std::mt19937 random(2);
  supply->add(0, Blocks);
  // Taken first and not given back soon: every block with this probability.
  std::vector<LullRun> first;
  while (supply->take(1)) {}
  first.swap(supply->taken);
  for (const LullRun& run : first) {
    if ((int)(random() % 100) < percent) {
      supply->taken.push_back(run);
    } else {
      supply->add(run._start, run._length);
    }
  }
  measured_blocks(supply, work);
  print("blocks", supply->table.counters(), 0);
}

template <LullRunSearch Search, typename Counters>
void run(bool lines, bool batched, int percent) {
  std::mt19937 random(1);
  if (!lines) {
    run_blocks<Search, Counters>(blocks_work(&random), percent);
  } else if (batched) {
    run_lines<Search, true, Counters>(lines_work(percent, &random));
  } else {
    run_lines<Search, false, Counters>(lines_work(percent, &random));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int percent = argc > 4 ? atoi(argv[4]) : 0;
  if (argc < 5 || percent < 1 || percent > 99) {
    fprintf(stderr, "error: tables lines|blocks next-hit|bitmap batched|single PERCENT [counted]\n");
    return 2;
  }
  const bool lines = strcmp(argv[1], "lines") == 0;
  const bool bitmap = strcmp(argv[2], "bitmap") == 0;
  const bool batched = strcmp(argv[3], "batched") == 0;
  const bool counted = argc > 5;
  if (bitmap && counted) {
    run<LullRunSearch::Bitmap, LullRunCounters>(lines, batched, percent);
  } else if (bitmap) {
    run<LullRunSearch::Bitmap, LullNoRunCounters>(lines, batched, percent);
  } else if (counted) {
    run<LullRunSearch::NextHit, LullRunCounters>(lines, batched, percent);
  } else {
    run<LullRunSearch::NextHit, LullNoRunCounters>(lines, batched, percent);
  }
  return 0;
}
