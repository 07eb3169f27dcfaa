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

#ifndef SHARE_GC_LULL_PUBLISH_LULLVISITFRAMESMARK_HPP
#define SHARE_GC_LULL_PUBLISH_LULLVISITFRAMESMARK_HPP

#include "memory/allocation.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/handles.inline.hpp"
#include "utilities/preserveException.hpp"

// What StackWatermark does for the same reason: a thread visits its own frames at a place that is
// not a safepoint. Or a worker those of a thread that is stopped.
class LullVisitFramesMark : public StackObj {
private:
  ResetNoHandleMark     _reset_no_handle_mark;
  HandleMark            _handle_mark;
  PreserveExceptionMark _preserve_exception_mark;   // the pending exception is in a handle now
  ResourceMark          _resource_mark;

public:
  explicit LullVisitFramesMark(Thread* thread)
    : _reset_no_handle_mark(), _handle_mark(thread), _preserve_exception_mark(thread), _resource_mark(thread) {}
};

#endif // SHARE_GC_LULL_PUBLISH_LULLVISITFRAMESMARK_HPP
