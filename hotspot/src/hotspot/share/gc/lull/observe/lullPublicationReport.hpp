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

#ifndef SHARE_GC_LULL_OBSERVE_LULLPUBLICATIONREPORT_HPP
#define SHARE_GC_LULL_OBSERVE_LULLPUBLICATIONREPORT_HPP

#include "memory/allStatic.hpp"
#include "utilities/globalDefinitions.hpp"

class LullMonitoring;
struct LullPublicationStatistics;

// What gc+publish says: after each collection and at the end a line of totals (info), and
// one for each thread (debug); who publishes most, at the end (info) and after each
// collection (debug).
class LullPublicationReport : public AllStatic {
private:
  // Places in the code to name.
  static const size_t SitesAfterCollection = 5;
  static const size_t SitesAtExit = 20;

  static void log_total(const LullPublicationStatistics& total);
  static void log_threads();

public:
  // After a collection, or at the end of the VM. Counters get the same totals. Nothing without tracking.
  static void report(LullMonitoring* monitoring, bool at_exit);
};

#endif // SHARE_GC_LULL_OBSERVE_LULLPUBLICATIONREPORT_HPP
