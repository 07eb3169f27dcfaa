#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What io.prometheus:prometheus-metrics-instrumentation-jvm 1.10.0 counts as allocated by each collector of a stock JDK
# 25.0.3: jvm_memory_pool_allocated_bytes_total, "total bytes allocated in a given JVM memory pool", of a program that
# has 100 MB alive, calls System.gc() 20 times, and allocates next to nothing meanwhile.
#
#   guessed   next to nothing, with each collector
#   seen      MB counted meanwhile         pools of the heap    Metaspace
#             Serial, Parallel, G1                 15 to 120        1 at most
#             ZGC                             2,100 to 2,600      90 to 120
#             Shenandoah                      2,050 to 2,600      90 to 120
#             Shenandoah, generational        2,050 to 2,600      90 to 120
#             With the first three it is what allocation buffers have left. With the others each pause is notified, too,
#             and says 0 for all pools, before and after. The library takes that for empty pools, and at the end of the
#             cycle counts all that is in use as new, classes included. So each collection of an idle service counts its
#             whole heap as allocated once more, and a service on ZGC that allocates 4 GB shows 8
#
# Needs a JDK 25 with Shenandoah (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>counted</artifactId><version>1</version><dependencies><dependency>
<groupId>io.prometheus</groupId><artifactId>prometheus-metrics-instrumentation-jvm</artifactId><version>1.10.0</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib > errors 2>&1 ||
  { cat errors; exit 1; }
cat > Counted.java << 'JAVA'
import com.sun.management.ThreadMXBean;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.lang.management.ManagementFactory;

public class Counted {
    static byte[][] alive = new byte[10_000][10_000];

    /** The MB that are counted as allocated in pools whose names match. */
    static long counted(PrometheusRegistry registry, String pools) {
        double sum = 0;
        for (MetricSnapshot metric : registry.scrape()) {
            if (metric.getMetadata().getName().equals("jvm_memory_pool_allocated_bytes")) {
                for (var point : ((CounterSnapshot) metric).getDataPoints()) {
                    sum += point.getLabels().get("pool").matches(pools) ? point.getValue() : 0;
                }
            }
        }
        return Math.round(sum / 1e6);
    }

    /** What is counted once no more notifications come. */
    static long settled(PrometheusRegistry registry, String pools) throws Exception {
        long counted = 0;
        for (int same = 0; same < 5; Thread.sleep(300)) {
            long now = counted(registry, pools);
            same = now == counted && now > 0 ? same + 1 : 0;
            counted = now;
        }
        return counted;
    }

    /** Prints the MB of the heap and of Metaspace that are counted, and the MB that are allocated. */
    public static void main(String[] args) throws Exception {
        PrometheusRegistry registry = new PrometheusRegistry();
        JvmMetrics.builder().register(registry);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        String heap = ".*(Eden|Survivor|Old|Tenured|Young|Shenandoah).*";
        System.gc();
        long heapBefore = settled(registry, heap);
        long classesBefore = counted(registry, "Metaspace");
        long before = threads.getTotalThreadAllocatedBytes();
        for (int i = 0; i < 20; i++) {
            System.gc();
            Thread.sleep(100);
        }
        long heapAfter = settled(registry, heap);
        long allocated = (threads.getTotalThreadAllocatedBytes() - before) / 1_000_000;
        System.out.println((heapAfter - heapBefore) + " "
            + (counted(registry, "Metaspace") - classesBefore) + " " + allocated);
    }
}
JAVA
"$java/javac" -cp 'lib/*' Counted.java
bad=0
printf '%-40s %16s %12s %12s\n' 'MB' 'counted, heap' Metaspace allocated
# row LEAST MOST CLASSES FLAG...: what is counted of the heap is in these bounds, and of Metaspace at least that
row() {
  local heap classes allocated least=$1 most=$2 more=$3
  shift 3
  read -r heap classes allocated < <("$java/java" -Xmx512m "$@" -cp 'lib/*:.' Counted)
  printf '%-40s %16d %12d %12d\n' "$*" "$heap" "$classes" "$allocated"
  ((heap >= least && heap <= most && classes >= more && allocated <= 20)) || bad=1
}
row 0 300 0 -XX:+UseSerialGC
row 0 300 0 -XX:+UseParallelGC
row 0 300 0 -XX:+UseG1GC
row 1500 3500 40 -XX:+UseZGC
row 1500 3500 40 -XX:+UseShenandoahGC
row 1500 3500 40 -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'
