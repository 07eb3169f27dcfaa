// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import org.elasticsearch.monitor.jvm.JvmStats;
import org.elasticsearch.monitor.jvm.Overhead;

/** What a node of Elasticsearch's tells of its JVM, and its warnings of overhead. */
public class ElasticsearchTool implements Load.Tool {
    private final Overhead overhead = new Overhead(Load::say);

    @Override
    public void begin() {
        overhead.run();
    }

    @Override
    public void amid() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            Thread.sleep(1000);
            overhead.run();
        }
    }

    @Override
    public void end() {
        JvmStats stats = JvmStats.jvmStats();
        for (var collector : stats.getGc().getCollectors()) {
            Load.say("collector " + collector.getName() + ": " + collector.getCollectionCount() + ", " + collector.getCollectionTime());
        }
        for (var pool : stats.getMem()) {
            Load.say("pool " + pool.getName() + ": " + pool.getUsed());
        }
        Load.say("heap used " + stats.getMem().getHeapUsed() + ", " + stats.getMem().getHeapUsedPercent() + " %");
    }
}
