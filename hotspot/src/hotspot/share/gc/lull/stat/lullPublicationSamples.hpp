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

#ifndef SHARE_GC_LULL_STAT_LULLPUBLICATIONSAMPLES_HPP
#define SHARE_GC_LULL_STAT_LULLPUBLICATIONSAMPLES_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class Klass;
class Method;

// Who publishes what: the samples of all threads, added up by the class of the object that
// was stored and by the place in the code that has stored it
// (-XX:LullPublicationSampling). Places are kept by name, so that classes can be unloaded.
//
// A lock of the lowest rank guards them: a thread may hold others, and reaches no
// safepoint.
class LullPublicationSamples : public AllStatic {
public:
  static void initialize();

  // A sample that stands for so many bytes published. No method: no Java code did it.
  static void add(const Klass* stored, const Method* method, int bci, size_t objects, size_t bytes);

  // Writes those that have published most to gc+publish, the first so many of them.
  static void log(size_t most);
};

#endif // SHARE_GC_LULL_STAT_LULLPUBLICATIONSAMPLES_HPP
