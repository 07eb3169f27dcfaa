#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a profile of live objects by async-profiler (tools.profiler:async-profiler 4.5, `alloc=64k,live`) shows of a leak
# on a stock JDK 25.0.3. A program fills a cache, of 10 MB or of 100, then leaks 300 MB in pieces of 1,000 bytes; System.gc()
# between. Share of the samples at the end; of what is alive the leak has 97 or 75 %.
#
#   guessed   the leak has the most samples in both cases
#   seen      samples of                                 the cache    the leak
#             a cache of 10 MB, live                    135 to 180     840 to 890
#             a cache of 100 MB, live                1,010 to 1,024      0 to 14
#             a cache of 100 MB, without live        1,300 to 1,700    3,900 to 5,000
#             The profiler has places for 1,024 live samples, by its source, and what comes when all are taken is left
#             out, without a message. They are taken as long as their objects live. So a service that has filled its
#             caches shows these, and never what it leaks. At the interval of its default, 512 KB, it comes from some
#             500 MB on: with a cache of 700 MB and 300 MB of leak there are 1,019 samples and 4
#
# Needs a JDK 25 for Linux on x86-64 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact=tools.profiler:async-profiler:4.5 -DoutputDirectory=. > errors 2>&1 || { cat errors; exit 1; }
"$java/jar" --extract --file async-profiler-4.5.jar linux-x64/libasyncProfiler.so
cat > Leak.java << 'JAVA'
import java.util.ArrayList;
import java.util.List;

public class Leak {
    static List<byte[]> cache = new ArrayList<>();
    static List<byte[]> leaked = new ArrayList<>();

    static void fillCache(int megabytes) {
        for (int i = 0; i < megabytes * 1000; i++) {
            cache.add(new byte[1000]);
        }
    }

    static void leak(int megabytes) {
        for (int i = 0; i < megabytes * 1000; i++) {
            leaked.add(new byte[1000]);
        }
    }

    public static void main(String[] args) {
        fillCache(Integer.parseInt(args[0]));
        for (int i = 0; i < 10; i++) {
            System.gc();
            leak(30);
        }
        System.gc();
    }
}
JAVA
"$java/javac" Leak.java
bad=0
printf '%-40s %14s %14s\n' 'samples of' 'the cache' 'the leak'
# row MEGABYTES OPTIONS: leaves cache and leak
row() {
  rm -f profile
  "$java/java" -Xmx700m -XX:+UseSerialGC \
    -agentpath:linux-x64/libasyncProfiler.so="start,event=alloc,alloc=64k$2,collapsed,file=profile" \
    -cp . Leak "$1" > errors 2>&1 || { cat errors; exit 1; }
  cache=$(awk '/fillCache/ { n += $NF } END { print n + 0 }' profile)
  leak=$(awk '/Leak.leak/ { n += $NF } END { print n + 0 }' profile)
  printf '%-40s %14d %14d\n' "a cache of $1 MB$2" "$cache" "$leak"
}
row 10 ,live
((leak > 3 * cache && cache + leak > 900 && cache + leak <= 1024)) || bad=1
row 100 ,live
((cache > 900 && cache <= 1024 && leak < 100)) || bad=1
row 100 ''
((leak > 2 * cache && cache > 800)) || bad=1
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
