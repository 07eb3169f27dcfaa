// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

// The policy for Rust (src/policy.rs).

#include "gc/budget/heapBudgetPolicy.hpp"
#include "gc/budget/heapBudgetSensorFormat.hpp"
#include "lull_stall.h"

#include <stddef.h>

// HotSpot, which knows nothing of this directory, reads the sensor's file by structs of its own: they are the header's.
static_assert(HeapBudgetSensorHeader::Magic == LULL_STALL_MAGIC, "magic");
static_assert(HeapBudgetSensorHeader::Version == LULL_STALL_VERSION, "version");
static_assert(HeapBudgetSensorHeader::FieldIO == LULL_STALL_FIELD_IO, "FieldIO");
static_assert(HeapBudgetSensorHeader::FieldReadBytes == LULL_STALL_FIELD_READ_BYTES, "FieldReadBytes");
static_assert(HeapBudgetSensorHeader::FieldRows == LULL_STALL_FIELD_ROWS, "FieldRows");
static_assert(HeapBudgetSensorHeader::Ended == LULL_STALL_ENDED, "Ended");
static_assert(HeapBudgetSensorHeader::Stopped == LULL_STALL_STOPPED, "Stopped");
static_assert(sizeof(HeapBudgetSensorHeader) == sizeof(lull_stall_header), "header");
static_assert(sizeof(HeapBudgetSensorRow) == sizeof(lull_stall_row), "row");
#define SAME(ours, theirs, field) static_assert(offsetof(ours, field) == offsetof(theirs, field), #field)
SAME(HeapBudgetSensorHeader, lull_stall_header, header_size);
SAME(HeapBudgetSensorHeader, lull_stall_header, row_size);
SAME(HeapBudgetSensorHeader, lull_stall_header, row_capacity);
SAME(HeapBudgetSensorHeader, lull_stall_header, source);
SAME(HeapBudgetSensorHeader, lull_stall_header, process_start);
SAME(HeapBudgetSensorHeader, lull_stall_header, period_ns);
SAME(HeapBudgetSensorHeader, lull_stall_header, fields);
SAME(HeapBudgetSensorHeader, lull_stall_header, flags);
SAME(HeapBudgetSensorHeader, lull_stall_header, sequence);
SAME(HeapBudgetSensorHeader, lull_stall_header, updated_ns);
SAME(HeapBudgetSensorHeader, lull_stall_header, total);
SAME(HeapBudgetSensorHeader, lull_stall_header, read_bytes);
SAME(HeapBudgetSensorHeader, lull_stall_header, rows);
SAME(HeapBudgetSensorRow, lull_stall_row, tid);
SAME(HeapBudgetSensorRow, lull_stall_row, counts);
SAME(HeapBudgetSensorCounts, lull_stall_counts, io_ns);
#undef SAME

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
  offsetof(HeapBudgetSample, stalled_known), offsetof(HeapBudgetSample, read_known), offsetof(HeapBudgetSample, allocated_known), offsetof(HeapBudgetSample, capacity),
  offsetof(HeapBudgetSample, available), offsetof(HeapBudgetSample, released),
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
