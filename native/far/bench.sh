#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Measures the pager with two memory servers on this machine: latency of faults and of the exchange in them, read-ahead, eviction, the same
# accesses on a file of the local disk and on a zram device, misses against exact LRU on made and recorded traces, and the time of a program
# that reads and writes. Makes a zram device of its own, as root, and removes it; swaps to nothing. Some minutes.
#
#   LULL_JDK25   home of a stock JDK 25, whose collectors' traces are recorded  (default: found in /usr/lib/jvm; else none is recorded)
#   LULL_BUILD   the build directory                                            (default: build/)

# shellcheck source-path=SCRIPTDIR source=../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../build.sh"

if [[ $# != 0 ]]; then sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0; fi
toolchain
phase "far memory and its bench" "$LOGS/far-bench.log" \
  cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked -p lull-memd -p lull-far-front -p lull-far-preload -p lull-far-bench
programs=$CARGO_TARGET_DIR/release
work=$(mktemp -d "$BUILD/native/far-bench.XXXXXX")
servers=()
stop() {
  local pid
  for pid in "${servers[@]}"; do kill -TERM "$pid" 2> /dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT
"$programs/lull-far" new-key "$work/key"
# The last one has a key, and permits frames that are not encrypted: what encrypting takes is measured with the same server.
for n in 0 1 2; do
  with=()
  if ((n == 2)); then with=(--key "$work/key" --plain-frames); fi
  "$programs/lull-memd" --listen 127.0.0.1:0 --memory 512m "${with[@]}" > "$work/server$n" 2> "$work/server$n.log" &
  servers+=($!)
  while ! grep -q listening "$work/server$n"; do
    kill -0 "${servers[-1]}" 2> /dev/null || die "a memory server does not start" "$(tail -n 1 "$work/server$n.log")"
    sleep 0.05
  done
done
names=$(sed 's/^listening at //' "$work/server0"),$(sed 's/^listening at //' "$work/server1")
one=${names%,*} keyed=$(sed 's/^listening at //' "$work/server2")
bench=$programs/lull-far-bench

say "$(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
"$bench" first --servers "$one"
"$bench" faults --servers "$one" --local 50
"$bench" faults --servers "$names" --local 50
"$bench" bare --servers "$one"
"$bench" disk --directory "$work"
if [[ $(id -u) == 0 && -w /sys/class/zram-control/hot_remove ]]; then
  # It removes its device when it ends, and must get there.
  (trap '' INT; exec "$bench" zram)
else
  say "skipped: zram: needs root and a kernel with zram"
fi
for pages in 1 4 16 32; do "$bench" sequential --servers "$names" --read-ahead "$pages"; done
"$bench" sealed --servers "$keyed" --key "$work/key"
"$bench" evict --servers "$names"
"$bench" calls
for trace in zipf:0.99 zipf:0.8 loop; do
  for percent in 13 25 50; do "$bench" misses --servers "$names" --trace "$trace" --local "$percent"; done
done
# As in the notes of the prototype, which also have zram and swap.
for exponent in 0.99 0.8; do
  for percent in 13 25 50; do "$bench" operations --servers "$one" --trace "zipf:$exponent" --local "$percent" --read-ahead 1; done
done
"$bench" operations --servers "$one" --trace loop --local 25

stock=${LULL_JDK25:-}
if [[ -z $stock ]]; then
  for home in /usr/lib/jvm/*; do
    if [[ -x $home/bin/java && -x $home/bin/javac ]] && grep -qs '^JAVA_VERSION="25' "$home/release"; then stock=$home; fi
  done
fi
if [[ -z $stock ]]; then say "skipped: recorded traces: there is no stock JDK 25"; exit 0; fi
"$stock/bin/javac" -d "$work" "$NATIVE/far/front/tests/java/Verified.java"
mkdir "$work/heap"
for collector in Serial Parallel G1; do
  "$programs/lull-far" run --servers "$names" --local 4m --server-timeout 60000 --record "$work/$collector" -- \
    "$stock/bin/java" "-XX:+Use${collector}GC" -Xms96m -Xmx96m "-XX:AllocateHeapAt=$work/heap" -cp "$work" Verified 100000 50000 2
  for percent in 13 25 50; do "$bench" misses --servers "$names" --trace "$work/$collector" --local "$percent" --read-ahead 1; done
  "$bench" misses --servers "$names" --trace "$work/$collector" --local 25
done
