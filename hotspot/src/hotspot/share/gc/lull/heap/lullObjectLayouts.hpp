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

#ifndef SHARE_GC_LULL_HEAP_LULLOBJECTLAYOUTS_HPP
#define SHARE_GC_LULL_HEAP_LULLOBJECTLAYOUTS_HPP

#include "memory/iterator.hpp"
#include "utilities/growableArray.hpp"

class InstanceKlass;

// Where the objects of classes have their references, for those who trace them elsewhere: in the form of the frame
// LAYOUT of the far-memory protocol (docs/reference/far-memory-protocol.md), one behind the other. It knows
// compressed references and class pointers, headers of 12 bytes, and objects aligned to 8 bytes.
class LullObjectLayouts : public KlassClosure {
public:
  // Nobody else reads frames of stack chunks. What they refer to is among the roots; or they are listed as References
  // are, and somebody here looks at them.
  enum class Chunks { AreRoots, AreListed };

private:
  // As in the protocol.
  enum class Kind : u1 { Instance, Reference, Mirror, ObjArray, TypeArray };

  const Chunks                 _chunks;
  GrowableArrayCHeap<u1, mtGC> _bytes;
  size_t                       _count;

  void append(const void* number, size_t bytes);
  void append_u2(u2 number) { append(&number, sizeof(number)); }
  void append_u4(u4 number) { append(&number, sizeof(number)); }
  void append_head(const Klass* klass, Kind kind, uint blocks, size_t bytes, int a, int b, int c = 0);
  void append_block(int offset, uint count);
  void append_chunk(const InstanceKlass* klass, size_t bytes);
  void append_instance(const InstanceKlass* klass);

public:
  explicit LullObjectLayouts(Chunks chunks) : _chunks(chunks), _bytes(1 * K), _count(0) {}

  // Can the heap be described so?
  static bool is_possible();

  // Of interfaces, and of classes that are not loaded yet, there are no objects.
  void do_klass(Klass* klass) override;

  // So far.
  const u1* bytes()       { return _bytes.length() == 0 ? nullptr : _bytes.adr_at(0); }
  size_t length() const   { return (size_t)_bytes.length(); }
  size_t count() const    { return _count; }
};

#endif // SHARE_GC_LULL_HEAP_LULLOBJECTLAYOUTS_HPP
