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

#ifndef SHARE_GC_LULL_COLLECT_LULLCODETASKS_HPP
#define SHARE_GC_LULL_COLLECT_LULLCODETASKS_HPP

#include "gc/lull/collect/lullCodeUpdate.hpp"
#include "gc/shared/parallelCleaning.hpp"
#include "gc/shared/workerThread.hpp"
#include "runtime/atomic.hpp"

class BoolObjectClosure;
class LullBlockTable;
class LullCode;

// What a global collection does to compiled code and to classes, by all workers.

// Updates the references in all code, dead or alive. What is dead was not moved, and a
// reference to it stays as it is, and is noted.
class LullUpdateCodeTask : public WorkerTask {
private:
  const LullBlockTable* const _blocks;
  BoolObjectClosure* const    _is_alive;
  LullCodeUpdate              _code;
  volatile bool               _found_dead; // any worker writes true

public:
  LullUpdateCodeTask(const LullBlockTable* blocks, const LullCode* code, BoolObjectClosure* is_alive);
  void work(uint worker_id) override;

  // Does any code refer to a dead object?
  bool found_dead() const { return Atomic::load(&_found_dead); }
};

// Unlinks code that refers to dead objects or classes, then dead classes from those
// that stay.
class LullUnlinkTask : public WorkerTask {
private:
  const bool             _classes_unloaded;
  CodeCacheUnloadingTask _code;
  KlassCleaningTask      _classes;

public:
  LullUnlinkTask(uint workers, bool classes_unloaded);
  void work(uint worker_id) override;
};

#endif // SHARE_GC_LULL_COLLECT_LULLCODETASKS_HPP
