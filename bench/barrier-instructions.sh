#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# barrier-instructions.sh: how many instructions more are executed with barriers, and in public mode, than without: by valgrind, which depends on no
# clock and no neighbour, where the times of barrier-cost.sh are of the machine as well. C2 only, compiled in the foreground by one thread; the collector's
# work is in it, and is the same in all three. Each program runs twice, with more and with less to do: the difference is
# what the program itself costs, without the start of the VM and most of the compiler. Half an hour.
#
# Settings, all optional:
#   BARRIER_HEAP=256            MB
#   BARRIER_PROGRAMS="rules raytrace javac table lzw"
#   LULL_JAVA                   default: build/jdk/bin/java

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/barrier.sh
. "$BENCH/barrier.sh"

command -v valgrind > /dev/null || die "there is no valgrind, which counts the instructions: install it (apt-get install valgrind)"
prepare_barrier_programs barrier-instructions

# What ends with x is multiplied by how much there is to do.
declare -A command=(
  [rules]="RuleEngine 1 20 200x"
  [raytrace]="RayTracer 1 40x 2000"
  [javac]="Compiler 1 60 2x"
  [table]="MemoryTable 1 8000x 4000x"
  [lzw]="Lzw 1 100 20x"
)

# instructions PROGRAM SET TIMES
instructions() {
  local words more i
  read -ra words <<< "${command[$1]}"
  read -ra more <<< "${flags[$2]}"
  for i in "${!words[@]}"; do
    if [[ ${words[$i]} =~ ^([0-9]+)x$ ]]; then words[i]=$((BASH_REMATCH[1] * $3)); fi
  done
  # HotSpot's signal handlers look at all registers. Not every valgrind knows all vector instructions.
  valgrind --vex-iropt-register-updates=allregs-at-mem-access --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --smc-check=all-non-file \
    "$java" -XX:+UseLullGC "-Xms${heap}m" "-Xmx${heap}m" \
    -XX:UseAVX=0 -XX:-TieredCompilation -Xbatch -XX:CICompilerCount=1 -XX:ParallelGCThreads=1 "${more[@]}" -cp "$CLASSES" "lull.bench.allocator.programs.${words[0]}" "${words[@]:1}" \
    > "$work/log" 2>&1 || die "valgrind $java ${more[*]} ${words[*]} failed: $(tail -n 3 "$work/log")"
  sed -n 's/^==[0-9]*== I *refs: *//p' "$work/log" | tr -d ,
}

printf '%-10s %22s %14s %14s\n' program 'none, 10^9 instructions' 'with barriers' 'in public mode'
for program in "${programs[@]}"; do
  for set in none tracking public; do
    with_more=$(instructions "$program" "$set" 2)
    with_less=$(instructions "$program" "$set" 1)
    echo "$with_more $with_less" > "$work/$program-$set"
  done
  cat "$work/$program"-{none,tracking,public} | awk -v program="$program" '
    { n[NR] = $1 - $2 }
    END { printf "%-10s %22.2f %14.3f %14.3f\n", program, n[1] / 1e9, n[2] / n[1], n[3] / n[1] }'
done
