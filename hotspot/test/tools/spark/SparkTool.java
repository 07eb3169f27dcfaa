// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.jdk.javaapi.CollectionConverters;

/** The time in collections that Spark blames a task for, and an executor's counts of minor and major ones. */
public class SparkTool implements Load.Tool {
    private final AtomicLong blamed = new AtomicLong();
    private final AtomicLong ran = new AtomicLong();
    private JavaSparkContext context;

    @Override
    public void begin() {
        SparkConf conf = new SparkConf().setMaster("local[1]").setAppName("load").set("spark.ui.enabled", "false")
            .set("spark.testing.memory", "536870912");    // it wants larger heaps than the program needs
        for (String setting : System.getProperty("spark.settings", "").split(";")) {
            if (!setting.isEmpty()) {
                conf.set(setting.split("=")[0], setting.split("=")[1]);
            }
        }
        context = new JavaSparkContext(conf);
        context.sc().addSparkListener(new SparkListener() {
            @Override
            public void onTaskEnd(SparkListenerTaskEnd task) {
                blamed.addAndGet(task.taskMetrics().jvmGCTime());
                ran.addAndGet(task.taskMetrics().executorRunTime());
            }
        });
    }

    /** Beside the other threads a task runs, which makes no garbage: what it is blamed for is theirs. */
    @Override
    public void amid() throws InterruptedException {
        context.parallelize(List.of(1), 1).map(i -> {
            Thread.sleep(4000);
            return i;
        }).collect();
        Thread.sleep(500);
        Load.say("GC Time of a task that makes no garbage: " + blamed + " of " + ran + " ms");
    }

    @Override
    public void end() {
        List<String> names = new ArrayList<>();
        long[] values = org.apache.spark.metrics.GarbageCollectionMetrics$.MODULE$.getMetricValues(null);
        CollectionConverters.asJava(org.apache.spark.metrics.GarbageCollectionMetrics$.MODULE$.names()).forEach(n -> names.add(n));
        for (int i = 0; i < values.length; i++) {
            Load.say("executor " + names.get(i) + "=" + values[i]);
        }
        context.stop();
    }
}
