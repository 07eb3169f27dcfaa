#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# pairs.sh: two JVMs, of other flags or of other builds, serve at the same time, each with its client on one processor, and change processors after each window:
# on a machine whose speed changes from minute to minute, a difference of some per cent is seen so that runs in turn do not show. Everything counts:
# collections, compilers, clients. Prints for each service the requests per second of the first, and the ratio of the second to it: the median of all windows, with the
# least and the largest, the least and the largest median of a pair, for C2 does not compile the same twice; and those of the processor time for a request and of the median latency.
#
# Settings:
#   PAIRS_A="FLAGS" PAIRS_B="FLAGS"   needed: what differs, as "-XX:+UseLullGC" and "-XX:+UseG1GC"; a name of a collector may come first, as "lull",
#                                     "g1 -Xmn8m" or "g1-27", which is that of JDK 27 (bench/jdk27.sh)
#                                     @PORT@ in them is the port at which the service listens, as an agent may want to know
#   PAIRS_FLAGS="FLAGS"               of both, as "-XX:+UseCompactObjectHeaders", which JDK 27 has as its default and JDK 25 has not
#   PAIRS_JAVA_A, PAIRS_JAVA_B        default: build/jdk/bin/java, or that of the collector
#   PAIRS_SERVICES="compile:80 lucene:64 crud:128 h2:192"   with their heaps in MB
#   PAIRS_ROUNDS=2                    pairs of JVMs for each service
#   PAIRS_WARMUP=60 PAIRS_SECONDS=10 PAIRS_WINDOWS=6   an even number of windows
#   PAIRS_THREADS=4                   of each server, and clients of its loop
#   LULL_BASE_JDK, OPENJDK_SRC        as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"
# shellcheck source=bench/sides.sh
. "$BENCH/sides.sh"

read -ra services <<< "${PAIRS_SERVICES:-compile:80 lucene:64 crud:128 h2:192}"
rounds=${PAIRS_ROUNDS:-2} warmup=${PAIRS_WARMUP:-60} seconds=${PAIRS_SECONDS:-10} windows=${PAIRS_WINDOWS:-6} threads=${PAIRS_THREADS:-4}
check_settings
[[ -n ${PAIRS_A:-} && -n ${PAIRS_B:-} ]] || die "PAIRS_A and PAIRS_B are needed: flags of either JVM"
find_base_jdk
out=$LULL_BUILD/pairs
take_turn_of_benches
# shellcheck disable=SC2034 # names, which first-minutes.sh needs
declare -A javas=() options=() names=()
choose_side a "$PAIRS_A" "${PAIRS_JAVA_A:-}" "${PAIRS_FLAGS:-}"
choose_side b "$PAIRS_B" "${PAIRS_JAVA_B:-}" "${PAIRS_FLAGS:-}"
rm -rf "$out"
mkdir -p "$out"

# A port at which nobody listens.
free_port() {
  local port
  for ((port = 20000 + RANDOM % 10000; ; port++)); do
    if ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then echo "$port"; return; fi
  done
}

process_ticks() { ticks "/proc/$1/stat"; }

# start SIDE
start() {
  local more service_port=0
  [[ ${options[$1]} != *@PORT@* ]] || service_port=$(free_port)
  read -ra more <<< "${options[$1]//@PORT@/$service_port}"
  data=$(data_of "$SERVICE" "${javas[$1]}")
  start_side "$1" "${javas[$1]}" -XX:ParallelGCThreads=1 "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m"
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  for side in a b; do prepare_service "${entry%:*}" "${javas[$side]}"; done
  for ((round = 1; round <= rounds; round++)); do
    # What starts second is some per cent ahead, as two sides of one build show: take an even number of rounds.
    if ((round % 2)); then start a; start b; else start b; start a; fi
    serve "$round" process_ticks "$out/$SERVICE.windows"
    echo "  $SERVICE, round $round: $(ratios "$out/$SERVICE.windows" "$round" "$RATES")"
  done
done

echo
echo "A: ${javas[a]} ${options[a]}"
echo "B: ${javas[b]} ${options[b]}"
printf '%-10s %8s %12s  %-52s %-52s %s\n' service 'heap MB' 'A, req/s' 'requests/s, B to A' 'processor time for a request, B to A' 'median latency, B to A'
for entry in "${services[@]}"; do
  file=$out/${entry%:*}.windows
  printf '%-10s %8s %12.0f  %-52s %-52s %s\n' "${entry%:*}" "${entry#*:}" "$(mean "$file" 2)" "$(summary "$file" "$RATES")" "$(summary "$file" "$COSTS")" "$(summary "$file" "$MEDIANS")"
done
