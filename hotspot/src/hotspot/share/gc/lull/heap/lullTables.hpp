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


#ifndef SHARE_GC_LULL_HEAP_LULLTABLES_HPP
#define SHARE_GC_LULL_HEAP_LULLTABLES_HPP

#include "memory/allStatic.hpp"
#include "oops/oopsHierarchy.hpp"

class LullBlockTable;
class LullCardTable;
class LullMarkBitMap;
class LullMemory;
class LullPublicMap;

// The tables of the heap, for barriers, closures and checks that meet an address of the heap and were given nothing
// else. Who is made with the tables has pointers of his own, and does not ask here.
//
// Set while the VM starts, before there is a second thread; the tables stay for as long as the VM runs.

class LullTables : public AllStatic {
private:
  static LullMemory*     _memory;
  static LullBlockTable* _blocks;
  static LullPublicMap*  _public_map;
  static LullCardTable*  _card_table;

public:
  static void initialize(LullMemory* memory, LullBlockTable* blocks);

  static LullMemory* memory()        { return _memory; }
  static LullBlockTable* blocks()    { return _blocks; }
  static LullPublicMap* public_map() { return _public_map; }
  static LullCardTable* card_table() { return _card_table; }    // nullptr without young collections
  static LullMarkBitMap* mark_bitmap();

  // Without tracking all objects are.
  static bool is_public(oop obj);

  // Was it public and alive at the last young or global collection? Only with young collections.
  static bool is_old(oop obj);
};

#endif // SHARE_GC_LULL_HEAP_LULLTABLES_HPP
