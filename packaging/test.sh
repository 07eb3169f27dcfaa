#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# test.sh: what is in build/dist, installed in an empty root of the distribution, as somebody installs it who has
# nothing of ours: from the archive, from the packages, and by the steps of the Dockerfile, by a container engine if one
# runs. Needs root and the network, for debootstrap; some minutes. A line "dist NAME: ok" for each; the last line is "N
# passed, N failed, N skipped".
#
#   LULL_DIST         the directory   (default: build/dist)
#   LULL_DIST_AGAIN   1: also pack all of it once more, and compare   (default: 1)

# shellcheck source-path=SCRIPTDIR source=../hotspot/build/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../hotspot/build/lib.sh"

DIST=${LULL_DIST:-$BUILD/dist}
WORK=$BUILD/dist-test
SUITE=bookworm
passed=0 failed=0 skipped=0

[[ -s $DIST/SHA256SUMS ]] || die "there is nothing to install in $DIST" "make it first:  make dist"
[[ $(id -u) == 0 ]] || die "only root can install in a root of its own"
archive=$(basename "$(ls "$DIST"/lull-jdk-*.tar.gz)")
name=${archive%-linux-x64.tar.gz}

# A test is a function; it runs in a shell of its own, and the first command that fails ends it: not so where the shell
# looks at its status at once.
check() {   # NAME FUNCTION
  local log=$WORK/$2.log status=0
  (set -e; "$2") > "$log" 2>&1 < /dev/null &
  wait $! || status=$?
  if ((status == 0)); then
    passed=$((passed + 1))
    say "dist $1: ok"
  else
    failed=$((failed + 1))
    say "FAILED: dist $1; the end of $log:"
    tail -n 8 "$log" | cut -c1-300 | sed 's/^/    /'
  fi
}

# An empty root, made once and copied: what debootstrap calls minimal, with nothing of Java's.
empty_root() {   # DIRECTORY
  local cache=$BUILD/dist-root-$SUITE.tar
  if [[ ! -f $cache ]]; then
    rm -rf "$WORK/root.new"
    debootstrap --variant=minbase "$SUITE" "$WORK/root.new" http://deb.debian.org/debian || return 1
    tar -C "$WORK/root.new" -cf "$cache.new" . && mv "$cache.new" "$cache"
    rm -rf "$WORK/root.new"
  fi
  rm -rf "$1"
  mkdir -p "$1"
  tar -C "$1" -xpf "$cache"
}

# A command in that root, with /proc and a network of its own in which there is only the loopback.
within_root() {   # ROOT COMMAND...
  # shellcheck disable=SC2016 # the inner shell's
  unshare -m -p -n -f --mount-proc="$1/proc" bash -c 'ip link set lo up 2> /dev/null; root=$1; shift
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' _ "$@"
}

# What a JDK can do, by its own tools only; a service answers on Lull and on ZGC within a minute.
cat_trial() {
  cat << 'END'
set -e
home=$1
cd /tmp && rm -rf trial && mkdir trial && cd trial
"$home/bin/java" -version
"$home/bin/javac" -d classes /tmp/Greeter.java
# By bash: an empty root has no other client.
ask() {   # PORT WORD
  for i in $(seq 300); do
    if bash -c "exec 3<> /dev/tcp/127.0.0.1/$1"' && printf "GET / HTTP/1.0\r\n\r\n" >&3 && cat <&3' > answer 2> /dev/null; then
      break
    fi
    sleep 0.2
  done
  cat answer; grep -q "$2" answer
}
serve() {   # PORT WORD COMMAND...
  port=$1 word=$2; shift 2
  "$@" "$port" & pid=$!
  ask "$port" "$word"; kill $pid; wait $pid || true
}
serve 8081 "Lull" "$home/bin/java" -XX:+UseLullGC -Xmx128m -cp classes Greeter
serve 8082 "ZGC" "$home/bin/java" -XX:+UseZGC -Xmx128m -cp classes Greeter
"$home/bin/java" -XX:+UseShenandoahGC -version
"$home/bin/jlink" --add-modules java.base,java.management,jdk.httpserver --output linked
serve 8083 "Lull" linked/bin/java -XX:+UseLullGC -Xmx128m -cp classes Greeter
"$home/bin/jar" -cfe greeter.jar Greeter -C classes .
mkdir in && cp greeter.jar in
# By itself it strips libraries, by an objcopy that an empty root has not.
"$home/bin/jpackage" --type app-image -i in --main-jar greeter.jar -n greeter --java-options -XX:+UseLullGC \
  --jlink-options --strip-java-debug-attributes --add-modules java.base,java.management,jdk.httpserver
serve 8084 "Lull" greeter/bin/greeter
# An AOT cache, made by a run and used by another.
"$home/bin/java" -XX:+UseLullGC -XX:AOTCacheOutput=aot.cache -cp greeter.jar Greeter 0 & pid=$!
sleep 5; kill $pid; wait $pid || true
test -s aot.cache
serve 8085 "Lull" "$home/bin/java" -XX:+UseLullGC -XX:AOTCache=aot.cache -XX:AOTMode=on -cp greeter.jar Greeter
grep -q 'IMPLEMENTOR="Lull"' "$home/release"
test -s "$home/lib/src.zip"; test -s "$home/man/man1/java.1"; test -s "$home/legal/java.base/LICENSE"
END
}

run_trial() {   # ROOT HOME
  cp "$DIST/service/Greeter.java" "$1/tmp/"
  cat_trial > "$1/tmp/trial.sh"
  within_root "$1" /bin/sh /tmp/trial.sh "$2"
}

sums() { cd "$DIST" && sha256sum --check --strict SHA256SUMS; }

from_archive() {
  empty_root "$WORK/archive"
  mkdir -p "$WORK/archive/opt"
  tar -C "$WORK/archive/opt" -xf "$DIST/$archive"
  run_trial "$WORK/archive" "/opt/$name"
}

# The libraries that the package needs are not in an empty root: apt gets them, outside of the network that has the
# loopback only. With /proc, as machines and containers have it: without, systemd-tmpfiles makes no directory.
from_packages() {
  local root=$WORK/packages
  empty_root "$root"
  cp "$DIST"/*.deb "$root/tmp"
  cp /etc/resolv.conf /etc/hosts "$root/etc"
  unshare -m -p -f --mount-proc="$root/proc" chroot "$root" sh -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get -q update && apt-get -q -y --no-install-recommends install systemd /tmp/lull-jdk-25_*.deb /tmp/lull-native_*.deb'
  [[ $(chroot "$root" readlink -f /usr/bin/java) == /usr/lib/jvm/lull-25/bin/java ]]
  run_trial "$root" /usr/lib/jvm/lull-25
  # The agent is one that the JVM loads, and each program runs.
  within_root "$root" /usr/bin/java -XX:+UseLullGC -agentpath:/usr/lib/lull/liblull_gate.so=port=8080 -version
  for program in far memd budget stall; do within_root "$root" "/usr/bin/lull-$program" --help > /dev/null; done
  within_root "$root" lull doctor --help > /dev/null
  within_root "$root" systemd-analyze verify lull-memd.service lull-memd@daemon.service
  [[ $(stat -c '%U:%G %a' "$root/run/lull") == 'root:root 755' ]]
  users_memory_server "$root"
  chroot "$root" dpkg --purge lull-native lull-jdk-25
  for file in usr/lib/jvm/lull-25 usr/lib/lull usr/bin/lull usr/bin/java etc/alternatives/java; do
    [[ ! -e $root/$file && ! -L $root/$file ]]
  done
}

# What lull-memd@USER starts, as that user in the directory that systemd would make: a server of its own user serves his programs, and
# nobody else's.
users_memory_server() {   # ROOT
  local start
  start=$(sed -n 's/^ExecStart=//p' "$1/usr/lib/systemd/system/lull-memd@.service")
  start=${start//%i/daemon} start=${start/'${LULL_MEMD_MEMORY}'/64m} start=${start/'$LULL_MEMD_OPTIONS'/}
  printf '%s\n' 'set -e; install -d -o daemon -m 700 /run/lull/daemon' \
    "chroot --userspec=daemon / $start > /tmp/said 2>&1 & pid=\$!" \
    'for i in $(seq 60); do if grep -q "listening at" /tmp/said; then break; fi; sleep 0.5; done; cat /tmp/said' \
    'run() { install -d -o "$1" "/tmp/heap-$1"; chroot --userspec="$1" / lull-far run --servers unix:/run/lull/daemon/memd.sock \' \
    '  --local 4m -- java -XX:+UseSerialGC -Xmx16m "-XX:AllocateHeapAt=/tmp/heap-$1" -version > "/tmp/of-$1" 2>&1; }' \
    'run daemon || { cat /tmp/of-daemon; exit 1; }' \
    'if run nobody; then echo "another user may use it"; exit 1; fi' \
    'cat /tmp/of-nobody; grep -qi "permission denied" /tmp/of-nobody' \
    'kill $pid; wait $pid || test $? = 3; test ! -e /run/lull/daemon/memd.sock' > "$1/tmp/memory.sh"
  within_root "$1" /bin/bash /tmp/memory.sh
}

engine() {
  local name
  for name in docker podman; do if have "$name" && "$name" info > /dev/null 2>&1; then printf '%s' "$name"; return; fi; done
}

from_image() {
  local run
  run=$(engine)
  "$run" build --target service -t lull-service-test "$DIST"
  "$run" run -d --rm --name lull-service-test -p 127.0.0.1:18080:8080 -m 256m lull-service-test
  for _ in $(seq 60); do if curl -fsS http://127.0.0.1:18080/ > "$WORK/answer"; then break; fi; sleep 1; done
  "$run" stop lull-service-test
  grep Lull "$WORK/answer"
}

# Without an engine: what the Dockerfile says, line by line, in roots instead of layers. Those of its instructions that
# it has, no more.
dockerfile_by_hand() {
  local word rest stage root='' from words
  while read -r word rest; do
    case $word in
      '' | '#'* | ENV | USER | EXPOSE) ;;
      FROM)
        stage=${rest##* AS } root=$WORK/stage-${rest##* AS } from=${rest%% *}
        rm -rf "$root"
        if [[ -d $WORK/stage-$from ]]; then cp -a "$WORK/stage-$from" "$root"; else empty_root "$root"; fi ;;
      ADD) read -ra words <<< "$rest"; mkdir -p "$root${words[1]}"; tar -C "$root${words[1]}" -xf "$DIST/${words[0]}" ;;
      COPY)
        read -ra words <<< "$rest"
        from=$DIST
        if [[ ${words[0]} == --from=* ]]; then from=$WORK/stage-${words[0]#--from=} words=("${words[@]:1}"); fi
        mkdir -p "$root${words[1]}"
        cp -a "$from/${words[0]}." "$root${words[1]}" ;;
      RUN) within_root "$root" env PATH=/opt/lull/bin:/usr/sbin:/usr/bin:/sbin:/bin /bin/sh -ec "$rest" ;;
      CMD)
        if [[ $stage == jdk ]]; then within_root "$root" env PATH=/opt/lull/bin:/usr/bin:/bin java -XX:+UseLullGC -version; fi ;;
      *) say "the Dockerfile has an instruction that this does not know: $word"; return 1 ;;
    esac
  done < "$DIST/Dockerfile"
  # The service's command, as the unprivileged user, and a question from outside of it.
  # shellcheck disable=SC2016 # the inner shell's
  within_root "$root" /bin/bash -ec '
    chroot --userspec=65534 / /java/bin/java -XX:+UseLullGC -XX:MaxRAMPercentage=50 -Xlog:gc -cp /classes Greeter 8080 \
      > /tmp/said 2>&1 & pid=$!
    for i in $(seq 60); do if grep -q ready /tmp/said; then break; fi; sleep 1; done
    cat /tmp/said; exec 3<> /dev/tcp/127.0.0.1/8080; printf "GET / HTTP/1.0\r\n\r\n" >&3; grep Lull <&3; kill $pid'
  rm -rf "$WORK"/stage-*
}

# Packed once more, from the same JDK and as of the same commit: archives, packages and bills of materials.
packed_again() {
  rm -rf "$WORK/again"
  SOURCE_DATE_EPOCH=$(cat "$BUILD/dist-work/epoch") LULL_COMMIT=$(cat "$BUILD/dist-work/commit") LULL_DIST=$WORK/again LULL_DIST_JDK=${LULL_DIST_JDK:-$(cat "$BUILD/dist-work/jdk")} "$ROOT/packaging/dist.sh"
  diff -r "$DIST" "$WORK/again"
  rm -rf "$WORK/again"
}

have debootstrap || { have apt-get && apt-get install -y -q --no-install-recommends debootstrap > /dev/null; } ||
  die "debootstrap is missing" "install it: apt-get install debootstrap"
mkdir -p "$WORK"
check "sums" sums
check "from the archive, in an empty root" from_archive
check "from the packages, in an empty root" from_packages
if [[ -n $(engine) ]]; then
  check "container image, by $(engine)" from_image
else
  check "container image, its steps in roots of their own" dockerfile_by_hand
fi
if [[ ${LULL_DIST_AGAIN:-1} == 1 ]]; then check "packed again, the same" packed_again; else skipped=$((skipped + 1)); fi
say "$passed passed, $failed failed, $skipped skipped"
if ((failed > 0)); then exit 1; fi
