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

#include "ci/ciEnv.hpp"
#include "ci/ciInstanceKlass.hpp"
#include "gc/lull/c2/lullBarrierElision.hpp"
#include "gc/lull/c2/lullBarrierSetC2.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/mutator/lullBarrierSetAssembler.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/lull/publish/lullThreadFields.hpp"
#include "gc/shared/gc_globals.hpp"
#include "memory/resourceArea.hpp"
#include "opto/compile.hpp"
#include "opto/machnode.hpp"
#include "opto/memnode.hpp"
#include "opto/node.hpp"
#include "opto/output.hpp"
#include "opto/rootnode.hpp"
#include "opto/type.hpp"
#include "utilities/growableArray.hpp"

class LullBarrierSetC2State : public BarrierSetC2State {
private:
  GrowableArray<LullStoreStubC2*>* const _stubs;

public:
  explicit LullBarrierSetC2State(Arena* arena)
    : BarrierSetC2State(arena),
      _stubs(new (arena) GrowableArray<LullStoreStubC2*>(arena, 8, 0, nullptr)) {}

  GrowableArray<LullStoreStubC2*>* stubs() const { return _stubs; }

  bool needs_liveness_data(const MachNode* mach) const override { return LullStoreStubC2::needs_barrier(mach); }
  bool needs_livein_data() const override { return false; }
};

static LullBarrierSetC2State* barrier_set_state() {
  return static_cast<LullBarrierSetC2State*>(Compile::current()->barrier_set_state());
}

static LullBarrierSetAssembler* assembler() {
  return static_cast<LullBarrierSetAssembler*>(BarrierSet::barrier_set()->barrier_set_assembler());
}

// ---- Stubs

LullStoreStubC2::LullStoreStubC2(const MachNode* node, Address dest, Register value, Register tmp1, Register tmp2, bool is_narrow)
  : BarrierStubC2(node),
    _dest(dest),
    _value(value),
    _tmp1(tmp1),
    _tmp2(tmp2),
    _is_narrow(is_narrow) {}

bool LullStoreStubC2::needs_barrier(const MachNode* node) {
  const uint8_t data = node->barrier_data();
  return (data & LullC2Store) != 0 DEBUG_ONLY(|| (LullCheckElision && (data & LullC2Elided) != 0));
}

LullStoreStubC2* LullStoreStubC2::create(const MachNode* node, Address dest, Register value, Register tmp1, Register tmp2, bool is_narrow) {
  assert(LullTracking && needs_barrier(node), "the access has no barrier");
  LullStoreStubC2* const stub = new (Compile::current()->comp_arena()) LullStoreStubC2(node, dest, value, tmp1, tmp2, is_narrow);
  if (!Compile::current()->output()->in_scratch_emit_size()) {
    barrier_set_state()->stubs()->append(stub);
  }
  return stub;
}

void LullStoreStubC2::emit_code(MacroAssembler& masm) {
#ifdef ASSERT
  if (is_elided()) {
    assembler()->generate_c2_elision_check(&masm, this);
    return;
  }
#endif
  assembler()->generate_c2_store_stub(&masm, this);
}

// ---- Which accesses have a barrier

// A store that is not known for one publishes its value.
static bool is_thread_field(const C2Access& access) {
  const TypeInstPtr* const type = access.addr().type()->isa_instptr();
  return type != nullptr && type->is_loaded() && LullThreadFields::is_offset(type->offset()) &&
         type->instance_klass()->is_subclass_of(ciEnv::current()->Thread_klass());
}

static uint8_t barrier_for(const C2Access& access) {
#ifdef ASSERT
  if (LullDropBarrier == LullDropC2) {
    return 0;
  }
#endif
  if (!LullTracking || !access.is_oop() || access.is_raw()) {
    return 0;
  }
  const DecoratorSet decorators = access.decorators();
  const bool in_native = (decorators & IN_NATIVE) != 0;
  // Whether the destination was just allocated is not asked: what is put between the
  // allocation and the store is known at the end only. That holds for the stores of a copy
  // that is expanded, too.
  if (in_native) {
    return LullC2Store | LullC2RootDestination;
  }
  return is_thread_field(access) ? LullC2Store | LullC2ThreadField : LullC2Store;
}

Node* LullBarrierSetC2::store_at_resolved(C2Access& access, C2AccessValue& val) const {
  access.set_barrier_data(barrier_for(access));
  return BarrierSetC2::store_at_resolved(access, val);
}

Node* LullBarrierSetC2::atomic_cmpxchg_val_at_resolved(C2AtomicParseAccess& access, Node* expected_val,
                                                       Node* new_val, const Type* value_type) const {
  access.set_barrier_data(barrier_for(access));
  return BarrierSetC2::atomic_cmpxchg_val_at_resolved(access, expected_val, new_val, value_type);
}

Node* LullBarrierSetC2::atomic_cmpxchg_bool_at_resolved(C2AtomicParseAccess& access, Node* expected_val,
                                                        Node* new_val, const Type* value_type) const {
  access.set_barrier_data(barrier_for(access));
  return BarrierSetC2::atomic_cmpxchg_bool_at_resolved(access, expected_val, new_val, value_type);
}

Node* LullBarrierSetC2::atomic_xchg_at_resolved(C2AtomicParseAccess& access, Node* new_val, const Type* value_type) const {
  access.set_barrier_data(barrier_for(access));
  return BarrierSetC2::atomic_xchg_at_resolved(access, new_val, value_type);
}

bool LullBarrierSetC2::array_copy_requires_gc_barriers(bool tightly_coupled_alloc, BasicType type, bool is_clone,
                                                       bool is_clone_instance, ArrayCopyPhase phase) const {
  return LullTracking && is_reference_type(type) && !tightly_coupled_alloc;
}

// ---- Which barriers are redundant

void LullBarrierSetC2::eliminate_gc_barrier(PhaseMacroExpand* macro, Node* node) const {
  eliminate_gc_barrier_data(node);
}

void LullBarrierSetC2::eliminate_gc_barrier_data(Node* node) const {
  if (node->is_LoadStore()) {
    node->as_LoadStore()->set_barrier_data(0);
  } else if (node->is_Mem()) {
    node->as_Mem()->set_barrier_data(0);
  }
}

// The value as its type is known now, when the graph has been optimised.
static void refine_by_value(Node* node) {
  if ((node->Opcode() != Op_StoreP && node->Opcode() != Op_StoreN) || node->as_Mem()->barrier_data() == 0) {
    return;
  }
  MemNode* const store = node->as_Mem();
  const TypePtr* const type = store->in(MemNode::ValueIn)->bottom_type()->make_ptr();
  if (type == nullptr) {
    return;
  }
  const TypeOopPtr* const oop_type = type->isa_oopptr();
  const bool is_constant = oop_type != nullptr && oop_type->const_oop() != nullptr;
  if (type->ptr() == TypePtr::Null || (is_constant && !LullYoungCollections)) {
    store->set_barrier_data(0);
  } else if (type->ptr() == TypePtr::NotNull || is_constant) {
    store->set_barrier_data(store->barrier_data() | LullC2ValueNotNull);
  }
}

bool LullBarrierSetC2::expand_barriers(Compile* C, PhaseIterGVN& igvn) const {
  if (!LullTracking) {
    return false;
  }
  ResourceMark rm;
  Unique_Node_List worklist;
  worklist.push(C->root());
  for (uint i = 0; i < worklist.size(); i++) {
    Node* const node = worklist.at(i);
    refine_by_value(node);
    for (uint j = 0; j < node->req(); j++) {
      if (node->in(j) != nullptr) {
        worklist.push(node->in(j));
      }
    }
  }
  return false;
}

// Of the fast path: the address, shift, load and compare, branch.
uint LullBarrierSetC2::estimated_barrier_size(const Node* node) const {
  return MemNode::barrier_data(node) != 0 ? 5 : 0;
}

// ---- Code generation

void* LullBarrierSetC2::create_barrier_state(Arena* comp_arena) const {
  return LullTracking ? new (comp_arena) LullBarrierSetC2State(comp_arena) : nullptr;
}

void LullBarrierSetC2::late_barrier_analysis() const {
  if (!LullTracking) {
    return;
  }
  if (LullElideBarriers) {
    ResourceMark rm;
    LullBarrierElision(Compile::current()).run();
  }
  compute_liveness_at_stubs();
}

void LullBarrierSetC2::elide(MachNode* access) {
  const uint8_t data = access->barrier_data();
  assert((data & LullC2Store) != 0 && (data & LullC2RootDestination) == 0, "a store into the heap");
  access->set_barrier_data((data & ~LullC2Store) | LullC2Elided);
}

void LullBarrierSetC2::emit_stubs(CodeBuffer& cb) const {
  if (!LullTracking) {
    return;
  }
  MacroAssembler masm(&cb);
  GrowableArray<LullStoreStubC2*>* const stubs = barrier_set_state()->stubs();
  for (int i = 0; i < stubs->length(); i++) {
    if (cb.insts()->maybe_expand_to_ensure_remaining(PhaseOutput::MAX_inst_size) && cb.blob() == nullptr) {
      ciEnv::current()->record_failure("CodeCache is full");
      return;
    }
    stubs->at(i)->emit_code(masm);
  }
  masm.flush();
}

#ifndef PRODUCT
void LullBarrierSetC2::dump_barrier_data(const MachNode* mach, outputStream* st) const {
  const uint8_t data = mach->barrier_data();
  st->print("%s%s%s%s%s", (data & LullC2Store) != 0 ? "store " : "",
            (data & LullC2Elided) != 0 ? "elided " : "",
            (data & LullC2RootDestination) != 0 ? "root " : "",
            (data & LullC2ThreadField) != 0 ? "thread " : "",
            (data & LullC2ValueNotNull) != 0 ? "notnull " : "");
}
#endif
