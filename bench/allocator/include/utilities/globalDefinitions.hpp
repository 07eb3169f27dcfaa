// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// The few of HotSpot's basic types that the run table and the segregated space use, so that the replay builds without the
// OpenJDK source tree. The tests of both build against HotSpot's own header (hotspot/build/unit-tests.sh).
#ifndef LULL_BENCH_ALLOCATOR_GLOBAL_DEFINITIONS_HPP
#define LULL_BENCH_ALLOCATOR_GLOBAL_DEFINITIONS_HPP

#include <stddef.h>
#include <stdint.h>

class HeapWord {
  char* _unused;
};

template <typename T> inline T MAX2(T a, T b) { return a > b ? a : b; }
template <typename T> inline T MIN2(T a, T b) { return a < b ? a : b; }

#endif
