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

#ifndef SHARE_GC_LULL_OBSERVE_LULLINFODCMD_HPP
#define SHARE_GC_LULL_OBSERVE_LULLINFODCMD_HPP

#include "services/diagnosticArgument.hpp"
#include "services/diagnosticFramework.hpp"
#include "utilities/globalDefinitions.hpp"

class LullCycle;
class LullMonitoring;
class LullTrackingSwitch;
struct LullPauses;

// jcmd PID Lull.info: the state of the collector at a glance, for people and scripts. One fact a line, "key: value unit";
// keys and units stay. There is no such command in a VM that runs another collector.
//
// No thread is stopped for it: counts are read while all go on, so that one may be a collection ahead of another.
class LullInfoDCmd : public DCmd {
private:
  // What it tells of. Set while the VM starts.
  static const LullMonitoring*     _monitoring;
  static const LullTrackingSwitch* _tracking_switch;
  static const LullCycle*          _cycle;    // nullptr without concurrent marking

  void line(const char* key, const char* format, ...) ATTRIBUTE_PRINTF(3, 4);
  void bytes(const char* key, size_t bytes);

  void print_vm();
  void print_flags();
  void print_heap(JavaThread* current);
  void print_far();
  void print_publication();
  void print_local();
  void print_threads();
  void print_marking();
  void print_pauses(const char* kind, const LullPauses& pauses);

public:
  LullInfoDCmd(outputStream* output, bool heap) : DCmd(output, heap) {}

  static const char* name()        { return "Lull.info"; }
  static const char* description() { return "Print the state of the Lull collector: flags, heap, publication, threads, collections."; }
  static const char* impact()      { return "Low: no thread is stopped."; }

  void execute(DCmdSource source, TRAPS) override;

  // At start-up, if the VM runs Lull.
  static void register_command(const LullMonitoring* monitoring, const LullTrackingSwitch* tracking_switch);
  static void set_cycle(const LullCycle* cycle) { _cycle = cycle; }
};

#endif // SHARE_GC_LULL_OBSERVE_LULLINFODCMD_HPP
