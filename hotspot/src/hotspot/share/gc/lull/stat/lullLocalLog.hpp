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

#ifndef SHARE_GC_LULL_STAT_LULLLOCALLOG_HPP
#define SHARE_GC_LULL_STAT_LULLLOCALLOG_HPP

#include "memory/allStatic.hpp"

struct LullLocalStatistics;

// What -Xlog:gc says of local collections: they are too many for a line each, so there is one for those of some
// seconds, written by the thread whose collection is the first after that time. Where none are, there is no line.
class LullLocalLog : public AllStatic {
public:
  // Only with local collections; before the first one.
  static void initialize();

  // By the thread that has collected; several at once.
  static void add(const LullLocalStatistics& collection);

  // The VM ends: a line for those since the last one.
  static void log_rest();
};

#endif // SHARE_GC_LULL_STAT_LULLLOCALLOG_HPP
