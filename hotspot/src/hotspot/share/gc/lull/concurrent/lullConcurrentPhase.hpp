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

#ifndef SHARE_GC_LULL_CONCURRENT_LULLCONCURRENTPHASE_HPP
#define SHARE_GC_LULL_CONCURRENT_LULLCONCURRENTPHASE_HPP

#include "gc/shared/gcId.hpp"
#include "memory/allocation.hpp"
#include "utilities/ticks.hpp"

// What a cycle does beside the program, for those who look on: its log lines have the number of the pause that began the
// cycle, and the flight recorder gets a jdk.GCPhaseConcurrent. By a thread that runs no pause.
class LullConcurrentPhase : public StackObj {
private:
  GCIdMark          _gc_id_mark;
  const char* const _name;
  const Ticks       _start;

public:
  LullConcurrentPhase(const char* name, uint gc_id);
  ~LullConcurrentPhase();
};

#endif // SHARE_GC_LULL_CONCURRENT_LULLCONCURRENTPHASE_HPP
