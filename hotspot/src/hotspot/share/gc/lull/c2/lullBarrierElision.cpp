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

#include "ci/ciMethod.hpp"
#include "gc/lull/c2/lullBarrierElision.hpp"
#include "gc/lull/c2/lullBarrierSetC2.hpp"
#include "gc/lull/lull_globals.hpp"
#include "gc/lull/mutator/lullBarrierSet.hpp"
#include "gc/lull/publish/lullStoreBarrier.hpp"
#include "gc/shared/gc_globals.hpp"
#include "logging/log.hpp"
#include "memory/resourceArea.hpp"
#include "opto/addnode.hpp"
#include "opto/block.hpp"
#include "opto/cfgnode.hpp"
#include "opto/compile.hpp"
#include "opto/machnode.hpp"
#include "opto/opcodes.hpp"
#include "opto/runtime.hpp"
#include "opto/type.hpp"
#include "runtime/thread.hpp"
#include "utilities/ostream.hpp"

// Not the compiler's arenas: what is found out here is of no use later.
LullBarrierElision::LullBarrierElision(Compile* C)
  : _C(C),
    _cfg(C->cfg()),
    _arena(Thread::current()->resource_area()),
    _positions(_arena, (int)C->unique(), (int)C->unique(), 0),
    _blocks_with_calls(_arena),
    _accesses(_arena, 8, 0, nullptr),
    _objects(_arena, 4, 0, nullptr) {}

void LullBarrierElision::read_schedule() {
  assert(_accesses.is_empty() && _objects.is_empty(), "once");
  for (uint b = 0; b < _cfg->number_of_blocks(); b++) {
    const Block* const block = _cfg->get_block(b);
    for (uint i = 0; i < block->number_of_nodes(); i++) {
      Node* const node = block->get_node(i);
      _positions.at_put((int)node->_idx, i + 1);
      if (!node->is_Mach()) {
        continue;
      }
      if (node->is_MachSafePoint()) {
        _blocks_with_calls.set(block->head()->_idx);
      }
      const uint8_t data = node->as_Mach()->barrier_data();
      if ((data & LullC2Store) != 0 && (data & LullC2RootDestination) == 0) {
        _accesses.append(node->as_Mach());
      }
    }
  }
}

// ---- What a use does with a reference

static int ideal_opcode(const Node* node) {
  return node->is_Mach() ? node->as_Mach()->ideal_Opcode() : 0;
}

static bool is_copy(const Node* node) {
  return node->is_Mach() && (node->as_Mach()->is_SpillCopy() || ideal_opcode(node) == Op_CheckCastPP);
}

// The result of the use is the reference again, or an address inside of the object, or it
// may be.
static bool makes_alias(const Node* use) {
  if (use->is_Phi() || is_copy(use)) {
    return true;
  }
  switch (ideal_opcode(use)) {
  case Op_CastPP:
  case Op_EncodeP:
  case Op_DecodeN:
  case Op_AddP:
  case Op_CMoveP:
  case Op_CMoveN:
    return true;
  default:
    return false;
  }
}

// The reference is part of the address that the use reads or writes, and nothing else.
static bool is_address_only(const MachNode* use, const Node* reference) {
  const MachOper* const memory = use->memory_operand();
  if (memory == nullptr || memory == (const MachOper*)-1) {
    return false;
  }
  const int first = use->operand_index(memory);
  if (first < 0) {
    return false;
  }
  const uint end = (uint)first + memory->num_edges();
  for (uint i = 0; i < use->req(); i++) {
    if (use->in(i) == reference && (i < (uint)first || i >= end)) {
      return false;
    }
  }
  return true;
}

// The use tells nobody of the reference. Calls do; but they are looked for apart.
static bool is_harmless(const Node* use, const Node* reference) {
  if (use->is_MachProj()) {
    return true;    // a register that the instruction of the alias kills
  }
  if (!use->is_Mach()) {
    return false;
  }
  if (use->is_MachSafePoint() || use->is_MachMemBar() || use->is_MachNullCheck()) {
    return true;
  }
  switch (ideal_opcode(use)) {
  case Op_CmpP:
  case Op_CmpN:
  case Op_ClearArray:
  case Op_PrefetchAllocation:
    return true;
  default:
    return is_address_only(use->as_Mach(), reference);
  }
}

void LullBarrierElision::follow(Unique_Node_List& aliases, const Node* stop, GrowableArray<const Node*>& escapes) const {
  for (uint i = 0; i < aliases.size(); i++) {
    const Node* const alias = aliases.at(i);
    for (DUIterator_Fast jmax, j = alias->fast_outs(jmax); j < jmax; j++) {
      Node* const use = alias->fast_out(j);
      if (use == stop || !is_scheduled(use)) {
        continue;
      }
      if (makes_alias(use)) {
        aliases.push(use);
      } else if (!is_harmless(use, alias)) {
        escapes.append(use);
      }
    }
  }
}

// ---- Allocations

static const Node* look_through_copies(const Node* node) {
  while (node != nullptr && is_copy(node)) {
    node = node->in(1);
  }
  return node;
}

static bool is_result_of_slow_path(const Node* node) {
  if (node == nullptr || !node->is_Proj() || node->in(0) == nullptr || !node->in(0)->is_MachCall()) {
    return false;
  }
  const address entry = node->in(0)->as_MachCall()->entry_point();
  return entry == OptoRuntime::new_instance_Java() ||
         entry == OptoRuntime::new_array_Java() ||
         entry == OptoRuntime::new_array_nozero_Java();
}

// The fast path stores the new top of the TLAB.
static bool is_store_to_thread(const Node* node) {
  if (ideal_opcode(node) != Op_StoreP) {
    return false;
  }
  intptr_t offset;
  const TypePtr* type = nullptr;
  const Node* const base = node->as_Mach()->get_base_and_disp(offset, type);
  return base != nullptr && base != NodeSentinel && ideal_opcode(base) == Op_ThreadLocal;
}

LullBarrierElision::NewObject* LullBarrierElision::new_object(const Node* allocation) {
  assert(allocation->is_Phi(), "in an allocation the fast path and the slow one join");
  for (int i = 0; i < _objects.length(); i++) {
    if (_objects.at(i)->_allocation == allocation) {
      return _objects.at(i);
    }
  }
  NewObject* const object = new (_arena) NewObject(_arena, allocation);
  _objects.append(object);

  const Node* const slow = look_through_copies(allocation->in(1));
  const Node* const fast = look_through_copies(allocation->in(2));
  if (!is_result_of_slow_path(slow)) {
    return object;
  }

  // Before the two ways join, nobody else has the address. If somebody had, that would be
  // an alias which is none of the phi's.
  GrowableArray<const Node*> earlier(_arena, 4, 0, nullptr);
  Unique_Node_List parts;
  parts.push(const_cast<Node*>(slow));
  parts.push(const_cast<Node*>(fast));
  follow(parts, allocation, earlier);
  for (uint i = 0; i < parts.size(); i++) {
    if (parts.at(i)->is_Phi()) {
      return object;
    }
  }
  for (int i = 0; i < earlier.length(); i++) {
    if (!is_store_to_thread(earlier.at(i))) {
      return object;
    }
  }

  object->_is_known = true;
#ifdef ASSERT
  if (LullDropBarrier == LullDropEscapes) {
    return object;
  }
#endif
  Unique_Node_List aliases;
  aliases.push(const_cast<Node*>(allocation));
  follow(aliases, nullptr, object->_escapes);
  return object;
}

LullBarrierElision::NewObject* LullBarrierElision::destination(const MachNode* access) {
  intptr_t offset;
  const TypePtr* type = nullptr;
  const Node* node = access->get_base_and_disp(offset, type);
  bool is_array = false;
  while (node != nullptr && node != NodeSentinel && node->is_Mach()) {
    const TypeOopPtr* const oop_type = node->bottom_type()->isa_oopptr();
    is_array |= oop_type != nullptr && oop_type->isa_aryptr() != nullptr;
    if (is_copy(node)) {
      node = node->in(1);
    } else if (ideal_opcode(node) == Op_AddP && oop_type != nullptr) {
      // An address that was computed before; its base is where it was in the AddP.
      offset = offset == 0 ? oop_type->offset() : Type::OffsetBot;
      node = node->in(AddPNode::Base);
    } else {
      return nullptr;
    }
  }
  if (node == nullptr || node == NodeSentinel || !node->is_Phi() || !LullBarrierSetC2::is_allocation(node)) {
    return nullptr;
  }
  // An offset that is not known is an index, or something from Unsafe: then it need not be
  // inside of the object.
  const bool is_field = offset != Type::OffsetBot && offset != Type::OffsetTop && offset >= 0;
  return is_field || is_array ? new_object(node) : nullptr;
}

// ---- The paths between

bool LullBarrierElision::has_call(const Block* block, uint from, uint to) const {
  if (_blocks_with_calls.test(block->head()->_idx)) {
    for (uint i = from; i < to; i++) {
      if (block->get_node(i)->is_MachSafePoint()) {
        return true;
      }
    }
  }
  return false;
}

bool LullBarrierElision::has_escape(const NewObject* object, const Block* block, uint from, uint to) const {
  for (int i = 0; i < object->_escapes.length(); i++) {
    const Node* const escape = object->_escapes.at(i);
    if (_cfg->get_block_for_node(escape) == block && position(escape) >= from && position(escape) < to) {
      return true;
    }
  }
  return false;
}

void LullBarrierElision::push_predecessors(const Block* block, Block_List& stack, VectorSet& visited) const {
  for (uint i = 1; i < block->num_preds(); i++) {
    Block* const pred = _cfg->get_block_for_node(block->pred(i));
    if (!visited.test_set(pred->head()->_idx)) {
      stack.push(pred);
    }
  }
}

// Goes back from the access, on all paths, to the allocation.
bool LullBarrierElision::is_private_at(const NewObject* object, const MachNode* access) const {
  assert(object->_is_known, "who else has the object's address is not known");
  const Block* const allocation_block = _cfg->get_block_for_node(object->_allocation);
  const uint after_allocation = position(object->_allocation) + 1;
  const Block* const access_block = _cfg->get_block_for_node(access);
  const uint access_position = position(access);

  if (access_block == allocation_block) {
    return after_allocation <= access_position &&
           !has_call(access_block, after_allocation, access_position) &&
           !has_escape(object, access_block, after_allocation, access_position);
  }
  if (has_call(access_block, 0, access_position) || has_escape(object, access_block, 0, access_position)) {
    return false;
  }

  // The block of the access comes again, as a whole, if it is in a loop.
  ResourceMark rm;
  VectorSet visited;
  Block_List stack;
  push_predecessors(access_block, stack, visited);
  while (stack.size() > 0) {
    const Block* const block = stack.pop();
    const uint begin = block == allocation_block ? after_allocation : 0;
    const uint end = block->number_of_nodes();
    if (has_call(block, begin, end) || has_escape(object, block, begin, end)) {
      return false;
    }
    if (block == allocation_block) {
      continue;
    }
    if (block->num_preds() < 2) {
      assert(false, "a path to the access that does not come from the allocation");
      return false;
    }
    push_predecessors(block, stack, visited);
  }
  return true;
}

void LullBarrierElision::run() {
  read_schedule();
  uint elided = 0;
  for (int i = 0; i < _accesses.length(); i++) {
    MachNode* const access = _accesses.at(i);
    const NewObject* const object = destination(access);
    if (object != nullptr && object->_is_known && is_private_at(object, access)) {
      LullBarrierSetC2::elide(access);
      elided++;
    }
  }
  if (_accesses.length() > 0 && _C->method() != nullptr && log_is_enabled(Debug, gc, lull)) {
    stringStream name;
    _C->method()->print_short_name(&name);
    log_debug(gc, lull)("C2 %d:%s: %u of %d barriers elided late", _C->compile_id(), name.base(), elided, _accesses.length());
  }
}
