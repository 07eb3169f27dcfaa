#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what marking costs (MarkCost.java): milliseconds of the phase, from the log, and nanoseconds for each object that is
# alive, of a small and a large table whose entries have been replaced in random order. With a second JDK the runs of both
# are interleaved, and the ratio of their medians follows. The JDKs are to be release builds.
#
#   LULL_TEST_JDK    the JDK (default: build/jdk)
#   LULL_OTHER_JDK   another one to compare it with
#   LULL_TEST_FLAGS  more flags, for both
#   MARK_RUNS=3      runs of each JDK and size, of 8 collections each

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

runs=${MARK_RUNS:-3}
[[ $runs =~ ^[1-9][0-9]*$ ]] || die "MARK_RUNS is '$runs': a number from 1 on is needed"
[[ -z ${LULL_OTHER_JDK:-} || -x $LULL_OTHER_JDK/bin/java ]] || die "there is no JDK at $LULL_OTHER_JDK" "set LULL_OTHER_JDK to one, or do not set it"
compile_programs mark-cost jdk "$ROOT/hotspot/test/mark-cost/MarkCost.java"
read -ra flags <<< "${LULL_TEST_FLAGS:-}"

# One run; adds lines "milliseconds objects" to the file.
measure() {   # JDK ENTRIES HEAP FILE
  local log=$work/run.log
  cleanly "$1/bin/java" -XX:+UseLullGC "-Xms$3" "-Xmx$3" -XX:+AlwaysPreTouch "${flags[@]}" "-Xlog:gc*:file=$log:none:filecount=0" \
    -cp "$work" MarkCost "$2" 8 || die "MarkCost failed, see $log"
  awk '/Pause Full \(System.gc\(\)\)$/ { asked = 1 }
       asked && / Mark [0-9.]+ms$/ { ms = $NF; sub(/ms/, "", ms) }
       asked && / Marked: / { for (i = 1; i < NF; i++) if ($i == "Marked:") { print ms, $(i + 1); asked = 0; next } }' "$log" >> "$4"
}

median() {   # FILE: median, least and most milliseconds, and nanoseconds for each object
  sort -n "$1" | awk '{ ms[NR] = $1; objects[NR] = $2 }
    END { if (NR == 0) { print "none"; exit 1 }
          m = int((NR + 1) / 2); printf "%.1f %.1f %.1f %.1f\n", ms[m], ms[1], ms[NR], ms[m] * 1e6 / objects[m] }'
}

printf '%-9s %6s %-8s %11s %10s %17s %10s\n' entries heap JDK collections 'median ms' 'least, most ms' ns/object
for size in "100000 128m" "3000000 2g"; do
  read -r entries heap <<< "$size"
  medians=()
  for ((i = 0; i < runs; i++)); do
    measure "$jdk" "$entries" "$heap" "$work/$entries"
    if [[ -n ${LULL_OTHER_JDK:-} ]]; then measure "$LULL_OTHER_JDK" "$entries" "$heap" "$work/$entries-other"; fi
  done
  for name in "$entries" ${LULL_OTHER_JDK:+"$entries-other"}; do
    read -r ms least most ns < <(median "$work/$name")
    [[ $ms != none ]] || die "no collection in $work/run.log"
    medians+=("$ms")
    if [[ $name == *-other ]]; then which=other; else which=tested; fi
    printf '%-9s %6s %-8s %11d %10s %17s %10s\n' "$entries" "$heap" "$which" "$(wc -l < "$work/$name")" "$ms" "$least, $most" "$ns"
  done
  if ((${#medians[@]} == 2)); then
    awk -v a="${medians[0]}" -v b="${medians[1]}" 'BEGIN { printf "%-9s %6s %-8s %33.2f\n", "", "", "ratio", a / b }'
  fi
done
