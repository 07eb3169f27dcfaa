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

#ifndef SHARE_GC_LULL_C2_LULLBARRIERSETC2_HPP
#define SHARE_GC_LULL_C2_LULLBARRIERSETC2_HPP

#include "gc/shared/c2/barrierSetC2.hpp"

// What C2 knows of a store, or of an atomic operation, of a reference. 0: it has no barrier.
const uint8_t LullC2Store           = 1;
const uint8_t LullC2RootDestination = 2;    // outside of the heap, where others can read it, as a rule
const uint8_t LullC2ValueNotNull    = 4;
const uint8_t LullC2Elided          = 8;    // instead of LullC2Store: it had one, see lullBarrierElision.hpp
const uint8_t LullC2ThreadField     = 16;   // to a Thread object, perhaps to a field that may refer to what is private: see lullThreadFields.hpp

// The part of a barrier that is out of line: the line of the destination holds something
// public. The address of the destination is worked out once more when it is needed: the fast
// path has no register for it.
class LullStoreStubC2 : public BarrierStubC2 {
private:
  const Address  _dest;
  const Register _value;
  const Register _tmp1;
  const Register _tmp2;
  const bool     _is_narrow;

  LullStoreStubC2(const MachNode* node, Address dest, Register value, Register tmp1, Register tmp2, bool is_narrow);

public:
  // A barrier, or what checks that none is needed.
  static bool needs_barrier(const MachNode* node);

  // tmp1 and tmp2 are neither in dest nor value, and hold nothing that is needed later. Whoever creates it preserves what the
  // store needs.
  static LullStoreStubC2* create(const MachNode* node, Address dest, Register value, Register tmp1, Register tmp2, bool is_narrow);

  Address dest() const    { return _dest; }
  Register value() const  { return _value; }

  // At the entry the index of the destination's line, unless that is a root.
  Register tmp1() const   { return _tmp1; }
  Register tmp2() const   { return _tmp2; }

  // Is the value a narrow oop?
  bool is_narrow() const  { return _is_narrow; }

  bool is_root_destination() const { return (barrier_data() & LullC2RootDestination) != 0; }
  bool may_store_private() const   { return (barrier_data() & (LullC2RootDestination | LullC2ThreadField)) != 0; }
  bool is_value_not_null() const   { return (barrier_data() & LullC2ValueNotNull) != 0; }
  bool is_elided() const           { return (barrier_data() & LullC2Elided) != 0; }

  void emit_code(MacroAssembler& masm);
};

// Barriers are expanded late: a barrier and its store are one instruction up to the end, so
// nothing comes between them. C2 may still move a store of a field below the store that
// publishes the object; it then finds a public destination and publishes its own value. So
// every prefix of every schedule keeps P, as long as each barrier is executed that is not
// known to be redundant in the final schedule. These are:
//
//   the value is null
//   the value is a constant, where there are no cards: compilers reach public objects only. But a constant may be young, and a young
//   collection moves it and patches the code: what else refers to it must be remembered
//   the store is captured by the initialisation of a new object, before anyone can know it
//   tightly coupled copies and clones, for the same reason
//   the final schedule shows that the destination is new and still private
//   (lullBarrierElision.hpp)
//
// Tempting, and wrong here, although other collectors do it: to drop the barrier of a store
// into an object that is new and has seen no safepoint since. In
//
//   n = new N(); tail.next = n; n.item = p;
//
// the first store publishes n. What is young stays young until a safepoint; what is private
// is so only until the next store, or call. For the same reason an object that does not
// escape is not private after a safepoint: a freeze publishes all frames.
class LullBarrierSetC2 : public BarrierSetC2 {
protected:
  Node* store_at_resolved(C2Access& access, C2AccessValue& val) const override;
  Node* atomic_cmpxchg_val_at_resolved(C2AtomicParseAccess& access, Node* expected_val,
                                       Node* new_val, const Type* value_type) const override;
  Node* atomic_cmpxchg_bool_at_resolved(C2AtomicParseAccess& access, Node* expected_val,
                                        Node* new_val, const Type* value_type) const override;
  Node* atomic_xchg_at_resolved(C2AtomicParseAccess& access, Node* new_val, const Type* value_type) const override;

public:
  bool array_copy_requires_gc_barriers(bool tightly_coupled_alloc, BasicType type, bool is_clone,
                                       bool is_clone_instance, ArrayCopyPhase phase) const override;
  void eliminate_gc_barrier(PhaseMacroExpand* macro, Node* node) const override;
  void eliminate_gc_barrier_data(Node* node) const override;
  bool expand_barriers(Compile* C, PhaseIterGVN& igvn) const override;
  uint estimated_barrier_size(const Node* node) const override;
  void* create_barrier_state(Arena* comp_arena) const override;
  void late_barrier_analysis() const override;
  void emit_stubs(CodeBuffer& cb) const override;

  using BarrierSetC2::is_allocation;
  static void elide(MachNode* access);

#ifndef PRODUCT
  void dump_barrier_data(const MachNode* mach, outputStream* st) const override;
#endif
};

#endif // SHARE_GC_LULL_C2_LULLBARRIERSETC2_HPP
