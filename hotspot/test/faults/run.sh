#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: two of the faults that operators meet, as figures, beside another collector and another build:
#
#   breaker  how much of the heap a circuit breaker sees in use while two fifths are alive (Breaker.java)
#   deep     the processor time of collections below a million frames (DeepStack.java), and below ten; of a thread that goes
#            on, and of one that waits after each 2 MB
#
# A line for each; docs/measurements/operators-faults.md has the tables.
#
#   LULL_TEST_JDK      the JDK                                    (default: build/jdk)
#   LULL_TEST_BEFORE   another JDK of ours to compare it with     (default: none)
#   LULL_TEST_FAULTS   names of what is above, between spaces     (default: both)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs faults jdk "$ROOT/hotspot/test/faults/Breaker.java" "$ROOT/hotspot/test/faults/DeepStack.java"

# name, JDK, collector
sides=("Lull|$jdk|-XX:+UseLullGC" "G1|$jdk|-XX:+UseG1GC")
if [[ -n ${LULL_TEST_BEFORE:-} ]]; then sides=("before|$LULL_TEST_BEFORE|-XX:+UseLullGC" "${sides[@]}"); fi

run() {   # SIDE WHAT COMMAND...: java's arguments; its last line of output
  local name home collector what=$2
  IFS='|' read -r name home collector <<< "$1"
  shift 2
  cleanly "$home/bin/java" "$collector" "-Xlog:gc*:file=$work/$name.log" -cp "$work" "$@" > "$work/out" 2>&1 ||
    die "$what fails with $name" "$(tail -n 5 "$work/out")"
  printf '%-7s %-16s %s\n' "$name" "$what" "$(tail -n 1 "$work/out")"
}

breaker() {
  local heap kind side
  for heap in 512 128; do
    for kind in private public; do
      for side in "${sides[@]}"; do run "$side" "breaker, $heap MB" "-Xms${heap}m" "-Xmx${heap}m" Breaker "$kind" 20000; done
    done
  done
}

deep() {
  local setting heap depth waits side
  for setting in 256/10/0 256/1000000/0 64/10/0 64/1000000/0 256/10/2 256/1000000/2; do
    IFS=/ read -r heap depth waits <<< "$setting"
    for side in "${sides[@]}"; do
      run "$side" "deep, $heap MB" "-Xms${heap}m" "-Xmx${heap}m" DeepStack "$depth" 2000 "$waits"
    done
  done
}

for fault in ${LULL_TEST_FAULTS:-breaker deep}; do
  case $fault in
    breaker | deep) "$fault" ;;
    *) die "there is no fault '$fault'" "there are: breaker deep" ;;
  esac
done
