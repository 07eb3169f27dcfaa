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

#include "c1/c1_Compilation.hpp"
#include "c1/c1_FrameMap.hpp"
#include "c1/c1_LIRAssembler.hpp"
#include "c1/c1_LIRGenerator.hpp"
#include "c1/c1_Runtime1.hpp"
#include "gc/lull/c1/lullBarrierSetC1.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullBarrierSetAssembler.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/shared/gc_globals.hpp"
#include "utilities/macros.hpp"

#ifdef ASSERT
#define __ gen->lir(__FILE__, __LINE__)->
#else
#define __ gen->lir()->
#endif

static LullBarrierSetAssembler* assembler() {
  return static_cast<LullBarrierSetAssembler*>(BarrierSet::barrier_set()->barrier_set_assembler());
}

LullStoreStubC1::LullStoreStubC1(LIR_Opr object, LIR_Opr value, int offset) : _object(object), _value(value), _offset(offset) {
  assert(object->is_register() && value->is_register(), "must be");
  FrameMap* const map = Compilation::current()->frame_map();
  map->update_reserved_argument_area_size(2 * BytesPerWord);
}

void LullStoreStubC1::emit_code(LIR_Assembler* ce) {
  assembler()->generate_c1_store_stub(ce, this);
}

#ifdef ASSERT
void LullLoadCheckStubC1::emit_code(LIR_Assembler* ce) {
  assembler()->generate_c1_load_check_stub(ce, this);
}
#endif

static bool has_barrier(const LIRAccess& access) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropC1) {
    return false;
  }
#endif
  return LullTracking && access.is_oop() && !access.is_raw();
}

// Patching may run other code, of other threads too, and what the barrier has found out
// would not hold any more. So the address of the field is resolved, and patched, first.
void LullBarrierSetC1::store_at(LIRAccess& access, LIR_Opr value) {
  assert((access.decorators() & IN_HEAP) != 0, "C1 stores to the heap only");
  const bool in_register = has_barrier(access) && (access.decorators() & C1_NEEDS_PATCHING) != 0;
  access.set_resolved_addr(resolve_address(access, in_register));
  store_at_resolved(access, value);
}

static LIR_Opr in_register(LIRGenerator* gen, LIR_Opr object) {
  if (object->is_register()) {
    return object;
  }
  const LIR_Opr result = gen->new_register(T_OBJECT);
  __ move(object, result);
  return result;
}

static LIR_Opr base_in_register(LIRAccess& access) {
  return in_register(access.gen(), access.base().opr());
}

// Any address inside of an object answers whether it is public: its own does.
void LullBarrierSetC1::branch_if_in_use(LIRGenerator* gen, LIR_Opr object, CodeStub* slow) {
  assert(LullTracking && object->is_register(), "whether it is public is asked of an address, where there is a map");
  const LIR_Opr line = gen->new_pointer_register();
  // Not a move: that may be from a stack slot, and then the types must agree.
  __ leal(LIR_OprFact::address(new LIR_Address(object, T_OBJECT)), line);
  __ unsigned_shift_right(line, LIR_OprFact::intConst(LullGeometry::LogLineSize), line, LIR_OprFact::illegalOpr);
  const LIR_Opr map = gen->new_pointer_register();
  __ move(LIR_OprFact::intptrConst(LullTables::public_map()->biased_base()), map);
  const LIR_Opr word = gen->new_register(T_INT);
  __ load(new LIR_Address(map, line, LIR_Address::times_4, 0, T_INT), word);
  __ cmp(lir_cond_notEqual, word, LIR_OprFact::intConst(0));
  __ branch(lir_cond_notEqual, slow);
  __ branch_destination(slow->continuation());
}

// Of which class the object is does not matter: what is asked is the address.
static int offset_to_ask(LIRAccess& access) {
  const LIR_Opr offset = access.offset().opr();
  if ((access.decorators() & IS_ARRAY) != 0 || !offset->is_constant()) {
    return 0;
  }
  const LIR_Const* const constant = offset->as_constant_ptr();
  return constant->type() == T_INT && LullThreadFields::is_offset(constant->as_jint()) ? constant->as_jint() : 0;
}

void LullBarrierSetC1::before_store(LIRAccess& access, LIR_Opr value) {
  LIRGenerator* const gen = access.gen();
  if (value->is_constant()) {
    // An object that the compiler has reached is public; but it may be young, and move, so the card is needed.
    if (!LullYoungCollections || value->as_constant_ptr()->as_jobject() == nullptr) {
      return;
    }
    value = in_register(gen, value);
  }
  const LIR_Opr object = base_in_register(access);
  // The store would have found null, but now the map is read before.
  if (access.access_emit_info() != nullptr) {
    __ null_check(object, new CodeEmitInfo(access.access_emit_info()));
  }
  branch_if_in_use(gen, object, new LullStoreStubC1(object, value, offset_to_ask(access)));
}

#ifdef ASSERT
void LullBarrierSetC1::load_at_resolved(LIRAccess& access, LIR_Opr result) {
  const bool check = LullTracking && LullLoadCheck && access.is_oop() && (access.decorators() & IN_HEAP) != 0;
  // Before the load: what it loads may be the next base in the same register.
  const LIR_Opr object = check ? base_in_register(access) : LIR_OprFact::illegalOpr;
  BarrierSetC1::load_at_resolved(access, result);
  if (check) {
    branch_if_in_use(access.gen(), object, new LullLoadCheckStubC1(object, result));
  }
}
#endif

void LullBarrierSetC1::store_at_resolved(LIRAccess& access, LIR_Opr value) {
  if (has_barrier(access)) {
    before_store(access, value);
  }
  BarrierSetC1::store_at_resolved(access, value);
}

LIR_Opr LullBarrierSetC1::atomic_cmpxchg_at_resolved(LIRAccess& access, LIRItem& cmp_value, LIRItem& new_value) {
  if (has_barrier(access)) {
    new_value.load_item();
    before_store(access, new_value.result());
  }
  return BarrierSetC1::atomic_cmpxchg_at_resolved(access, cmp_value, new_value);
}

LIR_Opr LullBarrierSetC1::atomic_xchg_at_resolved(LIRAccess& access, LIRItem& value) {
  if (has_barrier(access)) {
    value.load_item();
    before_store(access, value.result());
  }
  return BarrierSetC1::atomic_xchg_at_resolved(access, value);
}

class LullStoreStubC1CodeGenerator : public StubAssemblerCodeGenClosure {
public:
  OopMapSet* generate_code(StubAssembler* sasm) override {
    assembler()->generate_c1_store_runtime_stub(sasm);
    return nullptr;
  }
};

#ifdef ASSERT
class LullLoadCheckStubC1CodeGenerator : public StubAssemblerCodeGenClosure {
public:
  OopMapSet* generate_code(StubAssembler* sasm) override {
    assembler()->generate_c1_load_check_runtime_stub(sasm);
    return nullptr;
  }
};
#endif

bool LullBarrierSetC1::generate_c1_runtime_stubs(BufferBlob* buffer_blob) {
  if (!LullTracking) {
    return true;
  }
  assert(_store_runtime_blob == nullptr, "once");
  LullStoreStubC1CodeGenerator generator;
  _store_runtime_blob = Runtime1::generate_blob(buffer_blob, C1StubId::NO_STUBID, "lull_before_store", false, &generator);
#ifdef ASSERT
  LullLoadCheckStubC1CodeGenerator check_generator;
  _load_check_runtime_blob = Runtime1::generate_blob(buffer_blob, C1StubId::NO_STUBID, "lull_check_load", false, &check_generator);
  if (_load_check_runtime_blob == nullptr) {
    return false;
  }
#endif
  return _store_runtime_blob != nullptr;
}
