#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Heaps of which a part is local: throughput and pauses of a stock JVM's collectors and of Lull, with two memory servers on this machine. Every
# byte of every record is compared at the end of each run, and the bound is watched from outside. One line of a table for each run.
#
#   LULL_FAR_HEAP        megabytes of heap                      (default: 4096)
#   LULL_FAR_LIVE        megabytes of it that live              (default: half of it)
#   LULL_FAR_SECONDS     measured in each run                   (default: 10)
#   LULL_FAR_LIMIT       seconds after which a run is given up  (default: 300)
#   LULL_FAR_LOCAL       percent of the heap that are local     (default: "100 50 25 13")
#   LULL_FAR_COLLECTORS  Serial, Parallel, G1, Lull             (default: all that there is a JVM for)
#   LULL_JDK25           home of a stock JDK 25                 (default: found in /usr/lib/jvm)
#   LULL_JDK             home of Lull's                         (default: build/jdk)
#   LULL_BUILD           the build directory                    (default: build/)

# shellcheck source-path=SCRIPTDIR source=../../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../build.sh"

if [[ $# != 0 ]]; then sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0; fi
heap=${LULL_FAR_HEAP:-4096} seconds=${LULL_FAR_SECONDS:-10} limit=${LULL_FAR_LIMIT:-300}
live=${LULL_FAR_LIVE:-$((heap / 2))}
read -r -a locals <<< "${LULL_FAR_LOCAL:-100 50 25 13}"

stock=${LULL_JDK25:-}
if [[ -z $stock ]]; then
  for home in /usr/lib/jvm/*; do
    if [[ -x $home/bin/java && -x $home/bin/javac ]] && grep -qs '^JAVA_VERSION="25' "$home/release"; then stock=$home; fi
  done
fi
[[ -n $stock && -x $stock/bin/javac ]] || die "there is no stock JDK 25" "install one, or set LULL_JDK25 to its home"
lull=${LULL_JDK:-$BUILD/jdk}
read -r -a collectors <<< "${LULL_FAR_COLLECTORS:-Serial Parallel G1 Lull}"

toolchain
phase "far memory" "$LOGS/far-table.log" cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked -p lull-memd -p lull-far-front -p lull-far-preload
programs=$CARGO_TARGET_DIR/release
work=$(mktemp -d "$BUILD/native/far-table.XXXXXX")
servers=()
stop_servers() {
  local pid
  for pid in "${servers[@]}"; do kill -TERM "$pid" 2> /dev/null && { kill -TERM "$pid" 2> /dev/null || true; wait "$pid" || true; }; done
  servers=()
}
program=
# The program first: without its servers it would say so.
stop() {
  if [[ -n $program ]]; then kill -TERM "$program" 2> /dev/null || true; fi
  stop_servers
  rm -rf "$work"
}
trap stop EXIT
mkdir "$work/classes" "$work/heap"
"$stock/bin/javac" -Xlint:all -d "$work/classes" "$NATIVE/far/bench/java/Records.java"

# Two servers, each with room for half of the heap and a stripe; their addresses, with a comma.
start_servers() {
  local n addresses=()
  for n in 0 1; do
    # What the last one has said must not be taken for this one's.
    : > "$work/server$n"
    "$programs/lull-memd" --listen 127.0.0.1:0 --memory "$((heap / 2 + 8))m" > "$work/server$n" 2> "$work/server$n.log" &
    servers+=($!)
    while ! grep -q listening "$work/server$n"; do
      kill -0 "${servers[-1]}" 2> /dev/null || die "a memory server does not start" "$(tail -n 1 "$work/server$n.log")"
      sleep 0.05
    done
    addresses+=("$(sed 's/^listening at //' "$work/server$n")")
  done
  names=${addresses[0]},${addresses[1]}
}

# Megabytes of the memory files of a process.
local_megabytes() {
  local fd blocks=0
  for fd in "/proc/$1/fd"/*; do
    if [[ $(readlink "$fd" 2> /dev/null) == *memfd:lull-far* ]]; then blocks=$((blocks + $(stat -L -c %b "$fd" 2> /dev/null || printf 0))); fi
  done
  printf '%d' $((blocks / 2048))
}

row() {   # COLLECTOR LOCAL
  local java=$stock/bin/java pid status=0 now most=0 started=$SECONDS line log=$work/gc.log allowed
  allowed=$((heap * $2 / 100))
  if [[ $1 == Lull ]]; then
    java=$lull/bin/java
    if [[ ! -x $java ]]; then say "| $1 | $2 | skipped: there is no $java | | | | | | |"; return; fi
  fi
  start_servers
  rm -f "$log"
  "$programs/lull-far" run --servers "$names" --local "${allowed}m" --server-timeout 60000 --statistics -- \
    "$java" "-XX:+Use${1}GC" "-Xms${heap}m" "-Xmx${heap}m" "-XX:AllocateHeapAt=$work/heap" "-Xlog:gc:file=$log:uptime" \
    -cp "$work/classes" Records "$live" "$seconds" > "$work/out" 2> "$work/err" &
  pid=$! program=$!
  while kill -0 "$pid" 2> /dev/null; do
    now=$(local_megabytes "$pid")
    if ((now > most)); then most=$now; fi
    if ((SECONDS - started > limit)); then kill -TERM "$pid" 2> /dev/null || true; fi
    sleep 0.1
  done
  wait "$pid" || status=$?
  program=
  stop_servers
  pauses=$(awk '/Pause/ && /ms$/ { sub(/ms$/, "", $NF); n++; sum += $NF; if ($NF > max) max = $NF } END { printf "%d | %.0f | %.1f", n, max, sum / 1000 }' "$log")
  if line=$(grep '^records=' "$work/out"); then
    read -r operations longest compared wrong < <(sed 's/.*operations=\([0-9]*\) .*longest_ms=\([0-9]*\) compared=\([0-9]*\) wrong=\([0-9]*\)/\1 \2 \3 \4/' <<< "$line")
    say "| $1 | $2 | $((operations / seconds)) | $pauses | $longest | $compared | $wrong | $most of $allowed |"
    if [[ $wrong != 0 ]]; then failed=1; fi
  else
    say "| $1 | $2 | $(grep -q filled "$work/out" && printf 'not ended' || printf 'not filled') after $((SECONDS - started)) s, status $status | $pauses | | 0 | | $most of $allowed |"
    grep -v '^lull-far: local ' "$work/err" | head -n 3 | sed 's/^/  /'
    if ((SECONDS - started <= limit)); then failed=1; fi
  fi
  if ((most > allowed)); then say "FAILED: $most MB were local"; failed=1; fi
}

failed=0
say "$heap MB of heap, $live MB live, $seconds s, $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
say "| collector | local % | operations/s | pauses | longest pause ms | pauses s | longest operation ms | bytes compared | records wrong | most MB local |"
say "|---|---|---|---|---|---|---|---|---|---|"
for collector in "${collectors[@]}"; do
  for percent in "${locals[@]}"; do row "$collector" "$percent"; done
done
exit "$failed"
