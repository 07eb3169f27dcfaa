#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: small graphs that threads make, publish and walk (Publications.java), under one stress mode after the other, and how much
# each has published and collected. The debug JDK verifies the heap before and after each collection that stops
# the VM, what a thread reaches after each local one, and with LullLoadCheck each load in the interpreter and C1. A violation of any invariant, or a
# graph that is not as it was made, ends the run with its seed.
#
#   LULL_TEST_JDK    the JDK under test (default: build/jdk-debug)
#   STRESS_SECONDS   of each mode (default: 30)
#   STRESS_THREADS   (default: 3)
#   STRESS_SEED      (default: the time)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

seconds=${STRESS_SECONDS:-30} threads=${STRESS_THREADS:-3} seed=${STRESS_SEED:-$(date +%s)}
[[ $seconds =~ ^[1-9][0-9]*$ && $threads =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || die "STRESS_SECONDS, STRESS_THREADS and STRESS_SEED are numbers"
compile_programs publication-stress jdk-debug "$ROOT/hotspot/test/publication-stress/Publications.java"

ALWAYS=(-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+LullAlwaysPrivate -XX:-CreateCoredumpOnCrash)
C2=(-XX:-TieredCompilation -XX:CompileThreshold=500 -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP -XX:+StressMacroExpansion -XX:+LullCheckElision)
published_in_all=0

printf '%-44s %12s %12s %10s %8s %8s\n' mode publications objects local young global
mode() {   # NAME FLAGS...
  local log=$work/$1.log publications objects local young global
  cleanly "$jdk/bin/java" -Xmx64m "${ALWAYS[@]}" "${@:2}" "-Xlog:gc,gc+publish,gc+local:file=$log:none:filecount=0" -cp "$work" \
    Publications "$seconds" "$threads" "$seed" > "$log.out" 2>&1 || die "$1: a run with seed $seed has failed, see $log.out"
  # The last line of each is of the end of the VM.
  read -r objects publications < <(sed -n 's/^Allocated: .* published: .*, \([0-9]*\) objects in \([0-9]*\) closures.*/\1 \2/p' "$log" | tail -n 1)
  local=$(sed -n 's/^Local collections: \([0-9]*\), of them .*/\1/p' "$log" | tail -n 1)
  young=$(grep -c '^GC.*Pause Young.*ms$' "$log" || true)
  global=$(grep -c '^GC.*Pause Full.*ms$' "$log" || true)
  # Without what the mode is for, nothing was tested. A thread in public mode does not collect, and with LullAlwaysPublic it publishes nothing.
  if [[ " ${*:2} " == *" -XX:+LullAlwaysPublic "* ]]; then
    ((${publications:-0} == 0)) || die "$1: what is public from the beginning was published, see $log"
  else
    ((${publications:-0} > 0)) || die "$1: the log says of no publication, see $log"
    [[ " ${*:2} " == *" -XX:LullPublishAllALot="* ]] || ((${local:-0} > 0)) || die "$1: no thread has collected locally, see $log"
  fi
  [[ " ${*:2} " != *" -XX:+LullYoungALot "* ]] || ((young > 0)) || die "$1: there was no young collection, see $log"
  printf '%-44s %12d %12d %10d %8d %8d\n' "$1" "${publications:-0}" "${objects:-0}" "${local:-0}" "$young" "$global"
  published_in_all=$((published_in_all + ${publications:-0}))
}

mode default -XX:+LullLoadCheck
mode interpreter -Xint -XX:+LullLoadCheck
mode C1 -XX:TieredStopAtLevel=1 -XX:+LullLoadCheck
mode C2-stressed "${C2[@]}" -XX:StressSeed="$((seed % 2147483647))"
mode C2-stressed-64-bit-references "${C2[@]}" -XX:StressSeed="$(((seed + 1) % 2147483647))" -XX:-UseCompressedOops
# 32-bit references with a base, and the tables too far up for an instruction to have their address.
mode C2-stressed-tables-above-2-GB "${C2[@]}" -XX:StressSeed="$(((seed + 2) % 2147483647))" -XX:HeapBaseMinAddress=2000g
mode compact-headers -XX:+UseCompactObjectHeaders
mode modes-flip -XX:LullFlipModeALot=5
mode all-is-published -XX:LullPublishAllALot=101 -XX:LullPublicModeWindow=32K -XX:LullPublicModeWindows=1
mode collects-at-each-second-slow-allocation -XX:LullLocalCollectALot=2
mode some-cannot-be-copied -XX:LullLocalCollectALot=2 -XX:LullEvacuationFailureALot=2
mode young-collections-only -XX:+LullYoungALot
mode public-mode-young-collections-only -XX:+LullAlwaysPublic -XX:+LullYoungALot
mode tracking-is-suspended-and-resumed -XX:LullSuspendALot=3
mode the-same-with-young-collections-only -XX:LullSuspendALot=10 -XX:+LullYoungALot
mode the-same-and-all-moves -XX:LullSuspendALot=2 -XX:LullEvacuateALot=1 -XX:LullSlideALot=3
mode all-moves -XX:LullEvacuateALot=1 -XX:LullSlideALot=3
printf '%d publications, seed %d, no violation\n' "$published_in_all" "$seed"
