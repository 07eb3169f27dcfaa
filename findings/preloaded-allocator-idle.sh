#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What an idle JVM gives back of native memory that it has freed: 200 MB in blocks of 1 KB, taken and freed by arenas of
# a stock JDK 25.0.3, then idle for 25 s. With glibc's allocator, and with LD_PRELOAD of jemalloc (Debian's libjemalloc2,
# 5.3.0) and mimalloc (Debian's libmimalloc2.0, 2.0.9).
#
#   guessed   glibc keeps it until `jcmd System.trim_native_heap`. jemalloc, which lets unused pages decay within 10 s,
#             and mimalloc, which purges, give it back by themselves
#   seen      neither does: both look at the clock when something is allocated or freed, and the idle JVM does hardly
#             that. `jcmd System.trim_native_heap`, and so -XX:TrimNativeHeapInterval, reach glibc's allocator only:
#             with a preloaded one the command succeeds and gives back nothing. jemalloc with
#             MALLOC_CONF=background_thread:true gives it back
#
# Needs a JDK 25 (JAVA_HOME), and apt of Debian. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download libjemalloc2 libmimalloc2.0 > apt.log 2>&1
for package in libjemalloc2_5.3.0-*.deb libmimalloc2.0_2.0.9*.deb; do dpkg -x "$package" .; done
jemalloc=$(echo usr/lib/*/libjemalloc.so.2)
mimalloc=$(echo usr/lib/*/libmimalloc.so.2.0)
cat > Idle.java <<'JAVA'
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

public class Idle {
    /** MB that are resident. */
    static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS")) {
                return Long.parseLong(line.replaceAll("\\D", "")) / 1000;
            }
        }
        throw new AssertionError();
    }

    static String kept(long before) throws Exception {
        long more = resident() - before;
        return more > 150 ? "kept" : more < 80 ? "given back" : more + " MB";
    }

    public static void main(String[] args) throws Exception {
        Arena[] arenas = new Arena[200_000];
        long before = resident();
        for (int i = 0; i < arenas.length; i++) {
            arenas[i] = Arena.ofConfined();
            arenas[i].allocate(1024).fill((byte) 1);
        }
        for (int i = 0; i < arenas.length; i++) {
            if (i % 1000 != 999) { // what is left is scattered
                arenas[i].close();
            }
        }
        Thread.sleep(25_000);
        String idle = kept(before);
        Process trim = new ProcessBuilder(System.getProperty("java.home") + "/bin/jcmd", "" + ProcessHandle.current().pid(),
                "System.trim_native_heap").redirectErrorStream(true).start();
        trim.getInputStream().readAllBytes();
        System.out.println("idle: " + idle + ", trimmed: " + kept(before) + ", exit status " + trim.waitFor());
    }
}
JAVA
"$java/javac" Idle.java
seen() { echo "$1: $(env "${@:2}" "$java/java" -Xms64m -Xmx64m -XX:+AlwaysPreTouch Idle)"; }
{
  seen glibc
  seen jemalloc LD_PRELOAD="$jemalloc"
  seen mimalloc LD_PRELOAD="$mimalloc"
  seen "jemalloc, background_thread" LD_PRELOAD="$jemalloc" MALLOC_CONF=background_thread:true
} | tee seen
diff seen - << 'SEEN'
glibc: idle: kept, trimmed: given back, exit status 0
jemalloc: idle: kept, trimmed: kept, exit status 0
mimalloc: idle: kept, trimmed: kept, exit status 0
jemalloc, background_thread: idle: given back, trimmed: given back, exit status 0
SEEN
