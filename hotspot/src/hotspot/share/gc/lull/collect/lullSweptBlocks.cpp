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

#include "gc/lull/collect/lullSweptBlocks.hpp"
#include "runtime/safepoint.hpp"

void LullSweptBlocks::take_off(LullBlockIndex index) {
  assert_at_safepoint();
  _supply->own_recyclable(index);
  _taken_off++;
}

void LullSweptBlocks::add_free(LullBlockIndex index, uint32_t blocks) {
  _freed += blocks;
  if (!_free.is_empty() && _free.last()._start + _free.last()._length == untype(index)) {
    _free.last()._length += blocks;
    return;
  }
  if (_free.length() == RunsAtOnce) {
    flush();
  }
  _free.append({untype(index), blocks});
}

void LullSweptBlocks::flush() {
  if (!_free.is_empty()) {
    _supply->free_runs(_free);
    _free.clear();
  }
}

static int by_address(uint32_t* a, uint32_t* b) {
  return *a < *b ? -1 : *a > *b ? 1 : 0;
}

size_t LullSweptBlocks::finish(LullBlockSupply* supply, LullSweptBlocks* const* swept, uint workers,
                               bool leaves_unswept) {
  GrowableArrayCHeap<uint32_t, mtGC> recyclable;
  size_t taken_off = 0;
  for (uint i = 0; i < workers; i++) {
    assert(swept[i]->_free.is_empty(), "all that is free is listed");
    recyclable.appendAll(&swept[i]->_recyclable);
    taken_off += swept[i]->_taken_off;
    supply->add_slack(swept[i]->_more_slack);
  }
  const size_t seen = taken_off == 0 ? 0 : supply->drop_owned();
  if (leaves_unswept) {
    supply->set_recyclable_unswept();
  }
  recyclable.sort(by_address);
  supply->add_recyclable_at_safepoint(recyclable);
  return seen;
}
