#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# shared-counts.sh: how often the threads of a service on Lull use what all of them share, for a request, as more of them are busy. Counts calls of functions of libjvm
# by probes of the kernel in a JVM that is not changed for it: what does not grow with the threads here need not be feared on a machine with many
# processors; what a wait costs there is not seen. Prints for each service and number of threads: requests, and for a thousand of them
#
#   lock      acquisitions of the block supply's lock: blocks taken and given back
#   listed    recyclable blocks taken from and given to lists without a lock (a compare-and-swap at least)
#   local     local collections
#   slow      calls of the write barrier into the VM
#   handshake threads that were told to do something (handshake operations)
#   safepoint global and young collections, and other safepoints
#
# Needs root, perf, and a kernel with probes of user programs (CONFIG_UPROBE_EVENTS).
#
# Settings:
#   COUNTS_SERVICES="compile:1024:300 crud:256:20000 h2:256:5000"   with their heaps in MB, and requests: as many to warm up, and as many that count
#   COUNTS_THREADS="2 16 64"          of the server, processors that the JVM believes in, and clients
#   COUNTS_FLAGS="FLAGS"              more flags, as -XX:+UseCompactObjectHeaders
#   COUNTS_JAVA                       default: build/jdk/bin/java; its libjvm must have its symbols
#   LULL_BASE_JDK, OPENJDK_SRC        as for demo.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/service.sh
. "$BENCH/service.sh"

read -ra services <<< "${COUNTS_SERVICES:-compile:1024:300 crud:256:20000 h2:256:5000}"
read -ra numbers <<< "${COUNTS_THREADS:-2 16 64}"
read -ra more <<< "${COUNTS_FLAGS:-}"
java=${COUNTS_JAVA:-$LULL_BUILD/jdk/bin/java}
check_numbers "${numbers[@]/#/COUNTS_THREADS }"
for entry in "${services[@]}"; do
  [[ $entry =~ ^[a-z0-9]+:[0-9]+:[1-9][0-9]*$ ]] || die "COUNTS_SERVICES has '$entry': a service, its heap in MB and a number of requests are needed, as crud:256:20000"
done
check_services COUNTS_SERVICES crud:256 "${services[@]%:*}"
command -v perf > /dev/null || die "there is no perf (linux-perf, or linux-tools of this kernel)"
[ -x "$java" ] || die "there is no $java: make jdk, or set COUNTS_JAVA"
[ "$(id -u)" = 0 ] || die "only root can set probes: run this as root"
TRACING=/sys/kernel/tracing
if [ ! -e $TRACING/uprobe_events ]; then
  [ -z "${COUNTS_MOUNTED:-}" ] || die "this kernel has no $TRACING/uprobe_events: CONFIG_UPROBE_EVENTS is needed"
  # Not for others: mounted for this process and its children.
  exec env COUNTS_MOUNTED=1 unshare -m bash -c 'mount -t tracefs tracefs "$1" && exec "$2"' counts $TRACING "$BENCH/shared-counts.sh"
fi
find_base_jdk
out=$LULL_BUILD/shared-counts
take_turn_of_benches
rm -rf "$out"
mkdir -p "$out"
child=

# What is counted, and the functions of it, each by the beginning of its name.
declare -A FUNCTIONS=(
  [lock]="LullBlockSupply::take_block(|LullBlockSupply::take_block_for_copies(|LullBlockSupply::take_large(|LullBlockSupply::free_blocks_locked("
  [listed]="LullBlockSupply::own_recyclable(|LullRecyclableBlocks::give_back("
  [local]="LullLocalCollection::collect("
  [slow]="LullPublisher::end_slow_call("
  [handshake]="HandshakeState::add_operation("
  [safepoint]="SafepointSynchronize::begin("
)
libjvm=$(readlink -f "$(dirname "$(readlink -f "$java")")/../lib/server/libjvm.so")
GROUP=lull_counts
LIMIT=3600   # seconds for a number of requests

remove_probes() {
  local probe
  for probe in $(grep -o "$GROUP/[a-z0-9_]*" $TRACING/uprobe_events); do echo "-:$probe" >> $TRACING/uprobe_events; done
}
end() {
  if [ -n "$child" ]; then kill "$child" 2> /dev/null || true; fi
  remove_probes
}
trap end EXIT

# A probe for each function; leaves their names in events.
set_probes() {
  local what name offset n=0
  nm -C "$libjvm" > "$out/symbols" 2> /dev/null || true
  events=
  for what in "${!FUNCTIONS[@]}"; do
    while read -r name; do
      offset=$(awk -v name="$name" '{ text = $0; sub(/^[0-9a-f]+ . /, "", text) } index(text, name) == 1 && text !~ /clone/ { print $1; exit }' "$out/symbols")
      [ -n "$offset" ] || die "$libjvm has no function $name...): was it stripped, or is it of another version?"
      echo "p:$GROUP/${what}_$n $libjvm:0x$(offset_in_file "$offset")" >> $TRACING/uprobe_events
      events+="${events:+,}$GROUP:${what}_$n"
      n=$((n + 1))
    done < <(tr '|' '\n' <<< "${FUNCTIONS[$what]}")
  done
}

# offset_in_file ADDRESS: of a function, by the segments of libjvm.
offset_in_file() {
  readelf -lW "$libjvm" | awk -v address="$1" '
    function number(hex,   i, v) { sub(/^0x/, "", hex); for (i = 1; i <= length(hex); i++) v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return v }
    $1 == "LOAD" { a = number(address); v = number($3); if (a >= v && a < v + number($5)) { printf "%x", a - v + number($2); exit } }'
}

# count SERVICE HEAP REQUESTS THREADS: a line of the table.
count() {
  local name=$out/$1-$4 requests=$3
  threads=$4
  start_service "$name" "$java" -XX:+UseLullGC "-XX:ActiveProcessorCount=$4" "${more[@]}" "-Xms$2m" "-Xmx$2m"
  load "$port" $LIMIT "$name.warm.json"
  load "$port" $LIMIT "$name.json" perf stat -x, -o "$name.counts" -e "$events" -p "$pid"
  kill "$child"
  wait "$child" 2> /dev/null || true
  child=
  # The first request of each connection is not among the answers.
  awk -F, -v head="$(printf '%-9s %5d %8d' "$1" "$2" "$4")" -v n=$(($(field answers "$name.json") + threads)) '
    /^#|^$/ { next }
    { what = $3; sub(/^.*:/, "", what); sub(/_[0-9]+$/, "", what); sum[what] += $1 }
    function each(what) { return 1000 * sum[what] / n }
    END { printf "%s %9d %9.0f %9.0f %9.0f %9.0f %9.2f %9.2f\n", head, n, each("lock"), each("listed"), each("local"), each("slow"), each("handshake"), each("safepoint") }' \
    "$name.counts" | tee -a "$out/table.txt"
}

set_probes
printf '%-9s %5s %8s %9s %9s %9s %9s %9s %9s %9s   of 1000 requests\n' service MB threads requests lock listed local slow handshake safepoint | tee "$out/table.txt"
for entry in "${services[@]}"; do
  IFS=: read -r service heap requests_of_each <<< "$entry"
  prepare_service "$service" "$java"
  for number in "${numbers[@]}"; do count "$service" "$heap" "$requests_of_each" "$number"; done
done
