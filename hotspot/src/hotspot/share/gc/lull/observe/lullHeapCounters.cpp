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

#include "gc/lull/observe/lullHeapCounters.hpp"
#include "gc/lull/observe/lullHeapParts.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/generationCounters.hpp"
#include "gc/shared/hSpaceCounters.hpp"

LullHeapCounters::LullHeapCounters(const LullHeapParts& parts)
  : _new_generation(new GenerationCounters("young", 0, 1, MinHeapSize, 0 /* no maximum */, parts.room_for_new())),
    _old_generation(new GenerationCounters("old", 1, 1, 0, MaxHeapSize, parts.old_used())),
    _new_space(new HSpaceCounters(_new_generation->name_space(), "eden", 0, MaxHeapSize, parts.room_for_new())),
    _old_space(new HSpaceCounters(_old_generation->name_space(), "old", 0, MaxHeapSize, parts.committed())) {}

void LullHeapCounters::update(const LullHeapParts& parts) {
  _new_generation->update_all(parts.room_for_new());
  _old_generation->update_all(parts.old_used());
  _new_space->update_all(parts.room_for_new(), parts.new_used());
  _old_space->update_all(parts.committed(), parts.old_used());
}
