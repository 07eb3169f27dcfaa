#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The comparison: collectors at multiples of G1's smallest heap, interleaved and repeated, with medians and spread,
# and the smallest heap of each. Leaves compare.txt, compare.csv and compare.json in build/compare.
# Takes about 105 s per run and 3 minutes per smallest heap: 75 minutes with everything at its default.
#
# Settings, all optional:
#   COLLECTORS="lull g1 parallel serial"   also of JDK 27: g1-27 and so on
#   COMPARE_FACTORS="1.5 2 3"   of G1's smallest heap
#   COMPARE_REPEATS=3           runs of each collector in each heap
#   COMPARE_WARMUP=30 COMPARE_CLOSED=15 COMPARE_OPEN=45     seconds of each run
#   COMPARE_LOAD=0.5            open-loop rate, as a fraction of G1's closed-loop throughput in the same heap
#   COMPARE_RATE=N              requests per second instead
#   COMPARE_MINHEAP=1           0: do not look for the smallest heap of the others
#   SERVICE=compile, LULL_DEMO_OPTIONS, LULL_DEMO_SEED, LULL_DEMO_THREADS, LULL_DEMO_FLAGS, LULL_JAVA, LULL_BASE_JDK, OPENJDK_SRC: as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

COLLECTORS=${COLLECTORS:-lull g1 parallel serial}
export COLLECTORS
find_base_jdk
build_jdk_for "$COLLECTORS"
build_bench
run_bench lull.bench.run.Compare
