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

#ifndef CPU_X86_GC_LULL_LULLBARRIERSETASSEMBLER_X86_HPP
#define CPU_X86_GC_LULL_LULLBARRIERSETASSEMBLER_X86_HPP

#include "asm/macroAssembler.hpp"
#include "gc/shared/barrierSetAssembler.hpp"

class LIR_Assembler;
class LullLoadCheckStubC1;
class LullStoreStubC1;
class LullStoreStubC2;
class StubAssembler;

// The barriers as machine code. The fast path of all of them is: find the word of the
// destination's line in the public map, and go on if it is 0.
class LullBarrierSetAssembler : public BarrierSetAssembler {
private:
  // Compares the word of a line with 0. Changes base, if the map is above 2 GB.
  void test_line(MacroAssembler* masm, Register line, Register base) const;

  // Compares the word of the line of addr with 0. line := its index. Changes base as above.
  void test_line_of(MacroAssembler* masm, Register addr, Register line, Register base) const;

  // CF := is the heap word at addr public? word is the word of its line. Changes addr.
  void test_bit(MacroAssembler* masm, Register word, Register addr) const;

  // ZF := thread is in private mode.
  void test_public_mode(MacroAssembler* masm) const;

public:
  void arraycopy_prologue(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
                          Register src, Register dst, Register count) override;
  void load_at(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
               Register dst, Address src, Register tmp1) override;
  void store_at(MacroAssembler* masm, DecoratorSet decorators, BasicType type,
                Address dst, Register val, Register tmp1, Register tmp2, Register tmp3) override;

#ifdef COMPILER1
  void generate_c1_store_stub(LIR_Assembler* ce, LullStoreStubC1* stub) const;
  void generate_c1_store_runtime_stub(StubAssembler* sasm) const;
#ifdef ASSERT
  void generate_c1_load_check_stub(LIR_Assembler* ce, LullLoadCheckStubC1* stub) const;
  void generate_c1_load_check_runtime_stub(StubAssembler* sasm) const;
#endif
#endif
#ifdef COMPILER2
  void store_barrier_c2(MacroAssembler* masm, LullStoreStubC2* stub) const;
  void generate_c2_store_stub(MacroAssembler* masm, LullStoreStubC2* stub) const;
#ifdef ASSERT
  void generate_c2_elision_check(MacroAssembler* masm, LullStoreStubC2* stub) const;
#endif
#endif
};

#endif // CPU_X86_GC_LULL_LULLBARRIERSETASSEMBLER_X86_HPP
