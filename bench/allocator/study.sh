#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The allocator study: records what six programs allocate and when it dies, on a stock JDK 25, and replays that on
# heaps of different sizes, searches, coalescings and numbers of lists; then runs them in HotSpot with such heaps, if there is
# OpenJDK's source to build that from (jdk.sh; hotspot.sh, which has settings of its own). Ends with build/allocator/index.html and, beside it, claims.txt and
# the raw numbers as CSV. README.md tells what each file is. The replay takes ten minutes of processor time, half of which
# is javac with few lists.
#
# Settings, all optional:
#   STUDY_FACTORS=1.05,1.1,1.25,1.5,2,3,4,6   heaps, as multiples of the smallest one of next-hit, immediate, 128 lists
#   STUDY_REPEATS=3         timed replays of each point, interleaved; medians count
#   STUDY_PROGRAMS="..."    which, of compress jess raytrace db javac mtrt
#   STUDY_SYNTHETIC="..."   which synthetic traces, of generations phases uniform; may be empty
#   STUDY_NICE=             a command that is put before each long one, for instance "nice -n 19"
#   LULL_BASE_JDK=DIR       the stock JDK 25; default: JAVA_HOME or an installed one
#   LULL_BUILD=DIR          the build directory

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

FACTORS=${STUDY_FACTORS:-1.05,1.1,1.25,1.5,2,3,4,6}
REPEATS=${STUDY_REPEATS:-3}
PROGRAMS=${STUDY_PROGRAMS:-raytrace mtrt jess db javac compress}
read -ra NICE <<< "${STUDY_NICE:-}"
# At the heap where the number of lists is varied, and the traversals are drawn over time.
ROOMY=2
SYNTHETIC=${STUDY_SYNTHETIC-generations phases uniform}
SYNTHETIC_ALLOCATIONS=200000

find_base_jdk
echo "==> allocator study: build"
build_replay
build_recorder
build_programs

TRACES=$OUT/traces
mkdir -p "$TRACES"

# record PROGRAM: unless there is a trace that is newer than what makes it.
record() {
  local name=$1 granularity=65536 trace=$TRACES/$1.trace arguments
  if [ "$name" = javac ]; then granularity=262144; fi
  read -ra arguments <<< "$(program_arguments "$name")"
  [ "$trace" -nt "$RECORDER" ] && [ "$trace" -nt "$CLASSES/built" ] && [ "$trace" -nt "$ALLOCATOR/study.sh" ] && return
  echo "==> recording $name"
  # One compiler that removes no allocations; one collector that leaves no garbage behind after a forced collection.
  "${NICE[@]}" "$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xms256m -Xmx256m -cp "$CLASSES" \
    "-agentpath:$RECORDER=file=$trace.new,name=$name,granularity=$granularity" "${arguments[@]}"
  mv "$trace.new" "$trace"
}

traces=()
for program in $PROGRAMS; do
  program_arguments "$program" > /dev/null
  record "$program"
  traces+=("$program")
done
for kind in $SYNTHETIC; do
  "$REPLAY" synthesize "$kind" 1 "$SYNTHETIC_ALLOCATIONS" "$TRACES/$kind.trace"
  traces+=("$kind")
done

# table NAME FACTORS REPLAY-ARGS...: one CSV file of all traces, in heaps that are FACTORS times the reference, if there are any.
table() {
  local name=$1 factors=$2 trace header=() heaps=()
  shift 2
  : > "$OUT/$name.csv.new"
  for trace in "${traces[@]}"; do
    if [ -n "$factors" ]; then heaps=(--heaps "$(heaps_of "$trace" "$factors")"); fi
    "${NICE[@]}" "$REPLAY" "$@" --trace "$TRACES/$trace.trace" "${heaps[@]}" "${header[@]}" >> "$OUT/$name.csv.new"
    header=(--no-header)
  done
  mv "$OUT/$name.csv.new" "$OUT/$name.csv"
}

# heaps_of TRACE FACTORS: bytes, from the smallest heap of next-hit, immediate. A synthetic trace's name has its seed.
heaps_of() {
  awk -F, -v trace="$1" -v factors="$2" '
    ($1 == trace || $1 == trace "-1") && $2 == "next-hit" && $3 == "immediate" {
      n = split(factors, factor, ",")
      for (i = 1; i <= n; i++) printf "%s%.0f", (i > 1 ? "," : ""), $5 * factor[i]
    }' "$OUT/smallest.csv"
}

echo "==> replaying: sizes, smallest heaps"
table traces "" describe
table smallest "" smallest --search next-hit
echo "==> replaying: heaps of $FACTORS times the smallest"
table heaps "$FACTORS" run --search traverse,next-hit,bitmap --repeats "$REPEATS"
table first-fit "$ROOMY" run --search first-fit --coalescing immediate --repeats 0
echo "==> replaying: numbers of lists"
table lists "$ROOMY" run --search next-hit,bitmap --lists 32,64,128,256,512 --repeats 1
echo "==> replaying: over time"
for coalescing in never deferred immediate; do
  table "over-time-$coalescing" "$ROOMY" over-time --search traverse --coalescing "$coalescing"
done
# Who has built the collector can build it with the study's heap.
if [ -z "${STUDY_JDK:-}" ] && [ -d "$LULL_BUILD/openjdk" ]; then "${NICE[@]}" "$ALLOCATOR/jdk.sh"; fi
if [ -x "$JDK/bin/java" ]; then
  "$ALLOCATOR/hotspot.sh"
else
  echo "note: there is no JDK at $JDK, so the part in HotSpot is left out; bench/allocator/jdk.sh builds it" >&2
  rm -rf "$OUT/hotspot"
fi
echo "==> report"
build_report
"$LULL_BASE_JDK/bin/java" -cp "$OUT/report" lull.bench.allocator.report.Main "$OUT"
echo "the page is $OUT/index.html"
