#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# run.sh: how long does the VM wait for threads that collect or publish by themselves (Safepoints.java)? By the flight
# recorder's jdk.SafepointLatency, beside G1, in the same heap: counts of threads that came late, by the state in which they
# were asked to stop. A local collection and a publication are `_thread_in_vm` or `_thread_in_Java`; other programs that
# have the processors make each state late.
#
#   LULL_TEST_JDK     the JDK                                   (default: build/jdk)
#   LULL_TEST_FLAGS   collectors to run with, between spaces    (default: -XX:+UseLullGC -XX:+UseG1GC)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs safepoints jdk "$ROOT/hotspot/test/safepoints/Safepoints.java"
read -ra collectors <<< "${LULL_TEST_FLAGS:--XX:+UseLullGC -XX:+UseG1GC}"
for collector in "${collectors[@]}"; do
  say "==> $collector"
  cleanly "$jdk/bin/java" "$collector" -Xmx256m -Xlog:disable -Xlog:gc*:file="$work/gc.log" -cp "$work" Safepoints "$work/safepoints.jfr"
done
