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

#ifndef SHARE_GC_LULL_LULLMARKWORKER_INLINE_HPP
#define SHARE_GC_LULL_LULLMARKWORKER_INLINE_HPP

#include "gc/lull/lullMarkWorker.hpp"

#include "gc/lull/lullBlockTable.inline.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "oops/access.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/prefetch.inline.hpp"

template <typename T>
inline void LullMarkWorker::mark_through(T* p) {
  const T heap_oop = RawAccess<>::oop_load(p);
  if (CompressedOops::is_null(heap_oop)) {
    return;
  }
  const oop obj = CompressedOops::decode_not_null(heap_oop);
  if (_evacuating && _blocks->is_evacuated(obj)) {
    const oop new_obj = evacuate(obj);
    if (new_obj != obj) {
      RawAccess<IS_NOT_NULL>::oop_store(p, new_obj);
    }
  } else if (_mark_bitmap->par_mark(obj)) {
    Prefetch::read(cast_from_oop<void*>(obj), 0);
    _queue.push(ScannerTask(obj));
  }
}

template <typename T>
inline void LullMarkClosure::do_oop_work(T* p) {
  _worker->mark_through(p);
}

inline void LullMarkClosure::do_oop(oop* p)       { do_oop_work(p); }
inline void LullMarkClosure::do_oop(narrowOop* p) { do_oop_work(p); }

#endif // SHARE_GC_LULL_LULLMARKWORKER_INLINE_HPP
