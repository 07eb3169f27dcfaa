#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# A heap dump that jcmd takes of a program on Lull, read and compared object by object by a reader that is not HotSpot's: that
# of the NetBeans profiler, from Maven Central. Prints "heap dump FLAGS: read ..." for each set of flags.
#
#   LULL_TEST_JDK   the JDK under test (default: build/jdk-debug)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

READER=org.netbeans.modules:org-netbeans-lib-profiler:RELEASE250
READER_SHA256=8304a50102e268fcd49dc6a8a4d47a22a993c5b093883dc1adad32059c8c68d9

jdk=${LULL_TEST_JDK:-$BUILD/jdk-debug}
[[ -x $jdk/bin/java ]] || die "there is no JDK to test at $jdk" "build it first:  make jdk-debug"
here=$ROOT/hotspot/test/heap-dump
work=$BUILD/test-work/heap-dump
rm -rf "$work"
mkdir -p "$work" "$DOWNLOAD"

jar=$DOWNLOAD/$(cut -d: -f2- <<< "$READER" | tr : -).jar
is_right() { [[ -f $jar ]] && printf '%s  %s\n' "$READER_SHA256" "$jar" | sha256sum --status -c; }
if ! is_right; then
  "$SCRIPTS/deps.sh" bench
  phase "fetching $READER" "$LOGS/heap-dump-reader.log" \
    cleanly mvn -q -B dependency:copy -Dartifact="$READER" -DoutputDirectory="$DOWNLOAD" -Dmdep.overWriteReleases=true
  is_right || die "the reader that Maven brought is not the one expected: $jar" "its sha256 is $(sha256sum < "$jar" | cut -c1-64), not $READER_SHA256"
fi

cleanly "$jdk/bin/javac" -d "$work" -cp "$jar" "$here"/*.java

check() {   # FLAGS...
  local dump=$work/dump-$((++n)).hprof pid line
  coproc POPULATION { exec "$jdk/bin/java" -XX:+UseLullGC "$@" -cp "$work" HeapDumpPopulation; }
  # shellcheck disable=SC2153 # coproc sets it
  pid=$POPULATION_PID
  read -r -t 300 line <&"${POPULATION[0]}" || die "HeapDumpPopulation $* did not get ready"
  [[ $line == ready ]] || die "HeapDumpPopulation $* said: $line"
  cleanly "$jdk/bin/jcmd" "$pid" GC.heap_dump -overwrite "$dump" > "$work/jcmd.log" 2>&1 || die "jcmd failed" "$(cat "$work/jcmd.log")"
  printf 'heap dump %s: ' "$*"
  cleanly "$(boot_jdk)/bin/java" -Xmx1g -cp "$work:$jar" HeapDumpCheck "$dump"
  kill "$pid"
  wait "$pid" 2> /dev/null || true
}

n=0
check -Xmx64m
check -Xmx64m -XX:-UseCompressedOops
check -Xmx64m -XX:+UseCompactObjectHeaders
check -Xmx64m -XX:ParallelGCThreads=4 -XX:-UseDynamicNumberOfGCThreads
