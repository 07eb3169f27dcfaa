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

#ifndef SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_HPP
#define SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_HPP

#include "gc/lull/alloc/lullRunTable.hpp"
#include "utilities/globalDefinitions.hpp"

// When free chunks that touch each other become one (thesis of 2005, section 2.4.3).
enum class LullCoalescing {
  Never,      // a dead object goes back to the list of its length
  Deferred,   // the same; chunks of the last list are joined before it is searched, and
              // all chunks when an allocation has failed even after a collection
  Immediate   // the sweep joins them, and so lists maximal chunks only
};

// Where the chunks of a segregated space keep what is known of them: this one in the chunks, those
// of objects too, as an allocator with headers of its own does. Words are numbered from 0, and a
// word that is asked about is the first one of a chunk.
//
//   operator[]                      the LullRun of a free chunk
//   is_object(word)                 else the chunk is free
//   length_of_object(word)          of its chunk, with the word that was too short for a chunk
//   make_object(word, length, words) of words words, in a chunk of length words
//   unmake_object(word)             before it becomes free, or a part of a free chunk
//   is_marked(word), unmark(word)   of an object: has a collection found it alive?
//   verify_free(word)               does a chunk that is no object say that it is free?
//
// _start of a chunk is its own first word: free; Allocated: an object; Marked: one that a collection
// has found alive.
class LullChunks {
private:
  static const uint32_t Allocated = UINT32_MAX;
  static const uint32_t Marked    = UINT32_MAX - 1;

  HeapWord* const _bottom;

public:
  explicit LullChunks(HeapWord* bottom) : _bottom(bottom) {}

  LullRun& operator[](uint32_t word) const { return *reinterpret_cast<LullRun*>(_bottom + word); }

  bool is_object(uint32_t word) const            { return (*this)[word]._start >= Marked; }
  bool is_marked(uint32_t word) const            { return (*this)[word]._start == Marked; }
  uint32_t length_of_object(uint32_t word) const { return (*this)[word]._length; }

  void make_object(uint32_t word, uint32_t length, uint32_t words) const {
    (*this)[word]._start = Allocated;
    (*this)[word]._length = length;
  }

  void unmake_object(uint32_t word) const {}
  void mark(uint32_t word) const                 { (*this)[word]._start = Marked; }
  void unmark(uint32_t word) const               { (*this)[word]._start = Allocated; }
  bool verify_free(uint32_t word) const          { return (*this)[word]._start == word; }
};

// A whole heap, not moving, allocated from free lists alone and swept by a mark-sweep
// collection: the heap of the thesis, for the study of searches and coalescing. The collector uses it
// for that only (-XX:LullAllocation=segregated).
//
//   | object | free chunk | object | object | free | ...      chunks tile the space
//
// An object is known by its first word. One collection is a mark of each live object and one sweep().
// Not synchronized.

template <uint32_t N, LullRunSearch Search, LullCoalescing Coalescing, typename Counters = LullNoRunCounters,
          typename Chunks = LullChunks>
class LullSegregatedSpace {
public:
  typedef LullRunTable<N, Search, Counters, Chunks> Table;

  static const uint32_t None = UINT32_MAX;

  // The shortest chunk, in words: a free one holds a LullRun.
  static const uint32_t MinWords = sizeof(LullRun) / sizeof(HeapWord);

  // The largest space, in words.
  static const uint32_t MaxWords = UINT32_MAX - 2;

private:
  const Chunks   _chunks;
  const uint32_t _words;
  uint32_t       _free_words;
  Table          _table;
  bool           _last_list_to_join;    // Deferred: a sweep has added to the last list

  void add_batched(uint32_t start, uint32_t length);
  void sweep_and_join(bool free_dead);
  void sweep_only();
  void join_last_list();

public:
  // All of the space, which has words words (MinWords to MaxWords) and no object, becomes one free
  // chunk.
  LullSegregatedSpace(const Chunks& chunks, uint32_t words);

  // The first word of a new object of words words (at least MinWords), None if no free
  // chunk is long enough.
  uint32_t allocate(uint32_t words);

  // A live object, before the sweep; only with Chunks that have a mark().
  void mark(uint32_t object);

  // Frees the objects that are not marked, and takes the marks off the others.
  void sweep();

  // For an allocation that has failed after a collection: joins all free chunks that touch
  // each other, if that is the policy. Returns false if it is not: there is no point in
  // another attempt.
  bool coalesce();

  uint32_t words() const { return _words; }
  uint32_t length_of(uint32_t object) const { return _chunks.length_of_object(object); }
  const Table& table() const { return _table; }
  const Counters& counters() const { return _table.counters(); }

  uint32_t free_words() const { return _free_words; }

  // Looks at all free chunks.
  uint32_t longest_free() const;

  // Returns nullptr, or what is wrong. Looks at all chunks. maximal: no two free chunks
  // may touch each other, as after the sweep of Immediate.
  const char* verify(bool maximal = false) const;
};

#endif // SHARE_GC_LULL_STUDY_LULLSEGREGATEDSPACE_HPP
