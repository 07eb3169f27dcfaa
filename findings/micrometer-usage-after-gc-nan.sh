#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Micrometer's jvm.memory.usage.after.gc (JvmHeapPressureMetrics of io.micrometer:micrometer-core 1.17.1), the share of
# the old pool that is in use after a collection, by which alarms tell a leak: 280 MB alive in a heap of 400 MB, and
# System.gc() five times. Read every 5 ms meanwhile, and just after each notification of a collection, on which it is
# computed. A stock JDK 25.0.3.
#
#   guessed   0.65 to 1 at each read, with each collector
#   seen      NaN after a notification of      a pause     a cycle    of the reads
#             G1                                 never       never            none
#             ZGC                               always       never    94 to 97 in 100
#             Shenandoah                        always       never    79 to 92 in 100
#             Shenandoah, generational          always       never    73 to 86 in 100
#             With the last three each pause of a cycle is notified, too, with 0 of 0 for all pools, and Micrometer
#             divides these. The end of the cycle mends that. So the value is not a number while a collection goes on,
#             and most of the time if one follows the other, as they do when the heap is nearly full. An alarm on
#             `> 0.9` is false for NaN: it does not fire, or ends, when it is needed
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>pressure</artifactId><version>1</version><dependencies><dependency>
<groupId>io.micrometer</groupId><artifactId>micrometer-core</artifactId><version>1.17.1</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Pressure.java << 'JAVA'
import com.sun.management.GarbageCollectionNotificationInfo;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmHeapPressureMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

public class Pressure {
    static final byte[][] ALIVE = new byte[2800][];
    /** By the name of the bean: notifications, and how often the value was NaN just after one. */
    static final Map<String, int[]> SEEN = new TreeMap<>();

    static synchronized void notified(String name, double value) {
        int[] seen = SEEN.computeIfAbsent(name, n -> new int[2]);
        seen[0]++;
        seen[1] += Double.isNaN(value) ? 1 : 0;
    }

    /** How often the value is NaN, of reads while five collections go on, and just after each notification. */
    public static void main(String[] args) throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new JvmHeapPressureMetrics().bindTo(registry);
        Gauge usage = registry.get("jvm.memory.usage.after.gc").gauge();
        for (var bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) bean).addNotificationListener((notification, handback) -> {
                var info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
                notified(info.getGcName().replace(' ', '_'), usage.value());
            }, n -> n.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION), null);
        }
        for (int i = 0; i < ALIVE.length; i++) {
            ALIVE[i] = new byte[100_000];
        }
        Thread collections = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 5; i++) {
                System.gc();
            }
        });
        int reads = 0;
        int missing = 0;
        while (collections.isAlive()) {
            missing += Double.isNaN(usage.value()) ? 1 : 0;
            reads++;
            Thread.sleep(5);
        }
        Thread.sleep(1000);
        System.out.println("reads " + reads + " " + missing);
        synchronized (Pressure.class) {
            SEEN.forEach((name, seen) -> System.out.println(name + " " + seen[0] + " " + seen[1]));
        }
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Pressure.java 2> errors || { cat errors; exit 1; }
bad=0
for collector in G1 Z Shenandoah 'Shenandoah -XX:ShenandoahGCMode=generational'; do
  # shellcheck disable=SC2086 # the option after the collector
  set -- $collector
  "$java/java" -Xmx400m "-XX:+Use$1GC" "${@:2}" -cp 'lib/*:.' Pressure > said 2> errors || { cat errors; exit 1; }
  echo "$collector"
  pauses=0
  while read -r name all missing; do
    printf '  %-22s %3d, NaN %3d\n' "$name" "$all" "$missing"
    case $1,$name in
      G1,*) ((missing == 0)) || bad=1 ;;
      *,reads) ((missing * 3 > all)) || bad=1 ;;
      *_Cycles) ((missing == 0)) || bad=1 ;;
      *_Pauses)
        ((missing == all)) || bad=1
        pauses=$((pauses + all))
        ;;
      *) bad=1 ;;
    esac
  done < said
  if [[ $1 != G1 ]]; then ((pauses > 5)) || bad=1; fi
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
