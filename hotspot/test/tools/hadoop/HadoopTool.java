// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.source.JvmMetrics;
import org.apache.hadoop.util.GcTimeMonitor;
import org.apache.hadoop.util.JvmPauseMonitor;

/** Hadoop's monitor of pauses, which is shown one that no collector makes; its share of time in collections, and its metrics. */
public class HadoopTool implements Load.Tool {
    private JvmPauseMonitor pauses;
    private GcTimeMonitor share;
    private JvmMetrics metrics;

    @Override
    public void begin() {
        Configuration conf = new Configuration(false);
        conf.setLong("jvm.pause.info-threshold.ms", 1000);
        pauses = new JvmPauseMonitor();
        pauses.init(conf);
        pauses.start();
        share = new GcTimeMonitor.Builder().observationWindowMs(4000).sleepIntervalMs(500).maxGcTimePercentage(100).build();
        share.start();
        metrics = JvmMetrics.create("load", "", DefaultMetricsSystem.instance());
    }

    /** The process is stopped for two seconds from outside. */
    @Override
    public void amid() throws Exception {
        Thread.sleep(1000);
        String pid = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("sh", "-c", "kill -STOP " + pid + "; sleep 2; kill -CONT " + pid).start().waitFor();
        Thread.sleep(2000);
        Load.say("JvmPauseMonitor: pauses above 1 s: " + pauses.getNumGcInfoThresholdExceeded());
        Load.say("GcTimeMonitor: " + share.getLatestGcData().getGcTimePercentage() + " % of the last 4 s, without a pause of a collector");
    }

    @Override
    public void end() {
        MetricsCollectorImpl collector = new MetricsCollectorImpl();
        metrics.getMetrics(collector, true);
        collector.getRecords().forEach(record -> {
            for (AbstractMetric metric : record.metrics()) {
                if (metric.name().startsWith("Gc") || metric.name().equals("MemHeapUsedM")) {
                    Load.say("JvmMetrics " + metric.name() + "=" + metric.value());
                }
            }
        });
    }
}
