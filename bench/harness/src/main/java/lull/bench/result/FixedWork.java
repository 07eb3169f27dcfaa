// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.LinkedHashMap;
import java.util.Map;
import lull.bench.result.LowerBoundOverhead.Cost;

/**
 * What a fixed number of requests cost, in seconds.
 *
 * <p>What is collection for certain is, of wall time, the pauses; of processor time, that of the collector's threads, which do the work of
 * the pauses as well as that beside the mutators, and nothing else, and that of Lull's local collections. The VM thread counts as one of them, so that a little of other
 * work at safepoints is in it.
 *
 * @param wall from the first request to the last answer
 * @param paused in which the world was stopped for collection
 * @param cpu processor time of all threads of the server, compilers included
 * @param collectorCpu that of the collector's threads, and of local collections
 */
public record FixedWork(double wall, double paused, double cpu, double collectorCpu) {
    private static final String WALL = "work_wall_s";
    private static final String PAUSED = "work_paused_s";
    private static final String CPU = "work_cpu_s";
    private static final String COLLECTOR_CPU = "work_gc_cpu_s";

    /** Reads it from what {@link #metrics} returned. */
    public static FixedWork of(Invocation invocation) {
        return new FixedWork(invocation.metric(WALL), invocation.metric(PAUSED), invocation.metric(CPU), invocation.metric(COLLECTOR_CPU));
    }

    /** Returns the numbers by the names under which they are kept. */
    public Map<String, Double> metrics() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put(WALL, wall);
        metrics.put(PAUSED, paused);
        metrics.put(CPU, cpu);
        metrics.put(COLLECTOR_CPU, collectorCpu);
        return metrics;
    }

    /** Returns the cost in wall time. */
    public Cost wallCost() {
        return new Cost(wall, paused);
    }

    /** Returns the cost in processor time. */
    public Cost cpuCost() {
        return new Cost(cpu, collectorCpu);
    }
}
