#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: what a local collection costs of which nothing survives (LocalCost.java): microseconds, from the log, of all collections
# of one run after the first thousand, by depth of the stack and size of the request. The JDK is to be a release build; times are
# of the machine and its load.
#
#   LULL_TEST_JDK   the JDK (default: build/jdk)
#   LULL_TEST_FLAGS more flags

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs local-cost jdk "$ROOT/hotspot/test/local-cost/LocalCost.java"
read -ra flags <<< "${LULL_TEST_FLAGS:-}"

printf '%-8s %6s %9s %12s %8s %8s %8s %10s\n' thread frames KB collections median p90 p99 'survived'
for kind in platform virtual; do
  for depth in 0 50; do
    for kilobytes in 64 512 4096; do
      log=$work/$kind-$depth-$kilobytes.log
      cleanly "$jdk/bin/java" -XX:+UseLullGC -Xms256m -Xmx256m "${flags[@]}" "-Xlog:gc+local=debug:file=$log:none:filecount=0" \
        -cp "$work" LocalCost "$depth" "$kilobytes" 6000 "$kind" || die "LocalCost failed, see $log"
      # Of the thread that has most; warm code only.
      sed -n 's/^Thread \([0-9]*\): local collection.* \([0-9]*\)K survived.* \([0-9.]*\) us$/\1 \2 \3/p' "$log" | awk '
        { n[$1]++; us[$1, n[$1]] = $3; survived[$1, n[$1]] = $2 }
        END { for (t in n) if (n[t] > most) { most = n[t]; thread = t }
              for (i = 1001; i <= most; i++) print us[thread, i], survived[thread, i] }' | sort -n | awk -v kind="$kind" -v depth="$depth" -v kb="$kilobytes" '
        { us[NR] = $1; survived += $2 }
        END { if (NR == 0) { printf "%-8s %6d %9d %12s\n", kind, depth, kb, "none"; exit }
              printf "%-8s %6d %9d %12d %8.1f %8.1f %8.1f %9.1fK\n", kind, depth, kb, NR, us[int((NR + 1) / 2)], us[int(NR * 0.9) + (NR < 10)], us[int(NR * 0.99) + (NR < 100)], survived / NR }'
    done
  done
done
