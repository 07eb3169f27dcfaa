#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# doctor.sh: is the doctor right, and what does it cost? Services run under it on G1, on Lull, and on Lull in public mode, on
# the same JDK in the same heap under the same closed loop, one after the other. Beside what it has read from the recordings stands what was measured
# by others: processor time of the server for each request, and requests per second. What recording costs is measured in one more JVM, on Lull, which the
# doctor records and leaves alone in turn. Ends with a table, and the pages build/doctor-bench/SERVICE.html. Three services take half an hour.
#
# Settings, all optional:
#   DOCTOR_SERVICES="compile:80 crud:128 h2:192"   with their heaps in MB
#   DOCTOR_WARMUP=60 DOCTOR_SECONDS=60             before and while the service is recorded
#   DOCTOR_ROUNDS=5 DOCTOR_ROUND_SECONDS=8         of recording, with as long before and after without
#   DOCTOR_THREADS=4                               of the server, and clients of the loop
#   LULL_JAVA                                      default: build/jdk/bin/java
#   LULL_BASE_JDK, OPENJDK_SRC                     as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"

read -ra services <<< "${DOCTOR_SERVICES:-compile:80 crud:128 h2:192}"
warmup=${DOCTOR_WARMUP:-60} seconds=${DOCTOR_SECONDS:-60} threads=${DOCTOR_THREADS:-4}
rounds=${DOCTOR_ROUNDS:-5} round_seconds=${DOCTOR_ROUND_SECONDS:-8}
check_numbers "DOCTOR_ROUNDS $rounds" "DOCTOR_ROUND_SECONDS $round_seconds" "DOCTOR_WARMUP $warmup" "DOCTOR_SECONDS $seconds" "DOCTOR_THREADS $threads"
check_services DOCTOR_SERVICES compile:80 "${services[@]}"
find_base_jdk
java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"
take_turn_of_benches
doctor=$LULL_BUILD/doctor/lull
"$ROOT/java/report/build.sh"
export JAVA_HOME=$LULL_BASE_JDK

declare -A flags=(
  [g1]="-XX:+UseG1GC"
  [lull]="-XX:+UseLullGC"
  [public]="-XX:+UseLullGC -XX:-LullTracking"
)
out=$LULL_BUILD/doctor-bench
mkdir -p "$out"

child=
end_child() {
  if [ -n "$child" ]; then kill "$child" 2> /dev/null || true; fi
}
trap end_child EXIT

# measure SECONDS FILE: a line with milliseconds of processor time for a request, and requests per second, of the service that was started last.
measure() {
  local before after
  before=$(ticks "/proc/$pid/stat")
  load "$port" "$1" "$2"
  after=$(ticks "/proc/$pid/stat")
  awk -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" -v answers="$(field answers "$2")" -v rate="$(field throughput "$2")" \
    'BEGIN { print 1000 * ticks / hertz / answers, rate }'
}

# run VARIANT: leaves a recording, what the doctor says, and what was measured.
run() {
  local variant=$1 name=$out/$service-$1 more
  read -ra more <<< "${flags[$variant]}"
  start_service "$name" "$doctor" doctor -o "$name.html" --recording "$name.jfr" --warmup "$warmup" -- "$java" "${more[@]}" "-Xms${heap}m" "-Xmx${heap}m"
  load "$port" "$warmup" "$name.json"
  measure "$seconds" "$name.json" > "$name.measured"
  kill "$pid"
  # A JVM that is ended by SIGTERM has the status 143, of which the doctor makes its own.
  wait "$child" || die "the doctor failed: $(tail -n 3 "$name.log")"
  child=
  echo "  $service on $variant: $(awk '{ printf "%.3f ms of processor time for a request, %.0f requests/s", $1, $2 }' "$name.measured")"
}

# cost: leaves the ratio of processor time for a request while recorded to that before and after, a line for each round.
cost() {
  local name=$out/$service-cost round before now after recorder
  start_service "$name" "$java" -XX:+UseLullGC "-Xms${heap}m" "-Xmx${heap}m"
  load "$port" "$warmup" "$name.json"
  : > "$name.ratios"
  before=$(measure "$round_seconds" "$name.json")
  for ((round = 0; round < rounds; round++)); do
    "$doctor" doctor -o "$name.html" --recording "$name.jfr" --pid "$pid" --seconds $((round_seconds + 5)) > "$name.doctor" 2>&1 &
    recorder=$!
    sleep 2
    now=$(measure "$round_seconds" "$name.json")
    wait "$recorder" || die "the doctor failed: $(tail -n 3 "$name.doctor")"
    after=$(measure "$round_seconds" "$name.json")
    echo "$before $now $after" | awk '{ print $3 / (($1 + $5) / 2) }' >> "$name.ratios"
    before=$after
  done
  kill "$pid"
  wait "$child" || true
  child=
}

for entry in "${services[@]}"; do
  service=${entry%:*} heap=${entry#*:}
  prepare_service "$service" "$java"
  for variant in g1 lull public; do
    run "$variant"
  done
  cost
  "$doctor" doctor -o "$out/$service.html" --recording "$out/$service-lull.jfr" --baseline "$out/$service-g1.jfr" > "$out/$service.said"
done

echo
for entry in "${services[@]}"; do
  service=${entry%:*}
  echo "$service, ${entry#*:} MB"
  grep -h 'can be gained' "$out/$service-g1.log" | sed 's/^/  by the recording of G1:    /' || echo "  by the recording of G1:    nothing"
  grep -h 'For the same allocation' "$out/$service.said" | sed 's/^/  by both recordings:        /' || echo "  by both recordings:        nothing"
  head -n 1 "$out/$service.said" | sed 's/^/  advice:                    /'
  awk -v now="$(cat "$out/$service-lull.measured")" -v g1="$(cat "$out/$service-g1.measured")" \
    -v public="$(cat "$out/$service-public.measured")" '
    function percent(a, b) { return sprintf("%+.1f %%", 100 * (a / b - 1)) }
    BEGIN {
      split(now, l); split(g1, g); split(public, p)
      print "  measured, Lull to G1:      processor time for a request " percent(l[1], g[1]) ", requests per second " percent(l[2], g[2])
      print "  measured, public mode to private: processor time for a request " percent(p[1], l[1]) ", requests per second " percent(p[2], l[2])
    }'
  sort -n "$out/$service-cost.ratios" | awk '
    { ratio[NR] = 100 * ($1 - 1) }
    END {
      middle = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
      printf "  what recording costs:      processor time for a request %+.1f %% (%+.1f to %+.1f %% in %d rounds)\n", middle, ratio[1], ratio[NR], NR
    }'
done
