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

#ifndef GTEST_GC_LULL_UNIT_LULLTESTHEAPBASE_HPP
#define GTEST_GC_LULL_UNIT_LULLTESTHEAPBASE_HPP

#include "gc/lull/heap/lullGeometry.hpp"

// The heap base is a static of the VM's heap; a test without such a VM has its own while this lives, at an address that is never touched.
class LullTestHeapBase {
private:
  char* const _saved;

public:
  LullTestHeapBase() : _saved(LullGeometry::heap_base()) {
    // Beside a VM with this heap its own base stays: compiler threads look addresses up meanwhile.
    if (_saved == nullptr) {
      LullGeometry::initialize((char*)0x700000000);
    }
  }

  ~LullTestHeapBase() {
    if (_saved == nullptr) {
      LullGeometry::initialize(nullptr);
    }
  }
};

#endif // GTEST_GC_LULL_UNIT_LULLTESTHEAPBASE_HPP
