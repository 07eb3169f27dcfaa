#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# far-sealed.sh: what keeps far memory from others, beside plain frames: encrypted ones, sealed pages, both. A memory server on this machine, a key,
# and lull-far-bench, which measures the four by turns, each as a process of its own: faults at 50 % local memory, reads in order at 25 %. Prints of
# each the median of all rounds with the least and the largest, and the same of its ratio to the plain one of its round. Some seconds a round; the
# machine must do nothing else.
#
# Settings:
#   FAR_ROUNDS=9        how often each is measured
#   FAR_PAGES=16384     pages of the memory: 64 MB
#   FAR_BUILD=1         0: the programs are there already, and are not built
#   LULL_BUILD          the build directory (default: build/)

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=native/build.sh
. "$(dirname "$BENCH")/native/build.sh"

rounds=${FAR_ROUNDS:-9} pages=${FAR_PAGES:-16384}
if [[ ${FAR_BUILD:-1} != 0 ]]; then
  toolchain
  phase "far memory and its bench" "$LOGS/far-bench.log" \
    cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked -p lull-memd -p lull-far-front -p lull-far-bench
fi
programs=$CARGO_TARGET_DIR/release
for program in lull-memd lull-far lull-far-bench; do
  [[ -x $programs/$program ]] || die "there is no $programs/$program" "leave out FAR_BUILD=0"
done
work=$(mktemp -d "$BUILD/native/far-sealed.XXXXXX")
server=
stop() {
  if [[ -n $server ]]; then kill -TERM "$server" 2> /dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT
"$programs/lull-far" new-key "$work/key" > /dev/null
"$programs/lull-memd" --listen 127.0.0.1:0 --memory 512m --key "$work/key" --plain-frames > "$work/address" 2> "$work/log" &
server=$!
until grep -q listening "$work/address"; do
  kill -0 "$server" 2> /dev/null || die "the memory server does not start" "$(tail -n 1 "$work/log")"
  sleep 0.05
done
say "$(git -C "$ROOT" rev-parse --short HEAD 2> /dev/null || echo "no commit"), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg) before"
"$programs/lull-far-bench" sealed --servers "$(sed 's/^listening at //' "$work/address")" --key "$work/key" --pages "$pages" --rounds "$rounds"
say "load $(cut -d' ' -f1 /proc/loadavg) after"
