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

#ifndef SHARE_GC_LULL_LULLREMOVEDFLAGS_HPP
#define SHARE_GC_LULL_LULLREMOVEDFLAGS_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

// Names that were flags of Lull and are none any more, or none of a release build. The VM refuses them as any unknown
// option; this adds what to do.
class LullRemovedFlags : public AllStatic {
public:
  // What to do in place of the flag whose name is these characters; nullptr: it never was one.
  static const char* advice(const char* name, size_t length);

  // Writes it to the error stream.
  static void explain(const char* name, size_t length);
};

#endif // SHARE_GC_LULL_LULLREMOVEDFLAGS_HPP
