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

#ifndef SHARE_GC_LULL_C1_LULLBARRIERSETC1_HPP
#define SHARE_GC_LULL_C1_LULLBARRIERSETC1_HPP

#include "c1/c1_CodeStubs.hpp"
#include "gc/shared/c1/barrierSetC1.hpp"

class CodeBlob;

// The destination's line holds something public: ask again, exactly.
class LullStoreStubC1 : public CodeStub {
private:
  LIR_Opr _object;    // any address inside of the destination
  LIR_Opr _value;
  int     _offset;    // of the field, if it may be one that can refer to what is private (lullThreadFields.hpp); else 0

public:
  LullStoreStubC1(LIR_Opr object, LIR_Opr value, int offset = 0);

  LIR_Opr object() const { return _object; }
  LIR_Opr value() const  { return _value; }
  int offset() const     { return _offset; }

  void emit_code(LIR_Assembler* ce) override;
  void visit(LIR_OpVisitState* visitor) override {
    visitor->do_slow_case();
    visitor->do_input(_object);
    visitor->do_input(_value);
  }
#ifndef PRODUCT
  void print_name(outputStream* out) const override { out->print("LullStoreStubC1"); }
#endif
};

#ifdef ASSERT
// The line of the object that is read holds something public: check P.
class LullLoadCheckStubC1 : public LullStoreStubC1 {
public:
  LullLoadCheckStubC1(LIR_Opr object, LIR_Opr value) : LullStoreStubC1(object, value) {}

  void emit_code(LIR_Assembler* ce) override;
  void print_name(outputStream* out) const override { out->print("LullLoadCheckStubC1"); }
};
#endif

class LullBarrierSetC1 : public BarrierSetC1 {
private:
  CodeBlob* _store_runtime_blob;
#ifdef ASSERT
  CodeBlob* _load_check_runtime_blob;
#endif

  void branch_if_in_use(LIRGenerator* gen, LIR_Opr object, CodeStub* slow);
  void before_store(LIRAccess& access, LIR_Opr value);

protected:
#ifdef ASSERT
  void load_at_resolved(LIRAccess& access, LIR_Opr result) override;
#endif
  void store_at_resolved(LIRAccess& access, LIR_Opr value) override;
  LIR_Opr atomic_cmpxchg_at_resolved(LIRAccess& access, LIRItem& cmp_value, LIRItem& new_value) override;
  LIR_Opr atomic_xchg_at_resolved(LIRAccess& access, LIRItem& value) override;

public:
  LullBarrierSetC1() : _store_runtime_blob(nullptr) DEBUG_ONLY(COMMA _load_check_runtime_blob(nullptr)) {}

  CodeBlob* store_runtime_blob() const { return _store_runtime_blob; }
#ifdef ASSERT
  CodeBlob* load_check_runtime_blob() const { return _load_check_runtime_blob; }
#endif

  void store_at(LIRAccess& access, LIR_Opr value) override;

  bool generate_c1_runtime_stubs(BufferBlob* buffer_blob) override;
};

#endif // SHARE_GC_LULL_C1_LULLBARRIERSETC1_HPP
