#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# upstream.sh: OpenJDK's own tests with the collector on, whole tiers of them, over days. Each test that has ended is
# written down; what was interrupted goes on there. A test that fails runs twice more: with Lull, and with G1 of the same
# build. Results belong to one VM: another build begins anew, and the results of the one before stay.
#
#   upstream.sh TIER...      runs what is left of these; upstream.sh --help names them
#   upstream.sh --table      what is known of this VM, as a table; --table all: of each VM
#
# Settings:
#   UPSTREAM_MODE=default    default, or private: tracking is never suspended and all threads have private objects; or
#                            stress: that, and local collections at each 50th slow allocation
#   UPSTREAM_SECONDS=...     stops after so many seconds
#   UPSTREAM_CHUNK=60        tests that jtreg gets at once
#   LULL_TEST_JDK            the JDK under test: build/jdk-debug
# The exit status is 0 if no test has failed with Lull and passed with G1.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Name, directory of the suite, its group.
TIERS='hotspot-tier1   hotspot/jtreg  tier1
hotspot-tier2   hotspot/jtreg  tier2
hotspot-tier3   hotspot/jtreg  tier3
jdk-tier1       jdk            tier1
jdk-tier2       jdk            tier2
langtools-tier1 langtools      tier1
vm-gc           hotspot/jtreg  vmTestbase_vm_gc
jvmti           hotspot/jtreg  vmTestbase_nsk_jvmti
jdi             hotspot/jtreg  vmTestbase_nsk_jdi
jdb             hotspot/jtreg  vmTestbase_nsk_jdb'

# Leaves its suite and group, and what jtreg.sh wants before the names of its tests.
tier() {
  read -r suite group < <(awk -v name="$1" '$1 == name { print $2, $3 }' <<< "$TIERS") || true
  prefix=
  case $suite in jdk | langtools) prefix=$suite/ ;; esac
  [[ -n ${group:-} ]] || die "there is no tier '$1'" "tiers: $(awk '{ print $1 }' <<< "$TIERS" | paste -sd ' ')"
}

jdk=${LULL_TEST_JDK:-$BUILD/jdk-debug}
mode=${UPSTREAM_MODE:-default} chunk=${UPSTREAM_CHUNK:-60}
case $mode in
  default) options='-XX:+UseLullGC' ;;
  private) options='-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullSuspendTracking -XX:+LullAlwaysPrivate' ;;
  stress)  options='-XX:+UseLullGC -XX:+UnlockExperimentalVMOptions -XX:-LullSuspendTracking -XX:+LullAlwaysPrivate -XX:LullLocalCollectALot=50' ;;
  *) die "UPSTREAM_MODE is '$mode': default, private or stress" ;;
esac
[[ $chunk =~ ^[1-9][0-9]*$ ]] || die "UPSTREAM_CHUNK is '$chunk': a number of tests is needed"
[[ ${UPSTREAM_SECONDS:-1} =~ ^[1-9][0-9]*$ ]] || die "UPSTREAM_SECONDS is '$UPSTREAM_SECONDS': seconds are needed"
end=$((SECONDS + ${UPSTREAM_SECONDS:-999999999}))
left() { printf '%d' $((end - SECONDS)); }

all=$BUILD/upstream

# Each VM has a directory by what its library is.
find_vm() {
  [[ -x $jdk/bin/java ]] || die "there is no JDK to test at $jdk" "build it first:  make jdk-debug"
  vm=$all/$(sha256sum "$jdk/lib/server/libjvm.so" | cut -c1-12)
  mkdir -p "$vm"
  "$jdk/bin/java" -version 2>&1 | sed -n 2p > "$vm/version" || true
}

# The tests of a tier, as jtreg names them: those that hold for this VM.
list_tests() {   # TIER FILE
  "$SCRIPTS/fetch-tools.sh" jtreg
  "$(boot_jdk)/bin/java" -Xmx768m -jar "$BUILD/jtreg/lib/jtreg.jar" -l -k:'!headful' -ignore:quiet -vmoption:-XX:+UseLullGC \
    -testjdk:"$jdk" -workDir:"$all/list" -reportDir:"$all/list" -exclude:"$ROOT/hotspot/test/ProblemList-lull.txt" \
    -exclude:"$TREE/test/$suite/ProblemList.txt" "$TREE/test/$suite/:$group" > "$all/listed" 2> "$all/list.log" ||
    die "the tests of $1 cannot be listed" "see $all/list.log"
  sed -nE "s~^([^ ]+\.(java|sh|html|jasm)(#.*)?)$~\1~p" "$all/listed" > "$2.new"
  [[ -s $2.new ]] || die "$1 has no tests" "see $all/listed"
  mv "$2.new" "$2"
}

# The native libraries of the directories in which the tests of a list are.
build_natives() {   # FILE
  local component=${suite%%/*} dirs
  [[ $component != langtools ]] || return 0
  mapfile -t dirs < <(sed 's|/[^/]*$||' "$1" | sort -u | while IFS= read -r d; do
    if compgen -G "$TREE/test/$suite/$d/*.c*" > /dev/null; then printf '%s\n' "$d"; fi
  done)
  if ((${#dirs[@]})); then "$SCRIPTS/build.sh" natives "$component" "${dirs[@]}" testlibrary > "$LOGS/upstream-natives.log" 2>&1 ||
    die "the native libraries of the tests could not be built" "see $LOGS/upstream-natives.log"; fi
}

# run_once NAME OPTIONS TEST: passed, failed or skipped
run_once() {
  LULL_TEST_JDK=$jdk LULL_TEST_OPTIONS=$2 "$SCRIPTS/jtreg.sh" "upstream-$1" "$prefix$3" > "$vm/last" 2>&1 < /dev/null || true
  awk 'NR == 1 { print $1 }' "$BUILD/test-results/upstream-$1/tests" 2> /dev/null || true
}

# A test has failed: whose fault is it? Not ours if G1 fails, too; else ours until somebody finds out. What it said is kept.
judge() {   # TEST
  local again other
  again=$(run_once again "$options" "$1")
  cp "$vm/last" "$state/failures/$(tr '/#' '__' <<< "$1").log"
  other=$(run_once g1 -XX:+UseG1GC "$1")
  printf 'failed %s again:%s g1:%s\n' "$1" "${again:-none}" "${other:-none}" >> "$state/done"
  say "    FAILED  $1 (again: ${again:-none}; with G1: ${other:-none})"
}

say_progress() {
  local ran all_tests seconds
  ran=$(wc -l < "$state/done") all_tests=$(wc -l < "$state/list") seconds=$((SECONDS - began))
  say "    $1 ($mode): $ran of $all_tests, $((100 * ran / all_tests)) %, $(grep -c '^failed' "$state/done" || true) failed; some $(
    minutes $((ran > ran_before ? (all_tests - ran) * seconds / (ran - ran_before) : 0))) left"
}

run_tier() {   # TIER
  tier "$1"
  state=$vm/$mode/$1
  mkdir -p "$state/failures"
  touch "$state/done"
  [[ -s $state/list ]] || list_tests "$1" "$state/list"
  build_natives "$state/list"
  ran_before=$(wc -l < "$state/done") began=$SECONDS
  say "==> $1 ($mode), $(wc -l < "$state/list") tests"
  local tests test verdict
  while (($(left) > 0)); do
    mapfile -t tests < <(awk 'FILENAME == ARGV[1] { done[$2] = 1; next } !($1 in done)' "$state/done" "$state/list" | head -n "$chunk")
    ((${#tests[@]})) || break
    LULL_TEST_JDK=$jdk LULL_TEST_OPTIONS=$options LULL_TEST_SECONDS=$(left) "$SCRIPTS/jtreg.sh" upstream "${tests[@]/#/$prefix}" > "$vm/last" 2>&1 < /dev/null || true
    touch "$BUILD/test-results/upstream/tests"
    grep -v '^failed' "$BUILD/test-results/upstream/tests" | cut -d' ' -f1,2 >> "$state/done" || true
    while IFS= read -r test; do judge "$test"; done < <(sed -n 's/^failed //p' "$BUILD/test-results/upstream/tests")
    if (($(left) > 0)); then note_missing; fi
    say_progress "$1"
  done
}

# jtreg has ended by itself, and says nothing of a test: it does not hold for this VM after all.
note_missing() {
  for test in "${tests[@]}"; do
    if ! grep -qF " $test" "$state/done"; then printf 'skipped %s\n' "$test" >> "$state/done"; fi
  done
}

table() {   # DIRECTORY of a VM
  local done name
  [[ ! -s $1/version ]] || say "$(cat "$1/version"): ${1##*/}"
  say '| tier | mode | tests | passed | failed: also with G1, not again, ours | skipped | left |'
  say '|---|---|---|---|---|---|---|'
  for done in "$1"/*/*/done; do
    [[ -s $done ]] || continue
    name=${done%/done}
    awk -v tier="${name##*/}" -v mode="$(basename "$(dirname "$name")")" -v tests="$(wc -l < "$name/list")" '
      $1 == "passed" { p++ } $1 == "skipped" || $1 == "excluded" { s++ }
      $1 == "failed" { if ($4 != "g1:passed") g++; else if ($3 == "again:passed") once++; else ours++ }
      END { printf "| %s | %s | %d | %d | %d, %d, %d | %d | %d |\n", tier, mode, tests, p, g, once, ours, s, tests - NR }' "$done"
  done
}

case ${1:-} in
  '' | -h | --help) sed -n '4,19p' "$0" | sed 's/^# \{0,1\}//'; say; say "Tiers: $(awk '{ print $1 }' <<< "$TIERS" | paste -sd ' ')"; exit ;;
  --table)
    if [[ ${2:-} == all ]]; then for vm in "$all"/*/; do table "${vm%/}"; say; done; else find_vm; table "$vm"; fi
    exit ;;
esac
for name in "$@"; do tier "$name"; done
find_vm
for name in "$@"; do run_tier "$name"; done
table "$vm"
! grep -qs '^failed.* g1:passed' "$vm/$mode"/*/done
