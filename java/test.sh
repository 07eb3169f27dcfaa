#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Runs the tests of java/ (three or four minutes) and ends with a line "N passed, N failed, N skipped", after the reasons of what was skipped.
# The reports are in build/java/*/target/surefire-reports.
#
#   LULL_JAVA     a java of a JDK with Lull: what the calls do there is tested, too (default: skipped)
#   LULL_GATE_LIBRARY   liblull_gate.so: failover is tested with replicas under it   (default: build/native/liblull_gate.so; without it skipped)
#   LULL_BUILD    the build directory                                               (default: build/)
#   JAVA_HOME     the JDK 25 that compiles and runs the tests                       (default: an installed one)

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"

case ${1:-} in
  '') ;;
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown argument '$1'; settings are environment variables, see --help" ;;
esac

[[ -z ${LULL_JAVA:-} || -x $LULL_JAVA ]] || die "LULL_JAVA is '$LULL_JAVA', which cannot be run"
jdk=$(boot_jdk)
"$SCRIPTS/deps.sh" bench   # Maven
export LULL_GATE_LIBRARY=${LULL_GATE_LIBRARY:-$BUILD/native/liblull_gate.so}
rm -rf "$BUILD"/java/*/target/surefire-reports
code=0
# All modules, also after a failure; a module that does not compile has no report, but mvn's exit code.
# Maven's own libraries make a JDK from 24 on warn about sun.misc.Unsafe.
MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$jdk \
  mvn -q -B -Dstyle.color=never -f "$ROOT/java/pom.xml" -Dlull.build="$BUILD" --fail-at-end test || code=$?

reports=$BUILD/java/*/target/surefire-reports
# shellcheck disable=SC2086 # a pattern on purpose
{
  sed -n '/<skipped /s/.*Assumption failed: //p' $reports/TEST-*.xml | sort | uniq -c | sed -E 's/^ *([0-9]+) /skipped \1: /'
  cat $reports/*.txt
} 2> /dev/null | awk '
  /^skipped / { print }
  /^Tests run:/ { gsub(/[^0-9 ]/, ""); run += $1; failed += $2 + $3; skipped += $4 }
  END { printf "%d passed, %d failed, %d skipped\n", run - failed - skipped, failed, skipped }' || true
exit "$code"
