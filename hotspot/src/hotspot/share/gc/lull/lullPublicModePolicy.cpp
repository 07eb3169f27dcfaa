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

#include "gc/lull/lullPublicModePolicy.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "prims/jvmtiExport.hpp"
#include "runtime/init.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/thread.hpp"

LullPublicModePolicy::LullPublicModePolicy()
  : _window_allocated(0),
    _window_words(0),
    _share(0.0f),
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
  if (!is_init_completed()) {
    return "the VM starts";
  }
  if (!thread->is_Java_thread() || thread->is_hidden_from_external_view()) {
    return "a thread of the VM";
  }
#if INCLUDE_JVMTI
  if (LullPublicForAgents && JvmtiExport::can_access_local_variables()) {
    return "a debugger is attached";
  }
#endif
  return nullptr;
}

void LullPublicModePolicy::entered(bool for_good) {
  _for_good |= for_good;
  _by_share = true;
  _waited = 0;
}

bool LullPublicModePolicy::wants_public_mode(Thread* thread, bool is_public, const LullPublicationStatistics& statistics,
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
    _window_allocated = statistics._allocated;
    _window_words = statistics._words;
    return false;
  }
  const size_t allocated = statistics._allocated - _window_allocated;
  if (allocated < LullPublicModeWindow) {
    return is_public;
  }
  const size_t published = (statistics._words - _window_words) * HeapWordSize;
  _window_allocated = statistics._allocated;
  _window_words = statistics._words;
  if (is_public) {
    if (++_waited < _wait) {
      return true;
    }
    _wait = MIN2(_wait * 2, MaxWait);
    *reason = "tries again";
    return false;
  }
  _share = (float)published / (float)allocated;
  if (published * 100 > allocated * LullPublicModePercent) {
    *reason = "much is published";
    _by_share = true;
    _waited = 0;
    return true;
  }
  // Private mode pays for this thread.
  _wait = LullPublicModeWindows;
  return false;
}
