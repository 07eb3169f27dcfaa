#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Races around publication under jcstress, with tracking on: no forbidden result, and no check of the VM that fails. The
# harness is on Maven Central; OpenJDK's own suites are not, so the tests are ours: PublicationTests.java. Prints
#
#   jcstress FLAGS: N results, none of them forbidden
#
# for each set of flags. Each test runs with each actor in the interpreter, in C1's code and in C2's.
#
#   run.sh [PATTERN]   only the tests whose names match
#
#   LULL_TEST_JDK         the JDK under test (default: build/jdk-debug)
#   LULL_JCSTRESS_MODE    sanity, quick, default, tough, stress (default: quick)

# shellcheck source-path=SCRIPTDIR source=../../build/lib.sh
. "$(dirname "$0")/../../build/lib.sh"

LIBRARIES=(
  org.openjdk.jcstress:jcstress-core:0.16=58ee119c227bd02a86ad47f32b6165537e42502ef6cc8140d6454b0cac29f6ac
  net.sf.jopt-simple:jopt-simple:4.6=3fcfbe3203c2ea521bf7640484fd35d6303186ea2e08e72f032d640ca067ffda
  net.java.dev.jna:jna:5.8.0=930273cc1c492f25661ea62413a6da3fd7f6e01bf1c4dcc0817fc8696a7b07ac
)

jdk=${LULL_TEST_JDK:-$BUILD/jdk-debug}
[[ -x $jdk/bin/java ]] || die "there is no JDK to test at $jdk" "build it first:  make jdk-debug"
here=$ROOT/hotspot/test/jcstress
work=$BUILD/test-work/jcstress
rm -rf "$work"
mkdir -p "$work/classes" "$DOWNLOAD"

class_path=$work/classes
for library in "${LIBRARIES[@]}"; do
  artifact=${library%=*} sum=${library##*=}
  jar=$DOWNLOAD/$(cut -d: -f2- <<< "$artifact" | tr : -).jar
  is_right() { [[ -f $jar ]] && printf '%s  %s\n' "$sum" "$jar" | sha256sum --status -c; }
  if ! is_right; then
    "$SCRIPTS/deps.sh" bench
    phase "fetching $artifact" "$LOGS/jcstress-fetch.log" \
      cleanly mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$DOWNLOAD" -Dmdep.overWriteReleases=true
    is_right || die "what Maven brought for $artifact is not what was expected: $jar" "its sha256 is $(sha256sum < "$jar" | cut -c1-64), not $sum"
  fi
  class_path+=:$jar
done

# jcstress makes a runner for each test.
cleanly "$(boot_jdk)/bin/javac" -proc:full -nowarn -d "$work/classes" -cp "$class_path" "$here"/*.java

# Flags of the harness would be those of the VMs under test, too. Its last word is
#   (Results: 126 planned; 126 passed, 0 failed, 0 soft errs, 0 hard errs)
# where a hard error is a VM that has crashed.
check() {   # FLAGS...
  local log=$work/run-$((++n)).log status=0 planned passed failed soft hard
  (cd "$work" && cleanly "$jdk/bin/java" -cp "$class_path" org.openjdk.jcstress.Main -m "${LULL_JCSTRESS_MODE:-quick}" -t "${pattern:-.}" \
    -r "$work/report-$n" -jvmArgs "--enable-native-access=ALL-UNNAMED -Xms128m -Xmx128m -XX:-CreateCoredumpOnCrash -XX:+UseLullGC \
    -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections -XX:+LullAlwaysPrivate $*") > "$log" 2>&1 || status=$?
  read -r planned passed failed soft hard _ < <(grep -aE '^ *\(Results:' "$log" | tail -n 1 | tr -cs '0-9\n' ' ') || true
  if ((status != 0 || ${passed:-0} == 0 || passed != planned)); then
    grep -aE -A 20 '\] lull\.|FATAL|^# ' "$log" | cut -c1-160 | head -n 60 >&2 || true
    die "jcstress $*: ${passed:-no} of ${planned:-?} passed, ${failed:-?} failed, $((${soft:-0} + ${hard:-0})) errors, exit status $status; see $log"
  fi
  printf 'jcstress %s: %d results, none of them forbidden\n' "$*" "$passed"
}

n=0
pattern=${1:-}
check -XX:+LullLoadCheck
check -XX:LullFlipModeALot=3
