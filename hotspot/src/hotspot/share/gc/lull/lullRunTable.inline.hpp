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

#ifndef SHARE_GC_LULL_LULLRUNTABLE_INLINE_HPP
#define SHARE_GC_LULL_LULLRUNTABLE_INLINE_HPP

#include "gc/lull/lullRunTable.hpp"

#include "utilities/debug.hpp"

template <uint32_t N>
inline LullRunTable<N>::LullRunTable(LullRun* runs)
  : _runs(runs) {
  static_assert(N >= 2 && N <= UINT16_MAX, "a list number is 16 bits wide");
  clear();
}

template <uint32_t N>
inline void LullRunTable<N>::clear() {
  _count = 0;
  for (uint32_t list = 0; list <= N; list++) {
    _heads[list] = None;
    _next_hit[list] = N;
  }
}

template <uint32_t N>
inline void LullRunTable<N>::link(uint32_t list, uint32_t id) {
  LullRun& run = _runs[id];
  run._prev = None;
  run._next = _heads[list];
  if (run._next != None) {
    _runs[run._next]._prev = id;
  }
  _heads[list] = id;
  _count++;
}

template <uint32_t N>
inline void LullRunTable<N>::unlink(uint32_t list, uint32_t id) {
  LullRun& run = _runs[id];
  if (run._prev != None) {
    _runs[run._prev]._next = run._next;
  } else {
    assert(_heads[list] == id, "run %u is not at the head of list %u", id, list);
    _heads[list] = run._next;
  }
  if (run._next != None) {
    _runs[run._next]._prev = run._prev;
  }
  _count--;
}

template <uint32_t N>
inline void LullRunTable<N>::list_became_non_empty(uint32_t list) {
  // Entries from here down to the next smaller non-empty list now hit this one.
  for (uint32_t s = list; s > 0 && !(s < list && _next_hit[s] == s); s--) {
    _next_hit[s] = (uint16_t)list;
  }
}

template <uint32_t N>
inline void LullRunTable<N>::list_became_empty(uint32_t list) {
  if (list == N) {
    return; // N also says that there is none
  }
  const uint16_t next = _next_hit[list + 1];
  for (uint32_t s = list; s > 0 && _next_hit[s] == list; s--) {
    _next_hit[s] = next;
  }
}

template <uint32_t N>
inline void LullRunTable<N>::add(uint32_t id) {
  assert(_runs[id]._length > 0, "run %u is empty", id);
  const uint32_t list = list_of(_runs[id]._length);
  const bool was_empty = _heads[list] == None;
  link(list, id);
  if (was_empty) {
    list_became_non_empty(list);
  }
}

template <uint32_t N>
inline void LullRunTable<N>::add_batched(uint32_t id) {
  assert(_runs[id]._length > 0, "run %u is empty", id);
  link(list_of(_runs[id]._length), id);
}

template <uint32_t N>
inline void LullRunTable<N>::rebuild() {
  uint16_t hit = N;
  for (uint32_t s = N; s > 0; s--) {
    if (_heads[s] != None) {
      hit = (uint16_t)s;
    }
    _next_hit[s] = hit;
  }
}

template <uint32_t N>
inline void LullRunTable<N>::remove(uint32_t id) {
  const uint32_t list = list_of(_runs[id]._length);
  unlink(list, id);
  if (_heads[list] == None) {
    list_became_empty(list);
  }
}

template <uint32_t N>
inline uint32_t LullRunTable<N>::best_fit_in_last_list(uint32_t length) const {
  uint32_t best = None;
  for (uint32_t id = _heads[N]; id != None; id = _runs[id]._next) {
    const uint32_t candidate = _runs[id]._length;
    if (candidate >= length && (best == None || candidate < _runs[best]._length)) {
      best = id;
      if (candidate == length) {
        break;
      }
    }
  }
  return best;
}

template <uint32_t N>
inline uint32_t LullRunTable<N>::find(uint32_t length) const {
  assert(length > 0, "no run is that short");
  if (length < N) {
    const uint32_t hit = _next_hit[length];
    if (hit < N) {
      return _heads[hit];
    }
  }
  return best_fit_in_last_list(length);
}

template <uint32_t N>
inline uint32_t LullRunTable<N>::longest() const {
  uint32_t longest = 0;
  if (_heads[N] != None) {
    for (uint32_t id = _heads[N]; id != None; id = _runs[id]._next) {
      longest = MAX2(longest, _runs[id]._length);
    }
    return longest;
  }
  for (uint32_t list = N - 1; list > 0; list--) {
    if (_heads[list] != None) {
      return list;
    }
  }
  return 0;
}

template <uint32_t N>
template <typename Function>
inline void LullRunTable<N>::runs_do(Function f) const {
  for (uint32_t list = 1; list <= N; list++) {
    for (uint32_t id = _heads[list]; id != None; id = _runs[id]._next) {
      f(_runs[id]);
    }
  }
}

template <uint32_t N>
inline const char* LullRunTable<N>::verify() const {
  uint32_t seen = 0;
  uint32_t above = N;
  for (uint32_t s = N; s > 0; s--) {
    if (_next_hit[s] < s) {
      return "a next hit is shorter than asked for";
    }
    if (_next_hit[s] > above) {
      return "the next hits are not in order";
    }
    if (s < N && (_next_hit[s] == s) != (_heads[s] != None)) {
      return "a next hit does not agree with its list";
    }
    above = _next_hit[s];
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
  }
  return seen == _count ? nullptr : "the lists hold fewer runs than were added";
}

#endif // SHARE_GC_LULL_LULLRUNTABLE_INLINE_HPP
