// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lull.bench.load.FixedRequest;
import lull.bench.load.Latencies;
import lull.bench.run.Machine;
import lull.bench.service.Services;
import lull.bench.util.Cli;

/**
 * Three replicas of a shop that collect in turn, and a client: with and without the gate, hedging, and without collections. Then, per collector, how far
 * off the agent's predictions are. Ends with a page.
 */
public final class GateBench {
    private static final String USAGE = "GateBench --java JAVA --agent FILE --work DIR [--lull JAVA] [--servers NAME,...] [--setups N] [--rounds N] [--seconds N] "
            + "[--warmup N] [--rate N] [--live MB] [--every MS] [--deadline MS] [--predict N] [--seed N]";
    private static final int REPLICAS = 3;
    private static final int READY_SECONDS = 300;
    private static final int CONNECTIONS = 24;
    /** For the predictions of full collections, between two of them. */
    private static final long FULL_EACH_MILLIS = 1000;
    /** For those of young ones: small, so that there are many. */
    private static final int YOUNG_MEGABYTES = 32;

    private final Cli cli;
    private final List<ShopServer> servers;
    private final Path java;
    private final Path work;
    private final Path data;
    private final List<FixedRequest> requests;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "request");
        thread.setDaemon(true);
        return thread;
    });

    private GateBench(Cli cli) throws IOException {
        this.cli = cli;
        servers = Arrays.stream(cli.text("servers", "tomcat").split(",")).map(ShopServer::named).toList();
        java = Path.of(cli.text("java"));
        work = Path.of(cli.text("work"));
        data = work.resolve("data");
        Files.createDirectories(data);
        Services.find("tomcat").prepare(data, Map.of());
        requests = FixedRequest.read(data);
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("java", "agent", "work", "lull", "servers", "setups", "rounds", "seconds", "warmup", "rate", "live", "every", "deadline",
                "predict", "seed"), args, cli -> new GateBench(cli).run());
    }

    private long setting(String name, long otherwise) {
        return cli.number(name, otherwise, 0, 1_000_000);
    }

    private int run() throws Exception {
        List<GatePage> pages = new ArrayList<>();
        List<Setup> setups = Setup.ALL.subList(0, (int) cli.number("setups", Setup.ALL.size(), 2, Setup.ALL.size()));
        long bad = 0;
        for (ShopServer server : servers) {
            Map<Setup, Outcome> outcomes = new LinkedHashMap<>();
            setups.forEach(setup -> outcomes.put(setup, new Outcome(setup)));
            long rounds = setting("rounds", 2);
            for (long round = 0; round < rounds; round++) {
                // There and back, so that what changes with time does not favour one.
                List<Setup> order = round % 2 == 0 ? setups : setups.reversed();
                for (Setup setup : order) {
                    measure(server, outcomes.get(setup), round, hedgeNanos(outcomes));
                }
            }
            // They are of collectors, not of servers.
            boolean last = server == servers.getLast() && setting("predict", 30) > 0;
            String settings = String.format("%s, %d requests/s, live data %d MB, a full collection every %d ms, deadline %d ms, %d rounds of %d s", server.label(),
                    setting("rate", 240), setting("live", 600), setting("every", 9000), setting("deadline", 20), rounds, setting("seconds", 22));
            GatePage page = new GatePage(GatePage.About.shop(server.label()), List.copyOf(outcomes.values()), last ? predictions() : Map.of(), settings,
                    Machine.here().toString(), hedgeNanos(outcomes) / 1e6);
            pages.add(page);
            Files.writeString(work.resolve("index.html"), GatePage.html(pages));
            Files.writeString(work.resolve(server + ".csv"), page.table().csv());
            System.out.println(page.text());
            bad += outcomes.values().stream().mapToLong(o -> o.latencies.errors() + o.latencies.unanswered()).sum();
        }
        System.out.println("page: " + work.resolve("index.html"));
        return bad == 0 ? 0 : 1;
    }

    /** The 95th percentile of what there is without collections. */
    private static long hedgeNanos(Map<Setup, Outcome> outcomes) {
        return (long) (Math.max(0.1, outcomes.get(Setup.QUIET).latencies.percentileMillis(95)) * 1e6);
    }

    private void measure(ShopServer server, Outcome outcome, long round, long hedgeNanos) throws IOException, InterruptedException {
        Setup setup = outcome.setup;
        List<Replica> replicas = new ArrayList<>();
        boolean told = setup.strategy() == Strategy.TOLD;
        GateDatagrams datagrams = told ? new GateDatagrams() : null;
        String options = "deadline=" + setting("deadline", 20) + (told ? ",datagrams=127.0.0.1:" + datagrams.port() : "");
        long every = setup.collections() ? setting("every", 9000) : 0;
        for (int i = 0; i < REPLICAS; i++) {
            List<String> arguments = List.of("--server", server.toString(), "--data", data.toString(), "--live", "" + setting("live", 600), "--every", "" + every,
                    "--at", "" + every * i / REPLICAS);
            Replica.Plan plan = new Replica.Plan(java, flags("-XX:+UseParallelGC", 2 * setting("live", 600) + 300),
                    setup.agent() ? Path.of(cli.text("agent")) : null, told ? "other-port" : server.portOption(), options, arguments);
            replicas.add(Replica.start(plan, work.resolve("replica-" + i + ".log")));
        }
        int[] ports = replicas.stream().mapToInt(Replica::port).toArray();
        for (Replica replica : replicas) {
            replica.await(READY_SECONDS);
        }
        try (Client client = new Client(requests, ports, server.wire(ports), setup.strategy(), (int) setting("deadline", 20), hedgeNanos, threads)) {
            client.connect(CONNECTIONS);
            if (told) {
                datagrams.tell(client);
            }
            long seed = setting("seed", 1) + round;
            OpenLoop.run(client, threads, setting("rate", 240), setting("warmup", 8), seed + 1000, new Latencies());
            long attempts = client.attempts();
            long busy = client.busy();
            long answers = outcome.latencies.count();
            client.countBusyIn(outcome.busyLatencies);
            OpenLoop.run(client, threads, setting("rate", 240), setting("seconds", 22), seed, outcome.latencies);
            outcome.requests += outcome.latencies.count() - answers;
            outcome.attempts += client.attempts() - attempts;
            outcome.busy += client.busy() - busy;
            outcome.busyOfRun += client.busy();
        }
        if (told) {
            datagrams.close();
        }
        for (Replica replica : replicas) {
            Map<String, Double> metrics = replica.metrics();
            replica.close();
            outcome.count(metrics, replica.lines());
        }
        System.out.printf("%-9s %-22s round %d: p50 %.3f ms, p99 %.2f, p99.9 %.1f%n", server, setup.name(), round + 1, outcome.latencies.percentileMillis(50),
                outcome.latencies.percentileMillis(99), outcome.latencies.percentileMillis(99.9));
        for (String error : outcome.latencies.errorSamples()) {
            System.out.println("  error: " + error);
        }
    }

    private static List<String> flags(String collector, long megabytes) {
        return List.of(collector, "-Xms" + megabytes + "m", "-Xmx" + megabytes + "m", "-XX:+AlwaysPreTouch", "-XX:ParallelGCThreads=1",
                "-XX:+PerfDisableSharedMem", "-XX:+UnlockExperimentalVMOptions");
    }

    /** A replica at a time, whose data change fast, without requests: with full collections, then without. By collector, then by kind of collection. */
    private Map<String, Map<String, Prediction.Summary>> predictions() throws IOException, InterruptedException {
        Map<String, Map<String, Prediction.Summary>> all = new LinkedHashMap<>();
        Map<String, Path> collectors = new LinkedHashMap<>();
        collectors.put("-XX:+UseSerialGC", java);
        collectors.put("-XX:+UseParallelGC", java);
        collectors.put("-XX:+UseG1GC", java);
        if (!cli.text("lull", "").isEmpty()) {
            collectors.put("-XX:+UseLullGC", Path.of(cli.text("lull")));
        }
        for (Map.Entry<String, Path> collector : collectors.entrySet()) {
            boolean isLull = collector.getKey().contains("Lull");
            String name = collector.getKey().replace("-XX:+Use", "").replace("GC", "");
            Map<String, Prediction.Summary> kinds = predict(name, collector.getValue(), flags(collector.getKey(), 700), FULL_EACH_MILLIS);
            // What the young generation has room for is what the small heap has free.
            List<String> flags = new ArrayList<>(flags(collector.getKey(), isLull ? 300 : 700));
            if (!isLull) {
                flags.add("-Xmn" + YOUNG_MEGABYTES + "m");
            }
            // Of full collections, those of the first run.
            predict(name, collector.getValue(), flags, 0).forEach(kinds::putIfAbsent);
            all.put(name, kinds);
        }
        return all;
    }

    private Map<String, Prediction.Summary> predict(String name, Path java, List<String> flags, long every) throws IOException, InterruptedException {
        List<String> arguments = List.of("--server", "tomcat", "--data", data.toString(), "--live", "200", "--every", "" + every, "--churn", "150");
        Replica.Plan plan = new Replica.Plan(java, flags, Path.of(cli.text("agent")), "port", "verbose", arguments);
        Replica replica = Replica.start(plan, work.resolve("predict-" + name + (every > 0 ? "" : "-young") + ".log"));
        replica.await(READY_SECONDS);
        Thread.sleep(setting("predict", 30) * 1000);
        replica.close();
        Map<String, Prediction.Summary> kinds = new TreeMap<>();
        Prediction.read(replica.lines()).forEach((kind, list) -> kinds.put(kind, Prediction.Summary.of(list)));
        return kinds;
    }
}
