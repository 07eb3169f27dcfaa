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
    static final int READY_SECONDS = 300;
    private static final int CONNECTIONS = 24;

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
        int count = (int) cli.number("setups", Setup.ALL.size(), 0, Setup.ALL.size());
        if (count == 0) {
            return predictOnly();
        }
        if (count == 1) {
            throw new Cli.UsageException("--setups is 1: a setup is compared with the first one, so give 0, for predictions alone, or 2 or more");
        }
        List<Setup> setups = Setup.ALL.subList(0, count);
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
            GatePage page = new GatePage(GatePage.About.shop(server.label()), List.copyOf(outcomes.values()), last ? predictions() : Predictions.NONE, settings,
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

    private int predictOnly() throws IOException, InterruptedException {
        if (setting("predict", 30) == 0) {
            throw new Cli.UsageException("--setups and --predict are both 0, so there is nothing to measure: give one of them");
        }
        Predictions predictions = predictions();
        Files.writeString(work.resolve("predictions.csv"), predictions.table().csv());
        System.out.println(Machine.here() + "\n\n" + predictions.table());
        return 0;
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

    static List<String> flags(String collector, long megabytes) {
        return List.of(collector, "-Xms" + megabytes + "m", "-Xmx" + megabytes + "m", "-XX:+AlwaysPreTouch", "-XX:ParallelGCThreads=1",
                "-XX:+PerfDisableSharedMem", "-XX:+UnlockExperimentalVMOptions");
    }

    private Predictions predictions() throws IOException, InterruptedException {
        String lull = cli.text("lull", "");
        return Predictions.measure(java, lull.isEmpty() ? null : Path.of(lull), Path.of(cli.text("agent")), data, work, setting("predict", 30));
    }
}
