#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# bench.sh [quick|full]: services on collectors in several heaps; fixed work for the lower-bound overhead and throughput, an open loop
# for latency, repeated in random order. Interrupt it whenever you like: what is done is kept, and the next start goes on.
# Ends with the page build/bench-results/index.html, a table here, and bench.csv and bench.json beside the page.
#
# `quick` is a look at two services in two heaps with three collectors, two invocations each: less than 15 minutes with the smallest heaps, which
# are found once, but without building. `full`, the default, takes every service, four heaps, and every collector, five invocations: more than
# a day, but a page after each invocation. BENCH_PLAN=1 tells how long a benchmark would take.
#
# Settings, all optional; defaults are those of `full`, then of `quick`:
#   BENCH_PLAN=1                tell the plan and its time by arithmetic, and do nothing
#   BENCH_SERVICES="compile tomcat crud h2 lucene kafka cassandra spark"   quick: "tomcat h2"
#   COLLECTORS="lull g1 parallel serial epsilon zgc shenandoah g1-base"   quick: "lull g1 parallel"; epsilon only where memory allows
#                        also: lull-whole (without young collections), lull-global (no local collections, no barriers), lull-tracking
#                        (barriers, no local collections), lull-barrier (all threads public); genshen (generational Shenandoah); g1-27,
#                        parallel-27, serial-27, zgc-27, shenandoah-27, genshen-27, those of JDK 27 (jdk27.sh)
#   JDKS="DIR ..."              more JDKs, from 25 on, whose G1 takes part under their version
#   BENCH_FACTORS="1.5 2 3 6"   heaps, in multiples of G1's smallest      quick: "2 4"
#   BENCH_INVOCATIONS=5         of each collector in each heap            quick: 2
#   BENCH_WARMUP=30 BENCH_CLOSED=15   seconds that G1 takes for the fixed work    quick: 6, 5
#   BENCH_OPEN=30               seconds of open loop; 0: none             quick: 8
#   BENCH_LOAD=0.5              open-loop rate, as a part of G1's throughput
#   BENCH_HOURS=N               begin no invocation after this time; 0: only the page, from what is there
#   BENCH_RESULTS=FILE          default: build/bench-results/results.jsonl; builds and machines do not mix in it
#   BENCH_OPTIONS_H2="..."      options of a service as NAME=VALUE, see README.md; so for each service
#   LULL_DEMO_SEED, LULL_DEMO_THREADS, LULL_DEMO_FLAGS, LULL_JAVA, LULL_JAVA_G1, LULL_BASE_JDK, OPENJDK_SRC: as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
preset=full
case "${1:-}" in
  quick | full)
    preset=$1
    shift
    ;;
esac
usage_if_asked "$0" "$@"

# preset NAME FULL QUICK: gives NAME its default and exports it.
preset() {
  local value=$2
  [ "$preset" = quick ] && value=$3
  export "$1=${!1:-$value}"
}

preset BENCH_SERVICES "compile tomcat crud h2 lucene kafka cassandra spark" "tomcat h2"
preset COLLECTORS "lull g1 parallel serial epsilon zgc shenandoah g1-base" "lull g1 parallel"
preset BENCH_FACTORS "1.5 2 3 6" "2 4"
preset BENCH_INVOCATIONS 5 2
preset BENCH_WARMUP 30 6
preset BENCH_CLOSED 15 5
preset BENCH_OPEN 30 8

find_base_jdk
if [ "${BENCH_PLAN:-0}" = 1 ]; then
  SERVICE=harness
  build_bench
  run_bench lull.bench.run.Bench
fi
build_jdk_for "$COLLECTORS"
for SERVICE in $BENCH_SERVICES; do
  build_bench
done
run_bench lull.bench.run.Bench
