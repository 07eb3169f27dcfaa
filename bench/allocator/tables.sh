#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Counts what the collector's own run tables cost with the Next Hit Table and with a bitmap: instructions for each request,
# by valgrind, and what was done. Exact, whatever else the machine does. A minute.
#
# Settings: LULL_BUILD as for study.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

command -v valgrind > /dev/null || die "there is no valgrind, which counts the instructions: install it (apt-get install valgrind)"
build_tables
WORK=$OUT/tables-work
mkdir -p "$WORK"

# instructions ARGS...: within the measured function.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file="$WORK/callgrind" --toggle-collect='*measured_*' "$TABLES" "$@" > "$WORK/log" 2>&1 ||
    die "valgrind $TABLES $* failed: $(tail -n 3 "$WORK/log")"
  sed -n 's/^summary: //p' "$WORK/callgrind"
}

requests=50000
printf '%-8s %-9s %-8s %8s  %s\n' table search adds "in use" "instructions per request; counts"
for percent in 25 50 75; do
  sums=
  for variant in "lines next-hit batched" "lines bitmap batched" "lines bitmap single" "lines next-hit single" "blocks next-hit single" "blocks bitmap single"; do
    read -ra words <<< "$variant"
    counts=$("$TABLES" "${words[@]}" "$percent" counted)
    printf '%-8s %-9s %-8s %7s%%  %7.1f; %s\n' "${words[@]}" "$percent" \
      "$(awk -v n="$(instructions "${words[@]}" "$percent")" -v r=$requests 'BEGIN { print n / r }')" "${counts#*: }"
    sums+="${words[0]} ${counts##* }"$'\n'
  done
  # All variants of a table did the same.
  [ "$(sort -u <<< "$sums" | grep -c .)" = 2 ] || die "the searches have not found the same runs: $sums"
done
