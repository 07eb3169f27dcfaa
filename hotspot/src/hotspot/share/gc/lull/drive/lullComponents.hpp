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

#ifndef SHARE_GC_LULL_DRIVE_LULLCOMPONENTS_HPP
#define SHARE_GC_LULL_DRIVE_LULLCOMPONENTS_HPP

#include "utilities/globalDefinitions.hpp"

class CollectedHeap;
class LullBlockSupply;
class LullBlockTable;
class LullCode;
class LullCollector;
class LullControlThread;
class LullCycle;
class LullDriver;
class LullEvacuationPolicy;
class LullHeapSizer;
class LullMemory;
class LullMonitoring;
class LullPause;
class LullTrackingSwitch;
class LullYoungPolicy;
class LullYoungSchedule;
class WorkerThreads;

// What the heap is made of, one of each. LullHeap makes them while the VM starts, and none is replaced while it runs.
// What happens around a pause needs nearly all of them: so they are handed over together.
struct LullComponents {
  CollectedHeap*        _heap;              // what HotSpot counts of it, and its size
  LullMemory*           _memory;
  LullBlockTable*       _blocks;
  LullBlockSupply*      _supply;
  LullEvacuationPolicy* _evacuation_policy;
  WorkerThreads*        _workers;
  LullCode*             _code;
  LullHeapSizer*        _sizer;
  LullYoungPolicy*      _young_policy;
  LullYoungSchedule*    _young_schedule;
  LullTrackingSwitch*   _tracking_switch;
  LullMonitoring*       _monitoring;
  LullCycle*            _cycle;             // nullptr without concurrent marking
  LullCollector*        _collector;
  LullPause*            _pause;
  LullDriver*           _driver;
  LullControlThread*    _control_thread;    // the last one: nullptr until all others are there
};

#endif // SHARE_GC_LULL_DRIVE_LULLCOMPONENTS_HPP
