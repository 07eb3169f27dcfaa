#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Counts of services, on which the design of a far collector depends. How many pages are written to in windows of 10 ms, 100 ms and 1 s,
# by the pager (lull-far run --dirty), with all memory local. And how many pages hold a reference to be patched when the sparsest regions are
# moved (lull-far-trace --concerned), on the heap that Lull exports at the end. Prints two tables; needs the right to --faults handlers, as heap
# pages are given to system calls.
#
#   FAR_SERVICES="compile:256 lucene:192 crud:256 h2:384 kafka:256 cassandra:768"   with their heaps in MB; or nothing
#   FAR_CACHE=800000:768         entries of the cache service (hotspot/test/cache-pauses) and its heap in MB; or nothing
#   FAR_COLLECTORS="g1 lull"
#   FAR_WARMUP=30 FAR_SECONDS=30 of each service; the cache serves for so long without and with replacing
#   FAR_THREADS=4                of each server, and clients of its loop
#   FAR_LULL_FLAGS               more flags of Lull's, as -XX:-LullUncommit
#   LULL_JAVA                    default: build/jdk/bin/java

# shellcheck source-path=SCRIPTDIR source=../../bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../bench/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source-path=SCRIPTDIR source=../../bench/service.sh
. "$BENCH/service.sh"

read -ra services <<< "${FAR_SERVICES-compile:256 lucene:192 crud:256 h2:384 kafka:256 cassandra:768}"
read -ra collectors <<< "${FAR_COLLECTORS:-g1 lull}"
warmup=${FAR_WARMUP:-30} seconds=${FAR_SECONDS:-30} threads=${FAR_THREADS:-4} cache=${FAR_CACHE-800000:768}
check_numbers "FAR_WARMUP $warmup" "FAR_SECONDS $seconds" "FAR_THREADS $threads"
check_services FAR_SERVICES compile:256 "${services[@]}"
[[ -z $cache || $cache =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || die "FAR_CACHE is '$cache': entries and a heap in MB are needed, as 800000:768"
find_base_jdk
java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"
take_turn_of_benches
(. "$ROOT/native/build.sh" && toolchain && phase "far memory" "$LOGS/far-counters.log" cargo build --manifest-path "$NATIVE/Cargo.toml" --release \
  --locked -p lull-memd -p lull-far-front -p lull-far-preload -p lull-far-heap -p lull-far-bench) || exit 1
programs=$LULL_BUILD/native/release
out=$LULL_BUILD/far-counters
rm -rf "$out"
mkdir -p "$out/heap"

server= child=
stop() {
  local one
  for one in $child $server; do kill "$one" 2> /dev/null || true; wait "$one" 2> /dev/null || true; done
  server= child=
}
trap stop EXIT

# start_server MEGABYTES: leaves address.
start_server() {
  local _
  : > "$out/memd"
  "$programs/lull-memd" --listen 127.0.0.1:0 --memory "$1m" > "$out/memd" 2> "$out/memd.log" &
  server=$!
  for _ in {1..100}; do
    address=$(sed -n 's/^listening at //p' "$out/memd")
    if [ -n "$address" ]; then return; fi
    sleep 0.1
  done
  die "the memory server did not start: $(tail -n 1 "$out/memd.log")"
}

# far COLLECTOR HEAP NAME: the command that ends with the options of a Java, in the array command.
far() {
  local flags
  OTHERWISE=$java collector_of "$1"
  # shellcheck disable=SC2206 # words
  if [ "$1" = lull ]; then flags+=(${FAR_LULL_FLAGS:-}); fi
  command=("$programs/lull-far" run --servers "$address" --local 100% --faults handlers --server-timeout 60000 --dirty "$3.dirty" -- "$java" "${flags[@]}"
    "-Xms$2m" "-Xmx$2m" "-XX:AllocateHeapAt=$out/heap" "-Xlog:gc:file=$3.gc.log:timemillis,uptime:filecount=0")
}

now() { date +%s%3N; }

# Pages that were allocated in a second, by the gc log: what the heap has grown by from the end of one pause to the begin of the next.
allocated() {   # LOG FROM TO
  awk -v from="$2" -v to="$3" 'match($0, /[0-9]+M->[0-9]+M/) { split(substr($0, RSTART, RLENGTH), m, /M(->)?/)
    match($0, /\[[0-9]+ms\]/); at = substr($0, RSTART + 1, RLENGTH - 4) + 0
    if (at >= from && at <= to && seen) grown += m[1] - last
    last = m[2]; seen = 1 }
    END { printf "%.0f", grown * 256 * 1000 / (to - from) }' "$1"
}

# count NAME ROW FROM TO: a row of the first table.
count() {
  local sums
  sums=$("$programs/lull-far-bench" dirty --from "$3" --to "$4" "$1.dirty") || die "$1.dirty cannot be read"
  echo "$sums" > "$1.sums"
  echo "$2 | $(allocated "$1.gc.log" "$3" "$4") | $(sed -n 's/^.*: p50 \(.*\), p90 \(.*\), p99 \(.*\), most \(.*\); \(.*\) windows, \(.*\) more .*$/\1, \2, \3, \4 | \5 + \6/p' <<< "$sums" |
    awk -F' [|] ' '{ line = line $1 " | "; late = late (late == "" ? "" : "; ") $2 } END { print line late " |" }')" >> "$out/dirty.md"
}

# concerned NAME TITLE: what lull-far-trace says of the heap that this JVM exports, which is removed.
concerned() {
  rm -f "$1.heap"
  "$(dirname "$java")/jcmd" "$pid" GC.export_heap "$1.heap" > "$1.export" 2>&1 || true
  [ -s "$1.heap" ] || die "the heap was not exported: $(tail -n 1 "$1.export")"
  { echo "$2"; "$programs/lull-far-trace" --concerned "$1.heap"; } > "$1.concerned" || die "the exported heap cannot be understood"
  rm "$1.heap"
}

# measure SERVICE HEAP COLLECTOR
measure() {
  local name=$out/$1-$3 from to command more=()
  if [ -f "$BENCH/$1/src/main/resources/META-INF/lull/jvm-flags" ]; then
    mapfile -t more < <(sed 's/#.*//; /^ *$/d; s/^ *//; s/ *$//' "$BENCH/$1/src/main/resources/META-INF/lull/jvm-flags")
  fi
  start_server $(($2 + 64))
  far "$3" "$2" "$name"
  start_service "$name" "${command[@]}" "${more[@]}"
  load "$port" "$warmup" "$name.json"
  from=$(now)
  load "$port" "$seconds" "$name.json"
  to=$(now)
  # The load's own JVM starts and ends within.
  count "$name" "| $1 | $3 | $2 | $(printf '%.0f' "$(field throughput "$name.json")")" $((from + 2000)) $((to - 1000))
  if [ "$3" = lull ]; then concerned "$name" "$1, $2 MB"; fi
  stop
  echo "  $1 on $3 is done"
}

# measure_cache ENTRIES HEAP COLLECTOR
measure_cache() {
  local name=$out/cache-$3 from to zero command
  start_server $(($2 + 64))
  far "$3" "$2" "$name"
  : > "$name.out"
  "${command[@]}" -cp "$out/classes" CachePauses "$1" "$seconds" 4 > "$name.out" 2> "$name.log" &
  child=$! pid=$!
  until grep -q ^serve "$name.out"; do
    kill -0 "$child" 2> /dev/null || die "the cache ended too soon: $(tail -n 3 "$name.log")"
    sleep 0.2
  done
  from=$(now)
  # The export needs a JVM of its own, which takes its time on a busy machine.
  sleep $((seconds / 2))
  to=$(now)
  if [ "$3" = lull ]; then concerned "$name" "cache, $2 MB"; fi
  wait "$child" || die "the cache failed: $(tail -n 3 "$name.log")"
  child=
  # When the JVM began, by the first line of its log.
  zero=$(sed -n '1s/^\[\([0-9]*\)[.,]\([0-9]*\)s\]\[\([0-9]*\)ms\].*/\1\2 \3/p' "$name.gc.log" | awk '{ printf "%.0f", $2 - $1 }')
  count "$name" "| cache, served | $3 | $2 | $(awk '/^serve/ { printf "%.0f", $4 / ($3 - $2) }' "$name.out")" \
    "$(awk -v zero="$zero" '/^serve/ { printf "%.0f", zero + 1000 * $2 + 1000 }' "$name.out")" "$from"
  count "$name" "| cache, a tenth replaced | $3 | $2 | $(awk '/^replace/ { printf "%.0f", $4 / ($3 - $2) }' "$name.out")" $((from + 1000)) "$to"
  stop
  echo "  cache on $3 is done"
}

{
  echo "| service | collector | heap MB | requests/s | pages allocated/s | pages in 10 ms: p50, p90, p99, most | in 100 ms | in 1 s | windows + late ones |"
  echo "|---|---|---|---|---|---|---|---|---|"
} > "$out/dirty.md"
for entry in "${services[@]}"; do
  prepare_service "${entry%:*}" "$java"
  for collector in "${collectors[@]}"; do measure "${entry%:*}" "${entry#*:}" "$collector"; done
done
if [ -n "$cache" ]; then
  mkdir "$out/classes"
  "$(dirname "$java")/javac" -d "$out/classes" "$ROOT/hotspot/test/cache-pauses/CachePauses.java"
  for collector in "${collectors[@]}"; do measure_cache "${cache%:*}" "${cache#*:}" "$collector"; done
fi
echo
cat "$out/dirty.md"
cat "$out"/*.concerned 2> /dev/null || true
