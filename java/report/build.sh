#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Builds the doctor by Maven: build/doctor/lull, a script, and the jar beside it.

# shellcheck source-path=SCRIPTDIR source=../../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../hotspot/build/lib.sh"

jdk=$(boot_jdk)
"$SCRIPTS/deps.sh" bench   # Maven
# Maven's own libraries make a JDK from 24 on warn about sun.misc.Unsafe.
MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$jdk phase "the doctor" "$LOGS/doctor.log" \
  mvn -q -B -Dstyle.color=never -f "$ROOT/java/pom.xml" -Dlull.build="$BUILD" -pl report -Dmaven.test.skip=true package
mkdir -p "$BUILD/doctor"
install -m 755 "$ROOT/java/report/lull" "$BUILD/doctor/lull"
install -m 644 "$BUILD/java/lull-report/target/lull-report.jar" "$BUILD/doctor/lull-report.jar"
say "$BUILD/doctor/lull is ready"
