#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# builds.sh: two and more builds of Lull, in turn, on those of the study's programs that ask for holes most, in
# heaps in which they collect 50 to 500 times: processor time of the whole JVM, as a ratio to the first build's of the same round. Which structure
# finds a hole is a word in the source (LullRunSearch in lullAllocator.hpp, for blocks in lullBlockSupply.hpp), and no flag, for it would be in the way of each request: change it, make jdk, keep a copy of
# build/jdk, change it back.
#
# Settings, and those of build.sh:
#   BUILDS="bitmap=DIR next-hit=DIR"         needed: names and JDKs of the builds; the first is what the others are compared with
#   BUILDS_PROGRAMS="jess:4 db:5 javac:12"   programs and their heaps in MB
#   BUILDS_ROUNDS=8                          runs of each program with each build, in turn; each round begins with another build

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

read -ra GIVEN <<< "${BUILDS:-}"
((${#GIVEN[@]} >= 2)) || die "BUILDS is '${BUILDS:-}': NAME=DIR for each of two builds or more is needed"
read -ra PROGRAMS <<< "${BUILDS_PROGRAMS:-jess:4 db:5 javac:12}"
ROUNDS=${BUILDS_ROUNDS:-8}
[[ $ROUNDS =~ ^[1-9][0-9]*$ ]] || die "BUILDS_ROUNDS is '$ROUNDS': a number of rounds from 1 on is needed"
for program in "${PROGRAMS[@]}"; do
  [[ $program =~ ^[a-z]+:[1-9][0-9]*$ ]] || die "BUILDS_PROGRAMS: '$program' is not PROGRAM:MB"
done
NAMES=() JDKS=()
for build in "${GIVEN[@]}"; do
  [[ $build =~ ^[a-z0-9-]+=. ]] || die "'$build' is not NAME=DIR"
  NAMES+=("${build%%=*}")
  JDKS+=("${build#*=}")
  [ -x "${build#*=}/bin/java" ] || die "there is no JDK at ${build#*=}: make jdk, and give the directory that it made"
done
find_base_jdk
build_programs
WORK=$OUT/builds
rm -rf "$WORK"
mkdir -p "$WORK"

# run JDK PROGRAM MB: processor seconds.
run() {
  local -a arguments
  local TIMEFORMAT='%U %S' status=0
  read -ra arguments <<< "$(long_arguments "$2")"
  { time "$1/bin/java" -XX:+UseLullGC "-Xms${3}m" "-Xmx${3}m" -XX:+ExitOnOutOfMemoryError \
    "-Xlog:gc:file=$WORK/log:none:filecount=0" -cp "$CLASSES" "${arguments[@]}" > "$WORK/out" 2>&1 || status=$?; } 2> "$WORK/time"
  [ "$status" = 0 ] || die "$2 ended with status $status in a heap of $3 MB with $1: $(tail -n 3 "$WORK/out")"
  awk '{ print $1 + $2 }' "$WORK/time"
}

printf '%-10s %8s %-12s %12s %12s %22s\n' program 'heap MB' build collections 'cpu s' "to ${NAMES[0]}"
for entry in "${PROGRAMS[@]}"; do
  program=${entry%:*} heap=${entry#*:}
  for ((round = 0; round < ROUNDS; round++)); do
    for ((turn = 0; turn < ${#NAMES[@]}; turn++)); do
      build=$(((round + turn) % ${#NAMES[@]}))
      run "${JDKS[build]}" "$program" "$heap" >> "$WORK/$program.${NAMES[build]}"
      grep -c 'Pause ' "$WORK/log" >> "$WORK/$program.${NAMES[build]}.pauses" || true
    done
  done
  for name in "${NAMES[@]}"; do
    ratio=$(paste -d ' ' "$WORK/$program.$name" "$WORK/$program.${NAMES[0]}" | awk '{ print $1 / $2 }' | sort -n)
    printf '%-10s %8s %-12s %12s %12s %22s\n' "$program" "$heap" "$name" "$(median < "$WORK/$program.$name.pauses")" "$(median < "$WORK/$program.$name")" \
      "$(awk -v m="$(median <<< "$ratio")" -v l="$(head -n 1 <<< "$ratio")" -v h="$(tail -n 1 <<< "$ratio")" 'BEGIN { printf "%.3f (%.3f to %.3f)", m, l, h }')"
  done
done
