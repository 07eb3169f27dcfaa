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

#ifndef SHARE_GC_LULL_COLLECT_LULLCODEUPDATE_HPP
#define SHARE_GC_LULL_COLLECT_LULLCODEUPDATE_HPP

#include "memory/iterator.hpp"

class LullCode;

// Visits, and may update, the references of one method at a time.
class LullCodeClosure : public OopClosure {
private:
  bool _updated;

protected:
  LullCodeClosure() : _updated(false) {}

  void set_updated() { _updated = true; }

public:
  // Has any reference changed since this was asked last?
  bool take_updated();

  using OopClosure::do_oop;
  void do_oop(narrowOop* p) final { ShouldNotReachHere(); }   // code has none
};

// One walk over all code by all workers, who claim a few methods at a time. Instructions are patched only where a
// reference of the method has changed.
class LullCodeUpdate {
private:
  static const int MethodsPerClaim = 32;

  const LullCode* const _code;
  volatile int          _next;    // claimed by atomic add

public:
  explicit LullCodeUpdate(const LullCode* code) : _code(code), _next(0) {}

  // By each worker.
  void oops_do(LullCodeClosure* closure);
};

#endif // SHARE_GC_LULL_COLLECT_LULLCODEUPDATE_HPP
