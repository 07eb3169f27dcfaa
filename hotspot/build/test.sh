#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# test.sh quick|all: everything that tests Lull, in phases; the last line is the sum:
#
#   N passed, N failed, N skipped
#
#   1. scripts this script and jtreg.sh do not take a failure for anything else (self-test.sh); what the pages show exists (book/test.sh)
#   2. unit    data structures without a VM, in seconds
#   3. gtest   HotSpot's gtest launcher on the debug build, tests named Lull*
#   4. product our sources compile as in the release build (product-check.sh); jlink and jpackage of the debug JDK, and its name (hotspot/test/image/run.sh)
#   5. jtreg   the tests listed in hotspot/test/groups/quick.txt without those in later.txt, which count as excluded; for all, those, too,
#              and all.txt on top
#   6. dump    a heap dump, read by a reader that is not HotSpot's (hotspot/test/heap-dump/run.sh)
#   7. jcstress  races around publication, under tracking (hotspot/test/jcstress/run.sh)
#   8. stress  millions of publications under each stress mode (hotspot/test/publication-stress/run.sh)
#   9. requests  java/: requests in real frameworks, reports, metrics; on the debug build, too (java/test.sh)
#  10. bench   the benchmark programs' own tests (bench/test.sh)
#  11. native  the Rust parts; for all, JVMs with far heaps and Java services under the gate, too (native/test.sh)
#
# A phase that fails does not keep the next from running. The exit status is 0 if nothing failed and something passed.
#
#   LULL_PHASES     which phases to run         (default: all, but dump, jcstress and stress only for all)
#   LULL_GROUPS     which jtreg groups, by name (default: all in the list)
#   LULL_DEADLINE   seconds since 1970 after which no further phase, group or script is begun, and no group or script goes on; such count as one
#                   skipped test each, beside what had failed by then
#   LULL_LEAST      seconds before the deadline for which none is begun either (default: 60)

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

scope=${1:-quick}
[[ -f $ROOT/hotspot/test/groups/$scope.txt || $scope == quick || $scope == all ]] || die "test.sh knows quick and all, not '$scope'"
# One at a time: a second one would remove the results of the first.
if have flock; then
  exec 8> "$BUILD/.test-lock"
  if ! flock -n 8; then note "waiting for other tests in $BUILD"; flock 8; fi
fi
RESULTS=$BUILD/test-results
rm -rf "$RESULTS"
mkdir -p "$RESULTS" "$LOGS"
SUMMARY=$RESULTS/summary.txt
FAILURES=$RESULTS/failures.txt   # what failed and why: it is said once more at the end
: > "$SUMMARY"
: > "$FAILURES"

passed=0 failed=0 skipped=0
late=()      # names of what was not begun, or was stopped, because time was up
count() {   # NAME PASSED FAILED EXCLUDED SKIPPED [REMARK]
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4 + $5))
  printf '%s: %d passed, %d failed, %d excluded, %d skipped%s\n' "$1" "$2" "$3" "$4" "$5" "${6:+ ($6)}" >> "$SUMMARY"
}

# Shows lines of its input, and keeps them for the end: of one part of a phase at most 20.
failures() { awk 'NR <= 20' | tee -a "$FAILURES" | sed 's/^/    /'; }

took() { say "    $(minutes $((SECONDS - $1)))"; }

least=${LULL_LEAST:-60}
remaining() { if [[ -n ${LULL_DEADLINE:-} ]]; then printf '%d' $((LULL_DEADLINE - $(date +%s))); else printf '999999'; fi; }

# Whether a phase is not to be begun any more, which then counts as a skipped test.
is_late() {   # NAME TITLE
  (($(remaining) < least)) || return 1
  say "==> $2: not begun, time is up"
  late+=("$1")
  count "$1" 0 0 0 1 "not begun, time was up"
}

# The lines of googletest's output that say what failed and why.
gtest_failures() { { grep -aE '^\[  FAILED|: Failure$|^# |SIG[A-Z]+ |error: ' "$1" || true; } | awk '!seen[$0]++' | failures; }

# The totals of googletest's XML report: tests, failures, disabled and skipped, for count.
count_xml() {   # NAME FILE STATUS
  local tests failures disabled skips remark=
  tests=$(sed -n '/<testsuites /s/.* tests="\([0-9]*\)".*/\1/p' "$2" 2> /dev/null | head -n 1 || true)
  failures=$(sed -n '/<testsuites /s/.* failures="\([0-9]*\)".*/\1/p' "$2" 2> /dev/null | head -n 1 || true)
  disabled=$(sed -n '/<testsuites /s/.* disabled="\([0-9]*\)".*/\1/p' "$2" 2> /dev/null | head -n 1 || true)
  skips=$(grep -ac 'result="skipped"' "$2" 2> /dev/null || true)
  tests=${tests:-0} failures=${failures:-0} disabled=${disabled:-0} skips=${skips:-0}
  # A crash or a failed build leaves no report, or none with a failure in it.
  if (($3 != 0 && failures == 0)); then failures=1; remark="ended with exit status $3"; if ((tests == 0)); then tests=1; fi; fi
  count "$1" $((tests - failures - disabled - skips)) "$failures" "$disabled" "$skips" "$remark"
  tail -n 1 "$SUMMARY" | sed 's/^/    /'
}

run_unit() {
  local status=0 start=$SECONDS
  if is_late unit "unit tests"; then return; fi
  "$SCRIPTS/unit-tests.sh" 2>&1 | tee "$LOGS/unit.log" || status=$?
  if ((status != 0)); then gtest_failures "$LOGS/unit.log" > /dev/null; fi
  count_xml unit "$RESULTS/unit.xml" "$status"
  took "$start"
}

run_gtest() {
  local status=0 start=$SECONDS launcher=$TREE/build/fastdebug/images/test/hotspot/gtest/server/gtestLauncher
  if is_late gtest "gtest Lull*"; then return; fi
  if ! "$SCRIPTS/build.sh" gtest; then count gtest 0 1 0 0 "the launcher could not be built"; return; fi
  say "==> gtest Lull*"
  (cd "$RESULTS" && cleanly "$SCRIPTS/within.sh" 1200 "$launcher" -jdk "$BUILD/jdk-debug" --gtest_filter='Lull*' --gtest_brief=1 --gtest_catch_exceptions=0 \
    --gtest_output="xml:$RESULTS/gtest.xml" -XX:+UseLullGC > "$LOGS/gtest.log" 2>&1) || status=$?
  grep -aE '^\[  PASSED' "$LOGS/gtest.log" | sed 's/^/    /' || true
  if ((status != 0)); then gtest_failures "$LOGS/gtest.log"; fi
  count_xml gtest "$RESULTS/gtest.xml" "$status"
  took "$start"
}

run_product() {
  local start=$SECONDS
  if is_late product "product check"; then return; fi
  say "==> product check"
  if "$SCRIPTS/product-check.sh" 2>&1 | tee "$LOGS/product.log" | sed 's/^/    /'; then
    count product 1 0 0 0
  else
    count product 0 1 0 0
    { grep -aE 'error: ' "$LOGS/product.log" || tail -n 3 "$LOGS/product.log"; } | failures > /dev/null
  fi
  took "$start"
  run_checks image "the image: jlink, jpackage, name" "$ROOT/hotspot/test/image/run.sh" '^image check: '
}

# Lines "name specs..." of a list. A line of the file is specs, or "name = specs"; gc/A.java#one is a spec, and no comment.
groups() {
  sed -E -e 's/(^|[[:space:]])#.*//' -e '/^[[:space:]]*$/d' "$1" | awk '{
    name = $1; first = 1
    if ($2 == "=") first = 3
    gsub(/[\/:]/, "_", name); sub(/^_/, "", name); sub(/\.java$/, "", name)
    line = name
    for (i = first; i <= NF; i++) line = line " " $i
    print line }'
}

# The native libraries that tests of these specs may load: of a directory its own, if it has any; of a named group those of
# all directories that are not too many (vmTestbase alone has a thousand).
build_natives_for() {
  local spec top dir hotspot=() jdk=() all=
  for spec in "$@"; do
    case $spec in
      jdk:* | jdk/*) jdk=(java/lang java/util jdk/internal) ;;
      :*) all=yes ;;
      *)
        top=$TREE/test/hotspot/jtreg
        dir=$top/$spec
        [[ -d $dir ]] || dir=$(dirname "$dir")
        if [[ -n $(find "$dir" \( -name '*.c' -o -name '*.cpp' \) -print -quit 2> /dev/null) ]]; then hotspot+=("${dir#"$top/"}"); fi ;;
    esac
  done
  if [[ -n $all ]]; then
    # Those of single directories are among them, but for the two.
    mapfile -t hotspot < <(printf '%s\n' "${hotspot[@]}" | grep -E '^(vmTestbase|serviceability)/' || true)
    for dir in "$TREE"/test/hotspot/jtreg/*/; do
      case $(basename "$dir") in vmTestbase | serviceability) continue ;; esac
      if [[ -n $(find "$dir" \( -name '*.c' -o -name '*.cpp' \) -print -quit) ]]; then hotspot+=("$(basename "$dir")"); fi
    done
  fi
  # Tests of many directories load the libraries of testlibrary.
  if ((${#hotspot[@]})) && [[ -z $all ]]; then hotspot+=(testlibrary); fi
  if ((${#hotspot[@]})); then "$SCRIPTS/build.sh" natives hotspot "${hotspot[@]}" || count "natives of hotspot" 0 1 0 0 "could not be built"; fi
  if ((${#jdk[@]})); then "$SCRIPTS/build.sh" natives jdk "${jdk[@]}" || count "natives of jdk" 0 1 0 0 "could not be built"; fi
}

run_jtreg() {
  local lists=("$ROOT/hotspot/test/groups/quick.txt") name specs start options left later=
  if [[ $scope == all ]]; then lists+=("$ROOT/hotspot/test/groups/all.txt"); else later=$ROOT/hotspot/test/groups/later.txt; fi
  for list in "${lists[@]}"; do if [[ -f $list ]]; then groups "$list"; fi; done > "$RESULTS/groups"
  if [[ -n ${LULL_GROUPS:-} ]]; then
    awk -v wanted=" $LULL_GROUPS " 'index(wanted, " " $1 " ")' "$RESULTS/groups" > "$RESULTS/groups.wanted"
    mv "$RESULTS/groups.wanted" "$RESULTS/groups"
  fi
  [[ -s $RESULTS/groups ]] || { note "no jtreg groups in ${lists[*]}${LULL_GROUPS:+ named $LULL_GROUPS}"; return; }

  # shellcheck disable=SC2046 # words on purpose
  build_natives_for $(cut -d' ' -f2- "$RESULTS/groups" | tr ' ' '\n' | sort -u)

  while read -r name specs; do
    if is_late "$name" "jtreg $name"; then continue; fi
    say "==> jtreg $name"
    start=$SECONDS
    options=${LULL_TEST_OPTIONS:--XX:+UseLullGC}
    if [[ $name == tracking-* ]]; then options+=" -XX:+UnlockExperimentalVMOptions -XX:-LullLocalCollections"; fi
    if [[ $name == cycles-* ]]; then options+=" -XX:+UnlockExperimentalVMOptions -XX:+LullConcurrentMarking"; fi
    left=$later
    if [[ $name == *unverified* ]]; then options+=" -XX:+UnlockDiagnosticVMOptions -XX:-LullVerifyHeap"
    elif [[ $scope == all ]]; then left=$ROOT/hotspot/test/groups/unverified.txt; fi
    # shellcheck disable=SC2086 # words on purpose
    LULL_TEST_OPTIONS=$options LULL_TEST_LATER=$left LULL_TEST_SECONDS=$(remaining) "$SCRIPTS/jtreg.sh" "$name" $specs < /dev/null | tee "$RESULTS/said" | sed 's/^/    /' || true
    sed -n '/^    FAILED /,$p' "$RESULTS/said" | failures > /dev/null
    if [[ -f $RESULTS/$name/totals ]]; then
      # "NAME: N passed, N failed, N excluded, N skipped"
      read -r _ p _ f _ e _ s _ < <(tr -d , < "$RESULTS/$name/totals")
      count "$name" "$p" "$f" "$e" "$s"
      if grep -q '(stopped after ' "$RESULTS/$name/totals"; then late+=("$name"); fi
    else
      count "$name" 0 1 0 0 "jtreg did not run"
    fi
    took "$start"
  done < "$RESULTS/groups"
}

# A script that prints a line for each check, of this form, and whose first failure ends the run. SHOWN is what else of its output is.
run_checks() {   # NAME TITLE SCRIPT FORM [SHOWN]
  local start=$SECONDS status=0 log
  log=$LOGS/$(basename "$(dirname "$3")").log
  say "==> $2"
  "$3" < /dev/null > "$log" 2>&1 || status=$?
  grep -aE "$4|^error${5:+|$5}" "$log" | sed 's/^/    /' || true
  if ((status != 0)); then { printf '%s ended with exit status %s:\n' "$3" "$status"; tail -n 8 "$log" | cut -c1-240; } | failures; fi
  count "$1" "$(grep -acE "$4" "$log" || true)" $((status != 0)) 0 0
  took "$start"
}

run_dump() { run_checks dump "heap dump" "$ROOT/hotspot/test/heap-dump/run.sh" '^heap dump .*: read'; }
run_jcstress() { run_checks jcstress jcstress "$ROOT/hotspot/test/jcstress/run.sh" '^jcstress .*: [0-9]* results'; }
run_stress() { run_checks stress "publication stress" "$ROOT/hotspot/test/publication-stress/run.sh" ' [0-9]+ +[0-9]+$' 'no violation'; }

# The lines of a log that say which tests failed, and why: of scripts, of cargo's test programs, and of Maven.
why_failed() {   # LOG
  awk '
    /^FAILED: |^error: | --- FAILED$|^test .*FAILED$/ { print; next }
    / panicked at / { print; more = 3; next }
    /^\[ERROR\] .*(FAILURE!|ERROR!)/ { print; more = 1; next }
    more > 0 && NF { print "    " $0; more-- }' "$1" | cut -c1-240 | awk '!seen[$0]++'
}

# How many tests have failed so far, by the log of a script that has not come to its sum.
failed_tests() { grep -aE '^FAILED: | --- FAILED$|^test .*FAILED$|^error: could not compile |^\[ERROR\] .*(FAILURE!|ERROR!)' "$1" | grep -avc '^\[ERROR\] Tests run:' || true; }   # LOG

# A script that ends with a line "N passed, N failed, N skipped". It hangs if it takes several times as long as ever seen.
if [[ $scope == all ]]; then SCRIPT_SECONDS=14400; else SCRIPT_SECONDS=1200; fi
run_script() {   # NAME SCRIPT [VARIABLE=VALUE...]
  local start=$SECONDS status=0 p=0 f=0 s=0 log=$LOGS/$1-test.log limit
  if is_late "$1" "$1 (unit tests)"; then return; fi
  limit=$(remaining)
  if ((limit > SCRIPT_SECONDS)); then limit=$SCRIPT_SECONDS; fi
  say "==> $1 (unit tests)"
  cleanly LULL_BUILD="$BUILD" "${@:3}" "$SCRIPTS/within.sh" "$limit" "$2" > "$log" 2>&1 || status=$?
  if ((status == 124 && limit < SCRIPT_SECONDS && SECONDS - start >= limit)); then
    # What has failed by itself, before within.sh ended the rest.
    sed '/^error: .*: not done after .*; still running:$/,$d' "$log" > "$RESULTS/before"
    f=$(failed_tests "$RESULTS/before")
    late+=("$1")
    count "$1" 0 "$f" 0 1 "stopped after $limit s, time was up"
    tail -n 1 "$SUMMARY" | sed 's/^/    /'
    if ((f > 0)); then why_failed "$RESULTS/before" | failures; fi
    return
  fi
  read -r p _ f _ s _ < <(grep -aoE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log" | tail -n 1 | tr -d ,) || true
  p=${p:-0} f=${f:-0} s=${s:-0}
  if ((f == 0 && (status != 0 || p == 0))); then count "$1" "$p" 1 0 "$s" "ended with exit status $status, see $log"; else count "$1" "$p" "$f" 0 "$s"; fi
  tail -n 1 "$SUMMARY" | sed 's/^/    /'
  if ((f > 0 || status != 0)); then why_failed "$log" | failures; fi
  took "$start"
}

# The same of one that needs Maven.
run_maven() {
  "$SCRIPTS/deps.sh" bench || { count "$1" 0 1 0 0 "Maven is missing"; return; }
  run_script "$@"
}

run_requests() { run_maven requests "$ROOT/java/test.sh" LULL_JAVA="$BUILD/jdk-debug/bin/java"; }

run_bench() { if [[ -f $ROOT/bench/pom.xml ]]; then run_maven bench "$ROOT/bench/test.sh"; fi; }

run_scripts() {
  run_script scripts "$SCRIPTS/self-test.sh"
  run_script pages "$ROOT/book/test.sh"
}

# With the JDK that is there, if one has been built; the phase itself builds none.
run_native() {
  local java=
  if [[ -x $BUILD/jdk-debug/bin/java ]]; then java=$BUILD/jdk-debug/bin/java; fi
  run_script native "$ROOT/native/test.sh" ${java:+LULL_JAVA="$java"} LULL_NATIVE_SCOPE="$scope"
}

begun=$SECONDS
if [[ $scope == all ]]; then default_phases="scripts unit gtest product jtreg dump jcstress stress requests bench native"; else default_phases="scripts unit gtest product jtreg requests bench native"; fi
phases=${LULL_PHASES:-$default_phases}
for p in $phases; do
  case $p in scripts | unit | gtest | product | jtreg | dump | jcstress | stress | requests | bench | native) ;; *) die "LULL_PHASES: there is no phase '$p' (scripts unit gtest product jtreg dump jcstress stress requests bench native)" ;; esac
done
debug_jdk() { "$SCRIPTS/build.sh" jdk fastdebug; }
jdk_built=
for p in $phases; do
  case $p in
    gtest | product | jtreg | dump | jcstress | stress | requests)
      if [[ -z $jdk_built ]]; then
        if debug_jdk; then jdk_built=yes; else jdk_built=no; count jdk-debug 0 1 0 0 "could not be built"; fi
      fi
      [[ $jdk_built == yes ]] || continue ;;
  esac
  "run_$p"
done

say ""
say "Totals after $(minutes $((SECONDS - begun))); details in $RESULTS:"
sed 's/^/    /' "$SUMMARY"
if [[ -s $FAILURES ]]; then say "What failed:"; cat "$FAILURES"; fi
if ((${#late[@]})); then say "Not run to the end, for time was up (${#late[@]}): ${late[*]}"; fi
say "$passed passed, $failed failed, $skipped skipped"
if ((failed > 0 || passed == 0)); then exit 1; fi
