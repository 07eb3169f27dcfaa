#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# cache.sh: the life of a cache in the heap (the service bench/cache) on one collector after the other, in rounds: it is filled, it serves, a tenth of
# it is replaced each minute while it serves, half of it is dropped at once and comes back. Prints for each phase and collector the median of all
# rounds, and the largest of the longest pauses: requests per second, latencies in ms of the open loop from the time at which a request should
# have been sent, pauses, processor time of the server for a request, all of its threads, and its memory (PSS) at the end of the phase.
#
# Settings:
#   CACHE_COLLECTORS="lull g1 zgc genshen"   names as in collectors.sh; zgc and genshen need a JDK that has them
#   CACHE_ENTRIES=5000000             some 400 bytes each
#   CACHE_HEAP=4g                     the largest heap; CACHE_HEAP_G1=5g, say, is that of one collector, as for the same memory
#   CACHE_ROUNDS=3
#   CACHE_SECONDS=20                  of each loop: a round has five of them, and the filling
#   CACHE_RATE=4000                   requests per second of the open loops
#   CACHE_THREADS=4                   of the server, and clients of the closed loops
#   CACHE_JAVA=FILE                   default: build/jdk/bin/java; CACHE_JAVA_G1=FILE, say, is that of one collector
#   LULL_BASE_JDK                     as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"

read -ra collectors <<< "${CACHE_COLLECTORS:-lull g1 zgc genshen}"
entries=${CACHE_ENTRIES:-5000000} rounds=${CACHE_ROUNDS:-3} seconds=${CACHE_SECONDS:-20} rate=${CACHE_RATE:-4000} threads=${CACHE_THREADS:-4}
check_numbers "CACHE_ENTRIES $entries" "CACHE_ROUNDS $rounds" "CACHE_SECONDS $seconds" "CACHE_RATE $rate" "CACHE_THREADS $threads"

# of_collector SETTING COLLECTOR DEFAULT: SETTING_COLLECTOR, else SETTING, else the default.
of_collector() {
  local own=$1_${2^^} all=$1
  echo "${!own:-${!all:-$3}}"
}

for collector in "${collectors[@]}"; do
  flags_of "$collector" || die "CACHE_COLLECTORS has '$collector': known are $COLLECTOR_NAMES"
  java=$(of_collector CACHE_JAVA "$collector" "$LULL_BUILD/jdk/bin/java")
  "$java" "${flags[@]}" -version > /dev/null 2>&1 || die "$java does not run with ${flags[*]}: leave $collector out of CACHE_COLLECTORS, or give CACHE_JAVA_${collector^^}"
done
find_base_jdk
out=$LULL_BUILD/cache
take_turn_of_benches
rm -rf "$out"
mkdir -p "$out"
SERVICE=cache
build_bench
path=$LULL_BUILD/bench/cache/lib/*
data=$out/data
mkdir -p "$data"
"$LULL_BASE_JDK/bin/java" -cp "$path" lull.bench.service.PrepareMain --service cache --data "$data" --options "entries=$entries" > "$out/prepare.log" 2>&1 \
  || die "the cache cannot be prepared: $(tail -n 3 "$out/prepare.log")"
child=
trap '[ -z "$child" ] || kill "$child" 2> /dev/null || true' EXIT

# with_pauses LOG TABLE: the table with two more columns, of the pauses in a loop's time: the longest, in ms, and how many.
with_pauses() {
  awk -v log_file="$1" '
    BEGIN { while ((getline line < log_file) > 0) if (line ~ / Pause .*[0-9]ms$/) { split(line, part, /[][s]+/); n++; at[n] = part[2] + 0
              sub(/ms$/, "", line); sub(/.* /, "", line); took[n] = line + 0 } }
    FNR == 1 { print $0, "longest-pause pauses"; next }
    { most = 0; count = 0; for (i = 1; i <= n; i++) if (at[i] >= $3 && at[i] < $4) { count++; if (took[i] > most) most = took[i] }
      print $0, most, count }' "$2"
}

one_life() {   # COLLECTOR ROUND
  local name=$out/$1-$2 java
  flags_of "$1"
  java=$(of_collector CACHE_JAVA "$1" "$LULL_BUILD/jdk/bin/java")
  start_service "$name" "$java" "${flags[@]}" "-Xmx$(of_collector CACHE_HEAP "$1" 4g)" "-Xlog:gc*:file=$name.gc.log:uptime:filecount=0"
  "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -Xmx512m -cp "$path" lull.bench.cache.PhasesMain --data "$data" --ready "$name.ready" --out "$name.table" \
    --clients "$threads" --seconds "$seconds" --rate "$rate" > "$name.load" 2>&1 || die "the load on $1 failed: $(tail -n 3 "$name.load")"
  kill "$child"
  wait "$child" || true
  child=
  with_pauses "$name.gc.log" "$name.table" | sed "1d; s/^/$1 /" >> "$out/lines"
}

for ((round = 1; round <= rounds; round++)); do
  for collector in "${collectors[@]}"; do
    echo "round $round of $rounds: $collector" >&2
    one_life "$collector" "$round"
  done
done

# The median of the rounds, of pauses the largest. Fields of a line: collector, phase, loop, start, end, requests/s, p50, p99, p99.9, p99.99, max,
# processor time, memory, errors, longest pause, pauses.
awk '
  function median(key, n,   i, j, swap) {
    for (i = 1; i <= n; i++) sorted[i] = value[key, i]
    for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) if (sorted[j] < sorted[i]) { swap = sorted[i]; sorted[i] = sorted[j]; sorted[j] = swap }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
  }
  { key = $2 " " $3 " " $1
    if (!(key in rounds)) order[++keys] = key
    rounds[key]++
    for (i = 6; i <= NF; i++) value[key " " i, rounds[key]] = $i }
  END {
    printf "%-9s %-7s %-11s %11s %8s %8s %8s %8s %10s %8s %9s %7s %7s\n", "phase", "loop", "collector", "requests/s", "p50", "p99", "p99.9", "p99.99", "cpu us/req", "PSS MB", "longest", "pauses", "errors"
    for (k = 1; k <= keys; k++) {
      key = order[k]; n = rounds[key]; most = 0; errors = 0; split(key, name, " ")
      for (i = 1; i <= n; i++) { if (value[key " " 15, i] > most) most = value[key " " 15, i]; errors += value[key " " 14, i] }
      printf "%-9s %-7s %-11s %11.0f %8.2f %8.2f %8.2f %8.2f %10.1f %8.0f %9.1f %7.0f %7d\n", name[1], name[2], name[3], median(key " " 6, n), median(key " " 7, n),
        median(key " " 8, n), median(key " " 9, n), median(key " " 10, n), median(key " " 12, n), median(key " " 13, n), most, median(key " " 16, n), errors
    } }' "$out/lines" | tee "$out/table.txt"
