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

#include "gc/lull/study/lullSegregatedSpace.inline.hpp"
#include "unittest.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

// The memory of a space; 8-aligned, as a heap is.
static std::vector<uint64_t> memory_of(uint32_t words) { return std::vector<uint64_t>(words); }
static LullChunks chunks_of(std::vector<uint64_t>& memory) { return LullChunks(reinterpret_cast<HeapWord*>(memory.data())); }

typedef LullSegregatedSpace<32, LullRunSearch::NextHit, LullCoalescing::Immediate, LullRunCounters> CountedSpace;

TEST(LullSegregatedSpace, a_new_space_is_one_chunk) {
  std::vector<uint64_t> memory = memory_of(100);
  CountedSpace space(chunks_of(memory), 100);
  EXPECT_EQ(space.verify(true), nullptr);
  EXPECT_EQ(space.free_words(), 100u);
  EXPECT_EQ(space.allocate(101), UINT32_MAX);
  EXPECT_EQ(space.allocate(100), 0u);
  EXPECT_EQ(space.allocate(2), UINT32_MAX);
  EXPECT_EQ(space.free_words(), 0u);
  EXPECT_EQ(space.verify(), nullptr);
}

TEST(LullSegregatedSpace, a_remainder_too_short_for_a_chunk_goes_to_the_object) {
  std::vector<uint64_t> memory = memory_of(20);
  CountedSpace space(chunks_of(memory), 20);
  const uint32_t object = space.allocate(19);
  EXPECT_EQ(space.length_of(object), 20u);
  EXPECT_EQ(space.counters()._wasted_words, 1u);
  EXPECT_EQ(space.counters()._splits, 0u);
  EXPECT_EQ(space.verify(), nullptr);
  space.sweep();
  EXPECT_EQ(space.longest_free(), 20u);
  EXPECT_EQ(space.verify(true), nullptr);
}

TEST(LullSegregatedSpace, immediate_coalescing_joins_dead_objects_and_old_chunks) {
  std::vector<uint64_t> memory = memory_of(40);
  CountedSpace space(chunks_of(memory), 40);
  const uint32_t a = space.allocate(4);
  const uint32_t b = space.allocate(6);
  const uint32_t c = space.allocate(8);
  EXPECT_EQ(c, 10u);
  space.mark(a);
  space.sweep();
  EXPECT_EQ(space.verify(true), nullptr);
  EXPECT_EQ(space.longest_free(), 36u);
  EXPECT_EQ(space.counters()._chunks_freed, 2u);
  EXPECT_EQ(space.counters()._chunks_joined, 2u);
  EXPECT_EQ(space.allocate(5), b);
}

TEST(LullSegregatedSpace, never_coalescing_gives_back_what_was) {
  std::vector<uint64_t> memory = memory_of(40);
  LullSegregatedSpace<32, LullRunSearch::Bitmap, LullCoalescing::Never> space(chunks_of(memory), 40);
  for (uint32_t i = 0; i < 10; i++) {
    EXPECT_NE(space.allocate(4), UINT32_MAX);
  }
  space.sweep();
  EXPECT_EQ(space.free_words(), 40u);
  EXPECT_EQ(space.longest_free(), 4u);
  EXPECT_EQ(space.allocate(5), UINT32_MAX);
  EXPECT_FALSE(space.coalesce());
  EXPECT_EQ(space.verify(), nullptr);
}

TEST(LullSegregatedSpace, deferred_coalescing_joins_when_nothing_else_helps) {
  std::vector<uint64_t> memory = memory_of(40);
  LullSegregatedSpace<32, LullRunSearch::NextHit, LullCoalescing::Deferred> space(chunks_of(memory), 40);
  for (uint32_t i = 0; i < 10; i++) {
    EXPECT_NE(space.allocate(4), UINT32_MAX);
  }
  space.mark(36);
  space.sweep();
  EXPECT_EQ(space.longest_free(), 4u);
  EXPECT_EQ(space.allocate(5), UINT32_MAX);
  EXPECT_TRUE(space.coalesce());
  EXPECT_EQ(space.longest_free(), 36u);
  EXPECT_EQ(space.allocate(5), 0u);
  EXPECT_EQ(space.verify(), nullptr);
}

TEST(LullSegregatedSpace, deferred_coalescing_joins_the_last_list_before_it_is_searched) {
  std::vector<uint64_t> memory = memory_of(100);
  LullSegregatedSpace<8, LullRunSearch::NextHit, LullCoalescing::Deferred> space(chunks_of(memory), 100);
  for (uint32_t i = 0; i < 10; i++) {
    EXPECT_NE(space.allocate(10), UINT32_MAX);
  }
  space.sweep();
  EXPECT_EQ(space.longest_free(), 10u);
  EXPECT_EQ(space.allocate(95), 0u);
  EXPECT_EQ(space.verify(), nullptr);
  EXPECT_EQ(space.longest_free(), 5u);
}

TEST(LullSegregatedSpace, verify_finds_what_is_broken) {
  std::vector<uint64_t> memory = memory_of(100);
  CountedSpace space(chunks_of(memory), 100);
  const uint32_t a = space.allocate(10);
  const LullChunks chunks = chunks_of(memory);
  chunks[a]._length = 11;
  EXPECT_NE(space.verify(), nullptr);
  chunks[a]._length = 10;
  EXPECT_EQ(space.verify(), nullptr);
  chunks[a]._start = a;
  EXPECT_STREQ(space.verify(), "not all free chunks are listed");
}

// A plain model of a space and its policy: the length of each free chunk by its start, how
// many there are of each length, and for first fit the list in its order.
class LullSpaceModel {
private:
  const uint32_t         _lists;     // 1: first fit
  const LullCoalescing   _coalescing;
  std::vector<uint32_t>  _free;      // by start; 0: no free chunk starts here
  std::vector<uint32_t>  _object;    // the same of objects, dead ones too
  std::map<uint32_t, uint32_t> _lengths;
  std::vector<uint32_t>  _order;     // first fit only
  bool                   _to_join;

  void add(uint32_t start, uint32_t length) {
    _free[start] = length;
    _lengths[length]++;
    if (_lists == 1) {
      _order.push_back(start);
    }
  }

  void remove(uint32_t start) {
    const auto length = _lengths.find(_free[start]);
    if (--length->second == 0) {
      _lengths.erase(length);
    }
    _free[start] = 0;
    if (_lists == 1) {
      _order.erase(std::find(_order.begin(), _order.end(), start));
    }
  }

  // Chunks of at least so many words that touch each other become one, at the place of the
  // one with the lowest address.
  void join(uint32_t least) {
    for (uint32_t start = 0; start < _free.size(); ) {
      uint32_t length = _free[start];
      if (length < least || length == 0) {
        start += MAX2(MAX2(length, _object[start]), 1u);
        continue;
      }
      uint32_t end = start + length;
      while (end < _free.size() && _free[end] != 0 && _free[end] >= least) {
        const uint32_t more = _free[end];
        remove(end);
        end += more;
      }
      if (end - start > length) {
        if (--_lengths[length] == 0) {
          _lengths.erase(length);
        }
        _free[start] = end - start;
        _lengths[end - start]++;
      }
      start = end;
    }
  }

  void list_in_order_of_addresses() {
    if (_lists == 1) {
      std::sort(_order.begin(), _order.end());
    }
  }

public:
  LullSpaceModel(uint32_t words, uint32_t lists, LullCoalescing coalescing)
    : _lists(lists), _coalescing(coalescing), _free(words), _object(words), _lengths(), _order(), _to_join(false) {
    add(0, words);
  }

  // The length of the chunk that an allocation of words gets, and for first fit its start; 0:
  // there is none.
  uint32_t expected(uint32_t words, uint32_t* start) {
    auto found = _lengths.lower_bound(words);
    if (_coalescing == LullCoalescing::Deferred && _to_join && (found == _lengths.end() || found->first >= _lists)) {
      join(_lists);
      _to_join = false;
      found = _lengths.lower_bound(words);
    }
    if (_lists == 1) {
      for (const uint32_t candidate : _order) {
        if (_free[candidate] >= words) {
          *start = candidate;
          return _free[candidate];
        }
      }
    }
    return found == _lengths.end() ? 0 : found->first;
  }

  uint32_t free_length(uint32_t start) const { return _free[start]; }
  uint32_t longest() const { return _lengths.empty() ? 0 : _lengths.rbegin()->first; }
  size_t chunks() const {
    size_t count = 0;
    for (const auto& length : _lengths) {
      count += length.second;
    }
    return count;
  }

  void allocated(uint32_t start, uint32_t words) {
    const uint32_t length = _free[start];
    remove(start);
    if (length - words >= 2) {
      add(start + words, length - words);
      _object[start] = words;
    } else {
      _object[start] = length;
    }
  }

  void collected(const std::vector<bool>& live) {
    for (uint32_t start = 0; start < _object.size(); start++) {
      if (_object[start] != 0 && !live[start]) {
        add(start, _object[start]);
        _object[start] = 0;
      }
    }
    _to_join = true;
    if (_coalescing == LullCoalescing::Immediate) {
      join(0);
      list_in_order_of_addresses();
    }
  }

  void coalesced() {
    join(0);
    list_in_order_of_addresses();
    _to_join = false;
  }
};

// A million random allocations and deaths, with a collection when an allocation fails.
template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing>
static void random_operations(uint32_t seed) {
  const uint32_t words = 1500 + 8 * N;
  const uint32_t lists = Search == LullRunSearch::FirstFit ? 1 : N;
  const int steps = 1000 * 1000;
  std::mt19937 random(seed);
  std::vector<uint64_t> memory = memory_of(words);
  typedef LullSegregatedSpace<N, Search, Coalescing> Space;
  Space space(chunks_of(memory), words);
  LullSpaceModel model(words, lists, Coalescing);
  std::vector<uint32_t> objects;
  std::vector<bool> live(words);
  int collections = 0;
  int failures = 0;

  const auto check = [&](int step, bool maximal) {
    const char* const error = space.verify(maximal && Coalescing == LullCoalescing::Immediate);
    ASSERT_EQ(error, nullptr) << error << ", seed " << seed << " step " << step;
    ASSERT_EQ(space.longest_free(), model.longest()) << "seed " << seed << " step " << step;
    ASSERT_EQ(space.table().count(), model.chunks()) << "seed " << seed << " step " << step;
    bool same = true;
    space.table().runs_do([&](const LullRun& chunk) { same = same && model.free_length(chunk._start) == chunk._length; });
    ASSERT_TRUE(same) << "seed " << seed << " step " << step;
  };

  for (int step = 0; step < steps; step++) {
    if (random() % 16 < 7 && !objects.empty()) {
      const uint32_t i = random() % objects.size();
      live[objects[i]] = false;
      objects[i] = objects.back();
      objects.pop_back();
      continue;
    }
    // Mostly small and of few sizes, sometimes of all, sometimes for the last list.
    const uint32_t kind = random() % 32;
    const uint32_t size = kind < 16 ? 2 + kind / 4 : kind < 28 ? 2 + random() % 20 : kind < 31 ? 2 + random() % N : N + random() % N;
    for (int attempt = 0; ; attempt++) {
      uint32_t expected_start = UINT32_MAX;
      const uint32_t expected = model.expected(size, &expected_start);
      const uint32_t start = space.allocate(size);
      if (expected == 0) {
        ASSERT_EQ(start, UINT32_MAX) << "seed " << seed << " step " << step;
      } else {
        ASSERT_NE(start, UINT32_MAX) << "seed " << seed << " step " << step;
        ASSERT_EQ(model.free_length(start), expected) << "seed " << seed << " step " << step;
        if (Search == LullRunSearch::FirstFit) {
          ASSERT_EQ(start, expected_start) << "seed " << seed << " step " << step;
        }
        model.allocated(start, size);
        ASSERT_EQ(space.length_of(start), expected - size >= Space::MinWords ? size : expected);
        objects.push_back(start);
        live[start] = true;
        break;
      }
      if (attempt == 0) {
        for (const uint32_t object : objects) {
          space.mark(object);
        }
        space.sweep();
        model.collected(live);
        collections++;
        check(step, true);
      } else if (attempt == 1 && space.coalesce()) {
        model.coalesced();
        check(step, false);
      } else {
        // The heap is full, or in pieces: half of all objects die.
        failures++;
        for (size_t i = 0; i < objects.size(); i++) {
          if (random() % 2 == 0) {
            live[objects[i]] = false;
            objects[i--] = objects.back();
            objects.pop_back();
          }
        }
        break;
      }
    }
    if (step % 997 == 0) {
      check(step, false);
    }
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
  // The run was one of interest.
  EXPECT_GT(collections, 1000) << "seed " << seed;
  EXPECT_GT(failures, 0) << "seed " << seed;
}

template <LullRunSearch Search, LullCoalescing Coalescing>
static void random_operations_with_all_numbers_of_lists(uint32_t seed) {
  random_operations<32, Search, Coalescing>(seed);
  random_operations<64, Search, Coalescing>(seed + 1);
  random_operations<128, Search, Coalescing>(seed + 2);
  random_operations<256, Search, Coalescing>(seed + 3);
  random_operations<512, Search, Coalescing>(seed + 4);
}

TEST(LullSegregatedSpace, random_operations_traverse) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::Traverse, LullCoalescing::Never>(100);
  random_operations_with_all_numbers_of_lists<LullRunSearch::Traverse, LullCoalescing::Deferred>(200);
  random_operations_with_all_numbers_of_lists<LullRunSearch::Traverse, LullCoalescing::Immediate>(300);
}

TEST(LullSegregatedSpace, random_operations_next_hit) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::NextHit, LullCoalescing::Never>(400);
  random_operations_with_all_numbers_of_lists<LullRunSearch::NextHit, LullCoalescing::Deferred>(500);
  random_operations_with_all_numbers_of_lists<LullRunSearch::NextHit, LullCoalescing::Immediate>(600);
}

TEST(LullSegregatedSpace, random_operations_bitmap) {
  random_operations_with_all_numbers_of_lists<LullRunSearch::Bitmap, LullCoalescing::Never>(700);
  random_operations_with_all_numbers_of_lists<LullRunSearch::Bitmap, LullCoalescing::Deferred>(800);
  random_operations_with_all_numbers_of_lists<LullRunSearch::Bitmap, LullCoalescing::Immediate>(900);
}

TEST(LullSegregatedSpace, random_operations_first_fit) {
  random_operations<128, LullRunSearch::FirstFit, LullCoalescing::Never>(1000);
  random_operations<128, LullRunSearch::FirstFit, LullCoalescing::Deferred>(1001);
  random_operations<128, LullRunSearch::FirstFit, LullCoalescing::Immediate>(1002);
}

// How the first list that fits is found must make no difference to what is found.
template <LullCoalescing Coalescing>
static void searches_place_alike(uint32_t seed) {
  const uint32_t words = 5000;
  std::mt19937 random(seed);
  std::vector<uint64_t> memory[3] = { memory_of(words), memory_of(words), memory_of(words) };
  LullSegregatedSpace<128, LullRunSearch::Traverse, Coalescing> traverse(chunks_of(memory[0]), words);
  LullSegregatedSpace<128, LullRunSearch::NextHit, Coalescing> next_hit(chunks_of(memory[1]), words);
  LullSegregatedSpace<128, LullRunSearch::Bitmap, Coalescing> bitmap(chunks_of(memory[2]), words);
  std::vector<uint32_t> objects;
  for (int step = 0; step < 100 * 1000; step++) {
    const uint32_t size = 2 + random() % (random() % 8 == 0 ? 300 : 12);
    const uint32_t start = traverse.allocate(size);
    ASSERT_EQ(next_hit.allocate(size), start) << "seed " << seed << " step " << step;
    ASSERT_EQ(bitmap.allocate(size), start) << "seed " << seed << " step " << step;
    if (start != UINT32_MAX) {
      objects.push_back(start);
      continue;
    }
    std::vector<uint32_t> survivors;
    for (const uint32_t object : objects) {
      if (random() % 3 == 0) {
        survivors.push_back(object);
        traverse.mark(object);
        next_hit.mark(object);
        bitmap.mark(object);
      }
    }
    objects.swap(survivors);
    traverse.sweep();
    next_hit.sweep();
    bitmap.sweep();
  }
}

TEST(LullSegregatedSpace, searches_place_alike) {
  searches_place_alike<LullCoalescing::Never>(1);
  searches_place_alike<LullCoalescing::Deferred>(2);
  searches_place_alike<LullCoalescing::Immediate>(3);
}
