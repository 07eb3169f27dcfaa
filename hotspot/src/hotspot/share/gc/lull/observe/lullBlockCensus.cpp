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
#include "gc/lull/observe/lullBlockCensus.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "runtime/interfaceSupport.inline.hpp"
#include "runtime/javaThread.hpp"
#include "runtime/threadSMR.hpp"
#include "utilities/ostream.hpp"

LullBlockCensus::LullBlockCensus(LullBlockTable* table, const LullPublicMap* map)
  : _blocks(table),
    _public_map(map),
    _public_owners(),
    _counts(),
    _free_lines(0),
    _slack_lines(0),
    _free_run(0),
    _longest_free_run(0) {}

void LullBlockCensus::find_public_owners() {
  for (JavaThreadIteratorWithHandle jtiwh; JavaThread* thread = jtiwh.next(); ) {
    if (LullThreadLocalData::is_public_mode(thread)) {
      _public_owners.put(LullThreadLocalData::owner(thread), true);
    }
  }
}

LullBlockCensus::Kind LullBlockCensus::kind_of(LullBlockIndex index, LullBlockState state) const {
  switch (state) {
    case LullBlockState::Free:
      return Kind::Free;
    case LullBlockState::LargeHead:
    case LullBlockState::LargeTail:
      return Kind::Large;
    case LullBlockState::Archive:
      return Kind::Archive;
    default:
      break;
  }
  const LullBlockTable::Owner owner = _blocks->owner(index);
  if (owner == LullBlockTable::NoOwner || _public_owners.contains(owner)) {
    return Kind::Public;
  }
  const uint32_t first = untype(LullGeometry::first_line(index));
  for (uint32_t line = first; line < first + LullGeometry::LinesPerBlock; line++) {
    if (_public_map->is_in_use(to_line_index(line))) {
      return Kind::Mixed;
    }
  }
  return Kind::Private;
}

void LullBlockCensus::count(uint32_t begin, uint32_t end) {
  assert(begin < end && end <= _blocks->limit(), "blocks %u to %u of %u", begin, end, _blocks->limit());
  for (uint32_t i = begin; i < end; i++) {
    const LullBlockIndex index = to_block_index(i);
    const LullBlockState state = _blocks->at(index)->state();
    if (state != LullBlockState::Uncommitted) {
      _counts[(int)kind_of(index, state)]++;
    }
    _slack_lines += _blocks->at(index)->slack_lines();
    if (state == LullBlockState::Recyclable) {
      _free_lines += _blocks->at(index)->free_lines().count();
    }
    _free_run = state == LullBlockState::Free ? _free_run + 1 : 0;
    _longest_free_run = MAX2(_longest_free_run, _free_run);
  }
}

// Memory is uncommitted, and its part of the map with it, at safepoints only, and none begins while a piece is counted.
void LullBlockCensus::take(JavaThread* current) {
  assert(current == Thread::current() && current->thread_state() == _thread_in_vm, "who counts holds up safepoints");
  find_public_owners();
  for (uint32_t begin = 0; begin < _blocks->limit(); begin += BlocksAtOnce) {
    count(begin, MIN2(begin + BlocksAtOnce, _blocks->limit()));
    ThreadBlockInVM safepoint_may_begin(current);
  }
}

void LullBlockCensus::print_states_on(outputStream* st, const LullBlockTable* table) {
  size_t blocks_in[(int)LullBlockState::Archive + 1] = {};
  size_t free_run = 0;
  size_t longest_free_run = 0;
  size_t large_slack = 0;
  size_t hole_slack = 0;
  for (uint32_t i = 0; i < table->limit(); i++) {
    const LullBlock* const block = table->at(to_block_index(i));
    const LullBlockState state = block->state();
    blocks_in[(int)state]++;
    (state == LullBlockState::LargeHead ? large_slack : hole_slack) += block->slack_lines();
    free_run = state == LullBlockState::Free ? free_run + 1 : 0;
    longest_free_run = MAX2(longest_free_run, free_run);
  }
  st->print("blocks of %zuK:", LullGeometry::BlockSize / K);
  for (int state = (int)LullBlockState::Free; state <= (int)LullBlockState::Archive; state++) {
    st->print(" %zu %s%s", blocks_in[state], to_string((LullBlockState)state),
              state < (int)LullBlockState::Archive ? "," : "");
  }
  st->cr();
  st->print_cr("longest free run: %zuK", longest_free_run * LullGeometry::BlockSize / K);
  st->print_cr("of what is used hold nothing: %zuK behind the ends of large objects, %zuK in holes that are too short",
               large_slack * LullGeometry::LineSize / K, hole_slack * LullGeometry::LineSize / K);
}
