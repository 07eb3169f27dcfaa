#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: pauses of a cache in the heap (CachePauses.java) while it is filled, served from, and partly replaced: the longest
# pause and the requests of each phase, for Lull with and without concurrent marking, G1 and generational Shenandoah of the
# same JDK, by turns. For release builds. Times are worth something on a quiet machine only.
#
#   LULL_TEST_JDK      the JDK (default: build/jdk)
#   CACHE_RUNS=1       rounds
#   CACHE_ENTRIES=4000000  some 260 bytes each
#   CACHE_HEAP=2g      -Xmx; -Xms is a tenth of it
#   CACHE_SECONDS=20   of each of the two phases in which the cache serves
#   CACHE_COLLECTORS   names as in bench/collectors.sh (default: lull stopping g1 genshen)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../../../bench/collectors.sh
. "$ROOT/bench/collectors.sh"

runs=${CACHE_RUNS:-1} entries=${CACHE_ENTRIES:-4000000} heap=${CACHE_HEAP:-2g} seconds=${CACHE_SECONDS:-20}
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "CACHE_RUNS is '$runs': a number from 1 on is needed"
read -ra collectors <<< "${CACHE_COLLECTORS:-lull stopping g1 genshen}"
compile_programs cache-pauses jdk "$ROOT/hotspot/test/cache-pauses/CachePauses.java"

# The longest pause, in ms, that began in this phase, from a log with the uptime in seconds.
longest() {   # LOG START END
  awk -v start="$2" -v end="$3" '/ Pause .*ms$/ { at = substr($1, 2) + 0; ms = $NF; sub(/ms/, "", ms)
    if (at >= start && at <= end) { pauses++; if (ms + 0 > most) most = ms + 0 } }
    END { printf "%.1f %d", most, pauses }' "$1"
}

printf '%-11s %-8s %14s %8s %14s\n' collector phase 'longest ms' pauses requests/s
for ((run = 1; run <= runs; run++)); do
  for collector in "${collectors[@]}"; do
    flags_of "$collector" || die "CACHE_COLLECTORS has '$collector': known are $COLLECTOR_NAMES"
    log=$work/$collector-$run.log out=$work/$collector-$run.txt
    cleanly "$jdk/bin/java" "${flags[@]}" "-Xmx$heap" "-Xlog:gc*:file=$log:uptime:filecount=0" -cp "$work" \
      CachePauses "$entries" "$seconds" 4 > "$out" || die "CachePauses failed with $collector, see $log and $out"
    while read -r phase start end requests; do
      IFS=' ' read -r most pauses <<< "$(longest "$log" "$start" "$end")"
      printf '%-11s %-8s %14s %8d %14.0f\n' "$collector" "$phase" "$most" "$pauses" \
        "$(awk -v n="$requests" -v s="$start" -v e="$end" 'BEGIN { print n / (e - s) }')"
    done < "$out"
  done
done
