#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# recording.sh: what a flight recording costs a thread that collects after each of its requests (RecordingCost.java), with the JDK's settings
# default and profile, and with the doctor's: processor time of the JVM for a request, slices of time in turn within one JVM. The JDK is to
# be a release build, the machine quiet. Two minutes and a half for each.
#
#   LULL_TEST_JDK   the JDK (default: build/jdk)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

compile_programs recording-cost jdk "$ROOT"/hotspot/test/local-cost/{LocalCost,RecordingCost}.java
for settings in default profile "$ROOT/java/report/src/main/resources/lull/report/doctor.jfc"; do
  cleanly "$jdk/bin/java" -XX:+UseLullGC -Xmx128m -cp "$work" RecordingCost "$settings" 64 20 2000
done
