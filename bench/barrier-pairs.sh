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

read -ra services <<< "${PAIRS_SERVICES:-compile:200 lucene:200 crud:240 h2:256}"
rounds=${PAIRS_ROUNDS:-3} warmup=${PAIRS_WARMUP:-45} seconds=${PAIRS_SECONDS:-12} windows=${PAIRS_WINDOWS:-4} threads=${PAIRS_THREADS:-4}
for number in "PAIRS_ROUNDS $rounds" "PAIRS_WARMUP $warmup" "PAIRS_SECONDS $seconds" "PAIRS_WINDOWS $windows" "PAIRS_THREADS $threads"; do
  [[ ${number#* } =~ ^[1-9][0-9]*$ ]] || die "${number% *} is '${number#* }': a number from 1 on is needed"
done
((windows % 2 == 0)) || die "PAIRS_WINDOWS is '$windows': an even number is needed, for each side serves on each processor"
for entry in "${services[@]}"; do
  [[ $entry =~ ^[a-z0-9]+:[1-9][0-9]*$ ]] || die "PAIRS_SERVICES has '$entry': a service and its heap in MB are needed, as compile:200"
  [ -f "$BENCH/${entry%:*}/pom.xml" ] || die "no service '${entry%:*}': README.md has a list of them"
done
# The first two processors that this process may use.
mapfile -t processors < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | head -n 2)
((${#processors[@]} == 2)) || die "one processor only: the two sides need one each"
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
rm -rf "$out"
mkdir -p "$out"

declare -A children=()
end_children() {
  if ((${#children[@]})); then kill "${children[@]}" 2> /dev/null || true; fi
}
trap end_children EXIT

# start SIDE KIND PROCESSOR
declare -A ports=() pids=()
start() {
  local more
  read -ra more <<< "${flags[$2]}"
  start_service "$out/$1" taskset -c "$3" "$java" "${common[@]}" "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m"
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

# pair KIND ROUND: two JVMs; a line for each window: milliseconds for a request without and with barriers.
pair() {
  local kind=$1 window side x=${processors[0]} y=${processors[1]}
  local -A before=() cost=()
  start a none "$x"
  start b "$kind" "$y"
  loads "$warmup" "$x" "$y"
  for ((window = 0; window < windows; window++)); do
    read -r x y <<< "$y $x"
    taskset -acp "$x" "${pids[a]}" > /dev/null
    taskset -acp "$y" "${pids[b]}" > /dev/null
    for side in a b; do before[$side]=$(mutator_ticks "${pids[$side]}"); done
    loads "$seconds" "$x" "$y"
    for side in a b; do
      cost[$side]=$(awk -v ticks=$(($(mutator_ticks "${pids[$side]}") - before[$side])) -v hertz="$(getconf CLK_TCK)" \
        -v answers="$(field answers "$out/$side.json")" 'BEGIN { printf "%.5f", 1000 * ticks / hertz / answers }')
    done
    echo "$2 ${cost[a]} ${cost[b]}" >> "$out/$SERVICE-$kind.costs"
  done
  for side in a b; do kill "${children[$side]}"; wait "${children[$side]}" || true; done
  children=()
  echo "  $SERVICE, $kind, round $2: $(awk -v round="$2" '$1 == round { printf "%.3f ", $3 / $2 }' "$out/$SERVICE-$kind.costs")"
}

# The median of all windows' ratios, with the least and the largest, and the least and the largest median of a round.
summary() {   # FILE
  awk '{ print "all", $3 / $2; print $1, $3 / $2 }' "$1" | sort -k 1,1 -k 2,2n | awk '
    function done() { m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
      if (key == "all") { all = m; low = r[1]; high = r[n] } else { if (least == "" || m < least) least = m; if (m > most) most = m } n = 0 }
    $1 != key && n { done() }
    { key = $1; r[++n] = $2 }
    END { done(); printf "%.3f (%.3f to %.3f; JVMs %.3f to %.3f)", all, low, high, least, most }'
}

for entry in "${services[@]}"; do
  heap=${entry#*:}
  prepare_service "${entry%:*}" "$java"
  for ((round = 1; round <= rounds; round++)); do
    for kind in tracking public; do pair "$kind" "$round"; done
  done
done

echo
printf '%-10s %16s  %-52s %s\n' service 'ms for a request' 'with barriers' 'in public mode'
for entry in "${services[@]}"; do
  service=${entry%:*}
  printf '%-10s %16s  %-52s %s\n' "$service" "$(awk '{ sum += $2 } END { printf "%.3f", sum / NR }' "$out/$service-tracking.costs")" \
    "$(summary "$out/$service-tracking.costs")" "$(summary "$out/$service-public.costs")"
done
