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

#include "code/codeCache.hpp"
#include "code/nmethod.hpp"
#include "code/relocInfo.hpp"
#include "gc/lull/collect/lullCode.hpp"
#include "memory/iterator.hpp"
#include "memory/universe.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/safepoint.hpp"

LullCode::LullCode()
  : _methods(),
    _in_instructions(),
    _index(1009, 307261) {}

LullCode::Method LullCode::scan(nmethod* nm) {
  Method method = { nm, _in_instructions.length(), 0 };
  if (relocInfo::mustIterateImmediateOopsInCode()) {
    RelocIterator iter(nm, nm->verified_entry_point());
    while (iter.next()) {
      if (iter.type() == relocInfo::oop_type && iter.oop_reloc()->oop_is_immediate()) {
        _in_instructions.append(iter.oop_reloc()->oop_addr());
        method._count++;
      }
    }
  }
  return method;
}

void LullCode::add(nmethod* nm) {
  assert_locked_or_safepoint(CodeCache_lock);
  const Method method = scan(nm);
  const int* const index = _index.get(nm);
  if (index == nullptr) {
    _index.put(nm, _methods.length());
    _index.maybe_grow();
    _methods.append(method);
  } else if (_methods.at(*index)._count != method._count) {
    _methods.at_put(*index, method);    // what was there stays behind until methods are removed
  } else {
    _in_instructions.trunc_to(method._first);
  }
}

void LullCode::remove_unlinked() {
  assert_at_safepoint();
  GrowableArrayCHeap<oop*, mtGC> in_instructions(_in_instructions.length());
  int length = 0;
  for (int i = 0; i < _methods.length(); i++) {
    Method method = _methods.at(i);
    if (method._nmethod->is_unlinked()) {
      _index.remove(method._nmethod);
      continue;
    }
    const int first = in_instructions.length();
    for (int j = method._first; j < method._first + method._count; j++) {
      in_instructions.append(_in_instructions.at(j));
    }
    method._first = first;
    if (length != i) {
      _index.put(method._nmethod, length);
    }
    _methods.at_put(length++, method);
  }
  _methods.trunc_to(length);
  _in_instructions.swap(&in_instructions);
}

void LullCode::oops_do(int i, OopClosure* closure) const {
  assert_at_safepoint();
  const Method& method = _methods.at(i);
  for (int j = method._first; j < method._first + method._count; j++) {
    oop* const p = _in_instructions.at(j);
    if (*p != nullptr && !Universe::contains_non_oop_word(p)) {
      closure->do_oop(p);
    }
  }
  for (oop* p = method._nmethod->oops_begin(); p < method._nmethod->oops_end(); p++) {
    if (!Universe::contains_non_oop_word(p)) {
      closure->do_oop(p);
    }
  }
}

#ifdef ASSERT

class LullCountOopsClosure final : public OopClosure {
public:
  size_t    _count;
  uintptr_t _sum;     // of where they are

  LullCountOopsClosure() : _count(0), _sum(0) {}

  void do_oop(oop* p) override {
    _count++;
    _sum += (uintptr_t)p;
  }
  void do_oop(narrowOop* p) override { ShouldNotReachHere(); }
};

void LullCode::verify() const {
  assert_at_safepoint();
  int methods = 0;
  NMethodIterator all(NMethodIterator::all);
  while (all.next()) {
    assert(_index.contains(all.method()), "method " PTR_FORMAT " is not known", p2i(all.method()));
    methods++;
  }
  assert(methods == _methods.length(), "%d methods, of which %d are known", methods, _methods.length());
  for (int i = 0; i < _methods.length(); i++) {
    LullCountOopsClosure known;
    LullCountOopsClosure found;
    oops_do(i, &known);
    method(i)->oops_do(&found);
    assert(known._count == found._count && known._sum == found._sum,
           "method " PTR_FORMAT " has %zu references, of which %zu are known", p2i(method(i)), found._count, known._count);
  }
}

#endif // ASSERT
