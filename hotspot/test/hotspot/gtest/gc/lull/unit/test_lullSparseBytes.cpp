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

// Links: gc/lull/heap/lullGeometry.cpp

#include "gc/lull/heap/lullSparseBytes.hpp"
#include "unittest.hpp"

#include <algorithm>
#include <random>
#include <vector>

TEST(LullSparseBytes, comes_to_each_byte_that_is_not_zero_in_order) {
  std::mt19937 random(47);
  for (int round = 0; round < 500; round++) {
    std::vector<uint64_t> storage(8);
    uint8_t* const bytes = (uint8_t*)storage.data();
    const uint32_t size = (uint32_t)(storage.size() * sizeof(uint64_t));
    const uint32_t one_in = 1 + random() % 40;
    for (uint32_t i = 0; i < size; i++) {
      bytes[i] = random() % one_in == 0 ? (uint8_t)(1 + random() % 255) : 0;
    }
    const uint32_t start = random() % size;
    const uint32_t end = start + random() % (size - start + 1);
    std::vector<uint32_t> expected;
    for (uint32_t i = start; i < end; i++) {
      if (bytes[i] != 0) {
        expected.push_back(i);
      }
    }
    EXPECT_EQ(LullSparseBytes::has_non_zero(bytes, start, end), !expected.empty());
    std::vector<uint32_t> found;
    LullSparseBytes::non_zero_do(bytes, start, end, [&](uint32_t i) { found.push_back(i); });
    EXPECT_EQ(found, expected) << start << " to " << end;
    // Who comes to a byte may clear it.
    found.clear();
    LullSparseBytes::non_zero_do(bytes, start, end, [&](uint32_t i) { found.push_back(i); bytes[i] = 0; });
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(LullSparseBytes::has_non_zero(bytes, start, end));
  }
}
