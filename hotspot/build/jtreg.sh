#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# jtreg.sh NAME SPEC...: runs jtreg tests with the collector on, on build/jdk-debug, and prints one line of totals:
#
#   NAME: N passed, N failed, N excluded, N skipped
#
# A SPEC is a directory, a test or a group of upstream's test/hotspot/jtreg:   gc/stress/gcbasher   :tier1_gc_2
# or, when it begins with jdk, of test/jdk:                                    jdk/java/lang/ref    jdk:jdk_loom
# or of test/langtools:                                                        langtools/tools/javac/4241573
# Excluded are the tests of the problem lists (upstream's, and ours: hotspot/test/ProblemList-lull.txt); skipped are those
# that say themselves that they do not apply to this VM. Results are in build/test-results/NAME.
#
#   LULL_TEST_JDK       the JDK under test          (default: build/jdk-debug)
#   LULL_TEST_OPTIONS   options for the VMs         (default: -XX:+UseLullGC)
#   LULL_TEST_MODE      agentvm or othervm          (default: agentvm, as upstream runs them)
#   LULL_TEST_JOBS      tests at a time             (default: the number of processors, 2 at least)
#   LULL_TEST_TIMEOUT   factor on each test's limit (default: 4, as upstream)
#   LULL_TEST_SECONDS   stop the run after so many seconds
#   LULL_TEST_LATER     a list of tests to leave out, too, in the form of a problem list   (default: none)

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

name=$1
shift
(($#)) || die "jtreg.sh $name: no tests given"
jdk=${LULL_TEST_JDK:-$BUILD/jdk-debug}
[[ -x $jdk/bin/java ]] || die "there is no JDK to test at $jdk" "build it first:  make jdk-debug"
"$SCRIPTS/fetch-tools.sh" jtreg
boot=$(boot_jdk)
jobs=${LULL_TEST_JOBS:-$(nproc)}
if ((jobs < 2)); then jobs=2; fi
images=$TREE/build/fastdebug/images/test

specs=()
natives=()
lists=()
# A pattern stands for the tests it matches: gc/lull/*.java is that directory without those below it.
given=()
for spec in "$@"; do
  if [[ $spec == *'*'* ]]; then
    # shellcheck disable=SC2086 # the shell expands the pattern
    mapfile -t matches < <(if cd "$TREE/test/hotspot/jtreg"; then grep -l '@test' $spec 2> /dev/null || true; fi)
    ((${#matches[@]})) || die "jtreg.sh $name: no test matches $spec"
    given+=("${matches[@]}")
  else
    given+=("$spec")
  fi
done
for spec in "${given[@]}"; do
  case $spec in
    jdk:* | jdk/*) specs+=("test/$spec"); root=test/jdk; natives+=("$images/jdk/jtreg/native") ;;
    langtools:* | langtools/*) specs+=("test/$spec"); root=test/langtools; natives+=("$images/langtools/jtreg/native") ;;
    :*) specs+=("test/hotspot/jtreg$spec"); root=test/hotspot/jtreg; natives+=("$images/hotspot/jtreg/native") ;;
    *) specs+=("test/hotspot/jtreg/$spec"); root=test/hotspot/jtreg; natives+=("$images/hotspot/jtreg/native") ;;
  esac
  lists+=("$TREE/$root/ProblemList.txt")
done
lists+=("$ROOT/hotspot/test/ProblemList-lull.txt")
if [[ -n ${LULL_TEST_LATER:-} ]]; then
  [[ -f $LULL_TEST_LATER ]] || die "LULL_TEST_LATER: there is no file '$LULL_TEST_LATER'"
  lists+=("$LULL_TEST_LATER")
fi
mapfile -t natives < <(printf '%s\n' "${natives[@]}" | sort -u)
mapfile -t lists < <(for f in "${lists[@]}"; do if [[ -f $f ]]; then printf '%s\n' "$f"; fi; done | sort -u)
((${#natives[@]} == 1)) || die "jtreg.sh $name: tests of test/hotspot and of test/jdk need a run each (their native libraries are apart)"

# The lines of a failed test's output that say most: the VM's last words, exceptions, and jtreg's verdict.
why_failed() {   # TEST, as dir/File.java or dir/File.java#id
  local base=${1%%#*} id= file
  if [[ $1 == *'#'* ]]; then id=_${1##*#}; fi
  base=${base%.*}$id
  # Unless its file has one test only, jtreg puts the number or the name of the test behind that of the file.
  for file in "$work/$base".jtr "$work/${base}"_*.jtr; do
    [[ -f $file ]] || continue
    grep -aE '^(# |Exception|Caused by|test result:|.*(Error|Exception): )|SIG[A-Z]+ ' "$file" \
      | grep -avE '^(JavaTest Message|STATUS|result|execStatus)' | cut -c1-240 | awk '!seen[$0]++' | head -n 20 || true
  done
}

work=$BUILD/test-work/$name
results=$BUILD/test-results/$name
rm -rf "$work" "$results"
mkdir -p "$work/tmp" "$results"

# A JDK that compiles the tests: the one that ours is made of, whose classes are the same, but whose VM has no assertions (a quarter of the time
# went into javac). jtreg gives it the options of the VMs under test, too; its java leaves aside those that only ours knows.
make_compile_jdk() {   # HOME
  local f
  mkdir -p "$1/bin"
  for f in "$boot"/* "$boot"/bin/*; do
    case $f in "$boot/bin" | "$boot/bin/java") ;; *) ln -s "$f" "$1${f#"$boot"}" ;; esac
  done
  # shellcheck disable=SC2016 # "$@" is of the script that is written
  printf '#!/bin/sh\nexec %q -XX:+IgnoreUnrecognizedVMOptions "$@"\n' "$boot/bin/java" > "$1/bin/java"
  chmod +x "$1/bin/java"
}
compile=()
# Not the tests of javac: they are to run it on the VM under test.
if [[ $root != test/langtools && $(jdk_feature "$boot") == "$(jdk_feature "$jdk")" ]]; then
  make_compile_jdk "$work/compile-jdk"
  compile=(-compilejdk:"$work/compile-jdk")
fi

# shellcheck disable=SC2054 # the commas belong to the options
options=(-"${LULL_TEST_MODE:-agentvm}" -verbose:fail,error,summary -retain:fail,error -concurrency:"$jobs" -automatic -ignore:quiet
  -ea -esa -timeoutFactor:"${LULL_TEST_TIMEOUT:-4}" -k:'!headful'
  -vmoption:-Xmx768m -vmoption:-XX:MaxRAMPercentage="$(awk -v n="$jobs" 'BEGIN { print 25 / n }')"
  -vmoption:-Dtest.boot.jdk="$boot" -vmoption:-Djava.io.tmpdir="$work/tmp"
  -e:TEST_IMAGE_DIR="$images" -testjdk:"$jdk" "${compile[@]}" -dir:"$TREE" -workDir:"$work" -reportDir:"$results" -report:files)
if [[ -d ${natives[0]} ]]; then options+=(-nativepath:"${natives[0]}"); fi
for f in "${lists[@]}"; do options+=(-exclude:"$f"); done
read -ra vm <<< "${LULL_TEST_OPTIONS:--XX:+UseLullGC}"
for o in "${vm[@]}"; do options+=(-vmoption:"$o"); done

limit=()
# All at once: jtreg would report those of its JVMs as failed that end before itself.
if [[ -n ${LULL_TEST_SECONDS:-} ]]; then limit=(timeout --signal=KILL "$LULL_TEST_SECONDS"); fi
status=0 start=$SECONDS
# Without what the shell itself says of a command that was killed.
{
  cleanly "${limit[@]}" "$boot/bin/java" -Xmx768m -Dprogram=jtreg -jar "$BUILD/jtreg/lib/jtreg.jar" "${options[@]}" "${specs[@]}" \
    > "$results/jtreg.log" 2>&1 || status=$?
} 2> /dev/null
took=$((SECONDS - start))

# jtreg's report has a line per test that was selected: its name, and "Passed.", "Failed.", "Error." or "Not run.".
if [[ -f $results/text/summary.txt ]]; then
  awk 'FNR == NR || FILENAME != summary { if ($1 !~ /^#/ && NF) listed[$1] = 1; next }
       { test = $1; file = test; sub(/#.*/, "", file) }
       / Passed\. Skipped/ || /SkippedException/ { print "skipped", test; next }
       / Passed\./   { print "passed", test; next }
       / Not run\./  { print (test in listed || file in listed) ? "excluded" : "skipped", test; next }
       { print "failed", test }' summary="$results/text/summary.txt" "${lists[@]}" "$results/text/summary.txt" > "$results/tests"
else
  # It has not come to its report: its log has a line for each test that had ended, or the whole output of one that failed.
  awk 'test == "" && /^TEST: / { test = $2 }
       /^TEST RESULT: / { if (test != "") print ($3 == "Passed.") ? "passed" : "failed", test; test = ""; next }
       test != "" { next }
       /^Passed: / { print "passed", $2 }
       /^(FAILED|Error): / { print "failed", $2 }
       END { if (test != "") print "failed", test }' "$results/jtreg.log" > "$results/tests"
fi
passed=$(grep -c '^passed ' "$results/tests" || true)
failed=$(grep -c '^failed ' "$results/tests" || true)
excluded=$(grep -c '^excluded ' "$results/tests" || true)
skipped=$(grep -c '^skipped ' "$results/tests" || true)
why=
case $status in
  # 0: all passed; 1: no tests were selected; 2: some failed; 3: some could not be run.
  0 | 2 | 3) ;;
  1) if ((excluded + skipped == 0)); then why=" (no tests were selected)"; failed=$((failed + 1)); fi ;;
  *)
    # Time was up: what had not run by then counts as skipped. (A test that hangs has jtreg's own time limit, and fails.)
    if ((status == 124 || status == 137)) && [[ -n ${LULL_TEST_SECONDS:-} ]] && ((took >= LULL_TEST_SECONDS)); then
      why=" (stopped after $LULL_TEST_SECONDS s)"
      skipped=$((skipped + 1))
    else
      why=" (jtreg itself failed: $(grep -m 1 -i '^error' "$results/jtreg.log" || printf 'exit status %s' "$status"))"
      failed=$((failed + 1))
    fi ;;
esac
printf '%s: %d passed, %d failed, %d excluded, %d skipped%s\n' "$name" "$passed" "$failed" "$excluded" "$skipped" "$why" | tee "$results/totals"
if ((failed)); then
  while read -r verdict test; do
    if [[ $verdict == failed ]]; then
      say "    FAILED  $test"
      why_failed "$test" | sed 's/^/        /'
    fi
  done < "$results/tests"
  say "    logs: $results/jtreg.log, $work"
  exit 1
fi
