#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what pauses take for the size of the heap alone (PauseCost.java: next to nothing is alive): milliseconds, from the log, by collector and
# kind of pause; the first pause of each run by itself, for tables are used for the first time in it. The heap and its tables are touched before.
# The JDK is to be a release build; times are of the machine and its load.
#
#   LULL_TEST_JDK     the JDK                            (default: build/jdk)
#   LULL_TEST_HEAPS   heaps in GB                        (default: "1 4 12")
#   LULL_TEST_OLD     GB of each that are old            (default: 0)
#   LULL_TEST_FLAGS   flags of a JVM each, between bars  (default: -XX:+UseLullGC|-XX:+UseG1GC|-XX:+UseParallelGC)
#   LULL_TEST_SECONDS of each run, after the touching    (default: 15)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs pause-cost jdk "$ROOT/hotspot/test/pause-cost/PauseCost.java"
read -ra heaps <<< "${LULL_TEST_HEAPS:-1 4 12}"
IFS='|' read -ra settings <<< "${LULL_TEST_FLAGS:--XX:+UseLullGC|-XX:+UseG1GC|-XX:+UseParallelGC}"

printf '%-24s %8s  %-8s %7s %8s %8s %8s\n' flags 'heap GB' kind pauses median most first
for heap in "${heaps[@]}"; do
  for setting in "${settings[@]}"; do
    read -ra flags <<< "$setting"
    log=$work/${setting//[^A-Za-z0-9]/-}-$heap.log
    cleanly "$jdk/bin/java" "${flags[@]}" -XX:+AlwaysPreTouch "-Xms${heap}g" "-Xmx${heap}g" "-Xlog:gc:file=$log:none:filecount=0" \
      -cp "$work" PauseCost "${LULL_TEST_SECONDS:-15}" "${LULL_TEST_OLD:-0}" || die "PauseCost failed, see $log"
    sed -n 's/^.*Pause \([A-Za-z]*\) .* \([0-9.]*\)ms$/\1 \2/p' "$log" | awk '
      NR == 1 { first_kind = $1; first = $2; next }
      { n[$1]++; print $1, $2 | "sort -k1,1 -k2,2n" }
      END { close("sort -k1,1 -k2,2n"); printf "first %s %s\n", first_kind, first }' | awk -v flags="$setting" -v heap="$heap" '
      $1 == "first" { first[$2] = $3; if (!($2 in n)) n[$2] = 0; next }
      { ms[$1, ++n[$1]] = $2 }
      END { for (kind in n) printf "%-24s %8s  %-8s %7d %8s %8s %8s\n", flags, heap, kind, n[kind],
              n[kind] ? ms[kind, int((n[kind] + 1) / 2)] : "", n[kind] ? ms[kind, n[kind]] : "", kind in first ? first[kind] : "" }'
  done
done
