#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# barrier-instructions.sh: how many instructions more are executed with barriers, and in public mode, than without: by valgrind, which depends on no
# clock and no neighbour, where the times of barrier-cost.sh are of the machine as well. C2 only, compiled in the foreground by one thread; the collector's
# work is in it, and is the same in all three. Each program runs twice, with more and with less to do: the difference is
# what the program itself costs, without the start of the VM and most of the compiler. Half an hour.
# With BARRIER_COLLECTORS: the same for collectors, whole, of which the first is what the others are compared with.
#
# Settings, all optional:
#   BARRIER_COLLECTORS="lull g1 g1-27 serial"   instead of Lull without barriers, with them, and in public mode
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

sets=(none tracking public)
heads=("none, 10^9 instructions" "with barriers" "in public mode")
declare -A javas=([none]=$java [tracking]=$java [public]=$java) options=()
for set in "${sets[@]}"; do options[$set]="-XX:+UseLullGC ${flags[$set]}"; done
if [ -n "${BARRIER_COLLECTORS:-}" ]; then
  read -ra sets <<< "$BARRIER_COLLECTORS"
  heads=("${sets[0]}, 10^9 instructions" "${sets[@]:1}")
  unset flags
  for set in "${sets[@]}"; do
    OTHERWISE=${LULL_JAVA:-} collector_of "$set"
    javas[$set]=$java options[$set]=${flags[*]}
  done
fi

# instructions PROGRAM SET TIMES
instructions() {
  local words more i
  read -ra words <<< "${command[$1]}"
  read -ra more <<< "${options[$2]}"
  for i in "${!words[@]}"; do
    if [[ ${words[$i]} =~ ^([0-9]+)x$ ]]; then words[i]=$((BASH_REMATCH[1] * $3)); fi
  done
  # HotSpot's signal handlers look at all registers. Not every valgrind knows all vector instructions.
  valgrind --vex-iropt-register-updates=allregs-at-mem-access --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --smc-check=all-non-file \
    "${javas[$2]}" "-Xms${heap}m" "-Xmx${heap}m" \
    -XX:UseAVX=0 -XX:-TieredCompilation -Xbatch -XX:CICompilerCount=1 -XX:ParallelGCThreads=1 "${more[@]}" -cp "$CLASSES" "lull.bench.allocator.programs.${words[0]}" "${words[@]:1}" \
    > "$work/log" 2>&1 || die "valgrind ${javas[$2]} ${more[*]} ${words[*]} failed: $(tail -n 3 "$work/log")"
  sed -n 's/^==[0-9]*== I *refs: *//p' "$work/log" | tr -d ,
}

printf '%-10s %24s' program "${heads[0]}"
printf ' %14s' "${heads[@]:1}"
echo
for program in "${programs[@]}"; do
  for set in "${sets[@]}"; do
    with_more=$(instructions "$program" "$set" 2)
    with_less=$(instructions "$program" "$set" 1)
    echo "$with_more $with_less"
  done | awk -v program="$program" '
    { n[NR] = $1 - $2 }
    END { printf "%-10s %24.2f", program, n[1] / 1e9; for (i = 2; i <= NR; i++) printf " %14.3f", n[i] / n[1]; print "" }'
done
