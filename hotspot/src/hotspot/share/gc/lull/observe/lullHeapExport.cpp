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

#include "classfile/classLoaderDataGraph.hpp"
#include "classfile/javaClasses.inline.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullMemory.hpp"
#include "gc/lull/heap/lullObjectLayouts.hpp"
#include "gc/lull/heap/lullProtection.inline.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/observe/lullHeapExport.hpp"
#include "gc/lull/observe/lullHeapWalker.hpp"
#include "gc/shared/collectedHeap.hpp"
#include "gc/shared/markBitMap.inline.hpp"
#include "memory/universe.hpp"
#include "oops/compressedOops.inline.hpp"
#include "oops/instanceKlass.inline.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.hpp"
#include "runtime/globals.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/thread.hpp"
#include "services/diagnosticCommand.hpp"
#include "utilities/growableArray.hpp"
#include "utilities/ostream.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// All that a trace must start from which follows strong references in objects only.
class LullExportRoots : public LullWalkVisitor {
public:
  GrowableArrayCHeap<u8, mtGC> _objects;

private:
  // Does the VM keep what this field refers to alive, though a trace does not follow it?
  static bool is_kept(const void* field, oop holder) {
    const Klass* const klass = holder->klass();
    if (!klass->is_instance_klass()) {
      return false;
    }
    if (klass->is_stack_chunk_instance_klass()) {
      return true;
    }
    if (!klass->is_reference_instance_klass() || field != java_lang_ref_Reference::referent_addr_raw(holder)) {
      return false;
    }
    const ReferenceType type = InstanceKlass::cast(klass)->reference_type();
    return type == REF_SOFT || type == REF_FINAL;
  }

public:
  LullExportRoots() : _objects(64 * K) {}

  void visit_root(const void* field, oop target, Thread* thread) override {
    _objects.append(cast_from_oop<u8>(target));
  }
  void visit_reference(const void* field, oop holder, oop target) override {
    if (is_kept(field, holder)) {
      _objects.append(cast_from_oop<u8>(target));
    }
  }
  void visit_object(oop obj) override {}
};

// The file, for its owner only: there is everything in it that the program knows. After an error it does nothing more.
class LullExportFile : public StackObj {
private:
  const char* const _name;
  FILE* const       _file;
  bool              _failed;

  static FILE* open(const char* name) {
    const int fd = os::open(name, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    return fd == -1 ? nullptr : os::fdopen(fd, "wb");
  }

public:
  explicit LullExportFile(const char* name) : _name(name), _file(open(name)), _failed(_file == nullptr) {}

  void write(const void* from, size_t bytes) {
    _failed = _failed || fwrite(from, 1, bytes, _file) != bytes;
  }
  // What is passed over reads as zeros.
  void seek(size_t offset) {
    _failed = _failed || fseek(_file, (long)offset, SEEK_SET) != 0;
  }
  // False, and no file, if anything has failed. errno says what.
  bool close() {
    const int error = errno;
    if (_file == nullptr) {
      return false;
    }
    if (fclose(_file) != 0) {
      _failed = true;
    } else {
      errno = error;
    }
    if (_failed) {
      ::remove(_name);
    }
    return !_failed;
  }
};

struct LullExportHead {
  char _magic[8];
  u8   _base;
  u8   _bytes;
  u8   _narrow_base;
  u8   _narrow_shift;
  u8   _layout_bytes;
  u8   _roots;
  u8   _marked;
  u8   _heap_offset;
  u8   _zero;
};

STATIC_ASSERT(sizeof(LullExportHead) == 80);

// What is asked for: set by a thread that then collects, and cleared at a safepoint.
struct LullExportRequest {
  const char* _name;
  char        _said[256];    // what came of it
};

static LullExportRequest* volatile request = nullptr;

void LullHeapExport::collect_and_export(const char* name, outputStream* output) {
  if (!LullObjectLayouts::is_possible()) {
    output->print_cr("The format knows compressed references, headers of 12 bytes, and objects aligned to 8 bytes only");
    return;
  }
  assert(Thread::current()->is_Java_thread(), "who asks waits for a pause");
  LullExportRequest mine = { name, "" };
  if (Atomic::cmpxchg(&request, (LullExportRequest*)nullptr, &mine) != nullptr) {
    output->print_cr("Another export is under way; try again");
    return;
  }
  // One that was asked for at the same time as another is left out.
  while (Atomic::load_acquire(&request) == &mine) {
    Universe::heap()->collect(GCCause::_dcmd_gc_run);
  }
  output->print_cr("%s: %s", name, mine._said);
}

void LullHeapExport::write_if_asked(LullMemory* memory, GCCause::Cause cause) {
  assert_at_safepoint();
  LullExportRequest* const asked = Atomic::load_acquire(&request);
  if (asked != nullptr && GCCause::is_user_requested_gc(cause)) {
    stringStream said(asked->_said, sizeof(asked->_said));
    write(memory, asked->_name, &said);
    Atomic::release_store(&request, (LullExportRequest*)nullptr);
  }
}

class LullExportHeapDCmd : public DCmdWithParser {
private:
  DCmdArgument<char*> _filename;

public:
  static int num_arguments() { return 1; }
  static const char* name() { return "GC.export_heap"; }
  static const char* description() {
    return "Collect, and write the heap, its roots, the layouts of its classes and the marks of the collection to a file, for lull-far-trace.";
  }
  static const char* impact() { return "High: A full collection, whose pause is as long as the heap takes to be written."; }

  LullExportHeapDCmd(outputStream* output, bool heap)
    : DCmdWithParser(output, heap),
      _filename("filename", "Name of the file, which must not be there yet", "STRING", true) {
    _dcmdparser.add_dcmd_argument(&_filename);
  }

  void execute(DCmdSource source, TRAPS) override {
    LullHeapExport::collect_and_export(_filename.value(), output());
  }
};

void LullHeapExport::register_command() {
  const uint32_t all = DCmd_Source_Internal | DCmd_Source_AttachAPI | DCmd_Source_MBean;
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LullExportHeapDCmd>(all, true /* enabled */, false /* hidden */));
}

// The marks of one granule, a bit for each 8 bytes. Returns how many.
static size_t copy_marks(const MarkBitMap* bitmap, HeapWord* start, HeapWord* end, u8* words) {
  size_t count = 0;
  for (HeapWord* addr = bitmap->get_next_marked_addr(start, end); addr < end; addr = bitmap->get_next_marked_addr(addr + 1, end)) {
    const size_t bit = pointer_delta(addr, start);
    words[bit / BitsPerLong] |= (u8)1 << (bit % BitsPerLong);
    count++;
  }
  return count;
}

void LullHeapExport::write(LullMemory* memory, const char* name, outputStream* output) {
  assert(Thread::current()->is_VM_thread(), "nobody else may take memory meanwhile");
  LullObjectLayouts layouts(LullObjectLayouts::Chunks::AreRoots);
  ClassLoaderDataGraph::classes_do(&layouts);
  LullExportRoots roots;
  {
    LullHeapWalker walker(memory, 1);
    if (!walker.is_possible()) {
      output->print("no memory to walk the heap");
      return;
    }
    walker.walk(0, &roots);
  }

  const size_t granule = LullMemory::granule_size();
  size_t granules = memory->granules();
  while (granules > 0 && !memory->is_granule_committed(granules - 1)) {
    granules--;
  }
  const size_t words = granules * granule / HeapWordSize / BitsPerLong;
  assert(granules == 0 || words % granules == 0, "a granule has whole words of marks");
  u8* const marks = NEW_C_HEAP_ARRAY_RETURN_NULL(u8, words, mtGC);
  if (marks == nullptr) {
    output->print("no memory for %zuK of marks", words * sizeof(u8) / K);
    return;
  }
  memset(marks, 0, words * sizeof(u8));
  size_t marked = 0;
  for (size_t i = 0; i < granules; i++) {
    if (memory->is_granule_committed(i)) {
      HeapWord* const start = (HeapWord*)(LullGeometry::heap_base() + i * granule);
      marked += copy_marks(memory->mark_bitmap(), start, start + granule / HeapWordSize, marks + i * (words / granules));
    }
  }

  const size_t after_marks = sizeof(LullExportHead) + layouts.length() + roots._objects.length() * sizeof(u8) + words * sizeof(u8);
  const size_t heap_offset = align_up(after_marks, 4 * K);
  const LullExportHead head = {
    { 'L', 'u', 'l', 'H', 'e', 'a', 'p', '1' },
    (u8)LullGeometry::heap_base(), granules * granule, (u8)CompressedOops::base(), (u8)CompressedOops::shift(),
    (u8)layouts.length(), (u8)roots._objects.length(), marked, heap_offset, 0
  };
  LullExportFile file(name);
  file.write(&head, sizeof(head));
  file.write(layouts.bytes(), layouts.length());
  file.write(roots._objects.adr_at(0), roots._objects.length() * sizeof(u8));
  file.write(marks, words * sizeof(u8));
  FREE_C_HEAP_ARRAY(u8, marks);
  LullProtection::allow_free(LullTables::blocks());
  for (size_t i = 0; i < granules; i++) {
    if (memory->is_granule_committed(i)) {
      file.seek(heap_offset + i * granule);
      file.write(LullGeometry::heap_base() + i * granule, granule);
    }
  }
  LullProtection::forbid_free(LullTables::blocks());
  if (file.close()) {
    output->print("exported %zuM, %zu classes, %d roots, %zu objects", granules * granule / M, layouts.count(),
                  roots._objects.length(), marked);
  } else {
    output->print("cannot be written: %s", os::strerror(errno));
  }
}
