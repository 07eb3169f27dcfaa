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

#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/policy/lullPublicModePolicy.hpp"
#include "gc/lull/stat/lullLocalStatistics.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/javaThread.hpp"
#include "unittest.hpp"

// A thread in private mode, a window at a time.
class LullPublicModePolicyTest : public ::testing::Test {
protected:
  LullPublicModePolicy      _policy;
  LullPublicationStatistics _publication;
  LullLocalStatistics       _local;

  static bool is_by_flag() { return !UseLullGC || LullAlwaysPublic || LullAlwaysPrivate DEBUG_ONLY(|| LullFlipModeALot > 0); }

  LullPublicModePolicy::Statistics statistics() { return {_publication, &_local}; }

  // Does it want public mode after a window of which such a share is published?
  bool after_window(size_t percent) {
    _publication._allocated += LullPublicModeWindow;
    _publication._words += LullPublicModeWindow / 100 * percent / HeapWordSize;
    const char* reason = nullptr;
    return _policy.wants_public_mode(JavaThread::current(), false /* is public */, statistics(), &reason);
  }

  // All that it has allocated is garbage, and it waits.
  void end_request() {
    _local._before_wait++;
    _local._judged_allocated = _publication._allocated;
    _local._freed = _publication._allocated;
  }
};

TEST_VM_F(LullPublicModePolicyTest, who_publishes_much_is_in_public_mode) {
  if (is_by_flag() || LullPublicMap::is_tracking_suspended()) {
    return;
  }
  EXPECT_FALSE(after_window(10));
  EXPECT_TRUE(after_window(60));
}

// What the request stores goes into objects that the collection has made public.
TEST_VM_F(LullPublicModePolicyTest, a_request_that_has_lost_its_private_objects_is_not_judged) {
  if (is_by_flag() || LullPublicMap::is_tracking_suspended()) {
    return;
  }
  EXPECT_FALSE(after_window(10));
  _policy.private_objects_lost(statistics());
  for (int i = 0; i < 8; i++) {
    EXPECT_FALSE(after_window(60)) << i;
  }
  end_request();
  EXPECT_FALSE(after_window(60)) << "the window before was not its own";
  EXPECT_TRUE(after_window(60));
}

TEST_VM_F(LullPublicModePolicyTest, a_thread_that_never_waits_is_judged_however_many_collections_there_are) {
  if (is_by_flag() || LullPublicMap::is_tracking_suspended()) {
    return;
  }
  bool is_public = false;
  for (int i = 0; i < 64 && !is_public; i++) {
    _policy.private_objects_lost(statistics());
    is_public = after_window(60);
  }
  EXPECT_TRUE(is_public);
}
