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

#include "gc/lull/concurrent/lullCycle.hpp"
#include "gc/lull/concurrent/lullCycleMarks.inline.hpp"
#include "gc/lull/concurrent/lullFarMarker.hpp"
#include "gc/lull/heap/lullBlockTable.inline.hpp"
#include "gc/lull/heap/lullFarHeap.hpp"
#include "gc/lull/heap/lullLeftOut.hpp"
#include "gc/lull/heap/lullMarkBitMap.inline.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullObjectLayouts.hpp"
#include "gc/shared/suspendibleThreadSet.hpp"
#include "gc/shared/taskqueue.inline.hpp"
#include "logging/log.hpp"
#include "memory/allocation.inline.hpp"
#include "memory/metaspace.hpp"
#include "oops/compressedKlass.inline.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/oop.inline.hpp"
#include "oops/symbol.hpp"
#include "runtime/os.hpp"

// Heap words for which a word of a bitmap has bits.
static const size_t PerWord = BitsPerWord;

static const size_t WordsPerBlock = LullGeometry::WordsPerBlock / PerWord;

// Objects that servers list, looked at between two looks at whether a pause waits: each may have to be fetched.
static const size_t ListedPerLook = 8;

// Classes whose layouts are given at once, and objects that are read from a list at once.
static const size_t ClassesAtOnce = 1024;
static const size_t ListedAtOnce = 16 * K;

// Blocks whose dirty pages are sent before it is looked whether anybody waits: 32 MB.
static const size_t BlocksAtOnce = 1024;

// Servers that have not marked all after so long are given up.
static const jlong MostSeconds = 600;

// Cycles that are marked here after one in which a server has failed: so many for the first failure in a row, and
// twice as many for each more.
static const uint MostLeftOut = 64;

LullFarMarker::LullFarMarker(LullCycle* cycle, LullMemory* memory, LullBlockTable* blocks)
  : _cycle(cycle),
    _memory(memory),
    _blocks(blocks),
    _phase(Phase::Off),
    _left_out(0),
    _failures(0),
    _roots(1),
    _sent(0),
    _refused(nullptr),
    _takes_all(false),
    _caller(nullptr),
    _old(nullptr),
    _old_words(0),
    _begun(0) {}

const LullFarTracer* LullFarMarker::tracer() const { return LullFarHeap::tracer(); }

void LullFarMarker::begin() {
  assert_at_safepoint();
  assert(!is_on(), "a cycle before it is over");
  if (tracer() == nullptr || !LullObjectLayouts::is_possible() DEBUG_ONLY(|| LullMarkInRemark)) {
    return;
  }
  if (_left_out > 0) {
    _left_out--;
    return;
  }
  Atomic::store(&_phase, Phase::Marking);
}

void LullFarMarker::stop() {
  assert_at_safepoint();
  Atomic::store(&_phase, Phase::Off);
}

// While this thread has not joined, pauses may have ended this cycle, and begun another one.
bool LullFarMarker::is_current() const {
  return phase() == Phase::Marking && _cycle->begun() == _begun && _cycle->is_marking();
}

bool LullFarMarker::is_for_servers(oop obj) const {
  const size_t word = pointer_delta(cast_from_oop<HeapWord*>(obj), (HeapWord*)LullGeometry::heap_base());
  return _takes_all || (_old != nullptr && (_old[word / PerWord] >> (word % PerWord) & 1) != 0);
}

// Does what pauses have left; returns whether the cycle goes on. Not by this thread: only markers have lists for
// References.
bool LullFarMarker::drain() {
  _caller->_run_markers();
  SuspendibleThreadSetJoiner joiner;
  for (uint i = 0; i < _cycle->markers() && is_current(); i++) {
    _roots.appendAll(_cycle->marker(i)->for_servers());
    _cycle->marker(i)->for_servers()->clear();
  }
  return is_current();
}

bool LullFarMarker::send_roots() {
  const int count = _roots.length() - _sent;
  if (count > 0 && tracer()->_roots(_roots.adr_at(_sent), (size_t)count) != 0) {
    return false;
  }
  _sent += count;
  return true;
}

// Is there anything in the block that was old? What lies across it may begin in another one.
uint8_t LullFarMarker::is_wanted(size_t block) const {
  LullBlockIndex index = to_block_index(block);
  const LullBlock at = *_blocks->at(index);    // others change it meanwhile, but for what is old
  if (!at.is_committed() || at.is_free()) {
    return 0;
  }
  if (at.state() == LullBlockState::Archive) {
    return 1;
  }
  if (at.state() == LullBlockState::LargeTail) {
    // One that is being made now has perhaps no head yet, and is not old.
    index = at.large_head() < block ? to_block_index(at.large_head()) : index;
  } else if (at.has_lines() && _blocks->has_straddler(index)) {
    return 1;
  }
  const LullMarkBitMap* const old = _memory->mark_bitmap();
  HeapWord* const start = LullGeometry::start_of(index);
  HeapWord* const end = start + LullGeometry::WordsPerBlock;
  return old->get_next_marked_addr(start, end) < end ? 1 : 0;
}

// Of a granule that is committed: returns how many objects.
size_t LullFarMarker::copy_old(size_t granule, uint64_t* words, uint8_t* wanted) const {
  const size_t blocks = LullMemory::blocks_per_granule();
  const size_t first = granule * blocks * WordsPerBlock;
  size_t count = 0;
  for (size_t i = 0; i < blocks * WordsPerBlock; i++) {
    words[i] = _memory->mark_bitmap()->word_at(first + i) & ~_memory->cycle_bitmap()->word_at(first + i);
    count += population_count(words[i]);
  }
  for (size_t i = 0; i < blocks; i++) {
    wanted[i] = is_wanted(granule * blocks + i);
  }
  return count;
}

// In parts, for it may take long, and somebody may wait for this thread.
int64_t LullFarMarker::clean(const uint8_t* wanted, size_t blocks) {
  if (lull_is_left_out("FarClean")) {
    return 0;
  }
  int64_t pages = 0;
  for (size_t first = 0; first < blocks; first += BlocksAtOnce) {
    const int64_t count = tracer()->_clean(first, wanted + first, MIN2(blocks - first, BlocksAtOnce));
    _caller->_pass_breakpoint("AFTER PART CLEANED");
    SuspendibleThreadSetJoiner joiner;
    if (count < 0 || _caller->_should_stop() || !is_current()) {
      return -1;
    }
    pages += count;
  }
  return pages;
}

// What pauses have marked before the servers know what is old is all for them: the pages are cleaned afterwards.
bool LullFarMarker::send_old() {
  const size_t granules = _memory->granules();
  const size_t blocks = granules * LullMemory::blocks_per_granule();
  const size_t words_per_granule = LullMemory::blocks_per_granule() * WordsPerBlock;
  _old_words = blocks * WordsPerBlock;
  _old = MmapArrayAllocator<uint64_t>::allocate(_old_words, mtGC);
  _takes_all = true;
  const bool goes_on = drain();
  _takes_all = false;
  if (!goes_on) {
    return false;
  }
  if (tracer()->_begin(LullGeometry::heap_base(), blocks * LullGeometry::BlockSize, (uint64_t)CompressedOops::base(),
                       (uint32_t)CompressedOops::shift()) != 0) {
    return false;
  }
  uint8_t* const wanted = MmapArrayAllocator<uint8_t>::allocate(blocks, mtGC);
  size_t objects = 0;
  bool done = true;
  for (size_t granule = 0; granule < granules && done; granule++) {
    uint64_t* const words = _old + granule * words_per_granule;
    size_t count = 0;
    {
      SuspendibleThreadSetJoiner joiner;
      done = is_current();
      if (done && _memory->is_granule_committed(granule)) {
        count = copy_old(granule, words, wanted + granule * LullMemory::blocks_per_granule());
      }
    }
    done = done && (count == 0 || tracer()->_old(granule * words_per_granule, words, words_per_granule) == 0);
    objects += count;
  }
  const int64_t pages = done ? clean(wanted, blocks) : -1;
  MmapArrayAllocator<uint8_t>::free(wanted, blocks);
  log_debug(gc, marking)("Servers mark: %zu objects are old, %d were marked before; " INT64_FORMAT
                         " dirty pages were sent", objects, _roots.length(), pages);
  return pages >= 0;
}

// What a server asks for may be anything. Not Klass::is_valid, whose lock a thread may have that stands still in a
// pause, which waits for us.
static bool is_class(const Klass* klass) {
  return CompressedKlassPointers::is_encodable(klass) && os::is_readable_range(klass, klass + 1) &&
         Metaspace::contains(klass) && Symbol::is_valid(klass->name());
}

bool LullFarMarker::teach(const uint32_t* classes, size_t count) {
  LullObjectLayouts layouts(LullObjectLayouts::Chunks::AreListed);
  {
    SuspendibleThreadSetJoiner joiner;    // no class is unloaded meanwhile
    for (size_t i = 0; i < count; i++) {
      Klass* const klass = CompressedKlassPointers::decode_not_null_without_asserts((narrowKlass)classes[i]);
      if (!is_class(klass)) {
        _refused = "one has asked for a class that there is not";
        return false;
      }
      layouts.do_klass(klass);
    }
  }
  return tracer()->_layouts(layouts.bytes(), layouts.length()) == 0;
}

// The thread has joined. Mirrors are followed by servers, but these do not know how long they are which are listed.
bool LullFarMarker::look_at(const uint64_t* objects, size_t count) {
  LullCycleMarks* const marks = _cycle->marks();
  for (size_t i = 0; i < count; i++) {
    const size_t block = (size_t)(objects[i] - (uint64_t)LullGeometry::heap_base()) / LullGeometry::BlockSize;
    const oop obj = cast_to_oop(objects[i]);
    if (!is_committed(block) || !marks->is_old(obj)) {
      _refused = "one has listed what is no old object";
      return false;
    }
    marks->note(obj, obj->size());
    if (!obj->klass()->is_mirror_instance_klass()) {
      marks->par_mark(obj);
      _cycle->marker(0)->queue()->push(LullOldTask::of_again(obj));
    }
  }
  return true;
}

bool LullFarMarker::look_at_listed(bool* any) {
  uint64_t* const objects = NEW_C_HEAP_ARRAY(uint64_t, ListedAtOnce, mtGC);
  const int64_t count = tracer()->_listed(objects, ListedAtOnce);
  bool done = count >= 0;
  for (int64_t i = 0; i < count && done; i += ListedPerLook) {
    SuspendibleThreadSetJoiner joiner;
    done = is_current() && look_at(objects + i, MIN2((size_t)(count - i), ListedPerLook));
  }
  FREE_C_HEAP_ARRAY(uint64_t, objects);
  *any = count > 0;
  return done;
}

// Returns whether all is marked.
bool LullFarMarker::trace() {
  uint32_t classes[ClassesAtOnce];
  const jlong end_ns = os::javaTimeNanos() + MostSeconds * NANOSECS_PER_SEC;
  while (!_caller->_should_stop()) {
    if (os::javaTimeNanos() > end_ns) {
      _refused = "they have not ended in time";
      return false;
    }
    if (!drain() || !send_roots()) {
      return false;
    }
    size_t count = 0;
    const int progress = tracer()->_poll(classes, ClassesAtOnce, &count);
    if (progress == LullFarLayouts) {
      _caller->_pass_breakpoint("BEFORE LAYOUTS GIVEN");
      if (!teach(classes, count)) {
        return false;
      }
    } else if (progress == LullFarTracing) {
      os::naked_short_sleep(1);
    } else if (progress != LullFarTraced) {
      return false;
    } else {
      bool any;
      if (!look_at_listed(&any)) {
        return false;
      }
      SuspendibleThreadSetJoiner joiner;
      if (!any && is_current() && !_cycle->has_tasks()) {
        return true;
      }
    }
  }
  return false;
}

bool LullFarMarker::is_committed(size_t block) const {
  const size_t granule = block / LullMemory::blocks_per_granule();
  return granule < _memory->granules() && _memory->is_granule_committed(granule);
}

void LullFarMarker::visit_marks(void* marker, uint64_t first, const uint64_t* words, size_t count) {
  ((LullFarMarker*)marker)->add_marks(first, words, count);
}

void LullFarMarker::visit_lines(void* marker, uint64_t first, const uint64_t* words, size_t count) {
  ((LullFarMarker*)marker)->add_lines(first, words, count);
}

void LullFarMarker::visit_live(void* marker, uint64_t first, const uint64_t* words, size_t count) {
  ((LullFarMarker*)marker)->add_live(first, words, count);
}

// Nothing else than what servers were told, or given as a root, can be marked there.
void LullFarMarker::add_marks(uint64_t first, const uint64_t* words, size_t count) {
  SuspendibleThreadSetJoiner joiner;
  const LullMarkBitMap* const old = _memory->mark_bitmap();
  for (size_t i = 0; i < count && is_current(); i++) {
    const size_t index = (size_t)first + i;
    if (words[i] != 0 && is_committed(index / WordsPerBlock)) {
      _cycle->marks()->add_marks(index, words[i] & old->word_at(index));
    }
  }
}

void LullFarMarker::add_lines(uint64_t first, const uint64_t* words, size_t count) {
  SuspendibleThreadSetJoiner joiner;
  for (size_t i = 0; i < count && is_current(); i++) {
    for (uint64_t rest = words[i]; rest != 0; rest &= rest - 1) {
      const size_t line = ((size_t)first + i) * BitsPerLong + count_trailing_zeros(rest);
      if (is_committed(line / LullGeometry::LinesPerBlock)) {
        _cycle->marks()->add_line(to_line_index(line));
      }
    }
  }
}

void LullFarMarker::add_live(uint64_t first, const uint64_t* words, size_t count) {
  SuspendibleThreadSetJoiner joiner;
  const uint BlocksPerWord = 4;
  for (size_t i = 0; i < count && is_current(); i++) {
    for (uint j = 0; j < BlocksPerWord; j++) {
      const size_t live = words[i] >> (j * 16) & 0xffff;
      const size_t block = ((size_t)first + i) * BlocksPerWord + j;
      if (live != 0 && is_committed(block)) {
        _cycle->marks()->add_live(to_block_index(block), live);
      }
    }
  }
}

bool LullFarMarker::merge() {
  _caller->_pass_breakpoint("BEFORE MARKS MERGED");
  if (tracer()->_marks(visit_marks, this) != 0) {
    return false;
  }
  _caller->_pass_breakpoint("AFTER MARKS MERGED");
  return (lull_is_left_out("FarLines") || tracer()->_lines(visit_lines, this) == 0) &&
         tracer()->_live(visit_live, this) == 0;
}

void LullFarMarker::free_old() {
  if (_old != nullptr) {
    MmapArrayAllocator<uint64_t>::free(_old, _old_words);
    _old = nullptr;
  }
}

void LullFarMarker::tell(bool merged, bool is_harmed) const {
  if (merged) {
    log_info(gc, marking)("Memory servers have marked what was old: %d objects were marked here first",
                          _roots.length());
    return;
  }
  char failure[256] = "";
  tracer()->_failure(failure, sizeof(failure));
  log_warning(gc, marking)("Memory servers do not mark: %s. %s, and %u more are marked here",
                           _refused != nullptr ? _refused : failure,
                           is_harmed ? "This cycle is given up" : "This cycle", _left_out);
}

// If nothing was merged, markers begin anew, with all that servers were to begin with.
void LullFarMarker::end(bool merged, bool is_harmed, bool is_stopped) {
  SuspendibleThreadSetJoiner joiner;
  if (is_current()) {
    _failures = merged || is_stopped ? 0 : _failures + 1;
    _left_out = _failures == 0 ? 0 : MIN2(1u << MIN2(_failures - 1, 6u), MostLeftOut);
    Atomic::store(&_phase, is_harmed ? Phase::Failed : Phase::Off);
    if (!is_stopped) {
      tell(merged, is_harmed);
    }
    for (int i = 0; !merged && !is_harmed && i < _roots.length(); i++) {
      _cycle->marker(0)->queue()->push(LullOldTask::of_new(cast_to_oop(_roots.at(i))));
    }
  }
  _roots.clear_and_deallocate();
  _sent = 0;
}

void LullFarMarker::mark(const Caller* caller) {
  _caller = caller;
  _refused = nullptr;
  {
    SuspendibleThreadSetJoiner joiner;
    _begun = _cycle->begun();
    if (!is_current()) {
      return;
    }
  }
  const jlong start = os::javaTimeNanos();
  const bool is_traced = send_old() && trace();
  const bool merged = is_traced && merge();
  log_debug(gc, marking)("Servers have marked for %.3fms",
                         (double)(os::javaTimeNanos() - start) / NANOSECS_PER_MILLISEC);
  tracer()->_end();
  free_old();
  end(merged, is_traced && !merged, !is_traced && _caller->_should_stop());
}
