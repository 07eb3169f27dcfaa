#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What generational Shenandoah (JEP 521) of a stock JDK 25.0.3 (Temurin) does for a program that sleeps: 100 of 256 MB
# are alive, as arrays of 100 KB or of 1 KB, or 400 of 1,024 MB as arrays of 200 KB.
#
#   guessed   a program that allocates nothing is collected three times in ten seconds at most
#   seen                                       collections in ten seconds    processor time
#             arrays of 1 KB                                             0             0.2 s
#             arrays of 100 KB, heap of 256 MB              1,060 to 1,950      1.5 to 2.2 s
#             arrays of 200 KB, heap of 1 GB                1,040 to 1,600      2.4 to 3.4 s
#             arrays of 100 KB, one generation                           0             0.1 s
#             In 40 s it did not end. Two such arrays leave a fifth of a region empty; with mixed lengths it does not
#             come. By the log each collection is started to hasten a mixed one (`Expedite mixed evacuation of 502
#             regions`), which then has a budget of nothing (`No regions selected for mixed collection`), so the next
#             is started. So a cache of arrays of one size can keep an idle service busy, with 200 to 400 pauses
#             a second
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Idle.java <<'JAVA'
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

public class Idle {
    static byte[][] alive;

    static long collections() {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (bean.getName().equals("Shenandoah Cycles")) {
                return bean.getCollectionCount();
            }
        }
        throw new IllegalStateException("no bean of Shenandoah's cycles");
    }

    /** Fills the heap by so many MB of arrays of so many KB, and prints the collections in ten seconds of sleep. */
    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[1]) * 1000;
        alive = new byte[Integer.parseInt(args[0]) * 1_000_000 / size][];
        for (int i = 0; i < alive.length; i++) {
            alive[i] = new byte[size];
        }
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Thread.sleep(3000);
        long before = collections();
        long time = system.getProcessCpuTime();
        Thread.sleep(10_000);
        System.out.printf("%d %.1f%n", collections() - before, (system.getProcessCpuTime() - time) / 1e9);
    }
}
JAVA
"$java/javac" Idle.java
slept() { "$java/java" -XX:+UseShenandoahGC -XX:ShenandoahGCMode="$1" -Xmx"$2" -cp . Idle "$3" "$4"; }
say() { printf '%-40s collections %5s, processor time %s s\n' "$@"; }
read -r small small_time <<< "$(slept generational 256m 100 1)"
say 'arrays of 1 KB' "$small" "$small_time"
read -r large large_time <<< "$(slept generational 256m 100 100)"
say 'arrays of 100 KB' "$large" "$large_time"
read -r giga giga_time <<< "$(slept generational 1g 400 200)"
say 'arrays of 200 KB, 1 GB' "$giga" "$giga_time"
read -r single single_time <<< "$(slept satb 256m 100 100)"
say 'arrays of 100 KB, one generation' "$single" "$single_time"
((small <= 3 && single <= 3 && large > 100 && giga > 100)) || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
