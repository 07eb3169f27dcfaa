#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# self-test.sh: does a failure stay one when time is up, or when what runs the tests is killed? Runs jtreg.sh with a stand-in for jtreg, and
# test.sh with one for native/test.sh; half a minute, mostly of waiting. And do the checks of our sources find what is wrong in a copy of them?
# The last line is "N passed, N failed, N skipped".

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() {   # NAME EXPECTED FOUND
  if [[ $3 == "$2" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    say "FAILED: $1: '$3', not '$2'"
  fi
}

# A JDK whose java is what JTREG says, with the options of jtreg behind it.
mkdir -p "$work/jdk/bin" "$work/build/jtreg"
echo 'JAVA_VERSION="25"' > "$work/jdk/release"
echo stand-in > "$work/build/jtreg/version"
cat > "$work/jdk/bin/java" <<'END'
#!/usr/bin/env bash
for option in "$@"; do if [[ $option == -reportDir:* ]]; then mkdir -p "${option#*:}/text"; cd "${option#*:}/text"; fi; done
eval "$JTREG"
END
chmod +x "$work/jdk/bin/java"
cp "$work/jdk/bin/java" "$work/jdk/bin/javac"

# What jtreg.sh makes of it, with so many seconds.
jtreg() {   # NAME SECONDS JTREG
  local status=0
  env LULL_BUILD="$work/build" JAVA_HOME="$work/jdk" LULL_TEST_JDK="$work/jdk" LULL_TEST_SECONDS="$2" JTREG="$3" \
    "$SCRIPTS/jtreg.sh" "$1" gc/stand-in > "$work/$1.said" 2>&1 || status=$?
  printf '%s, exit %s' "$(sed 's/ (.*//' "$work/build/test-results/$1/totals")" "$status"
}
ended='echo "Passed: gc/A.java"; echo "--------"; echo "TEST: gc/B.java"; echo "FAILED: what the test says"; echo "TEST RESULT: Failed. Why"; echo "Error:  gc/C.java#c"'
check "jtreg is killed" "killed: 0 passed, 1 failed, 0 excluded, 0 skipped, exit 1" "$(jtreg killed 60 'kill -KILL $$')"
check "jtreg is killed, there is no limit" "unlimited: 0 passed, 1 failed, 0 excluded, 0 skipped, exit 1" "$(jtreg unlimited '' 'kill -KILL $$')"
check "jtreg ends with the status of timeout(1)" "early: 0 passed, 1 failed, 0 excluded, 0 skipped, exit 1" "$(jtreg early 60 'exit 124')"
check "time is up" "up: 1 passed, 0 failed, 0 excluded, 1 skipped, exit 0" "$(jtreg up 1 'echo "Passed: gc/A.java"; sleep 60')"
check "time is up, and tests have failed" "late: 1 passed, 2 failed, 0 excluded, 1 skipped, exit 1" "$(jtreg late 1 "$ended; sleep 60")"
check "no tests were selected" "none: 0 passed, 1 failed, 0 excluded, 0 skipped, exit 1" "$(jtreg none 60 'exit 1')"
check "all do not apply" "skipping: 0 passed, 0 failed, 0 excluded, 1 skipped, exit 0" "$(jtreg skipping 60 'echo "gc/A.java  Not run. Not for this VM" > summary.txt; exit 1')"
check "all pass" "all: 2 passed, 0 failed, 0 excluded, 0 skipped, exit 0" "$(jtreg all 60 'printf "gc/%s.java  Passed. OK\n" A B > summary.txt')"
echo 'gc/B.java#b lull-later generic-all' > "$work/later"
check "a test is left for later, another of its file is not for this VM" "later: 1 passed, 0 failed, 1 excluded, 1 skipped, exit 0" \
  "$(export LULL_TEST_LATER="$work/later"; jtreg later 60 'printf "%s\n" "gc/A.java  Passed. OK" "gc/B.java#b  Not run. Listed" "gc/B.java#c  Not run. Not for this VM" > summary.txt')"
# What is left for later is there to be run then.
missing=
while read -r test _; do
  file=$ROOT/hotspot/test/hotspot/jtreg/${test%%#*}
  if [[ ! -f $file ]] || { [[ $test == *'#'* ]] && ! grep -q "@test id=${test##*#}\$" "$file"; }; then missing+=" $test"; fi
done < <(grep '^gc/' "$ROOT/hotspot/test/groups/later.txt")
check "tests of later.txt that are not there" "" "$missing"

# Four tests of a tier: of these A passes, C fails with Lull, D fails with each collector, and E does not say what became of it. Two at a time; the
# time is up after the first two, and then there is a second run.
mkdir -p "$work/jdk/lib/server"
echo one > "$work/jdk/lib/server/libjvm.so"
export UPSTREAM_LOG=$work/ran
export JTREG='case "$*" in
  *" -l "*) printf "%s\n" "Testsuite: x" gc/A.java "gc/C.java#c" gc/D.java gc/E.java "Tests found: 4" ;;
  *-version*) echo; echo "stand-in, build 1" ;;
  *) for t in "$@"; do t=${t#test/langtools/}
       case "$t $*" in
         gc/[A-D].java*) echo "$t" >> "$UPSTREAM_LOG" ;;&
         gc/A.java*)     echo "gc/A.java  Passed. OK" >> summary.txt ;;
         gc/C.java*G1*)  echo "gc/C.java#c  Passed. OK" >> summary.txt ;;
         gc/C.java*)     echo "gc/C.java#c  Failed. why" >> summary.txt ;;
         gc/D.java*)     echo "gc/D.java  Failed. why" >> summary.txt ;;
       esac
     done ;;
esac'
upstream() {
  local status=0
  env LULL_BUILD="$work/build" JAVA_HOME="$work/jdk" LULL_TEST_JDK="$work/jdk" UPSTREAM_CHUNK=2 "$SCRIPTS/upstream.sh" "$@" > "$work/upstream.said" 2>&1 || status=$?
  printf '%s, exit %s' "$(grep '^. langtools' "$work/upstream.said" || true)" "$status"
}
check "a tier" "| langtools-tier1 | default | 4 | 1 | 1, 0, 1 | 1 | 0 |, exit 1" "$(upstream langtools-tier1)"
ran=$(sort "$UPSTREAM_LOG" | uniq -c | awk '{ print $2 $1 }' | paste -sd ' ')
check "what fails runs three times" "gc/A.java1 gc/C.java#c3 gc/D.java3" "$ran"
check "what has ended does not run again" "| langtools-tier1 | default | 4 | 1 | 1, 0, 1 | 1 | 0 |, exit 1" "$(upstream langtools-tier1)"
check "what has ended does not run again" "7" "$(wc -l < "$UPSTREAM_LOG")"
echo two > "$work/jdk/lib/server/libjvm.so"
check "another VM begins anew" "| langtools-tier1 | default | 4 | 1 | 1, 0, 1 | 1 | 0 |, exit 1" "$(upstream langtools-tier1)"
check "another VM begins anew" "14" "$(wc -l < "$UPSTREAM_LOG")"
check "there is no such tier" "error: there is no tier 'tier1'" "$(upstream tier1 > "$work/none.said"; head -n 1 "$work/upstream.said")"
unset JTREG

# A tree in which native/test.sh is the stand-in.
mkdir -p "$work/tree/hotspot" "$work/tree/native"
cp -r "$SCRIPTS" "$work/tree/hotspot/build"
cat > "$work/tree/native/test.sh" <<'END'
#!/usr/bin/env bash
eval "$NATIVE"
END
chmod +x "$work/tree/native/test.sh"

# What test.sh makes of it when there are so many more seconds.
native() {   # NAME NATIVE SECONDS
  env -u LULL_GROUPS LULL_BUILD="$work/$1" LULL_PHASES=native LULL_LEAST=1 LULL_DEADLINE=$(($(date +%s) + $3)) NATIVE="$2" \
    "$work/tree/hotspot/build/test.sh" quick > "$work/$1.said" 2>&1 || true
  sed 's/ (.*//' "$work/$1/test-results/summary.txt"
}
# within.sh takes ten seconds to end one.
says='echo "test pager::evicts ... FAILED"; echo "[ERROR] Tests run: 1 <<< FAILURE!"; echo "[ERROR] a.B.c -- Time elapsed: 1 s <<< FAILURE!"'
native late "$says; sleep 60" 8 > "$work/late.found" &
native up 'echo "test pager::evicts ... ok"; sleep 60' 8 > "$work/up.found" &
check "a script ends with the status of timeout(1)" "native: 0 passed, 1 failed, 0 excluded, 0 skipped" "$(native early 'exit 124' 600)"
check "a script passes" "native: 2 passed, 0 failed, 0 excluded, 1 skipped" "$(native passes 'echo "2 passed, 0 failed, 1 skipped"' 600)"
check "a script passes, and its log is no text" "native: 2 passed, 0 failed, 0 excluded, 0 skipped" "$(native bytes 'printf "\0\377\n"; echo "2 passed, 0 failed, 0 skipped"' 600)"
wait
check "time is up in a script" "native: 0 passed, 0 failed, 0 excluded, 1 skipped" "$(cat "$work/up.found")"
check "time is up in a script, and tests have failed" "native: 0 passed, 2 failed, 0 excluded, 1 skipped" "$(cat "$work/late.found")"
check "what was not run has a name" "Not run to the end, for time was up (1): native" "$(grep '^Not run' "$work/up.said" || true)"
check "nothing was not run" "" "$(grep '^Not run' "$work/passes.said" || true)"

# The checks of the sources, on a copy: what they say of it, without its numbers.
sources=$work/tree/hotspot/src/hotspot
for d in share/gc/lull share/gc/budget cpu/x86/gc/lull; do
  mkdir -p "$sources/$d"
  cp -r "$ROOT/hotspot/src/hotspot/$d/." "$sources/$d"
done
checked() {   # SCRIPT
  LULL_BUILD="$work/build" "$work/tree/hotspot/build/$1" 2>&1 | sed 's/[0-9][0-9]*/N/g' || true
}
check "functions are short" "function length: N functions, the longest has N lines" "$(checked function-length.sh)"
{ echo 'void LullLong::run() {'; printf '  step();\n%.0s' {1..68}; echo '}'; } >> "$sources/share/gc/lull/lullHeap.cpp"
check "a function has 70 lines" "function length: N functions, the longest has N lines" "$(checked function-length.sh)"
{ echo 'class LullLong {'; echo '  void run() {'; printf '    step();\n%.0s' {1..69}; echo '  }'; echo '};'; } >> "$sources/share/gc/lull/lullHeap.hpp"
check "a function has 71" "error: hotspot/src/hotspot/share/gc/lull/lullHeap.hpp:N: a function of N lines, which may have N: give its parts names
function length: N wrong" "$(checked function-length.sh)"

mkdir -p "$work/tree/native"
for d in far gate stall budget; do cp -r "$ROOT/native/$d" "$work/tree/native/"; done
check "functions in Rust are short" "Rust function length: N functions, the longest has N lines" "$(checked rust-function-length.sh)"
long=$work/tree/native/gate/src/long.rs
{ echo 'impl Long {'; echo '    pub(crate) fn run('; echo '        &self,'; echo '    ) {'; printf '        step();\n%.0s' {1..66}; echo '    }'; echo '}'; } > "$long"
check "a function in Rust has 70 lines" "Rust function length: N functions, the longest has N lines" "$(checked rust-function-length.sh)"
sed -i 's/^        &self,$/&\n        other: \&Long,/' "$long"
check "a function in Rust has 71" "error: native/gate/src/long.rs:N: a function of N lines, which may have N: give its parts names
Rust function length: N wrong" "$(checked rust-function-length.sh)"

lull=$sources/share/gc/lull
check "each room includes what it may" "rooms: N files in N rooms, N includes between rooms, N exceptions" "$(checked rooms.sh)"
for header in local/lullLocalCollector lullHeap; do
  echo "#include \"gc/lull/$header.hpp\"" > "$lull/policy/lullWrong.cpp"
  room=.; if [[ $header == */* ]]; then room=${header%%/*}; fi
  check "a policy includes $header" "error: policy/lullWrong.cpp includes $header.hpp: the room policy may not include $room; move what it needs, or pass it in
rooms: N wrong" "$(checked rooms.sh)"
done
rm "$lull/policy/lullWrong.cpp"
mkdir "$lull/attic"
cp "$lull/heap/lullZap.hpp" "$lull/attic"
check "a file is in no room" "error: attic/lullZap.hpp is in no room: give its directory, attic, a row of the table, or move the file
rooms: N wrong" "$(checked rooms.sh)"
rm -r "$lull/attic"
cp "$lull/README.md" "$work"
exception() { sed -i "s#^| file | includes | why |\$#&\n| $1 | $2 | a test |#" "$lull/README.md"; }   # FILE HEADER
exception drive/lullPause.cpp lullHeap.hpp
check "an exception is not needed" "error: the exception that lets drive/lullPause.cpp include lullHeap.hpp is not needed any more: take it out of the table
rooms: N wrong" "$(checked rooms.sh)"
echo '#include "gc/lull/lullHeap.hpp"' >> "$lull/drive/lullPause.cpp"
check "an exception is needed" "rooms: N files in N rooms, N includes between rooms, N exceptions" "$(checked rooms.sh)"
cp "$work/README.md" "$lull"
check "there is no such exception" "error: drive/lullPause.cpp includes lullHeap.hpp: the room drive may not include .; move what it needs, or pass it in
rooms: N wrong" "$(checked rooms.sh)"
cp "$ROOT/hotspot/src/hotspot/share/gc/lull/drive/lullPause.cpp" "$lull/drive"
sed -i '/^| `stat` /s/| |$/| `collect` |/' "$lull/README.md"
check "rooms include each other" "error: the table lets the room stat include collect, which is no room above its row
rooms: N wrong" "$(checked rooms.sh)"

say "$passed passed, $failed failed, 0 skipped"
if ((failed)); then exit 1; fi
