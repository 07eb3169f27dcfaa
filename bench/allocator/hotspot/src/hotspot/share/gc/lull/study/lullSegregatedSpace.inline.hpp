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

#ifndef SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_INLINE_HPP
#define SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_INLINE_HPP

#include "gc/lull/study/lullSegregatedSpace.hpp"

#include "gc/lull/alloc/lullRunTable.inline.hpp"
#include "utilities/debug.hpp"

#define LULL_SEGREGATED_SPACE(type)                                                                                    \
  template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing, typename Counters, typename Chunks>           \
  inline type LullSegregatedSpace<N, Search, Coalescing, Counters, Chunks>

template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing, typename Counters, typename Chunks>
inline LullSegregatedSpace<N, Search, Coalescing, Counters, Chunks>::LullSegregatedSpace(const Chunks& chunks, uint32_t words)
  : _chunks(chunks),
    _words(words),
    _free_words(0),
    _table(_chunks),
    _last_list_to_join(false) {
  assert(words >= MinWords && words <= MaxWords, "a space of %u words", words);
  add_batched(0, words);
  _table.rebuild();
}

LULL_SEGREGATED_SPACE(uint32_t)::allocate(uint32_t words) {
  assert(words >= MinWords, "%u words", words);
  const uint32_t list = _table.find_list(words);
  if (Coalescing == LullCoalescing::Deferred && list == Table::LastList && _last_list_to_join) {
    join_last_list();
  }
  const uint32_t start = _table.find_in_list(list, words);
  if (start == None) {
    return None;
  }
  _table.remove(start);
  uint32_t length = _chunks[start]._length;
  const uint32_t rest = length - words;
  if (rest >= MinWords) {
    LullRun& remainder = _chunks[start + words];
    remainder._start = start + words;
    remainder._length = rest;
    _table.add(start + words);
    length = words;
    counters().split();
  } else {
    counters().wasted(rest);
  }
  _free_words -= length;
  _chunks.make_object(start, length, words);
  return start;
}

LULL_SEGREGATED_SPACE(void)::mark(uint32_t object) {
  assert(_chunks.is_object(object), "there is no object at %u", object);
  _chunks.mark(object);
}

LULL_SEGREGATED_SPACE(void)::sweep() {
  if (Coalescing == LullCoalescing::Immediate) {
    sweep_and_join(true /* free dead */);
  } else {
    sweep_only();
  }
}

LULL_SEGREGATED_SPACE(void)::add_batched(uint32_t start, uint32_t length) {
  LullRun& chunk = _chunks[start];
  chunk._start = start;
  chunk._length = length;
  _free_words += length;
  _table.add_batched(start);
}

// Only what is newly free is listed; the lists are as they were otherwise.
LULL_SEGREGATED_SPACE(void)::sweep_only() {
  for (uint32_t word = 0; word < _words; ) {
    counters().swept_chunk();
    if (!_chunks.is_object(word)) {
      word += _chunks[word]._length;
      continue;
    }
    const uint32_t length = _chunks.length_of_object(word);
    if (_chunks.is_marked(word)) {
      _chunks.unmark(word);
    } else {
      counters().freed_chunk();
      _chunks.unmake_object(word);
      add_batched(word, length);
    }
    word += length;
  }
  _table.rebuild();
  _last_list_to_join = true;
}

// All lists are made anew, of maximal chunks. free_dead: objects that are not marked become free, and the
// others lose their marks; else objects stay as they are.
LULL_SEGREGATED_SPACE(void)::sweep_and_join(bool free_dead) {
  _table.clear();
  _free_words = 0;
  for (uint32_t word = 0; word < _words; ) {
    const uint32_t start = word;
    uint32_t end = start;
    while (end < _words) {
      uint32_t length;
      if (!_chunks.is_object(end)) {
        length = _chunks[end]._length;
      } else if (free_dead && !_chunks.is_marked(end)) {
        length = _chunks.length_of_object(end);
        _chunks.unmake_object(end);
        counters().freed_chunk();
      } else {
        break;
      }
      counters().swept_chunk();
      if (end > start) {
        counters().joined_chunk();
      }
      end += length;
    }
    if (end > start) {
      add_batched(start, end - start);
      word = end;
    } else {
      counters().swept_chunk();
      if (free_dead) {
        _chunks.unmark(word);
      }
      word += _chunks.length_of_object(word);
    }
  }
  _table.rebuild();
}

LULL_SEGREGATED_SPACE(bool)::coalesce() {
  if (Coalescing != LullCoalescing::Deferred) {
    return false;
  }
  sweep_and_join(false /* free dead */);
  _last_list_to_join = false;
  counters().joined_all();
  return true;
}

// A chunk takes those of the last list that follow it; where they are in the list does
// not matter, for each of them comes to take its followers, or has been taken.
LULL_SEGREGATED_SPACE(void)::join_last_list() {
  for (uint32_t id = _table.first_in_last_list(); id != None; id = _chunks[id]._next) {
    LullRun& chunk = _chunks[id];
    uint32_t follower = id + chunk._length;
    while (follower < _words && !_chunks.is_object(follower) && _chunks[follower]._length >= Table::LastList) {
      _table.remove(follower);
      chunk._length += _chunks[follower]._length;
      follower = id + chunk._length;
      counters().joined_chunk();
    }
    counters().passed_run();
  }
  _last_list_to_join = false;
}

LULL_SEGREGATED_SPACE(uint32_t)::longest_free() const {
  return _table.longest();
}

LULL_SEGREGATED_SPACE(const char*)::verify(bool maximal) const {
  const char* const error = _table.verify();
  if (error != nullptr) {
    return error;
  }
  uint32_t free_chunks = 0;
  uint32_t free_words = 0;
  bool after_free = false;
  for (uint32_t word = 0; word < _words; ) {
    const bool is_object = _chunks.is_object(word);
    if (!is_object && !_chunks.verify_free(word)) {
      return "a chunk is neither free nor an object";
    }
    const uint32_t length = is_object ? _chunks.length_of_object(word) : _chunks[word]._length;
    if (length < MinWords || length > _words - word) {
      return "a chunk is too short or too long";
    }
    if (!is_object) {
      if (maximal && after_free) {
        return "two free chunks touch each other";
      }
      free_chunks++;
      free_words += length;
    }
    after_free = !is_object;
    word += length;
  }
  if (free_chunks != _table.count()) {
    return "not all free chunks are listed";
  }
  if (free_words != _free_words) {
    return "the free words are not as many as were counted";
  }
  bool listed_are_free = true;
  _table.runs_do([&](const LullRun& chunk) {
    if (&_chunks[chunk._start] != &chunk) {
      listed_are_free = false;
    }
  });
  return listed_are_free ? nullptr : "a listed chunk is not free";
}

#undef LULL_SEGREGATED_SPACE

#endif // SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_INLINE_HPP
