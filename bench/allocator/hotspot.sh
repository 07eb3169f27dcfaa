#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# The allocator study in HotSpot: the programs run on a heap of segregated lists (-XX:LullAllocation=segregated), with each
# search and coalescing, in heaps of several sizes, and the VM says what allocation and collection took. Part of study.sh, of
# which it needs the traces' sizes; writes the same tables as the replay, to build/allocator/hotspot.
#
# Settings, all optional, and those of study.sh:
#   STUDY_JDK=DIR                        the study's JDK, default that of jdk.sh; one of a release build
#   STUDY_HOTSPOT_FACTORS=1.1,1.25,1.5,2,3,6  heaps, as multiples of the smallest one of next-hit, immediate, 128 lists
#   STUDY_HOTSPOT_LISTS="32 64 128 256 512"   numbers of lists, at twice the smallest
#   STUDY_HOTSPOT_REPEATS=1              runs of each point, interleaved; that of the median counts
#   STUDY_SECONDS=60                     a run that takes longer counts as thrashing

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

FACTORS=${STUDY_HOTSPOT_FACTORS:-1.1,1.25,1.5,2,3,6}
LISTS=${STUDY_HOTSPOT_LISTS:-32 64 128 256 512}
REPEATS=${STUDY_HOTSPOT_REPEATS:-1}
SECONDS_EACH=${STUDY_SECONDS:-60}
PROGRAMS=${STUDY_PROGRAMS:-raytrace mtrt jess db javac compress}
read -ra NICE <<< "${STUDY_NICE:-}"
ROOMY=2
DEFAULT_LISTS=128
# Bisection of a smallest heap: bytes between which it is looked for, and when to stop.
LOW=$((1 << 20)) HIGH=$((64 << 20)) PERCENT=4

[ -x "$JDK/bin/java" ] || die "there is no JDK at $JDK" "build it first: bench/allocator/jdk.sh"
find_base_jdk
build_programs
WORK=$OUT/hotspot
mkdir -p "$WORK"

COUNTERS="allocations allocated_words collections look_ups lists_passed runs_passed became_empty became_non_empty entries_written rebuilds splits \
wasted_words chunks_swept chunks_freed chunks_joined passes_to_join interrupted"
HEADER="trace,search,coalescing,lists,heap_bytes,outcome,${COUNTERS// /,},allocation_ns,mark_ns,sweep_ns,management_ns"

# run PROGRAM SEARCH COALESCING LISTS BYTES: one run; prints its line of the table. The compiler that removes no
# allocations, as for the traces; one thread that marks.
run() {
  local program=$1 search=$2 coalescing=$3 lists=$4 bytes=$5 status=0 outcome
  local -a arguments options
  # With first-fit there is one list, whatever is said.
  local flag=$lists
  if [ "$search" = first-fit ]; then flag=$DEFAULT_LISTS; fi
  mapfile -t options < <(segregated_options "$search" "$coalescing" "$flag" "$bytes")
  read -ra arguments <<< "$(program_arguments "$program")"
  rm -f "$WORK/log"
  "${NICE[@]}" timeout "$SECONDS_EACH" "$JDK/bin/java" "${options[@]}" -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError \
    "-Xlog:gc+lull=info:file=$WORK/log:none" -cp "$CLASSES" "${arguments[@]}" > "$WORK/out" 2>&1 || status=$?
  case $status in
    0) outcome=fits ;;
    124) outcome=thrashes ;;
    # 3: out of memory in Java code; 1 with that error: while the VM started.
    3) outcome=full ;;
    *)
      grep -q 'OutOfMemoryError\|Java heap space' "$WORK/out" || die "$program ended with status $status in a heap of $bytes bytes: $(tail -n 3 "$WORK/out")"
      outcome=full ;;
  esac
  awk -v line="$program,$search,$coalescing,$lists,$bytes,$outcome" -v counters="$COUNTERS" '
    /^Segregated: / { for (i = 2; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] } }
    END {
      n = split(counters, names, " ")
      for (i = 1; i <= n; i++) line = line "," value[names[i]]
      if (value["allocation_ns"] != "")
        line = line sprintf(",%.0f,%.0f,%.0f,%.0f", value["allocation_ns"], value["collection_ns"] - value["sweep_ns"], value["sweep_ns"], value["allocation_ns"] + value["collection_ns"])
      else line = line ",,,,"
      print line
    }' "$(if [ -e "$WORK/log" ]; then echo "$WORK/log"; else echo /dev/null; fi)"
}

fits() {
  run "$@" > "$WORK/line"
  [ "$(cut -d, -f6 "$WORK/line")" = fits ]
}

# smallest PROGRAM SEARCH COALESCING: bytes, 0 if HIGH is too small.
smallest() {
  local low=$LOW high=$HIGH middle
  fits "$@" "$DEFAULT_LISTS" "$high" || { echo 0; return; }
  while ((high - low > high * PERCENT / 100)); do
    # The scale is one of ratios.
    middle=$(awk -v a="$low" -v b="$high" 'BEGIN { printf "%.0f", int(sqrt(a * b) / 256) * 256 }')
    if fits "$@" "$DEFAULT_LISTS" "$middle"; then high=$middle; else low=$middle; fi
  done
  echo "$high"
}

# medians: of the runs of a point, by management time, on standard input; the header is written first.
medians() {
  echo "$HEADER"
  sort -t, -k1,5 -k"$(tr ',' '\n' <<< "$HEADER" | grep -n '^management_ns$' | cut -d: -f1),$(tr ',' '\n' <<< "$HEADER" | grep -n '^management_ns$' | cut -d: -f1)n" |
    awk -F, '{ key = $1 "," $2 "," $3 "," $4 "," $5; if (key != last) { if (n) print line[int((n + 1) / 2)]; n = 0; last = key } line[++n] = $0 }
      END { if (n) print line[int((n + 1) / 2)] }'
}

echo "==> in HotSpot: smallest heaps"
echo "trace,search,coalescing,lists,smallest_heap_bytes" > "$WORK/smallest.csv.new"
for program in $PROGRAMS; do
  for coalescing in never deferred immediate; do
    bytes=$(smallest "$program" next-hit "$coalescing")
    echo "$program,next-hit,$coalescing,$DEFAULT_LISTS,$bytes" >> "$WORK/smallest.csv.new"
  done
done
mv "$WORK/smallest.csv.new" "$WORK/smallest.csv"

# bytes_at PROGRAM FACTOR: of the smallest heap, in whole KB.
bytes_at() {
  awk -F, -v program="$1" -v factor="$2" '$1 == program && $3 == "immediate" { printf "%.0f", int($5 * factor / 1024) * 1024 }' "$WORK/smallest.csv"
}

echo "==> in HotSpot: heaps of $FACTORS times the smallest"
: > "$WORK/heaps.runs"
: > "$WORK/first-fit.runs"
: > "$WORK/lists.runs"
for ((repeat = 0; repeat < REPEATS; repeat++)); do
  for program in $PROGRAMS; do
    for factor in ${FACTORS//,/ }; do
      for coalescing in never deferred immediate; do
        for search in traverse next-hit bitmap; do
          run "$program" "$search" "$coalescing" "$DEFAULT_LISTS" "$(bytes_at "$program" "$factor")" >> "$WORK/heaps.runs"
        done
      done
    done
    run "$program" first-fit immediate 1 "$(bytes_at "$program" "$ROOMY")" >> "$WORK/first-fit.runs"
  done
done
medians < "$WORK/heaps.runs" > "$WORK/heaps.csv"
medians < "$WORK/first-fit.runs" > "$WORK/first-fit.csv"

echo "==> in HotSpot: numbers of lists: $LISTS"
for ((repeat = 0; repeat < REPEATS; repeat++)); do
  for program in $PROGRAMS; do
    for lists in $LISTS; do
      for search in next-hit bitmap; do
        run "$program" "$search" immediate "$lists" "$(bytes_at "$program" "$ROOMY")" >> "$WORK/lists.runs"
      done
    done
  done
done
medians < "$WORK/lists.runs" > "$WORK/lists.csv"
cp "$OUT/traces.csv" "$WORK/traces.csv"
rm -f "$WORK/log" "$WORK/out" "$WORK/line"
