// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import lull.bench.load.Latencies;
import lull.bench.run.Machine;
import lull.bench.service.Ports;
import lull.bench.util.Cli;

/**
 * A cluster of Cassandra nodes that collect in turn, and a client that reads and writes: with and without the gate, with the driver's hedging, and
 * without collections. Ends with a page. A cluster serves several setups, for starting and filling it takes a minute.
 */
public final class CassandraBench {
    private static final String USAGE = "CassandraBench --java JAVA --class-path PATH --flags \"FLAG...\" --agent FILE --work DIR [--rounds N] [--seconds N] "
            + "[--warmup N] [--rate N] [--rows N] [--every MS] [--deadline MS] [--seed N]";
    private static final int NODES = 3;
    /** Of a node's heap. */
    private static final int MEGABYTES = 1400;

    private static final Setup HEDGE = new Setup("driver's hedging at p95", "parallel", Strategy.HEDGE, false, true);
    private static final List<Setup> WITHOUT_AGENT = List.of(Setup.QUIET, new Setup("raw", "g1", Strategy.WAIT, false, true), HEDGE);
    private static final List<Setup> WITH_AGENT = List.of(Setup.QUIET_WITH_AGENT, new Setup("gate", "lull", Strategy.FAIL_OVER, true, true));

    private final Cli cli;
    private final Path work;
    private final int rows;
    private final Map<Setup, Outcome> outcomes = new LinkedHashMap<>();
    private final List<String> pauses = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "request");
        thread.setDaemon(true);
        return thread;
    });
    private int wrongRows;

    private CassandraBench(Cli cli) {
        this.cli = cli;
        work = Path.of(cli.text("work"));
        rows = (int) setting("rows", 150_000);
        WITHOUT_AGENT.forEach(setup -> outcomes.put(setup, new Outcome(setup)));
        WITH_AGENT.forEach(setup -> outcomes.put(setup, new Outcome(setup)));
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("java", "class-path", "flags", "agent", "work", "rounds", "seconds", "warmup", "rate", "rows", "every", "deadline", "seed"), args,
                cli -> new CassandraBench(cli).run());
    }

    private long setting(String name, long otherwise) {
        return cli.number(name, otherwise, 0, 10_000_000);
    }

    private int run() throws Exception {
        Files.createDirectories(work);
        long rounds = setting("rounds", 2);
        for (long round = 0; round < rounds; round++) {
            // There and back, but for the setup that gives the time after which the driver hedges.
            cluster(round % 2 == 0 || round == 0 ? WITHOUT_AGENT : WITHOUT_AGENT.reversed(), false, round);
            cluster(round % 2 == 0 ? WITH_AGENT : WITH_AGENT.reversed(), true, round);
        }
        String settings = String.format("%d requests/s, of which three in ten write, %d rows on each node, a full collection of a node every %d ms, deadline %d ms, %d rounds of %d s",
                setting("rate", 240), rows, setting("every", 9000), setting("deadline", 10), rounds, setting("seconds", 22));
        GatePage page = new GatePage(GatePage.About.CASSANDRA, List.copyOf(outcomes.values()), Predictions.NONE, settings, Machine.here().toString(), hedgeNanos() / 1e6);
        Files.writeString(work.resolve("index.html"), page.html());
        Files.writeString(work.resolve("results.csv"), page.table().csv());
        System.out.println(page.text());
        pauses.forEach(System.out::println);
        System.out.println("rows that were not as written, in all: " + wrongRows);
        System.out.println("page: " + work.resolve("index.html"));
        long bad = outcomes.values().stream().mapToLong(o -> o.latencies.errors() + o.latencies.unanswered()).sum();
        return bad == 0 && wrongRows == 0 ? 0 : 1;
    }

    private long hedgeNanos() {
        return (long) (Math.max(1, outcomes.get(Setup.QUIET).latencies.percentileMillis(95)) * 1e6);
    }

    private static void progress(String text) {
        System.out.printf("%tT %s%n", System.currentTimeMillis(), text);
    }

    private void cluster(List<Setup> setups, boolean agent, long round) throws IOException, InterruptedException {
        List<CassandraNode> nodes = new ArrayList<>();
        progress("three nodes " + (agent ? "with the agent" : "without the agent"));
        try {
            // Each port must be free on all addresses; those that are free on all of them are on one.
            int port = Ports.free("Cassandra", 0);
            int nodePort = Ports.free("Cassandra's nodes", 0);
            for (int i = 0; i < NODES; i++) {
                List<String> flags = new ArrayList<>(List.of(cli.text("flags").split(" ")));
                flags.addAll(List.of("-XX:+UseParallelGC", "-XX:ParallelGCThreads=1", "-Xms" + MEGABYTES + "m", "-Xmx" + MEGABYTES + "m"));
                nodes.add(CassandraNode.start(new CassandraNode.Plan(Path.of(cli.text("java")), flags, cli.text("class-path"), agent ? Path.of(cli.text("agent")) : null,
                        "deadline=" + setting("deadline", 10), i, NODES, port, nodePort, MEGABYTES * 2 / 3), work.resolve("node-" + i), Ports.free("the metrics", 0)));
            }
            AtomicIntegerArray versions = new AtomicIntegerArray(rows);
            try (CassandraClient client = CassandraClient.patient(nodes, rows, versions)) {
                progress("rows");
                client.fill();
                // What starting and filling left is not the period's to clear away.
                for (CassandraNode node : nodes) {
                    node.collect();
                }
                OpenLoop.run(client, threads, setting("rate", 240), setting("warmup", 8), round, new Latencies());
            }
            for (Setup setup : setups) {
                measure(setup, nodes, versions, round);
            }
            try (CassandraClient client = CassandraClient.patient(nodes, rows, versions)) {
                progress("each row on each node");
                wrongRows += client.check();
            }
        } finally {
            for (CassandraNode node : nodes) {
                node.close();
            }
        }
    }

    private void measure(Setup setup, List<CassandraNode> nodes, AtomicIntegerArray versions, long round) throws IOException, InterruptedException {
        Outcome outcome = outcomes.get(setup);
        double answeredBefore = answered(nodes);
        long[] before = collections(nodes);
        FutureTask<Void> collecting = new FutureTask<>(() -> collect(nodes, setting("every", 9000)), null);
        Thread collector = new Thread(collecting, "collections");
        collector.setDaemon(true);
        try (CassandraClient client = new CassandraClient(nodes, setup.strategy(), hedgeNanos(), rows, versions)) {
            if (setup.collections()) {
                collector.start();
            }
            OpenLoop.run(client, threads, setting("rate", 240), setting("warmup", 8), 1000 + round, new Latencies());
            long attempts = client.attempts();
            long busy = client.busy();
            long answers = outcome.latencies.count();
            OpenLoop.run(client, threads, setting("rate", 240), setting("seconds", 22), setting("seed", 1) + round, outcome.latencies);
            outcome.requests += outcome.latencies.count() - answers;
            outcome.attempts += client.attempts() - attempts;
            outcome.busy += client.busy() - busy;
            outcome.busyOfRun += client.busy();
        } finally {
            collector.interrupt();
            collector.join();
        }
        if (setup.collections()) {
            await(collecting);
        }
        long[] after = collections(nodes);
        outcome.collections += after[0] - before[0];
        outcome.agentAnswered += answered(nodes) - answeredBefore;
        if (after[0] > before[0]) {
            pauses.add(String.format("%s, round %d: %d collections, %.0f ms each", setup.name(), round + 1, after[0] - before[0], (double) (after[1] - before[1]) / (after[0] - before[0])));
        }
        progress(String.format("%-24s p50 %.3f ms, p99 %.2f, p99.9 %.1f", setup.name(), outcome.latencies.percentileMillis(50),
                outcome.latencies.percentileMillis(99), outcome.latencies.percentileMillis(99.9)));
        for (String error : outcome.latencies.errorSamples()) {
            System.out.println("  error: " + error);
        }
    }

    /** Throws what ended the collections: a setup is not measured if they broke off. */
    static void await(FutureTask<Void> collecting) throws IOException, InterruptedException {
        try {
            collecting.get();
        } catch (ExecutionException e) {
            throw new IOException("the collections broke off: " + e.getCause(), e.getCause());
        }
    }

    /** One node after the other. */
    private static void collect(List<CassandraNode> nodes, long every) {
        for (int i = 0; !Thread.interrupted(); i = (i + 1) % nodes.size()) {
            LockSupport.parkNanos(every * 1_000_000 / nodes.size());
            if (Thread.currentThread().isInterrupted()) {
                return;
            }
            try {
                nodes.get(i).collect();
            } catch (IOException | RuntimeException e) {
                if (Thread.currentThread().isInterrupted()) {
                    // The end came in the middle of one.
                    return;
                }
                throw new IllegalStateException("node " + i + ": " + e, e);
            }
        }
    }

    private static double answered(List<CassandraNode> nodes) throws IOException {
        double sum = 0;
        for (CassandraNode node : nodes) {
            sum += node.metrics().getOrDefault("lull_gate_answered_total", 0.0);
        }
        return sum;
    }

    private static long[] collections(List<CassandraNode> nodes) throws IOException {
        long[] sum = new long[2];
        for (CassandraNode node : nodes) {
            long[] one = node.collections();
            sum[0] += one[0];
            sum[1] += one[1];
        }
        return sum;
    }
}
