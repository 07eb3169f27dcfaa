// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

// The policy for Rust (src/policy.rs).

#include "gc/budget/heapBudgetPolicy.hpp"

extern "C" {

HeapBudgetPolicy* lull_budget_new(uint32_t processors) { return new HeapBudgetPolicy(HeapBudgetSettings(processors)); }

void lull_budget_delete(HeapBudgetPolicy* policy) { delete policy; }

void lull_budget_interval(HeapBudgetPolicy* policy, const HeapBudgetSample* sample, HeapBudgetDecision* decision) {
  *decision = policy->interval(*sample);
}

const char* lull_budget_state_name(uint32_t state)   { return HeapBudgetDecision::name((HeapBudgetDecision::State)state); }
const char* lull_budget_reason_name(uint32_t reason) { return HeapBudgetDecision::name((HeapBudgetDecision::Reason)reason); }

// For the test that both sides mean the same bytes.
static const size_t layout[] = {
  sizeof(HeapBudgetSample), offsetof(HeapBudgetSample, read_bytes), offsetof(HeapBudgetSample, collections),
  offsetof(HeapBudgetSample, stalled_known), offsetof(HeapBudgetSample, read_known), offsetof(HeapBudgetSample, capacity),
  offsetof(HeapBudgetSample, available),
  sizeof(HeapBudgetDecision), offsetof(HeapBudgetDecision, state), offsetof(HeapBudgetDecision, reason),
  offsetof(HeapBudgetDecision, target), offsetof(HeapBudgetDecision, collection), offsetof(HeapBudgetDecision, stalled),
  offsetof(HeapBudgetDecision, wait), (size_t)HeapBudgetDecision::Shrink, (size_t)HeapBudgetDecision::WaitShrink,
  (size_t)HeapBudgetDecision::SlowStorage
};

const size_t* lull_budget_layout(size_t* length) {
  *length = sizeof(layout) / sizeof(layout[0]);
  return layout;
}

} // extern "C"
