#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# medium.sh: what it gains that an object of more than a line gets the shortest hole that it fits, and not a free block as with
# Immix (-XX:-LullFitMedium). For each of the study's programs the smallest heap with either, and in a heap of at least so many times the larger of the two how many
# such requests a hole served, how many collections there were, and the processor time, as the ratio of runs in turn.
#
# Settings, all optional, and those of build.sh:
#   STUDY_JDK=DIR            the study's JDK, default that of jdk.sh
#   MEDIUM_PROGRAMS="raytrace mtrt jess db javac compress"
#   MEDIUM_FACTOR=1.25       the heap, as a multiple of the smallest
#   MEDIUM_ROUNDS=5          runs of each program with either, in turn
#   STUDY_SECONDS=60         a run that takes longer counts as one that does not fit

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

read -ra PROGRAMS <<< "${MEDIUM_PROGRAMS:-raytrace mtrt jess db javac compress}"
FACTOR=${MEDIUM_FACTOR:-1.25} ROUNDS=${MEDIUM_ROUNDS:-5} SECONDS_EACH=${STUDY_SECONDS:-60}
# Bisection of a smallest heap: KB between which it is looked for, and when to stop. A heap is of whole megabytes.
LOW=1024 HIGH=$((256 * 1024)) STEP=1024 PERCENT=3

[[ $ROUNDS =~ ^[1-9][0-9]*$ ]] || die "MEDIUM_ROUNDS is '$ROUNDS': a number of rounds from 1 on is needed"
[[ $FACTOR =~ ^[1-9][0-9]*(\.[0-9]+)?$ ]] || die "MEDIUM_FACTOR is '$FACTOR': a number from 1 on is needed"
[ -x "$JDK/bin/java" ] || die "there is no JDK at $JDK: bench/allocator/jdk.sh builds it, or set STUDY_JDK"
find_base_jdk
build_programs
WORK=$OUT/medium
rm -rf "$WORK"
mkdir -p "$WORK"

declare -A FLAGS=([fit]=-XX:+LullFitMedium [block]=-XX:-LullFitMedium)

# run PROGRAM SET KB: false if it does not fit; the log is in $WORK/log, processor and wall seconds in $WORK/time.
run() {
  local -a arguments
  local status=0 TIMEFORMAT='%U %S %R'
  read -ra arguments <<< "$(long_arguments "$1")"
  { time timeout "$SECONDS_EACH" "$JDK/bin/java" -XX:+UseLullGC -XX:+UnlockDiagnosticVMOptions "${FLAGS[$2]}" "-Xms${3}k" "-Xmx${3}k" -XX:+ExitOnOutOfMemoryError \
    "-Xlog:gc+lull=info,gc:file=$WORK/log:none:filecount=0" -cp "$CLASSES" "${arguments[@]}" > "$WORK/out" 2>&1 || status=$?; } 2> "$WORK/time"
  case $status in
    0) return 0 ;;
    3 | 124) return 1 ;;
    *)
      grep -q 'OutOfMemoryError\|Java heap space\|Too small maximum heap' "$WORK/out" || die "$1 ended with status $status in a heap of $3 KB: $(tail -n 3 "$WORK/out")"
      return 1 ;;
  esac
}

smallest() {   # PROGRAM SET
  local low=$LOW high=$HIGH middle
  run "$@" "$high" || die "$1 does not fit into $high KB"
  while ((high - low > STEP && high - low > high * PERCENT / 100)); do
    middle=$(awk -v a="$low" -v b="$high" -v s="$STEP" 'BEGIN { m = int(sqrt(a * b) / s) * s; printf "%d", (m > a) ? m : a + s }')
    if run "$@" "$middle"; then high=$middle; else low=$middle; fi
  done
  echo "$high"
}

printf '%-10s %12s %12s %9s %19s %19s %22s\n' program 'smallest KB' 'with blocks' 'heap KB' 'in holes, of' 'pauses, with blocks' 'time, blocks / holes'
for program in "${PROGRAMS[@]}"; do
  fit=$(smallest "$program" fit)
  block=$(smallest "$program" block)
  heap=$(awk -v a="$fit" -v b="$block" -v f="$FACTOR" -v s="$STEP" 'BEGIN { printf "%d", int((((a > b) ? a : b) * f + s - 1) / s) * s }')
  for ((round = 0; round < ROUNDS; round++)); do
    for set in fit block; do
      run "$program" "$set" "$heap" || die "$program fits its smallest heap, and not $heap KB"
      awk '{ print $1 + $2 }' "$WORK/time" >> "$WORK/$program-$set.times"
      grep -c 'Pause ' "$WORK/log" >> "$WORK/$program-$set.pauses" || true
      sed -n 's/^Objects of more than a line .*: \([0-9]*\) got a hole that fits, \([0-9]*\) a free block/\1 \2/p' "$WORK/log" >> "$WORK/$program-$set.requests"
    done
  done
  read -r holes blocks < "$WORK/$program-fit.requests"
  ratio=$(paste -d ' ' "$WORK/$program-block.times" "$WORK/$program-fit.times" | awk '{ print $1 / $2 }' | sort -n)
  printf '%-10s %12s %12s %9s %19s %19s %22s\n' "$program" "$fit" "$block" "$heap" "$holes of $((holes + blocks))" \
    "$(median < "$WORK/$program-fit.pauses"), $(median < "$WORK/$program-block.pauses")" \
    "$(awk -v m="$(median <<< "$ratio")" -v l="$(head -n 1 <<< "$ratio")" -v h="$(tail -n 1 <<< "$ratio")" 'BEGIN { printf "%.2f (%.2f to %.2f)", m, l, h }')"
done
