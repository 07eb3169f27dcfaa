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

#include "gc/lull/concurrent/lullPrefetchQueue.hpp"
#include "unittest.hpp"

#include <deque>
#include <random>

// A copy, because test macros take references to their arguments.
static const uint Capacity = LullPrefetchQueue<int>::Capacity;

TEST(LullPrefetchQueue, is_empty_at_first_and_full_at_its_capacity) {
  LullPrefetchQueue<int> queue;
  EXPECT_TRUE(queue.is_empty());
  for (uint i = 0; i < Capacity; i++) {
    EXPECT_FALSE(queue.is_full());
    queue.add((int)i);
    EXPECT_FALSE(queue.is_empty());
  }
  EXPECT_TRUE(queue.is_full());
}

TEST(LullPrefetchQueue, gives_back_in_order_whatever_is_added_between) {
  std::mt19937 random(20261122);
  for (int round = 0; round < 100; round++) {
    LullPrefetchQueue<int> queue;
    std::deque<int> model;
    for (int i = 0; i < 1000; i++) {
      if (!queue.is_full() && (queue.is_empty() || random() % 2 == 0)) {
        queue.add(i);
        model.push_back(i);
      } else {
        ASSERT_EQ(queue.take(), model.front()) << "round " << round << ", step " << i;
        model.pop_front();
      }
      ASSERT_EQ(queue.is_empty(), model.empty());
      ASSERT_EQ(queue.is_full(), model.size() == Capacity);
    }
  }
}
