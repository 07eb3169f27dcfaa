#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
# Tests of the allocator study: the replay with its assertions on, damaged traces, wrong options, the programs, and the
# recorder. The policies themselves have their tests in hotspot/test/hotspot/gtest/gc/lull/unit here and in the project's root. Ends with a line
# "N passed, N failed".
#
# Settings: LULL_BASE_JDK, LULL_BUILD as for study.sh

set -euo pipefail
# shellcheck source=bench/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
usage_if_asked "$0" "$@"
# shellcheck source=bench/checks.sh
. "$BENCH/checks.sh"
# shellcheck source=bench/allocator/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

find_base_jdk
WORK=$OUT/test
mkdir -p "$WORK"
CHECKED=$OUT/replay-checked
newer_than "$CHECKED" "$ALLOCATOR/replay" "$ALLOCATOR/include" "$POLICY/gc/lull" "$SPACE" && compile_replay "$CHECKED" -O1 -DASSERT
build_recorder
build_programs

# refuses WORDS COMMAND...: the command ends with status 2 and one line of error that has WORDS.
refuses() {
  local words=$1 status=0 message
  shift
  message=$("$@" 2>&1 > /dev/null) || status=$?
  if [ "$status" = 2 ] && [[ $message == "error: "*"$words"* ]]; then ok; else not_ok "$* ended with $status and '$message', expected '$words'"; fi
}

TRACE=$WORK/t.trace
for kind in generations phases uniform; do
  "$CHECKED" synthesize $kind 7 20000 "$TRACE"
  cp "$TRACE" "$WORK/again.trace"
  "$CHECKED" synthesize $kind 7 20000 "$TRACE"
  if cmp -s "$TRACE" "$WORK/again.trace"; then ok; else not_ok "$kind is not the same from the same seed"; fi

  # The integrity of the heap at each collection, for all policies.
  if "$CHECKED" run --trace "$TRACE" --factors 1.1,2 --lists 32,128,512 --verify > "$WORK/run.csv"; then ok; else not_ok "run --verify of $kind"; fi
  # What is found does not depend on how a list is found: columns from outcome to collections, and splits to the end.
  for search in traverse bitmap; do
    if diff <(grep ",$search," "$WORK/run.csv" | cut -d, -f3-10,18-25) <(grep ",next-hit," "$WORK/run.csv" | cut -d, -f3-10,18-25) > "$WORK/diff"; then
      ok
    else
      not_ok "$search and next-hit differ on $kind: $(head -n 3 "$WORK/diff")"
    fi
  done
  if awk -F, '$2 == "next-hit" && $12 != 0 { exit 1 }' "$WORK/run.csv"; then ok; else not_ok "next-hit has passed lists"; fi
  # All of the trace in each heap that fits; the smallest heap holds what lives.
  if awk -F, '$6 == "fits" && $7 != 20000 { exit 1 }' "$WORK/run.csv"; then ok; else not_ok "a replay has lost allocations"; fi
  if "$CHECKED" smallest --trace "$TRACE" --search next-hit --coalescing immediate --no-header | awk -F, '$5 < $6 { exit 1 }'; then
    ok
  else
    not_ok "the smallest heap is smaller than what lives"
  fi
done

# Damaged traces: every length near the ends and some between, every byte of the header and some behind.
size=$(stat -c %s "$TRACE")
for length in 0 1 7 8 9 12 20 24 28 $((size / 2)) $((size - 9)) $((size - 8)) $((size - 1)); do
  head -c "$length" "$TRACE" > "$WORK/damaged.trace"
  refuses damaged.trace "$CHECKED" describe --trace "$WORK/damaged.trace"
done
for offset in $(seq 0 40) $((size / 3)) $((size / 2)) $((size - 12)) $((size - 3)); do
  cp "$TRACE" "$WORK/damaged.trace"
  byte=$(od -An -tu1 -j "$offset" -N 1 "$TRACE" | tr -d ' ')
  # shellcheck disable=SC2059 # the format is the byte
  printf "\\x$(printf %02x $((byte ^ 0x55)))" | dd of="$WORK/damaged.trace" bs=1 seek="$offset" conv=notrunc status=none
  refuses damaged.trace "$CHECKED" describe --trace "$WORK/damaged.trace"
done
(cat "$TRACE"; echo) > "$WORK/damaged.trace"
refuses "1 bytes after the end" "$CHECKED" describe --trace "$WORK/damaged.trace"
refuses "cannot be opened" "$CHECKED" describe --trace "$WORK/none.trace"
refuses "is not a file" "$CHECKED" describe --trace "$WORK"

refuses "--trace FILE is missing" "$CHECKED" run
refuses "unknown option '--heap'" "$CHECKED" run --heap 3
refuses "--lists '100' is not one of" "$CHECKED" run --trace "$TRACE" --lists 100 --heaps 1m
refuses "--search 'fast' is unknown" "$CHECKED" run --trace "$TRACE" --search fast --heaps 1m
refuses "has an empty item" "$CHECKED" run --trace "$TRACE" --search traverse,, --heaps 1m
refuses "either --heaps or --factors" "$CHECKED" run --trace "$TRACE"
refuses "--heaps '-1'" "$CHECKED" run --trace "$TRACE" --heaps -1
refuses "--heaps '99999999999999999999'" "$CHECKED" run --trace "$TRACE" --heaps 99999999999999999999
refuses "--factors '0.5'" "$CHECKED" run --trace "$TRACE" --factors 0.5
refuses "--repeats needs a value" "$CHECKED" run --trace "$TRACE" --repeats
refuses "one policy in one heap" "$CHECKED" over-time --trace "$TRACE" --heaps 1m
refuses "synthesize 'none' is unknown" "$CHECKED" synthesize none 1 1 "$WORK/none.trace"
# A heap in which nothing fits is an outcome, not an error.
if "$CHECKED" run --trace "$TRACE" --heaps 16 --repeats 0 --no-header | awk -F, '$6 != "full" { exit 1 }'; then ok; else not_ok "a heap of 16 bytes"; fi

# The programs check themselves; with the recorder they say the same.
JAVA=("$LULL_BASE_JDK/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -cp "$CLASSES")
PACKAGE=lull.bench.allocator.programs
for program in "RayTracer 3 24 40" "RayTracer 3 24 40 2" "RuleEngine 3 1 120" "MemoryTable 3 100 600" "Lzw 3 2 8" "Compiler 3 1 1"; do
  read -ra words <<< "$program"
  if plain=$("${JAVA[@]}" $PACKAGE."${words[0]}" "${words[@]:1}"); then ok; else not_ok "$program"; fi
  if recorded=$("${JAVA[@]}" "-agentpath:$RECORDER=file=$WORK/p.trace,name=test,granularity=262144" $PACKAGE."${words[0]}" "${words[@]:1}") \
      && [ "$plain" = "$recorded" ] && "$CHECKED" describe --trace "$WORK/p.trace" --no-header | awk -F, '$2 < 1000 || $3 > $2 || $3 < $2 / 4 { exit 1 }'; then
    ok
  else
    not_ok "recording $program"
  fi
done
# A wrong argument of a program.
refuses "must be a number from" "${JAVA[@]}" $PACKAGE.Lzw x
for options in "" "file=" "file=$WORK/no/such/directory" "file=$WORK/p.trace,granularity=1" "file=$WORK/p.trace,colour=red"; do
  status=0
  message=$("${JAVA[@]}" "-agentpath:$RECORDER=$options" $PACKAGE.Lzw 1 1 1 2>&1 > /dev/null) || status=$?
  if [ $status = 1 ] && [[ $message == "error: recorder: "* ]]; then ok; else not_ok "the recorder with '$options' ended with $status and '$message'"; fi
done

end_of_checks
