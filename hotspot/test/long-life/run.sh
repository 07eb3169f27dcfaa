#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: a long life, compressed (LongLife.java): thousands of cycles of concurrent marking in a small heap whose objects of
# all sizes are replaced at random. Prints what is used, what is free and in which pieces, as means of each tenth of the
# run, and the collections that stopped the world to move objects. Fails if an object is wrong, or if the pieces get worse.
#
#   LULL_TEST_JDK        the JDK                              (default: build/jdk)
#   LULL_TEST_OPTIONS    more options for it                  (default: none)
#   LONG_LIFE_CYCLES     a multiple of ten                    (default: 10000)
#   LONG_LIFE_HEAP       in MB                                (default: 64)
#   LONG_LIFE_ALIVE      in MB                                (default: half of the heap)
#   LONG_LIFE_THREADS    that replace objects                 (default: 2)
#   LONG_LIFE_SEED       a number                             (default: of the time)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

cycles=${LONG_LIFE_CYCLES:-10000} heap=${LONG_LIFE_HEAP:-64} threads=${LONG_LIFE_THREADS:-2}
alive=${LONG_LIFE_ALIVE:-$((heap / 2))} seed=${LONG_LIFE_SEED:-$(date +%s)}
[[ $cycles =~ ^[1-9][0-9]*0$ ]] || die "LONG_LIFE_CYCLES is '$cycles': a multiple of ten is needed"
compile_programs long-life jdk "$ROOT/hotspot/test/long-life/LongLife.java"
read -ra options <<< "${LULL_TEST_OPTIONS:-}"
note "seed $seed"
cleanly "$jdk/bin/java" -XX:+UseLullGC "-Xms${heap}m" "-Xmx${heap}m" -XX:+ExplicitGCInvokesConcurrent \
  "-Xlog:gc*,gc+marking=debug:file=$work/gc.log:uptime:filecount=0" "${options[@]}" -cp "$work" \
  LongLife "$cycles" "$alive" "$threads" "$seed" || die "the long life failed, see $work/gc.log" "seed $seed"
printf 'pauses: %s\n' "$(grep -c ' Pause .*ms$' "$work/gc.log")"
grep -o ' Pause [A-Za-z]*.* [0-9.]*ms$' "$work/gc.log" | awk '{ ms = $NF; sub(/ms/, "", ms); kind = $2
  pauses[kind]++; if (ms + 0 > longest[kind]) longest[kind] = ms + 0 }
  END { for (kind in pauses) printf "  %-8s %6d, the longest %.1f ms\n", kind, pauses[kind], longest[kind] }' | sort
