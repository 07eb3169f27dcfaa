#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The demo (make demo): one service on Lull and on G1, in the same heap under the same load.
# Ends with the page build/demo/index.html, a table here, and demo.csv and demo.json beside the page.
# About 2.5 minutes per collector. The heap is twice the smallest one in which G1 runs the service, as that is known of other machines.
#
# Settings, all optional:
#   COLLECTORS="lull g1"     which, of lull lull-whole lull-global lull-tracking lull-barrier g1 parallel serial zgc shenandoah
#   SERVICE=compile          the service, see README.md
#   LULL_DEMO_OPTIONS="..."  options of the service as NAME=VALUE, see README.md; change what it prepares
#   LULL_DEMO_HEAP=MB        the heap; default: LULL_DEMO_FACTOR (2) times the smallest one of G1
#   SEARCH=1                 look for that smallest heap on this machine, once: 5 to 20 minutes. So it is done for services of which none is
#                            known, and with other options, flags or numbers of threads
#   LULL_DEMO_SECONDS=60     measured seconds: a quarter closed loop, three quarters open loop
#   LULL_DEMO_WARMUP=60      seconds of warm-up before
#   LULL_DEMO_RATE=N         requests per second of the open loop; default: LULL_DEMO_LOAD (0.5) of G1's closed-loop throughput
#   LULL_DEMO_SEED=1         of the load's order and times
#   LULL_DEMO_THREADS=4      requests that the server works on at once, and clients of the closed loop
#   LULL_DEMO_FLAGS="..."    more JVM flags for each server
#   LULL_JAVA=PROGRAM        a java instead of build/jdk/bin/java; LULL_JAVA_G1 and so on: for one collector
#   LULL_BASE_JDK=DIR        the stock JDK 25 that runs the load, ZGC and Shenandoah; default: JAVA_HOME or an installed one
#   OPENJDK_SRC=DIR          OpenJDK 25 source tree, which compile and lucene read; default: build/openjdk

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"

COLLECTORS=${COLLECTORS:-lull g1}
export COLLECTORS
find_base_jdk
build_jdk_for "$COLLECTORS"
build_bench
run_bench lull.bench.run.Demo
