// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// HotSpot's assert() with a message, for the replay: checked where ASSERT is defined, as in HotSpot.
#ifndef LULL_BENCH_ALLOCATOR_DEBUG_HPP
#define LULL_BENCH_ALLOCATOR_DEBUG_HPP

#undef assert
#ifdef ASSERT
#include <stdio.h>
#include <stdlib.h>
#define assert(condition, ...) \
  do { if (!(condition)) { fprintf(stderr, "%s:%d: assert(%s): ", __FILE__, __LINE__, #condition); fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); abort(); } } while (0)
#else
#define assert(condition, ...) do { } while (0)
#endif

#endif
