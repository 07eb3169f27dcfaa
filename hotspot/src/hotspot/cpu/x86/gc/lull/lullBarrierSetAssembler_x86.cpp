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

#include "asm/macroAssembler.inline.hpp"
#include "gc/lull/heap/lullCardTable.hpp"
#include "gc/lull/heap/lullGeometry.hpp"
#include "gc/lull/heap/lullPublicMap.hpp"
#include "gc/lull/heap/lullTables.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullBarrierSetAssembler.hpp"
#include "gc/lull/mutator/lullBarrierSetRuntime.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadLocalData.hpp"
#include "gc/shared/gc_globals.hpp"
#include "runtime/sharedRuntime.hpp"
#include "utilities/macros.hpp"
#ifdef COMPILER1
#include "c1/c1_LIRAssembler.hpp"
#include "c1/c1_MacroAssembler.hpp"
#include "gc/lull/c1/lullBarrierSetC1.hpp"
#endif
#ifdef COMPILER2
#include "gc/lull/c2/lullBarrierSetC2.hpp"
#endif

#define __ masm->

// For samples of publications: the frame of compiled code that makes a slow call, and where
// it goes on. See lullStackAnchor.hpp.
static void record_store(MacroAssembler* masm, Label& continuation, Register tmp) {
  if (LullPublicationSampling > 0) {
    __ lea(tmp, continuation);
    __ movptr(Address(r15_thread, LullThreadLocalData::store_pc_offset()), tmp);
    __ movptr(Address(r15_thread, LullThreadLocalData::store_sp_offset()), rsp);
  }
}

// The same for the interpreter, whose frame is found by its frame pointer: the bytecode.
static void record_interpreted_store(MacroAssembler* masm) {
  if (LullPublicationSampling > 0) {
    __ movptr(Address(rbp, frame::interpreter_frame_bcp_offset * wordSize), r13);
  }
}

static bool is_dropped(uint barrier) {
  return DEBUG_ONLY(LullDropBarrier == barrier) NOT_DEBUG(false);
}

static intptr_t map_base() {
  return LullTables::public_map()->biased_base();
}

static intptr_t card_base() {
  return LullTables::card_table()->biased_base();
}

// The word of a line. Changes base, if the map is above 2 GB.
static Address word_of(MacroAssembler* masm, Register line, Register base) {
  const intptr_t map = map_base();
  if (Assembler::is_simm32(map)) {
    return Address(noreg, line, Address::times_4, (int)map);
  }
  assert_different_registers(line, base);
  __ mov64(base, map);
  return Address(base, line, Address::times_4, 0);
}

void LullBarrierSetAssembler::test_line(MacroAssembler* masm, Register line, Register base) const {
  __ cmpl(word_of(masm, line, base), 0);
}

void LullBarrierSetAssembler::test_line_of(MacroAssembler* masm, Register addr, Register line, Register base) const {
  assert_different_registers(addr, line, base);
  __ movptr(line, addr);
  __ shrptr(line, LullGeometry::LogLineSize);
  test_line(masm, line, base);
}

void LullBarrierSetAssembler::test_bit(MacroAssembler* masm, Register word, Register addr) const {
  assert_different_registers(addr, word);
  __ shrptr(addr, LogHeapWordSize);
  __ andl(addr, (int32_t)LullGeometry::WordsPerLine - 1);
  __ btq(word, addr);
}

// The stretch of the card of a line. Changes the flags, and base if the cards are above 2 GB.
static void touch_stretch_of_line(MacroAssembler* masm, Register line, Register base) {
  const intptr_t stretches = LullTables::card_table()->biased_stretches();
  __ push(line);
  __ shrptr(line, LullGeometry::LogLinesPerBlock);
  if (Assembler::is_simm32(stretches)) {
    __ movb(Address(line, (int)stretches), LullCardTable::Touched);
  } else if (!Assembler::is_simm32(card_base())) {
    __ mov64(base, stretches);
    __ movb(Address(base, line, Address::times_1, 0), LullCardTable::Touched);
  } else {
    // Nobody counts on base being changed where the cards are below 2 GB, and there may be no such register.
    const Register tmp = line == r10 ? r11 : r10;
    __ push(tmp);
    __ mov64(tmp, stretches);
    __ movb(Address(tmp, line, Address::times_1, 0), LullCardTable::Touched);
    __ pop(tmp);
  }
  __ pop(line);
}

// R: the card of a line, in which there is an object that is public perhaps. Changes the flags, and base if the cards are above 2 GB.
static void dirty_card_of_line(MacroAssembler* masm, Register line, Register base) {
  if (!LullYoungCollections || is_dropped(LullDropCards)) {
    return;
  }
  const intptr_t cards = card_base();
  const bool is_low = Assembler::is_simm32(cards);
  if (!is_low) {
    assert_different_registers(line, base);
    __ mov64(base, cards);
  }
  const Address card = is_low ? Address(line, (int)cards) : Address(base, line, Address::times_1, 0);
  Label is_dirty;
  __ cmpb(card, LullCardTable::Clean);
  __ jccb(Assembler::notEqual, is_dirty);
  __ movb(card, LullCardTable::Dirty);
  touch_stretch_of_line(masm, line, base);    // few stores are to a card that is clean
  __ bind(is_dirty);
}

// The card of addr. Without a second temporary addr is one while the card is looked up, if the cards are above 2 GB. Changes the flags.
static void dirty_card(MacroAssembler* masm, Register addr, Register tmp1, Register tmp2) {
  if (!LullYoungCollections || is_dropped(LullDropCards)) {
    return;
  }
  assert_different_registers(addr, tmp1);
  const bool saves_addr = tmp2 == noreg && !Assembler::is_simm32(card_base());
  if (saves_addr) {
    __ push(addr);
  }
  __ movptr(tmp1, addr);
  __ shrptr(tmp1, LullGeometry::LogLineSize);
  dirty_card_of_line(masm, tmp1, tmp2 == noreg ? addr : tmp2);
  if (saves_addr) {
    __ pop(addr);
  }
}

void LullBarrierSetAssembler::test_public_mode(MacroAssembler* masm) const {
  __ cmpb(Address(r15_thread, in_bytes(LullThreadLocalData::public_mode_offset())), 0);
}

void LullBarrierSetAssembler::arraycopy_prologue(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
                                                 Register src, Register dst, Register count) {
  // An array that is filled before anybody else can know it stays private.
  if (!LullTracking || !is_reference_type(type) || (decorators & IS_DEST_UNINITIALIZED) != 0 ||
      is_dropped(LullDropCopyStubs)) {
    return;
  }
  assert_different_registers(src, dst, count, rax);
  Label done, pop_and_done, call;
  if (!LullYoungCollections) {
    test_public_mode(masm);
    __ jcc(Assembler::notEqual, done);
  }
  // Behind the last element there may be another object, or nothing.
  __ testptr(count, count);
  __ jcc(Assembler::zero, done);

  const Register base = (src != r11 && dst != r11 && count != r11) ? r11 : r10;
  __ push(rax);
  __ push(base);
  test_line_of(masm, dst, rax, base);
  __ jcc(Assembler::equal, pop_and_done);
  if (LullYoungCollections) {
    // The first card and the last; those between them, if there are any, by the call.
    dirty_card(masm, dst, rax, base);
    __ lea(base, Address(dst, count, UseCompressedOops ? Address::times_4 : Address::times_8, -1));
    dirty_card(masm, base, rax, noreg);
    __ shrptr(base, LullGeometry::LogLineSize);
    __ movptr(rax, dst);
    __ shrptr(rax, LullGeometry::LogLineSize);
    __ subptr(base, rax);
    __ cmpptr(base, 1);
    __ jcc(Assembler::above, call);
    test_public_mode(masm);
    __ jcc(Assembler::notEqual, pop_and_done);
    __ bind(call);
  }
  __ pop(base);
  __ pop(rax);

  __ push_call_clobbered_registers(false /* save_fpu */);
  assert(src == c_rarg0 && dst == c_rarg1 && count == c_rarg2, "as all stubs have them");
  __ MacroAssembler::call_VM_leaf_base(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::before_copy), 3);
  __ pop_call_clobbered_registers(false /* save_fpu */);
  __ jmp(done);
  __ bind(pop_and_done);
  __ pop(base);
  __ pop(rax);
  __ bind(done);
}

// The check is for debugging, and nothing about it is fast.
void LullBarrierSetAssembler::load_at(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
                                      Register dst, Address src, Register tmp1) {
#ifdef ASSERT
  const bool check = LullTracking && LullLoadCheck && is_reference_type(type) && (decorators & IN_HEAP) != 0;
#else
  const bool check = false;
#endif
  if (!check) {
    BarrierSetAssembler::load_at(masm, decorators, type, dst, src, tmp1);
    return;
  }
  // The address is kept on the stack: dst may be its base.
  const Register addr = (dst != r11 && !src.uses(r11)) ? r11 : (dst != r10 && !src.uses(r10)) ? r10 : r9;
  assert(dst != addr && !src.uses(addr), "one of three");
  Label done;
  __ push(addr);
  __ lea(addr, src);
  __ xchgptr(addr, Address(rsp, 0));    // the register is as before
  assert(!src.uses(rsp), "moved");
  BarrierSetAssembler::load_at(masm, decorators, type, dst, src, tmp1);
  __ xchgptr(addr, Address(rsp, 0));    // the address; the stack has the register
  __ testptr(dst, dst);
  __ jcc(Assembler::zero, done);
  __ push_call_clobbered_registers();
  if (dst != c_rarg1) {
    __ movptr(c_rarg1, dst);
  }
  __ movptr(c_rarg0, addr);
  __ MacroAssembler::call_VM_leaf_base(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::check_load), 2);
  __ pop_call_clobbered_registers();
  __ bind(done);
  __ pop(addr);
}

void LullBarrierSetAssembler::store_at(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
                                       Address dst, Register val, Register tmp1, Register tmp2, Register tmp3) {
  if (!LullTracking || !is_reference_type(type) || val == noreg || (decorators & AS_RAW) != 0 ||
      is_dropped(LullDropInterpreter)) {
    BarrierSetAssembler::store_at(masm, decorators, type, dst, val, tmp1, tmp2, tmp3);
    return;
  }
  const bool in_heap = (decorators & IN_HEAP) != 0;
  assert_different_registers(val, tmp1, tmp2, tmp3);
  Label done;
  __ lea(tmp1, dst);
  if (in_heap) {
    test_line_of(masm, tmp1, tmp2, tmp3);
    __ jcc(Assembler::equal, done);
    dirty_card(masm, tmp1, tmp2, tmp3);
  }
  test_public_mode(masm);
  __ jcc(Assembler::notEqual, done);
  __ testptr(val, val);
  __ jcc(Assembler::zero, done);

  record_interpreted_store(masm);
  __ push_call_clobbered_registers();
  // Not the interpreter's call_VM_leaf: it checks the frame, and not all who store have one.
  if (in_heap) {
    assert_different_registers(tmp1, c_rarg1);
    if (val != c_rarg1) {
      __ movptr(c_rarg1, val);
    }
    if (tmp1 != c_rarg0) {
      __ movptr(c_rarg0, tmp1);
    }
    __ MacroAssembler::call_VM_leaf_base(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::before_store), 2);
  } else {
    if (val != c_rarg0) {
      __ movptr(c_rarg0, val);
    }
    __ MacroAssembler::call_VM_leaf_base(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::publish), 1);
  }
  __ pop_call_clobbered_registers();

  __ bind(done);
  BarrierSetAssembler::store_at(masm, decorators, type, Address(tmp1, 0), val, noreg, noreg, noreg);
}

#ifdef COMPILER1

#undef __
#define __ ce->masm()->

// The rest of a stub: the call, and back.
static void call_unless_null(LIR_Assembler* ce, LullStoreStubC1* stub, CodeBlob* runtime_blob) {
  const Register value = stub->value()->as_register();
  __ testptr(value, value);
  __ jcc(Assembler::zero, *stub->continuation());
  if (stub->offset() != 0) {
    __ lea(rscratch1, Address(stub->object()->as_register(), stub->offset()));
    ce->store_parameter(rscratch1, 0);
  } else {
    ce->store_parameter(stub->object()->as_register(), 0);
  }
  ce->store_parameter(value, 1);
  __ call(RuntimeAddress(runtime_blob->code_begin()));
  __ jmp(*stub->continuation());
}

void LullBarrierSetAssembler::generate_c1_store_stub(LIR_Assembler* ce, LullStoreStubC1* stub) const {
  LullBarrierSetC1* const bs = static_cast<LullBarrierSetC1*>(BarrierSet::barrier_set()->barrier_set_c1());
  __ bind(*stub->entry());
  dirty_card(ce->masm(), stub->object()->as_register(), rscratch1, noreg);
  test_public_mode(ce->masm());
  __ jcc(Assembler::notEqual, *stub->continuation());
  record_store(ce->masm(), *stub->continuation(), rscratch1);
  call_unless_null(ce, stub, bs->store_runtime_blob());
}

#ifdef ASSERT
void LullBarrierSetAssembler::generate_c1_load_check_stub(LIR_Assembler* ce, LullLoadCheckStubC1* stub) const {
  LullBarrierSetC1* const bs = static_cast<LullBarrierSetC1*>(BarrierSet::barrier_set()->barrier_set_c1());
  __ bind(*stub->entry());
  call_unless_null(ce, stub, bs->load_check_runtime_blob());
}
#endif

#undef __
#define __ sasm->

// Calls the function with an address inside of the object and the value, and changes no register.
static void generate_runtime_stub(StubAssembler* sasm, const char* name, address function) {
  __ prologue(name, false);
  __ push_call_clobbered_registers();
  __ load_parameter(0, c_rarg0);
  __ load_parameter(1, c_rarg1);
  __ call_VM_leaf_base(function, 2);
  __ pop_call_clobbered_registers();
  __ epilogue();
}

void LullBarrierSetAssembler::generate_c1_store_runtime_stub(StubAssembler* sasm) const {
  generate_runtime_stub(sasm, "lull_before_store", CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::before_store));
}

#ifdef ASSERT
void LullBarrierSetAssembler::generate_c1_load_check_runtime_stub(StubAssembler* sasm) const {
  generate_runtime_stub(sasm, "lull_check_load", CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::check_load));
}
#endif

#endif // COMPILER1

#ifdef COMPILER2

#undef __
#define __ masm->

static void load_address(MacroAssembler* masm, Register reg, Address from) {
  if (from.index() == noreg && from.disp() == 0) {
    __ movptr(reg, from.base());
  } else {
    __ lea(reg, from);
  }
}

// The value, which is not null, as an oop.
static void load_value(MacroAssembler* masm, Register reg, LullStoreStubC2* stub) {
  if (stub->is_narrow()) {
    __ movl(reg, stub->value());
    __ decode_heap_oop_not_null(reg);
  } else if (reg != stub->value()) {
    __ movptr(reg, stub->value());
  }
}

// Four instructions where the map is below 2 GB.
void LullBarrierSetAssembler::store_barrier_c2(MacroAssembler* masm, LullStoreStubC2* stub) const {
  if (stub->is_root_destination()) {
    test_public_mode(masm);
    __ jcc(Assembler::equal, *stub->entry());
  } else {
    load_address(masm, stub->tmp1(), stub->dest());
    __ shrptr(stub->tmp1(), LullGeometry::LogLineSize);
    test_line(masm, stub->tmp1(), stub->tmp2());
    __ jcc(Assembler::notEqual, *stub->entry());
  }
  __ bind(*stub->continuation());
}

// The line holds something public. Nothing is to be done if the thread has nothing that is
// private, if the destination is not that public object, or if the value is public.
void LullBarrierSetAssembler::generate_c2_store_stub(MacroAssembler* masm, LullStoreStubC2* stub) const {
  Assembler::InlineSkippedInstructionsCounter skip_counter(masm);
  const Register tmp1 = stub->tmp1();
  const Register tmp2 = stub->tmp2();
  const Register value = stub->value();

  __ bind(*stub->entry());
  if (!stub->is_root_destination()) {
    dirty_card_of_line(masm, tmp1, tmp2);
    test_public_mode(masm);
    __ jcc(Assembler::notEqual, *stub->continuation());
    __ movl(tmp1, word_of(masm, tmp1, tmp2));
    load_address(masm, tmp2, stub->dest());
    test_bit(masm, tmp1, tmp2);
    __ jcc(Assembler::carryClear, *stub->continuation());
  }
  if (!stub->is_value_not_null()) {
    if (stub->is_narrow()) {
      __ testl(value, value);
    } else {
      __ testptr(value, value);
    }
    __ jcc(Assembler::zero, *stub->continuation());
  }
  load_value(masm, tmp1, stub);
  __ shrptr(tmp1, LullGeometry::LogLineSize);
  __ movl(tmp1, word_of(masm, tmp1, tmp2));
  load_value(masm, tmp2, stub);
  test_bit(masm, tmp1, tmp2);
  __ jcc(Assembler::carrySet, *stub->continuation());
  record_store(masm, *stub->continuation(), tmp1);
  {
    SaveLiveRegisters save_registers(masm, stub);
    if (stub->may_store_private()) {
      load_address(masm, tmp1, stub->dest());
      load_value(masm, tmp2, stub);
      __ push(tmp1);    // either may be the register of the other's argument
      __ push(tmp2);
      __ pop(c_rarg1);
      __ pop(c_rarg0);
      __ call(RuntimeAddress(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::before_store)), rax);
    } else {
      load_value(masm, c_rarg0, stub);
      __ call(RuntimeAddress(CAST_FROM_FN_PTR(address, LullBarrierSetRuntime::publish)), rax);
    }
  }
  __ jmp(*stub->continuation());
}

#ifdef ASSERT
// What LullBarrierElision claims: the destination is private, or the thread has nothing
// that is.
void LullBarrierSetAssembler::generate_c2_elision_check(MacroAssembler* masm, LullStoreStubC2* stub) const {
  const Register tmp1 = stub->tmp1();
  const Register tmp2 = stub->tmp2();
  __ bind(*stub->entry());
  test_public_mode(masm);
  __ jcc(Assembler::notEqual, *stub->continuation());
  __ movl(tmp1, word_of(masm, tmp1, tmp2));
  load_address(masm, tmp2, stub->dest());
  test_bit(masm, tmp1, tmp2);
  __ jcc(Assembler::carryClear, *stub->continuation());
  __ stop("P: a store without a barrier into a public object");
}
#endif

#endif // COMPILER2
