// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package org.elasticsearch.monitor.jvm;

import java.util.Map;
import java.util.function.Consumer;

/** A node's check for collections that take too long, which it makes once a second, with a node's own thresholds. */
public class Overhead extends JvmGcMonitorService.JvmMonitor {
    private final Consumer<String> sink;

    public Overhead(Consumer<String> sink) {
        super(Map.of("young", new JvmGcMonitorService.GcThreshold("young", 1000, 700, 400),
                "old", new JvmGcMonitorService.GcThreshold("old", 10_000, 5000, 2000),
                "default", new JvmGcMonitorService.GcThreshold("default", 10_000, 5000, 2000)),
            new JvmGcMonitorService.GcOverheadThreshold(50, 25, 10));
        this.sink = sink;
    }

    @Override
    void onMonitorFailure(Exception e) {
        sink.accept("fails: " + e);
    }

    @Override
    void onSlowGc(Threshold threshold, long seq, SlowGcEvent event) {
        sink.accept("slow gc, " + threshold + ": " + event.currentGc.getName());
    }

    @Override
    void onGcOverhead(Threshold threshold, long total, long elapsed, long seq) {
        sink.accept("overhead, " + threshold + ": spent " + total + " ms collecting in the last " + elapsed + " ms");
    }
}
