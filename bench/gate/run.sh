#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# gate/run.sh: three replicas of a shop that stop for full collections in turn, asked by a client that waits, hedges, or goes
# elsewhere when the gate says so; then the agent's predictions per collector. About eight minutes for each server and nine for the predictions, without building. Ends with tables and
# the page build/gate-bench/index.html; fails if any answer was wrong or missing.
#
# Settings, all optional:
#   GATE_SERVERS=tomcat what the shop runs on, one after the other: any of "tomcat jetty undertow grpc"
#   GATE_SETUPS=N       only the first so many of the seven, 2 or more; 2: without collections, without the agent and with it, which is what the agent costs; 0: predictions alone, which end with a table and build/gate-bench/predictions.csv
#   GATE_ROUNDS=2       of each setup, there and back
#   GATE_SECONDS=22     of load in each, after GATE_WARMUP=8
#   GATE_RATE=240       requests per second, to all three
#   GATE_LIVE=600       megabytes of long-lived data in each replica, which has twice as much heap and 300 MB
#   GATE_EVERY=9000     milliseconds between the full collections of one replica
#   GATE_DEADLINE=20    milliseconds that a client waits if there is another replica
#   GATE_PREDICT=30     seconds for each prediction, of full collections and again of young ones, of each collector and of two loads; 0: none
#   LULL_BASE_JDK       the JDK 25 of replicas and client (default: JAVA_HOME, or an installed one)
#   LULL_JAVA           a java of a JDK with Lull, for its predictions (default: that of build/jdk, if it is built; `none` for none)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"

SERVICE=gate
find_base_jdk
"$ROOT/native/build.sh"
build_bench
work=$LULL_BUILD/gate-bench
servers=${GATE_SERVERS:-tomcat}
mkdir -p "$work"
lull=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ "$lull" != none ] && [ -x "$lull" ] || lull=""
take_turn_of_benches
# Collections of the client are short: it keeps little.
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xms256m -Xmx256m -Xmn64m -cp "$LULL_BUILD/bench/gate/lib/*" lull.bench.gate.GateBench \
  --java "$LULL_BASE_JDK/bin/java" --agent "$LULL_BUILD/native/liblull_gate.so" --work "$work" --lull "$lull" --servers "${servers// /,}" \
  ${GATE_SETUPS:+--setups "$GATE_SETUPS"} --rounds "${GATE_ROUNDS:-2}" --seconds "${GATE_SECONDS:-22}" --warmup "${GATE_WARMUP:-8}" --rate "${GATE_RATE:-240}" --live "${GATE_LIVE:-600}" \
  --every "${GATE_EVERY:-9000}" --deadline "${GATE_DEADLINE:-20}" --predict "${GATE_PREDICT:-30}"
