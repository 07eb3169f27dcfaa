#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Debian's JDK 27 (openjdk-27-jre-headless 27.0.1.0.3+1-1 of the unstable suite) on a system with an older C library, started by the
# loader of its own suite: ld-linux-x86-64.so.2 --library-path LIBRARIES bin/java.
#
#   guessed   java.home is wrong, for the launcher finds it from /proc/self/exe, which is the loader; what runs, runs as usual
#   seen      java.home is right. But no process can be started: lib/jspawnhelper is a program, too, gets the system's loader and C library,
#             and needs GLIBC_2.38. The exception says "Spawn helper ran into JDK version mismatch" among its reasons, and to
#             "Re-install JDK"; the cause is on standard error. With the mechanism FORK, which it names too, the process starts, and
#             ProcessHandle.info().command() is the loader, which as a command starts no Java
#
# So bench/jdk27.sh has the programs name their loader instead. Takes the packages of bench/jdk27-packages by it, once. Fails if what was seen has
# changed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/bench/jdk27.sh"
build=${LULL_BUILD:-$root/build}
if ldd --version | awk 'NR == 1 { exit !($NF >= 2.38) }'; then echo "the system's C library is new enough: nothing to see" >&2; exit 1; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r _ _ path _; do dpkg-deb -x "$build/download/${path##*/}" "$work/root"; done < "$build/jdk27/packages"
cat > "$work/Trial.java" << 'END'
public class Trial {
    public static void main(String[] args) throws Exception {
        System.out.println("home " + System.getProperty("java.home"));
        System.out.println("command " + ProcessHandle.current().info().command().orElse("?"));
        System.out.println("ended with " + new ProcessBuilder("true").inheritIO().start().waitFor());
    }
}
END
libraries=$work/root/usr/lib/x86_64-linux-gnu home=$work/root/usr/lib/jvm/java-27-openjdk-amd64
start() { "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$home/bin/java" -XX:+UseSerialGC "$@" "$work/Trial.java" > "$work/out" 2>&1 || true; sed "s#$work#WORK#" "$work/out" | head -n 8; }
expect() { grep -q "$1" "$work/out" || { echo "not seen: $1" >&2; exit 1; }; }
echo "== as it is"
start
expect "^home $home\$"
expect "^command .*ld-linux-x86-64.so.2\$"
expect "GLIBC_2.38.*required by.*jspawnhelper"
expect "Spawn helper ran into JDK version mismatch"
echo "== with the mechanism FORK"
start -Djdk.lang.Process.launchMechanism=FORK
expect "^ended with 0\$"
echo "== as bench/jdk27.sh has it"
"$build/jdk27/bin/java" "$work/Trial.java" > "$work/out" 2>&1
cat "$work/out"
expect "^command .*/jdk27/bin/java\$"
expect "^ended with 0\$"
