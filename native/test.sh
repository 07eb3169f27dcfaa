#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Tests the Rust parts: format, lints, unit and property tests, memory servers and pagers over real sockets, the sensor of stalls under known
# I/O (as root, with eBPF; else that part is skipped); then JVMs with far heaps and under the heap budget, and
# Java services under the gate, on each JDK that is there. The last line is "N passed, N failed, N skipped", after the reasons of what was skipped.
#
#   test.sh          everything
#   test.sh quick    without JVMs, which are three skipped tests: what they do depends on how fast they come on beside each other
#
#   LULL_NATIVE_SCOPE   quick or all, if there is no argument (default: all)
#   LULL_GATE_SECONDS   of load for each service              (default: 5)
#   LULL_JDK17, LULL_JDK21, LULL_JDK25   homes of those JDKs  (default: found in /usr/lib/jvm)
#   LULL_JAVA           a java of a JDK with Lull             (default: that of build/jdk or build/jdk-debug)
#   LULL_BUILD          the build directory                   (default: build/)

# shellcheck source-path=SCRIPTDIR source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

scope=${1:-${LULL_NATIVE_SCOPE:-all}}
case $scope in
  all | quick) ;;
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown argument '$scope' (quick, all)" ;;
esac
# Test programs that start JVMs ask for it.
export LULL_NATIVE_SCOPE=$scope
toolchain

passed=0 failed=0 skipped=0
check() {   # NAME COMMAND...: one test
  local name=$1
  shift
  say "==> $name"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); say "FAILED: $name"; fi
}

# add FILE STATUS: sums up the lines of cargo's test programs and of ours.
add() {
  local p f s
  read -r p f s < <(awk '
    /^test result:/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i - 1); if ($i ~ /^failed/) f += $(i - 1); if ($i ~ /^ignored/) s += $(i - 1) } }
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
    END { print p + 0, f + 0, s + 0 }' "$1")
  # A program that could not be built, or died, has no line.
  if (($2 != 0 && f == 0)); then f=1; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

cd "$NATIVE"
if cargo fmt --version > /dev/null 2>&1; then
  check "cargo fmt --check" cargo fmt --all --check
else
  say "skipped: cargo fmt: rustfmt is not installed"
  skipped=$((skipped + 1))
fi
if cargo clippy --version > /dev/null 2>&1; then
  check "cargo clippy" cargo clippy -q --locked --workspace --all-targets -- -D warnings
else
  say "skipped: cargo clippy: clippy is not installed"
  skipped=$((skipped + 1))
fi

log=$BUILD/native/test.log
mkdir -p "$BUILD/native"
say "==> cargo test"
status=0
# The services come below.
packages=(--workspace)
if [[ $scope == quick ]]; then
  packages+=(--exclude lull-far-front)
  say "skipped: lull-far run with JVMs: a quick run"
  skipped=$((skipped + 1))
fi
LULL_GATE_JDKS=none cargo test -q --locked --no-fail-fast "${packages[@]}" 2>&1 | tee "$log" || status=$?
add "$log" "$status"

# The home of a JDK of that release, or nothing: a java is enough.
find_jdk() {   # RELEASE VALUE-OF-ITS-VARIABLE
  local d
  if [[ -n $2 ]] && ! grep -qs "^JAVA_VERSION=\"$1[.\"]" "$2/release"; then die "LULL_JDK$1 is '$2', which is no JDK $1"; fi
  for d in "$2" /usr/lib/jvm/*; do
    if [[ -n $d && -x $d/bin/java && -r $d/release ]] && grep -q "^JAVA_VERSION=\"$1[.\"]" "$d/release"; then (cd "$d" && pwd -P); return; fi
  done
}

if [[ $scope == quick ]]; then
  say "skipped: Java services: a quick run"
  skipped=$((skipped + 1))
else
  jdk17=$(find_jdk 17 "${LULL_JDK17:-}") jdk21=$(find_jdk 21 "${LULL_JDK21:-}") jdk25=$(find_jdk 25 "${LULL_JDK25:-}")
  lull=
  for java in "${LULL_JAVA:-}" "$BUILD/jdk/bin/java" "$BUILD/jdk-debug/bin/java"; do
    if [[ -z $lull && -n $java && -x $java ]]; then lull=$(dirname "$(dirname "$java")"); fi
  done
  "$NATIVE/build.sh"
  "$SCRIPTS/deps.sh" bench   # Maven
  # Maven's own libraries make a JDK from 24 on warn about sun.misc.Unsafe.
  MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$(boot_jdk) \
    phase "services" "$LOGS/gate-services.log" mvn -q -B -Dstyle.color=never -f "$NATIVE/gate/tests/frameworks/pom.xml" -Dlull.build="$BUILD" process-classes
  classes="$BUILD/native/services/classes:$BUILD/native/services/lib/*"
  say "==> Java services"
  status=0
  LULL_GATE_JDKS="jdk-17=$jdk17 jdk-21=$jdk21 jdk-25=$jdk25 jdk-lull=$lull" LULL_GATE_LIBRARY=$CARGO_TARGET_DIR/liblull_gate.so LULL_GATE_CLASSES=$classes \
    cleanly cargo test -q --locked --release -p lull-gate --test services 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
fi
say "$passed passed, $failed failed, $skipped skipped"
if ((failed > 0 || passed == 0)); then exit 1; fi
