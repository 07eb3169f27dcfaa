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


#include "gc/lull/heap/lullBlockTable.hpp"
#include "gc/lull/heap/lullMarkBitMap.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/shared/gc_globals.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "oops/oop.hpp"
#include "utilities/debug.hpp"

LullMemory* LullTables::_memory = nullptr;
LullBlockTable* LullTables::_blocks = nullptr;
LullPublicMap* LullTables::_public_map = nullptr;
LullCardTable* LullTables::_card_table = nullptr;

void LullTables::initialize(LullMemory* memory, LullBlockTable* blocks) {
  assert(_memory == nullptr, "there is one heap");
  _memory = memory;
  _blocks = blocks;
  _public_map = memory->public_map();
  _card_table = memory->card_table();
}

LullMarkBitMap* LullTables::mark_bitmap() { return _memory->mark_bitmap(); }

bool LullTables::is_public(oop obj) {
  return !LullTracking || _public_map->is_public(obj);
}

bool LullTables::is_old(oop obj) {
  assert(LullYoungCollections, "marks mean nothing between collections");
  // While a young collection runs, survivors have marks.
  return mark_bitmap()->is_marked(obj) && is_public(obj) && !_blocks->has_survivors(LullGeometry::block_of(cast_from_oop<void*>(obj)));
}
