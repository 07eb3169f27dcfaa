#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# barrier-pairs.sh: what barriers cost services (Table 1 of Iso, PLDI 2025), on a machine whose speed changes from minute to minute: two JVMs with
# the same collector, without and with barriers, serve at the same time, each with its client on one processor, and change processors after each
# window. Without local and young collections on either side. Prints milliseconds of the mutators' processor time for a request without barriers,
# and the ratio to it with barriers, and in public mode: the median of all windows, with the least and the largest; and the least and the largest
# median of a pair of JVMs, for C2 does not compile the same twice. 40 minutes.
#
# Settings, all optional:
#   PAIRS_SERVICES="compile:200 lucene:200 crud:240 h2:256"   with their heaps in MB
#   PAIRS_ROUNDS=3                                             pairs of JVMs of each service and kind
#   PAIRS_WARMUP=45 PAIRS_SECONDS=12 PAIRS_WINDOWS=4           an even number of windows
#   PAIRS_THREADS=4                                            of each server, and clients of its loop
#   LULL_JAVA                                                  default: build/jdk/bin/java
#   LULL_BASE_JDK, OPENJDK_SRC                                 as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"
# shellcheck source=bench/sides.sh
. "$BENCH/sides.sh"

read -ra services <<< "${PAIRS_SERVICES:-compile:200 lucene:200 crud:240 h2:256}"
rounds=${PAIRS_ROUNDS:-3} warmup=${PAIRS_WARMUP:-45} seconds=${PAIRS_SECONDS:-12} windows=${PAIRS_WINDOWS:-4} threads=${PAIRS_THREADS:-4}
check_settings
find_base_jdk
java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"

# Compiler threads that ended would be counted as mutators.
common=(-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:ParallelGCThreads=1 -XX:-UseDynamicNumberOfCompilerThreads
  -XX:-LullLocalCollections -XX:-LullYoungCollections)
declare -A flags=(
  [none]="-XX:-LullTracking"
  [tracking]=""
  [public]="-XX:+LullAlwaysPublic"
)
out=$LULL_BUILD/barrier-pairs
take_turn_of_benches
rm -rf "$out"
mkdir -p "$out"

# start SIDE KIND
start() {
  local more
  read -ra more <<< "${flags[$2]}"
  start_side "$1" "$java" "${common[@]}" "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m"
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  prepare_service "${entry%:*}" "$java"
  for ((round = 1; round <= rounds; round++)); do
    for kind in tracking public; do
      start a none
      start b "$kind"
      serve "$round" mutator_ticks "$out/$SERVICE-$kind.windows"
      echo "  $SERVICE, $kind, round $round: $(ratios "$out/$SERVICE-$kind.windows" "$round" "$COSTS")"
    done
  done
done

echo
printf '%-10s %16s  %-52s %s\n' service 'ms for a request' 'with barriers' 'in public mode'
for entry in "${services[@]}"; do
  service=${entry%:*}
  printf '%-10s %16.3f  %-52s %s\n' "$service" "$(mean "$out/$service-tracking.windows" 4)" \
    "$(summary "$out/$service-tracking.windows" "$COSTS")" "$(summary "$out/$service-public.windows" "$COSTS")"
done
