#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# pairs.sh: two JVMs, of other flags or of other builds, serve at the same time, each with its client on one processor, and change processors after each window:
# on a machine whose speed changes from minute to minute, a difference of some per cent is seen so that runs in turn do not show. Everything counts:
# collections, compilers, clients. Prints for each service the requests per second of the first, and the ratio of the second to it: the median of all windows, with the
# least and the largest, the least and the largest median of a pair, for C2 does not compile the same twice; and that of the processor time for a request.
#
# Settings:
#   PAIRS_A="FLAGS" PAIRS_B="FLAGS"   needed: what differs, as "-XX:+UseLullGC" and "-XX:+UseG1GC"
#   PAIRS_JAVA_A, PAIRS_JAVA_B        default: build/jdk/bin/java
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

read -ra services <<< "${PAIRS_SERVICES:-compile:80 lucene:64 crud:128 h2:192}"
rounds=${PAIRS_ROUNDS:-2} warmup=${PAIRS_WARMUP:-60} seconds=${PAIRS_SECONDS:-10} windows=${PAIRS_WINDOWS:-6} threads=${PAIRS_THREADS:-4}
for number in "PAIRS_ROUNDS $rounds" "PAIRS_WARMUP $warmup" "PAIRS_SECONDS $seconds" "PAIRS_WINDOWS $windows" "PAIRS_THREADS $threads"; do
  [[ ${number#* } =~ ^[1-9][0-9]*$ ]] || die "${number% *} is '${number#* }': a number from 1 on is needed"
done
((windows % 2 == 0)) || die "PAIRS_WINDOWS is '$windows': an even number is needed, for each side serves on each processor"
[[ -n ${PAIRS_A:-} && -n ${PAIRS_B:-} ]] || die "PAIRS_A and PAIRS_B are needed: flags of either JVM"
for entry in "${services[@]}"; do
  [[ $entry =~ ^[a-z0-9]+:[1-9][0-9]*$ ]] || die "PAIRS_SERVICES has '$entry': a service and its heap in MB are needed, as compile:80"
  [ -f "$BENCH/${entry%:*}/pom.xml" ] || die "no service '${entry%:*}': README.md has a list of them"
done
# The first two processors that this process may use.
mapfile -t processors < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | head -n 2)
((${#processors[@]} == 2)) || die "one processor only: the two sides need one each"
find_base_jdk
declare -A javas=([a]=${PAIRS_JAVA_A:-$LULL_BUILD/jdk/bin/java} [b]=${PAIRS_JAVA_B:-$LULL_BUILD/jdk/bin/java})
for side in a b; do
  [ -x "${javas[$side]}" ] || die "there is no ${javas[$side]}: make jdk, or set PAIRS_JAVA_A and PAIRS_JAVA_B"
done
declare -A flags=([a]=$PAIRS_A [b]=$PAIRS_B)
out=$LULL_BUILD/pairs
rm -rf "$out"
mkdir -p "$out"

declare -A children=()
end_children() {
  if ((${#children[@]})); then kill "${children[@]}" 2> /dev/null || true; fi
}
trap end_children EXIT

declare -A ports=() pids=()
start() {   # SIDE PROCESSOR
  local more
  read -ra more <<< "${flags[$1]}"
  start_service "$out/$1" taskset -c "$2" "${javas[$1]}" -XX:ParallelGCThreads=1 "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m"
  children[$1]=$child ports[$1]=$port pids[$1]=$pid
}

# loads SECONDS PROCESSOR OTHER: both sides at once.
loads() {
  local first
  load "${ports[a]}" "$1" "$out/a.json" taskset -c "$2" &
  first=$!
  load "${ports[b]}" "$1" "$out/b.json" taskset -c "$3"
  wait "$first" || die "the load failed, see $out/a.load.log"
}

# pair ROUND: two JVMs; a line for each window: requests per second and processor milliseconds for a request of either.
pair() {
  local window side x=${processors[0]} y=${processors[1]}
  local -A before=() cost=()
  start a "$x"
  start b "$y"
  loads "$warmup" "$x" "$y"
  for ((window = 0; window < windows; window++)); do
    read -r x y <<< "$y $x"
    taskset -acp "$x" "${pids[a]}" > /dev/null
    taskset -acp "$y" "${pids[b]}" > /dev/null
    for side in a b; do before[$side]=$(ticks "/proc/${pids[$side]}/stat"); done
    loads "$seconds" "$x" "$y"
    for side in a b; do
      cost[$side]=$(awk -v ticks=$(($(ticks "/proc/${pids[$side]}/stat") - before[$side])) -v hertz="$(getconf CLK_TCK)" \
        -v answers="$(field answers "$out/$side.json")" 'BEGIN { printf "%.5f", 1000 * ticks / hertz / answers }')
    done
    echo "$1 $(field throughput "$out/a.json") $(field throughput "$out/b.json") ${cost[a]} ${cost[b]}" >> "$out/$SERVICE.windows"
  done
  for side in a b; do kill "${children[$side]}"; wait "${children[$side]}" || true; done
  children=()
  echo "  $SERVICE, round $1: $(awk -v round="$1" '$1 == round { printf "%.3f ", $3 / $2 }' "$out/$SERVICE.windows")"
}

# summary FILE COLUMN OTHER: the median of all windows' ratios, with the least and the largest, and the least and the largest median of a round.
summary() {
  awk -v a="$2" -v b="$3" '{ print "all", $b / $a; print $1, $b / $a }' "$1" | sort -k 1,1 -k 2,2n | awk '
    function done() { m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
      if (key == "all") { all = m; low = r[1]; high = r[n] } else { if (least == "" || m < least) least = m; if (m > most) most = m } n = 0 }
    $1 != key && n { done() }
    { key = $1; r[++n] = $2 }
    END { done(); printf "%.3f (%.3f to %.3f; JVMs %.3f to %.3f)", all, low, high, least, most }'
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  prepare_service "${entry%:*}" "${javas[a]}"
  for ((round = 1; round <= rounds; round++)); do pair "$round"; done
done

echo
echo "A: ${javas[a]} ${flags[a]}"
echo "B: ${javas[b]} ${flags[b]}"
printf '%-10s %8s %12s  %-52s %s\n' service 'heap MB' 'A, req/s' 'requests/s, B to A' 'processor time for a request, B to A'
for entry in "${services[@]}"; do
  service=${entry%:*}
  printf '%-10s %8s %12s  %-52s %s\n' "$service" "${entry#*:}" "$(awk '{ sum += $2 } END { printf "%.0f", sum / NR }' "$out/$service.windows")" \
    "$(summary "$out/$service.windows" 2 3)" "$(summary "$out/$service.windows" 4 5)"
done
