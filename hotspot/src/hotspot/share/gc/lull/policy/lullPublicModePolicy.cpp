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
#include "runtime/init.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/thread.hpp"

LullPublicModePolicy::LullPublicModePolicy()
  : _window_allocated(0),
    _window_words(0),
    _local_allocated(0),
    _local_freed(0),
    _local_published(0),
    _share(0.0f),
    _is_settled(true),
    _has_paid(true),
    _entered_ends(0),
    _wait(LullPublicModeWindows),
    _waited(0),
    _for_good(false),
    _by_share(false) {}

const char* LullPublicModePolicy::forced(Thread* thread) const {
  if (LullAlwaysPublic) {
    return "by flag";
  }
  if (_for_good) {
    return "for good";
  }
  if (LullPublicMap::is_tracking_suspended()) {
    return "tracking is suspended";
  }
  if (!is_init_completed()) {
    return "the VM starts";
  }
  if (!thread->is_Java_thread() || thread->is_hidden_from_external_view()) {
    return "a thread of the VM";
  }
  return nullptr;
}

// Once for each time that it has paid: a thread that publishes much is judged, however many collections there are.
void LullPublicModePolicy::private_objects_lost(const Statistics& statistics) {
  if (_has_paid) {
    _has_paid = false;
    enter_private_mode(statistics);
  }
}

void LullPublicModePolicy::entered(bool for_good) {
  _for_good |= for_good;
  _by_share = true;
  _waited = 0;
}

bool LullPublicModePolicy::wants_public_mode(Thread* thread, bool is_public, const Statistics& statistics,
                                             const char** reason) {
  *reason = forced(thread);
  if (*reason != nullptr) {
    _by_share = false;
    return true;
  }
#ifdef ASSERT
  if (LullFlipModeALot > 0 && ++_waited % LullFlipModeALot == 0) {
    *reason = "stress";
    return !is_public;
  }
#endif
  if (is_public && !_by_share) {
    *reason = "no longer forced";
    enter_private_mode(statistics);
    return false;
  }
  if (is_public) {
    if (statistics._publication._allocated - _window_allocated < LullPublicModeWindow) {
      return true;
    }
    begin_share_window(statistics._publication);
    if (++_waited < _wait) {
      return true;
    }
    _wait = MIN2(_wait * 2, MaxWait);
    *reason = "tries again";
    enter_private_mode(statistics);
    return false;
  }
  if (!is_settled(statistics)) {
    return false;
  }
  const Verdict by_share = judge_share(statistics._publication);
  const Verdict by_local_collections = judge_local_collections(statistics._local);
  if (by_share == Verdict::PaysNot || by_local_collections == Verdict::PaysNot) {
    *reason = by_share == Verdict::PaysNot ? "much is published" : "local collections free little";
    _by_share = true;
    _waited = 0;
    return true;
  }
  // Private mode pays for this thread.
  if ((LullLocalCollections ? by_local_collections : by_share) == Verdict::Pays) {
    _wait = LullPublicModeWindows;
    _has_paid = true;
  }
  return false;
}

// Requests, or parts of them, that the thread has ended.
static size_t ends(const LullLocalStatistics* local) {
  return local == nullptr ? 0 : local->_before_wait + local->_requests;
}

void LullPublicModePolicy::enter_private_mode(const Statistics& statistics) {
  begin_share_window(statistics._publication);
  begin_local_window(statistics._local);
  _is_settled = !LullLocalCollections;
  _entered_ends = ends(statistics._local);
}

bool LullPublicModePolicy::is_settled(const Statistics& statistics) {
  if (!_is_settled &&
      (ends(statistics._local) != _entered_ends ||
       statistics._publication._allocated - _window_allocated >= WindowsToSettle * LullPublicModeWindow)) {
    _is_settled = true;
    begin_share_window(statistics._publication);
    begin_local_window(statistics._local);
  }
  return _is_settled;
}

void LullPublicModePolicy::begin_share_window(const LullPublicationStatistics& statistics) {
  assert(statistics._allocated >= _window_allocated && statistics._words >= _window_words, "a thread's counts do not fall");
  _window_allocated = statistics._allocated;
  _window_words = statistics._words;
}

void LullPublicModePolicy::begin_local_window(const LullLocalStatistics* local) {
  if (local != nullptr) {
    assert(local->_judged_allocated >= _local_allocated && local->_freed >= _local_freed &&
           local->_judged_published >= _local_published, "a thread's counts do not fall");
    _local_allocated = local->_judged_allocated;
    _local_freed = local->_freed;
    _local_published = local->_judged_published;
  }
}

LullPublicModePolicy::Verdict LullPublicModePolicy::judge_share(const LullPublicationStatistics& statistics) {
  const size_t allocated = statistics._allocated - _window_allocated;
  if (allocated < LullPublicModeWindow) {
    return Verdict::NotYet;
  }
  const size_t published = (statistics._words - _window_words) * HeapWordSize;
  begin_share_window(statistics);
  _share = (float)published / (float)allocated;
  return !LullAlwaysPrivate && published * 100 > allocated * MostPublishedPercent ? Verdict::PaysNot : Verdict::Pays;
}

// By what was allocated up to the last local collection: a request that is longer than a window has
// freed nothing yet. And after the last pause, which has freed all that was garbage then.
LullPublicModePolicy::Verdict LullPublicModePolicy::judge_local_collections(const LullLocalStatistics* local) {
  if (local == nullptr || LullAlwaysPrivate || local->_judged_allocated - _local_allocated < LullPublicModeWindow) {
    return Verdict::NotYet;
  }
  const size_t freed = local->_freed - _local_freed;
  const size_t published = local->_judged_published - _local_published;
  begin_local_window(local);
  return freed < FreedPerPublished * published ? Verdict::PaysNot : Verdict::Pays;
}
