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
# shellcheck source=bench/allocator/build.sh
. "$BENCH/allocator/build.sh"

command -v valgrind > /dev/null || die "there is no valgrind, which counts the instructions: install it (apt-get install valgrind)"
heap=${BARRIER_HEAP:-256}
read -ra programs <<< "${BARRIER_PROGRAMS:-rules raytrace javac table lzw}"
[[ $heap =~ ^[1-9][0-9]*$ ]] || die "BARRIER_HEAP is '$heap': a number of megabytes is needed"
find_base_jdk
java=${LULL_JAVA:-$LULL_BUILD/jdk/bin/java}
[ -x "$java" ] || die "there is no $java: make jdk, or set LULL_JAVA"
build_programs
work=$LULL_BUILD/barrier-instructions
rm -rf "$work"
mkdir -p "$work"

declare -A less=(
  [rules]="RuleEngine 1 20 200"
  [raytrace]="RayTracer 1 40 2000"
  [javac]="Compiler 1 60 2"
  [table]="MemoryTable 1 8000 4000"
  [lzw]="Lzw 1 100 20"
)
declare -A more=(
  [rules]="RuleEngine 1 20 400"
  [raytrace]="RayTracer 1 80 2000"
  [javac]="Compiler 1 60 4"
  [table]="MemoryTable 1 16000 8000"
  [lzw]="Lzw 1 100 40"
)
declare -A flags=(
  [none]="-XX:-LullTracking"
  [tracking]="-XX:-LullLocalCollections -XX:-LullYoungCollections"
  [public]="-XX:-LullLocalCollections -XX:-LullYoungCollections -XX:+UnlockExperimentalVMOptions -XX:+LullAlwaysPublic"
)

# instructions SET CLASS ARGS...
instructions() {
  local extra
  read -ra extra <<< "${flags[$1]}"
  # HotSpot's signal handlers look at all registers. Not every valgrind knows all vector instructions.
  valgrind --vex-iropt-register-updates=allregs-at-mem-access --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --smc-check=all-non-file "$java" -XX:+UseLullGC "-Xms${heap}m" "-Xmx${heap}m" \
    -XX:UseAVX=0 -XX:-TieredCompilation -Xbatch -XX:CICompilerCount=1 -XX:ParallelGCThreads=1 "${extra[@]}" -cp "$CLASSES" "lull.bench.allocator.programs.$2" "${@:3}" \
    > "$work/log" 2>&1 || die "valgrind $java ${extra[*]} $2 ${*:3} failed: $(tail -n 3 "$work/log")"
  sed -n 's/^==[0-9]*== I *refs: *//p' "$work/log" | tr -d ,
}

printf '%-10s %22s %14s %14s\n' program 'none, 10^9 instructions' 'with barriers' 'in public mode'
for program in "${programs[@]}"; do
  [ -n "${less[$program]:-}" ] || die "BARRIER_PROGRAMS names '$program': there are ${!less[*]}"
  read -ra a <<< "${less[$program]}"
  read -ra b <<< "${more[$program]}"
  for set in none tracking public; do
    with_more=$(instructions "$set" "${b[@]}")
    with_less=$(instructions "$set" "${a[@]}")
    echo "$with_more $with_less" > "$work/$program-$set"
  done
  cat "$work/$program"-{none,tracking,public} | awk -v program="$program" '
    { n[NR] = $1 - $2 }
    END { printf "%-10s %22.2f %14.3f %14.3f\n", program, n[1] / 1e9, n[2] / n[1], n[3] / n[1] }'
done
