#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# trace-heaps.sh [HEAPS [OBJECTS]]: a JVM with Lull exports so many heaps (default: 12) with about so many objects each (default: 1000000);
# 1, 2 and 3 memory servers, processes of their own, trace each, and what they mark is compared with what the JVM has marked, bit for bit.
# Prints objects per second of each server. The files, some hundred megabytes each, are removed as soon as they were compared. The last
# line is "N passed, N failed, N skipped".
#
#   LULL_JAVA    a java of a JDK with Lull  (default: that of build/jdk or build/jdk-debug)
#   LULL_BUILD   the build directory        (default: build/)

# shellcheck source-path=SCRIPTDIR source=../build.sh
. "$(dirname "${BASH_SOURCE[0]}")/../build.sh"

case ${1:-} in --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
heaps=${1:-12} objects=${2:-1000000}
[[ $heaps =~ ^[1-9][0-9]*$ && $objects =~ ^[1-9][0-9]*$ ]] || die "'$heaps' or '$objects' is no number"
java=
for candidate in "${LULL_JAVA:-}" "$BUILD/jdk/bin/java" "$BUILD/jdk-debug/bin/java"; do
  if [[ -z $java && -n $candidate && -x $candidate ]]; then java=$candidate; fi
done
if [[ -z $java ]]; then
  say "skipped: heaps of a JVM: there is no JDK with Lull (make jdk makes one)"
  say "0 passed, 0 failed, 1 skipped"
  exit 0
fi
toolchain
phase "lull-memd and lull-far-trace" "$LOGS/trace-heaps.log" \
  cargo build --manifest-path "$NATIVE/Cargo.toml" --release --locked -p lull-memd -p lull-far-heap

work=$(mktemp -d "$BUILD/trace-heaps.XXXXXX")
servers=()
cleanup() {
  if ((${#servers[@]})); then kill "${servers[@]}" 2> /dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

# In rounds: each JVM exports four heaps at the most, of other objects than the last.
"$(dirname "$java")/javac" -nowarn -d "$work/classes" "$NATIVE/far/heap/tests/java/Heaps.java" 2> "$work/javac.txt" ||
  die "Heaps.java cannot be compiled" "$(cat "$work/javac.txt")"
heap_mb=$((64 + objects / 6000))
addresses=()
for i in 1 2 3; do
  "$CARGO_TARGET_DIR/release/lull-memd" --listen 127.0.0.1:0 --peers 127.0.0.1 --memory "$((heap_mb + 64))m" > "$work/memd-$i.out" 2> "$work/memd-$i.log" &
  servers+=($!)
  for _ in {1..100}; do
    address=$(sed -n 's/^listening at //p' "$work/memd-$i.out")
    if [[ -n $address ]]; then break; fi
    sleep 0.1
  done
  [[ -n $address ]] || die "a memory server did not start" "$(cat "$work/memd-$i.log")"
  addresses+=("$address")
done

passed=0 failed=0 all=0 done=0
while ((done < heaps)); do
  now=$((heaps - done < 4 ? heaps - done : 4))
  "$java" -XX:+UseLullGC "-Xmx${heap_mb}m" -cp "$work/classes" Heaps "$objects" "$now" "$((done + 1))" "$work/heap" > "$work/java.txt" 2>&1 ||
    die "the JVM failed" "$(cat "$work/java.txt")"
  for ((i = 1; i <= now; i++)); do
    for count in 1 2 3; do
      names=$(IFS=,; printf '%s' "${addresses[*]:0:count}")
      if "$CARGO_TARGET_DIR/release/lull-far-trace" --servers "$names" --server-timeout 60000 "$work/heap.$i" > "$work/trace.txt" 2>&1; then
        passed=$((passed + 1))
      else
        say "FAILED: heap $((done + i)), $count servers"
        failed=$((failed + 1))
      fi
      cat "$work/trace.txt"
    done
    all=$((all + $(sed -n 's/^.*roots, \([0-9]*\) objects marked by the JVM$/\1/p' "$work/trace.txt")))
    rm -f "$work/heap.$i"
  done
  done=$((done + now))
done
say "$heaps heaps, $all objects"
say "$passed passed, $failed failed, 0 skipped"
((failed == 0))
