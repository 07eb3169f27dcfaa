// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lull.bench.report.TextTable;

/**
 * How far off the agent's predictions are: one replica at a time whose data change, without requests; with a full collection each second, then without
 * one in a small young generation. By collector and load, then by kind of collection.
 */
final class Predictions {
    private static final int LIVE_MEGABYTES = 200;
    private static final int HEAP_MEGABYTES = 700;
    /** Lull's young collections come when the heap is full. */
    private static final int SMALL_HEAP_MEGABYTES = 300;
    private static final long FULL_EACH_MILLIS = 1000;

    /** What changes in the replica, how fast, and room for the young: so little that there are many young collections, all of which survives a key-value store's. */
    enum Load {
        VARYING("varying", 150, 32),
        KEY_VALUE("key-value", 25, 8);

        final String argument;
        final int megabytesPerSecond;
        final int youngMegabytes;

        Load(String argument, int megabytesPerSecond, int youngMegabytes) {
            this.argument = argument;
            this.megabytesPerSecond = megabytesPerSecond;
            this.youngMegabytes = youngMegabytes;
        }
    }

    static final Predictions NONE = new Predictions(Map.of());

    private final Map<String, Map<String, Prediction.Summary>> summaries;

    /** @param summaries by collector and load, then by kind of collection */
    Predictions(Map<String, Map<String, Prediction.Summary>> summaries) {
        this.summaries = summaries;
    }

    /**
     * Starts replicas and listens to what their agents say.
     *
     * @param java of a stock JDK
     * @param lull of a JDK with Lull; {@code null} if there is none
     * @param data of the shop
     * @param work where the replicas' output goes
     */
    static Predictions measure(Path java, Path lull, Path agent, Path data, Path work, long seconds) throws IOException, InterruptedException {
        Map<String, Map<String, Prediction.Summary>> summaries = new LinkedHashMap<>();
        Map<String, Path> collectors = new LinkedHashMap<>();
        collectors.put("Serial", java);
        collectors.put("Parallel", java);
        collectors.put("G1", java);
        if (lull != null) {
            collectors.put("Lull", lull);
        }
        for (Load load : Load.values()) {
            for (Map.Entry<String, Path> collector : collectors.entrySet()) {
                String name = collector.getKey();
                Map<String, Prediction.Summary> kinds = new TreeMap<>();
                for (long every : new long[] {FULL_EACH_MILLIS, 0}) {
                    List<String> arguments = List.of("--server", "tomcat", "--data", data.toString(), "--live", "" + LIVE_MEGABYTES, "--every", "" + every,
                            "--load", load.argument, "--churn", "" + load.megabytesPerSecond);
                    Replica.Plan plan = new Replica.Plan(collector.getValue(), flags(name, every == 0 ? load.youngMegabytes : 0), agent, "port", "verbose", arguments);
                    // Of each kind, the run that had more of it.
                    listen(plan, work.resolve("predict-" + load.argument + "-" + name + (every > 0 ? "" : "-young") + ".log"), seconds)
                            .forEach((kind, summary) -> kinds.merge(kind, summary, (a, b) -> b.pauses() > a.pauses() ? b : a));
                }
                summaries.put(name + ", " + load.argument, kinds);
            }
        }
        return new Predictions(summaries);
    }

    /** @param youngMegabytes 0: as the collector likes */
    private static List<String> flags(String collector, int youngMegabytes) {
        boolean isLull = collector.equals("Lull");
        List<String> flags = new ArrayList<>(GateBench.flags("-XX:+Use" + collector + "GC", youngMegabytes > 0 && isLull ? SMALL_HEAP_MEGABYTES : HEAP_MEGABYTES));
        if (youngMegabytes > 0 && !isLull) {
            flags.add("-Xmn" + youngMegabytes + "m");
        }
        return flags;
    }

    private static Map<String, Prediction.Summary> listen(Replica.Plan plan, Path log, long seconds) throws IOException, InterruptedException {
        Replica replica = Replica.start(plan, log);
        replica.await(GateBench.READY_SECONDS);
        Thread.sleep(seconds * 1000);
        replica.close();
        Map<String, Prediction.Summary> kinds = new TreeMap<>();
        Prediction.read(replica.lines()).forEach((kind, list) -> kinds.put(kind, Prediction.Summary.of(list)));
        return kinds;
    }

    boolean isEmpty() {
        return summaries.isEmpty();
    }

    /** What the table means. */
    static String note() {
        return "One replica whose data change fast: with a full collection each second; then without one, in a small young generation. \"varying\": what survives a young collection "
                + "goes up and down all the time; \"key-value\": keys at random are removed and put with values of 0.1 to 1 KB. Of each kind all but the first "
                + Prediction.LEARNING + " pauses. A pause over the bound is one that lasted longer than the agent's upper bound for it, which nine of ten should not exceed. "
                + "Halfway: what was expected of the whole when half of the pause was over.";
    }

    TextTable table() {
        TextTable table = new TextTable();
        table.add(List.of("collector, load: kind", "pauses", "median ms", "error: median", "p95", "within 2 ms", "within 4 ms", "relative, median", "over the bound", "error halfway: median", "within 2 ms"));
        summaries.forEach((collector, kinds) -> kinds.forEach((kind, s) -> table.add(List.of(collector + ": " + kind, "" + s.pauses(),
                GatePage.number("%.1f", s.median()), GatePage.number("%.2f", s.medianError()), GatePage.number("%.2f", s.p95Error()), GatePage.number("%.0f %%", s.within2()),
                GatePage.number("%.0f %%", s.within4()), GatePage.number("%.1f %%", 100 * s.medianRelative()), GatePage.number("%.0f %%", s.over()),
                GatePage.number("%.2f", s.medianErrorHalfway()), GatePage.number("%.0f %%", s.within2Halfway())))));
        return table;
    }
}
