// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Traces that no program has made, from a seed; the same wherever the C library's log() is.
#ifndef LULL_BENCH_ALLOCATOR_SYNTHETIC_HPP
#define LULL_BENCH_ALLOCATOR_SYNTHETIC_HPP

#include "trace_format.hpp"

#include <stdint.h>
#include <string>

// Names for --help and for errors.
extern const char* const synthetic_kinds;

// Writes a trace of a kind, which has a live size that grows with the number of allocations. Returns false if there is no
// such kind; *written says whether the file took all of it.
bool synthesize(const std::string& kind, uint64_t seed, uint64_t allocations, FILE* file, bool* written);

#endif
