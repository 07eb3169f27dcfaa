#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# gate/cassandra.sh: a cluster of three Cassandra nodes on this machine, each of which has all rows and stops for full collections in turn, read and
# written by Cassandra's Java driver: waiting, with the driver's own hedging, and with the gate in each node and the project's retry policy. About
# eight minutes without building, and 6 GB of memory. Ends with a table and the page build/gate-cassandra/index.html; fails if any answer was wrong
# or missing, or if a row at the end is not as it was written last.
#
# Settings, all optional:
#   GATE_ROUNDS=2       of each setup, there and back
#   GATE_SECONDS=22     of load in each, after GATE_WARMUP=8
#   GATE_RATE=240       requests per second, of which three in ten write
#   GATE_ROWS=150000    of 700 bytes, which stay in each node's heap: the more, the longer a collection
#   GATE_EVERY=9000     milliseconds between the full collections of one node
#   GATE_DEADLINE=10    milliseconds that a client waits if there is another node
#   LULL_BASE_JDK       the JDK 25 of the client (default: JAVA_HOME, or an installed one)
#   LULL_JDK17          of the nodes, for which Cassandra is made (default: an installed one; else the client's, with one class of Cassandra replaced)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"

find_base_jdk
"$ROOT/native/build.sh"
SERVICE=cassandra
build_bench
SERVICE=gate
build_bench
# The retry policy.
JAVA_HOME=$LULL_BASE_JDK mvn -q -B -f "$ROOT/java/pom.xml" -Dlull.build="$LULL_BUILD" -Dmaven.test.skip=true -pl failover/cassandra -am package || die "Maven could not build java/failover"
failover=$LULL_BUILD/java/lull-failover/target/classes:$LULL_BUILD/java/lull-failover-cassandra/target/classes

jdk17=${LULL_JDK17:-}
if [ -z "$jdk17" ]; then
  for home in /usr/lib/jvm/*; do
    if [ -x "$home/bin/java" ] && grep -qs '^JAVA_VERSION="17[.]' "$home/release"; then jdk17=$home; fi
  done
fi
libraries=$LULL_BUILD/bench/cassandra/lib
flags=$(grep -v '^#' "$BENCH/cassandra/src/main/resources/META-INF/lull/jvm-flags" | tr '\n' ' ')
if [ -n "$jdk17" ]; then
  java=$jdk17/bin/java
  path=$(find "$libraries" -name '*.jar' ! -name 'cassandra-1.jar' ! -name 'harness-1.jar' ! -name 'lull-report-*.jar' | sort | paste -sd:)
  # Later JDKs only.
  flags=${flags//--sun-misc-unsafe-memory-access=allow/}
  flags=${flags//--enable-native-access=ALL-UNNAMED/}
else
  java=$LULL_BASE_JDK/bin/java
  path=$libraries/cassandra-1.jar:$libraries/*
  echo "there is no JDK 17: the nodes run on $java, without Cassandra's security manager"
fi
read -ra words <<< "$flags"
work=$LULL_BUILD/gate-cassandra
mkdir -p "$work"
take_turn_of_benches
"$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xms400m -Xmx400m -Xmn100m -cp "$LULL_BUILD/bench/gate/lib/*:$failover" lull.bench.gate.CassandraBench \
  --java "$java" --class-path "$path" --flags "${words[*]}" --agent "$LULL_BUILD/native/liblull_gate.so" --work "$work" \
  --rounds "${GATE_ROUNDS:-2}" --seconds "${GATE_SECONDS:-22}" --warmup "${GATE_WARMUP:-8}" --rate "${GATE_RATE:-240}" --rows "${GATE_ROWS:-150000}" \
  --every "${GATE_EVERY:-9000}" --deadline "${GATE_DEADLINE:-10}"
