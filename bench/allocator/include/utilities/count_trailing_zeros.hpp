// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// HotSpot's name for it, for the replay.
#ifndef LULL_BENCH_ALLOCATOR_COUNT_TRAILING_ZEROS_HPP
#define LULL_BENCH_ALLOCATOR_COUNT_TRAILING_ZEROS_HPP

#include <stdint.h>

inline unsigned count_trailing_zeros(uint64_t x) { return (unsigned)__builtin_ctzll(x); }

#endif
