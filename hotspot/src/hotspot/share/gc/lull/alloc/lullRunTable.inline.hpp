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

#ifndef SHARE_GC_LULL_ALLOC_LULLRUNTABLE_INLINE_HPP
#define SHARE_GC_LULL_ALLOC_LULLRUNTABLE_INLINE_HPP

#include "gc/lull/alloc/lullRunTable.hpp"

#include "gc/lull/alloc/lullRunIndex.inline.hpp"
#include "utilities/debug.hpp"

#define LULL_RUN_TABLE(type)                                                      \
  template <uint32_t N, LullRunSearch Search, typename Counters, typename Runs>   \
  inline type LullRunTable<N, Search, Counters, Runs>

template <uint32_t N, LullRunSearch Search, typename Counters, typename Runs>
inline LullRunTable<N, Search, Counters, Runs>::LullRunTable(Runs runs)
  : _runs(runs) {
  static_assert(N >= 2, "there are lists of one length");
  clear();
}

LULL_RUN_TABLE(void)::clear() {
  _count = 0;
  for (uint32_t list = 0; list <= LastList; list++) {
    _heads[list] = None;
  }
  _index.clear();
}

LULL_RUN_TABLE(void)::link(uint32_t list, uint32_t id) {
  LullRun& run = _runs[id];
  if (FirstFit) {
    run._next = None;
    run._prev = _heads[0];
    if (run._prev != None) {
      _runs[run._prev]._next = id;
    } else {
      _heads[list] = id;
    }
    _heads[0] = id;
  } else {
    run._prev = None;
    run._next = _heads[list];
    if (run._next != None) {
      _runs[run._next]._prev = id;
    }
    _heads[list] = id;
  }
  _count++;
}

LULL_RUN_TABLE(void)::unlink(uint32_t list, uint32_t id) {
  LullRun& run = _runs[id];
  if (run._prev != None) {
    _runs[run._prev]._next = run._next;
  } else {
    assert(_heads[list] == id, "run %u is not at the head of list %u", id, list);
    _heads[list] = run._next;
  }
  if (run._next != None) {
    _runs[run._next]._prev = run._prev;
  } else if (FirstFit) {
    _heads[0] = run._prev;
  }
  _count--;
}

LULL_RUN_TABLE(void)::add(uint32_t id) {
  assert(_runs[id]._length > 0, "run %u is empty", id);
  const uint32_t list = list_of(_runs[id]._length);
  const bool was_empty = _heads[list] == None;
  link(list, id);
  if (was_empty && list != LastList) {
    _index.became_non_empty(list, counters());
  }
}

LULL_RUN_TABLE(void)::add_batched(uint32_t id) {
  assert(_runs[id]._length > 0, "run %u is empty", id);
  link(list_of(_runs[id]._length), id);
}

LULL_RUN_TABLE(void)::rebuild() {
  _index.rebuild(_heads, counters());
}

LULL_RUN_TABLE(void)::remove(uint32_t id) {
  const uint32_t list = list_of(_runs[id]._length);
  unlink(list, id);
  if (_heads[list] == None && list != LastList) {
    _index.became_empty(list, counters());
  }
}

LULL_RUN_TABLE(uint32_t)::best_fit_in_last_list(uint32_t length) const {
  uint32_t best = None;
  for (uint32_t id = _heads[LastList]; id != None; id = _runs[id]._next) {
    const uint32_t candidate = _runs[id]._length;
    if (candidate >= length && (best == None || candidate < _runs[best]._length)) {
      best = id;
      if (candidate == length) {
        break;
      }
    }
    counters().passed_run();
  }
  return best;
}

LULL_RUN_TABLE(uint32_t)::first_fit_in_last_list(uint32_t length) const {
  uint32_t id = _heads[LastList];
  while (id != None && _runs[id]._length < length) {
    id = _runs[id]._next;
    counters().passed_run();
  }
  return id;
}

LULL_RUN_TABLE(uint32_t)::find_list(uint32_t length) const {
  assert(length > 0, "no run is that short");
  counters().looked_up();
  return length < LastList ? _index.first_non_empty(length, _heads, counters()) : LastList;
}

LULL_RUN_TABLE(uint32_t)::find_in_list(uint32_t list, uint32_t length) const {
  if (list < LastList) {
    return _heads[list];
  }
  return FirstFit ? first_fit_in_last_list(length) : best_fit_in_last_list(length);
}

LULL_RUN_TABLE(uint32_t)::find(uint32_t length) const {
  return find_in_list(find_list(length), length);
}

LULL_RUN_TABLE(uint32_t)::longest() const {
  uint32_t longest = 0;
  if (_heads[LastList] != None) {
    for (uint32_t id = _heads[LastList]; id != None; id = _runs[id]._next) {
      longest = MAX2(longest, _runs[id]._length);
    }
    return longest;
  }
  for (uint32_t list = LastList - 1; list > 0; list--) {
    if (_heads[list] != None) {
      return list;
    }
  }
  return 0;
}

template <uint32_t N, LullRunSearch Search, typename Counters, typename Runs>
template <typename Function>
inline void LullRunTable<N, Search, Counters, Runs>::runs_do(Function f) const {
  for (uint32_t list = 1; list <= LastList; list++) {
    for (uint32_t id = _heads[list]; id != None; id = _runs[id]._next) {
      f(_runs[id]);
    }
  }
}

LULL_RUN_TABLE(const char*)::verify() const {
  const char* const error = _index.verify(_heads);
  if (error != nullptr) {
    return error;
  }
  uint32_t seen = 0;
  for (uint32_t s = LastList; s > 0; s--) {
    uint32_t prev = None;
    for (uint32_t id = _heads[s]; id != None; id = _runs[id]._next) {
      if (list_of(_runs[id]._length) != s) {
        return "a run is in the list of another length";
      }
      if (_runs[id]._prev != prev) {
        return "a list is not linked both ways";
      }
      prev = id;
      if (++seen > _count) {
        return "the lists hold more runs than were added";
      }
    }
    if (FirstFit && _heads[0] != prev) {
      return "the end of the list is not its last run";
    }
  }
  return seen == _count ? nullptr : "the lists hold fewer runs than were added";
}

#undef LULL_RUN_TABLE

#endif // SHARE_GC_LULL_ALLOC_LULLRUNTABLE_INLINE_HPP
