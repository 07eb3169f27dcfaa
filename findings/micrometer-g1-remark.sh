#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# The longest pause of G1 by Micrometer's jvm.gc.pause (io.micrometer:micrometer-core 1.16.0 and 1.17.0-RC1), and by the
# log of a stock JDK 25.0.3: a cache of 2,000,000 weak references whose objects are dropped, and concurrent cycles.
#
#   guessed   both are the same to a few milliseconds, as jvm.gc.pause is what stops the program
#   seen      by the log                        longest    in jvm.gc.pause    in jvm.gc.concurrent.phase.time
#             3 young pauses           15 to 272 ms   3                  0
#             3 Remark, 3 Cleanup      62 to 390 ms  0                  6
#             Both versions. G1's Remark and Cleanup stop the program, but their bean, `G1 Concurrent GC`, gives the
#             cause `No GC`, by which Micrometer tells what runs beside the program. So an alarm on jvm.gc.pause does
#             not see a Remark, however long; and with G1 the metric that is named concurrent has nothing but pauses
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Cache.java << 'JAVA'
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.util.concurrent.TimeUnit;

public class Cache {
    static Object[] objects = new Object[2_000_000];
    static Object[] references = new Object[objects.length];

    /** Concurrent cycles, for -XX:+ExplicitGCInvokesConcurrent is set. */
    static void collect() throws Exception {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(300);
        }
    }

    /** How many, and the longest in ms. */
    static String of(SimpleMeterRegistry registry, String name) {
        long count = 0;
        double longest = 0;
        for (Timer timer : registry.find(name).timers()) {
            count += timer.count();
            longest = Math.max(longest, timer.max(TimeUnit.MILLISECONDS));
        }
        return count + " " + Math.round(longest);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < objects.length; i++) {
            objects[i] = new Object();
            references[i] = new WeakReference<>(objects[i]);
        }
        collect(); // all of it is old
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (JvmGcMetrics metrics = new JvmGcMetrics()) {
            metrics.bindTo(registry);
            System.out.println("bound");
            objects = null;
            collect();
            Thread.sleep(2000);
        }
        System.err.println(of(registry, "jvm.gc.pause") + " " + of(registry, "jvm.gc.concurrent.phase.time"));
    }
}
JAVA
bad=0
# logged NAMES: how many pauses of these are in the log after the line `bound`, and the longest in ms
logged() {
  sed '1,/^bound/d' log | sed -En "s/.*Pause ($1).* ([0-9]+)\.[0-9]+ms\$/\2/p" | sort -n |
    awk '{longest = $1} END {print NR, longest + 0}'
}
near() { (($1 - $2 >= -5 && $1 - $2 <= 5)); }
for version in 1.16.0 1.17.0-RC1; do
  cat > pom.xml << POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>remark</artifactId><version>1</version><dependencies><dependency>
<groupId>io.micrometer</groupId><artifactId>micrometer-core</artifactId><version>$version</version>
</dependency></dependencies></project>
POM
  mvn -q -B dependency:copy-dependencies -DoutputDirectory="$version" > errors 2>&1 || { cat errors; exit 1; }
  "$java/javac" -cp "$version/*" -d "$version" Cache.java 2> errors || { cat errors; exit 1; }
  # the log and the line `bound` go to standard output, in the order in which they come
  "$java/java" -Xmx900m -XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent -Xlog:gc -cp "$version/*:$version" Cache \
    > log 2> said
  read -r pauses pause concurrent longest < <(tail -n 1 said)
  read -r youngs young < <(logged 'Young|Full')
  read -r remarks remark < <(logged 'Remark|Cleanup')
  echo "Micrometer $version"
  printf '  %-30s %2d, longest %5d ms\n' 'log: young pauses' "$youngs" "$young" 'jvm.gc.pause' "$pauses" "$pause" \
    'log: Remark and Cleanup' "$remarks" "$remark" 'jvm.gc.concurrent.phase.time' "$concurrent" "$longest"
  ((pauses == youngs && concurrent == remarks && remarks > 0)) || bad=1
  { near "$pause" "$young" && near "$longest" "$remark"; } || bad=1
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
