#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# services.sh: services on a heap of segregated lists (-XX:LullAllocation=segregated), each with several searches and coalescings in the same heap under a
# closed loop: nanoseconds of allocation and collection for each allocation, from the start of the JVM on, and what the lists count.
# Writes build/allocator/services.csv and prints a table.
#
# Settings, all optional:
#   STUDY_JDK=DIR                    the study's JDK, default that of jdk.sh; one of a release build
#   STUDY_SERVICES="compile:192 lucene:192 crud:192 h2:192"   services, with a heap in MB
#   STUDY_POLICIES="traverse:deferred next-hit:deferred traverse:immediate next-hit:immediate bitmap:immediate"
#   STUDY_SERVICE_LISTS="128 512"    numbers of lists
#   STUDY_SERVICE_SECONDS=20         of load for each
#   STUDY_REPEATS=1                  runs of each, in turn; that of the median counts

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"

read -ra SERVICES <<< "${STUDY_SERVICES:-compile:192 lucene:192 crud:192 h2:192}"
read -ra POLICIES <<< "${STUDY_POLICIES:-traverse:deferred next-hit:deferred traverse:immediate next-hit:immediate bitmap:immediate}"
TIME=${STUDY_SERVICE_SECONDS:-20} REPEATS=${STUDY_REPEATS:-1}
read -ra LISTS <<< "${STUDY_SERVICE_LISTS:-128 512}"
# shellcheck disable=SC2034 # for service.sh
threads=2

[[ $TIME =~ ^[1-9][0-9]*$ ]] || die "STUDY_SERVICE_SECONDS is '$TIME': a number of seconds from 1 on is needed"
[[ $REPEATS =~ ^[1-9][0-9]*$ ]] || die "STUDY_REPEATS is '$REPEATS': a number of runs from 1 on is needed"
for service in "${SERVICES[@]}"; do
  [[ $service =~ ^[a-z0-9]+:[1-9][0-9]*$ ]] || die "STUDY_SERVICES has '$service': a service and a heap in MB are needed, as in compile:192"
done
for policy in "${POLICIES[@]}"; do
  [[ $policy =~ ^(traverse|next-hit|bitmap):(never|deferred|immediate)$ ]] || die "STUDY_POLICIES has '$policy': a search and a coalescing are needed, as in bitmap:immediate"
done
for lists in "${LISTS[@]}"; do
  [[ $lists =~ ^[1-9][0-9]*$ ]] || die "STUDY_SERVICE_LISTS has '$lists': a number of lists is needed, as in 128"
done
[ -x "$JDK/bin/java" ] || die "there is no JDK at $JDK" "build it first: make jdk"
find_base_jdk
out=$OUT/services
rm -rf "$out"
mkdir -p "$out"

# run NAME MB SEARCH COALESCING LISTS: the service that was prepared last; prints its line of the table. Called as a subshell, which takes the service with it
# if that is not ready after a minute.
run() {
  local name=$1 mb=$2 search=$3 coalescing=$4 lists=$5 outcome=fits rate=
  rm -f "$out/$name.gc"
  child=
  trap 'if [ -n "$child" ]; then kill "$child"; wait "$child" || true; fi' EXIT
  mapfile -t options < <(segregated_options "$search" "$coalescing" "$lists" "$((mb << 20))")
  start_service "$out/$name" "$JDK/bin/java" "${options[@]}" "-Xlog:gc+lull=info:file=$out/$name.gc:none"
  if (load "$port" "$TIME" "$out/$name.json") 2> "$out/$name.failed"; then
    rate=$(field throughput "$out/$name.json" | awk '{ printf "%.1f", $1 }')
  else
    outcome=fails
  fi
  kill "$child" 2> /dev/null || true
  wait "$child" || true
  child=
  if grep -q OutOfMemoryError "$out/$name.log"; then outcome=full; fi
  if [ $outcome = fails ]; then cat "$out/$name.failed" >&2; fi
  awk -v line="$SERVICE,$mb,$search,$coalescing,$lists,$outcome,$rate" '
    /^Segregated: / { for (i = 2; i <= NF; i++) { split($i, pair, "="); v[pair[1]] = pair[2] } }
    function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "" }
    END {
      n = v["allocations"]
      print line "," n "," v["collections"] "," ratio(v["allocation_ns"], n) "," ratio(v["collection_ns"], n) "," ratio(v["allocation_ns"] + v["collection_ns"], n) "," \
        ratio(v["lists_passed"], n) "," ratio(v["runs_passed"], n) "," ratio(n, v["became_empty"] + v["became_non_empty"]) "," v["interrupted"]
    }' "$out/$name.gc"
}

header=service,heap_mb,search,coalescing,lists,outcome,requests_per_s,allocations,collections,allocation_ns,collection_ns,management_ns,lists_passed,runs_passed,allocations_per_update,interrupted
for service in "${SERVICES[@]}"; do
  prepare_service "${service%:*}" "$JDK/bin/java"
  for ((repeat = 0; repeat < REPEATS; repeat++)); do
    for lists in "${LISTS[@]}"; do
      for policy in "${POLICIES[@]}"; do
        echo "==> $SERVICE in ${service#*:} MB, ${policy#*:} coalescing, ${policy%:*}, $lists lists"
        (run "$SERVICE-${policy/:/-}-$lists-$repeat" "${service#*:}" "${policy%:*}" "${policy#*:}" "$lists" >> "$out/runs") ||
          echo "$SERVICE,${service#*:},${policy%:*},${policy#*:},$lists,slow,,,,,,,,,," >> "$out/runs"
      done
    done
  done
done

# The median by management time of each point.
{
  echo "$header"
  sort -s -t, -k1,5 -k12,12n "$out/runs" | awk -F, '
    { key = $1 "," $2 "," $3 "," $4 "," $5; if (key != last) { if (n) print line[int((n + 1) / 2)]; n = 0; last = key } line[++n] = $0 }
    END { if (n) print line[int((n + 1) / 2)] }'
} > "$OUT/services.csv"
awk -F, '{ printf "%-8s %7s %-9s %-10s %5s %-8s %14s %12s %11s %13s %13s %13s %12s %11s %22s %11s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 }' "$OUT/services.csv"
echo "in $OUT/services.csv; _ns are nanoseconds for each allocation"
