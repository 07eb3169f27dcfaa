/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
/*
 * What a JVM with Lull takes for the pager's structures is what they are. Compiled only.
 */
#include "lull_far.h"

#include "gc/lull/heap/lullFarPager.hpp"

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), #our_field); \
  static_assert(sizeof(((ours*)0)->our_field) == sizeof(((theirs*)0)->their_field), #our_field)

SAME_SIZE(LullFarPager, struct lull_far_owner);
SAME_PLACE(LullFarPager, _size, struct lull_far_owner, size);
SAME_PLACE(LullFarPager, _attach, struct lull_far_owner, attach);
SAME_PLACE(LullFarPager, _forget, struct lull_far_owner, forget);
SAME_PLACE(LullFarPager, _trim, struct lull_far_owner, trim);
SAME_PLACE(LullFarPager, _hold, struct lull_far_owner, hold);
SAME_PLACE(LullFarPager, _release, struct lull_far_owner, release);
SAME_PLACE(LullFarPager, _get_statistics, struct lull_far_owner, get_statistics);
SAME_PLACE(LullFarPager, _count_remote, struct lull_far_owner, count_remote_pages);

SAME_SIZE(LullFarStatistics, struct lull_far_owner_statistics);
SAME_PLACE(LullFarStatistics, _local, struct lull_far_owner_statistics, local_pages);
SAME_PLACE(LullFarStatistics, _local_limit, struct lull_far_owner_statistics, local_pages_limit);
SAME_PLACE(LullFarStatistics, _fetched, struct lull_far_owner_statistics, pages_fetched);
SAME_PLACE(LullFarStatistics, _written, struct lull_far_owner_statistics, pages_written);
SAME_PLACE(LullFarStatistics, _dropped_clean, struct lull_far_owner_statistics, pages_dropped_clean);
SAME_PLACE(LullFarStatistics, _dropped_unused, struct lull_far_owner_statistics, pages_dropped_unused);
SAME_PLACE(LullFarStatistics, _forgotten, struct lull_far_owner_statistics, pages_forgotten);
SAME_PLACE(LullFarStatistics, _young_passed, struct lull_far_owner_statistics, young_pages_passed);
SAME_PLACE(LullFarStatistics, _young_written, struct lull_far_owner_statistics, young_pages_written);
SAME_PLACE(LullFarStatistics, _held_left, struct lull_far_owner_statistics, held_pages_left);
SAME_PLACE(LullFarStatistics, _zero_faults, struct lull_far_owner_statistics, zero_faults);
SAME_PLACE(LullFarStatistics, _fetch_faults, struct lull_far_owner_statistics, fetch_faults);
SAME_PLACE(LullFarStatistics, _second_chances, struct lull_far_owner_statistics, second_chances);
SAME_PLACE(LullFarStatistics, _replica_fetches, struct lull_far_owner_statistics, replica_fetches);
SAME_PLACE(LullFarStatistics, _copied, struct lull_far_owner_statistics, pages_copied);
SAME_PLACE(LullFarStatistics, _lost_servers, struct lull_far_owner_statistics, lost_servers);

static_assert(LullFarOther == LULL_FAR_OTHER && LullFarYoung == LULL_FAR_YOUNG && LullFarUnused == LULL_FAR_UNUSED, "answers");

/* The functions have the same arguments. */
void compare(LullFarPager* ours, struct lull_far_owner* theirs) {
  theirs->forget = ours->_forget;
  theirs->trim = ours->_trim;
  theirs->hold = ours->_hold;
  theirs->release = ours->_release;
  theirs->attach = ours->_attach;
  theirs->count_remote_pages = ours->_count_remote;
}

SAME_SIZE(LullFarTracer, struct lull_far_tracer);
SAME_PLACE(LullFarTracer, _size, struct lull_far_tracer, size);
SAME_PLACE(LullFarTracer, _begin, struct lull_far_tracer, begin);
SAME_PLACE(LullFarTracer, _old, struct lull_far_tracer, old);
SAME_PLACE(LullFarTracer, _clean, struct lull_far_tracer, clean);
SAME_PLACE(LullFarTracer, _roots, struct lull_far_tracer, roots);
SAME_PLACE(LullFarTracer, _poll, struct lull_far_tracer, poll);
SAME_PLACE(LullFarTracer, _layouts, struct lull_far_tracer, layouts);
SAME_PLACE(LullFarTracer, _listed, struct lull_far_tracer, listed);
SAME_PLACE(LullFarTracer, _marks, struct lull_far_tracer, marks);
SAME_PLACE(LullFarTracer, _lines, struct lull_far_tracer, lines);
SAME_PLACE(LullFarTracer, _live, struct lull_far_tracer, live);
SAME_PLACE(LullFarTracer, _end, struct lull_far_tracer, end);
SAME_PLACE(LullFarTracer, _failure, struct lull_far_tracer, failure);
