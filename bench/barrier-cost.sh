#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# barrier-cost.sh: what it costs to know which objects are private (Table 1 of Iso, PLDI 2025): the same collector, without and with
# barriers, and without local collections in either, interleaved, with C2. For small programs; for services there is barrier-pairs.sh.
# Prints for each program what it allocates in a second and which part of that it publishes, processor time without barriers, and the
# ratios of processor times with barriers and in public mode to it: the median of all rounds, with the least and the largest.
#
# Settings, all optional:
#   BARRIER_ROUNDS=7            runs of each program with each set of flags, in turn
#   BARRIER_HEAP=256            MB
#   BARRIER_PROGRAMS="rules raytrace javac table lzw"
#   LULL_JAVA                   default: build/jdk/bin/java

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/barrier.sh
. "$BENCH/barrier.sh"

rounds=${BARRIER_ROUNDS:-7}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "BARRIER_ROUNDS is '$rounds': a number of rounds from 1 on is needed"
prepare_barrier_programs barrier-cost

declare -A command=(
  [rules]="RuleEngine 1 60 700"
  [raytrace]="RayTracer 1 300 2000"
  [javac]="Compiler 1 120 12"
  [table]="MemoryTable 1 40000 20000"
  [lzw]="Lzw 1 900 160"
)

# run PROGRAM FLAGS: adds the processor seconds to its file.
run() {
  local program=$1 set=$2 log=$work/$1-$2.log words more
  read -ra words <<< "${command[$program]}"
  read -ra more <<< "${flags[$set]}"
  local TIMEFORMAT='%U %S %R'
  { time "$java" -XX:+UseLullGC "-Xms${heap}m" "-Xmx${heap}m" "${more[@]}" "-Xlog:gc+publish:file=$log:none:filecount=0" -cp "$CLASSES" \
    "lull.bench.allocator.programs.${words[0]}" "${words[@]:1}" > "$log.out" 2>&1 || die "$program has failed, see $log.out"; } 2> "$log.time"
  awk '{ print $1 + $2, $3 }' "$log.time" >> "$work/$program-$set.times"
}

echo "$rounds rounds of ${#programs[@]} programs with ${#flags[@]} sets of flags, ${heap} MB"
for ((round = 1; round <= rounds; round++)); do
  for program in "${programs[@]}"; do
    # In each round in another order.
    for set in $(printf '%s\n' "${!flags[@]}" | sort | awk -v shift="$round" '{ s[NR] = $0 } END { for (i = 0; i < NR; i++) print s[(i + shift) % NR + 1] }'); do
      run "$program" "$set"
    done
  done
  echo "round $round of $rounds is done"
done

# of PROGRAM SET: median, least and largest ratio of processor times, round by round.
ratio() {
  paste -d ' ' "$work/$1-$2.times" "$work/$1-none.times" | awk '{ print $1 / $3 }' | sort -n |
    awk '{ r[NR] = $1 } END { printf "%.3f (%.3f to %.3f)", NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2, r[1], r[NR] }'
}

printf '\n%-10s %10s %11s %12s   %-24s %s\n' program 'MB/s' 'published' 'none, s' 'with barriers' 'in public mode'
for program in "${programs[@]}"; do
  median=$(cut -d ' ' -f 1 "$work/$program-none.times" | sort -n | awk '{ s[NR] = $1 } END { print s[int((NR + 1) / 2)] }')
  wall=$(tail -n 1 "$work/$program-tracking.times" | cut -d ' ' -f 2)
  # The last line is of the end of the program: of all that it has allocated.
  read -r allocated share < <(sed -n 's/^Allocated: \([0-9]*\)K, published: [0-9]*K (\([0-9.]*\)%).*/\1 \2/p' "$work/$program-tracking.log" | tail -n 1)
  printf '%-10s %10.0f %10s%% %12.2f   %-24s %s\n' "$program" "$(awk -v k="$allocated" -v s="$wall" 'BEGIN { print k / 1024 / s }')" "$share" "$median" \
    "$(ratio "$program" tracking)" "$(ratio "$program" public)"
done
