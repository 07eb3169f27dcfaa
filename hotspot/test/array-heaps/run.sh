#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: the smallest heap, in MB, in which so many MB of live byte arrays of one length fit (LiveArrays.java), by
# length and collector. Found by bisection of -Xmx in steps of 1 MB; what fits need not be monotonic. Some eight runs
# of a second for each cell. The table is in build/test-work/array-heaps/table.csv too, and drawn in picture.svg.
#
#   LULL_TEST_JDK      the JDK                            (default: build/jdk)
#   LULL_TEST_MB       of live arrays                     (default: 100)
#   LULL_TEST_LENGTHS  of each array, bytes               (default: 1024 2048 4096 ... 1048576, and some in between)
#   LULL_TEST_FLAGS    flags of a JVM each, between bars  (default: -XX:+UseLullGC|-XX:+UseG1GC|-XX:+UseSerialGC)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs array-heaps jdk "$ROOT/hotspot/test/array-heaps/LiveArrays.java"
mb=${LULL_TEST_MB:-100}
some="1024 2048 4096 8192 11000 16384 24000 32768 65536 131072 262144 300000 524288 1048576"
read -ra lengths <<< "${LULL_TEST_LENGTHS:-$some}"
IFS='|' read -ra settings <<< "${LULL_TEST_FLAGS:--XX:+UseLullGC|-XX:+UseG1GC|-XX:+UseSerialGC}"
table=$work/table.csv

fits() {   # HEAP LENGTH FLAG...: do the arrays fit into a heap of so many MB?
  local heap=$1 length=$2
  shift 2
  cleanly "$jdk/bin/java" "$@" "-Xmx${heap}m" -cp "$work" LiveArrays "$length" "$mb" > "$work/run.log" 2>&1
}

smallest() {   # LENGTH FLAG...
  local length=$1 low=$((mb - 1)) high=$((mb * 2 + 40)) middle
  shift
  fits "$high" "$length" "$@" || { printf 'none'; return; }
  while ((high - low > 1)); do
    middle=$(((low + high) / 2))
    if fits "$middle" "$length" "$@"; then high=$middle; else low=$middle; fi
  done
  printf '%d' "$high"
}

{
  printf 'length'
  printf ',%s' "${settings[@]}"
  printf '\n'
  for length in "${lengths[@]}"; do
    printf '%d' "$length"
    for setting in "${settings[@]}"; do
      read -ra flags <<< "$setting"
      printf ',%s' "$(smallest "$length" "${flags[@]}")"
    done
    printf '\n'
  done
} | tee "$table"
sed '1s/-XX:+Use\([A-Za-z0-9]*\)GC/\1/g' "$table" > "$work/picture.csv"
draw_table "$work/picture.csv" log "bytes of an array" MB "The smallest heap for $mb MB of live arrays of one length"
say "$table and $work/picture.svg"
