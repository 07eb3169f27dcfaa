// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.util.Locale;

/** The numbers of a run that are told, in the order in which they are told. */
public enum Metric {
    THROUGHPUT("throughput", "Throughput, closed loop", "/s", 1),
    P50("p50", "Latency p50", "ms", 1),
    P90("p90", "Latency p90", "ms", 1),
    P99("p99", "Latency p99", "ms", 1),
    P999("p99.9", "Latency p99.9", "ms", 1),
    MAX("max", "Latency max", "ms", 1),
    LONGEST_PAUSE("longest_pause", "Longest pause, closed and open loop", "ms", 1),
    LONGEST_STOP("longest_stop", "Longest stop, time to reach it included", "ms", 1),
    PAUSES("pauses", "Pauses, open loop", "", 0),
    PAUSE_TOTAL("pause_total", "Pause time, open loop", "ms", 0),
    LONGEST_PAUSE_OPEN("longest_pause_open", "Longest pause, open loop", "ms", 1),
    CLOSED_CPU("closed_cpu", "CPU per request, closed loop", "ms", 3),
    CLOSED_GC_CPU("closed_gc_cpu", "Collector CPU per request, closed loop", "ms", 3),
    CLOSED_JIT_CPU("closed_jit_cpu", "Compiler CPU per request, closed loop", "ms", 3),
    GC_CPU("gc_cpu", "Collector CPU per request, closed and open loop", "ms", 1),
    JIT_CPU("jit_cpu", "Compiler CPU per request, closed and open loop", "ms", 1),
    MUTATOR_CPU("mutator_cpu", "Mutator CPU per request, closed and open loop", "ms", 1),
    RSS("rss", "Resident set, largest", "MB", 0),
    OTHERS("others", "CPU used by others", "%", 0),
    REQUESTS("requests", "Requests, open loop", "", 0),
    UNANSWERED("unanswered", "Unanswered, open loop", "", 0),
    ERRORS("errors", "Errors", "", 0);

    private final String id;
    private final String title;
    private final String unit;
    private final int decimals;

    Metric(String id, String title, String unit, int decimals) {
        this.id = id;
        this.title = title;
        this.unit = unit;
        this.decimals = decimals;
    }

    /** The name in CSV and JSON. */
    public String id() {
        return id;
    }

    public String title() {
        return title;
    }

    public String unit() {
        return unit;
    }

    /** The title with the unit. */
    public String heading() {
        return unit.isEmpty() ? title : title + " (" + unit + ")";
    }

    /** Returns {@code value} as text, "-" if it is not a number. */
    public String format(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
