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

#ifndef SHARE_GC_LULL_LULLFOREIGNFLAGS_HPP
#define SHARE_GC_LULL_LULLFOREIGNFLAGS_HPP

#include "memory/allStatic.hpp"

// Flags of other collectors. Start scripts of servers set them for G1, and go on to work: the VM takes them all. The log
// says which of them change nothing, so that nobody tunes what is not there.
class LullForeignFlags : public AllStatic {
public:
  // One line of -Xlog:gc, if any was given on the command line. After all flags have been set.
  static void log();
};

#endif // SHARE_GC_LULL_LULLFOREIGNFLAGS_HPP
