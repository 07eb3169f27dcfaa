// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import lull.bench.result.Invocation;
import lull.bench.result.Plan;
import lull.bench.result.ResultsFile;
import lull.bench.result.Setup;
import lull.bench.result.Timeline;
import lull.bench.util.Cli;
import lull.bench.util.Cli.UsageException;
import lull.report.page.Scale;

/**
 * The benchmark: services on collectors in several heaps, with fixed work for the lower-bound overhead and an open loop for latency, in
 * invocations that are interleaved at random, kept in a file, and resumed from it. See {@code bench/bench.sh}.
 */
public final class Bench {
    private static final String USAGE = "bench.sh [quick|full] (settings are environment variables, see `bench.sh --help`)";

    static final String SERVICES = "compile tomcat";
    static final String COLLECTORS = "lull g1 parallel serial";
    static final String FACTORS = "1.5 2 3 6";

    private final Settings settings;
    private final Path directory;
    private final Calibration.Wish wish;
    private final double open;
    private final List<Collector> collectors;

    private Bench(Settings settings) throws IOException, InterruptedException {
        this.settings = settings;
        this.directory = settings.build().resolve("bench-results");
        this.wish = wish(settings);
        this.open = open(settings);
        this.collectors = new ArrayList<>(Collector.of(settings, settings.words("COLLECTORS", COLLECTORS)));
        this.collectors.addAll(Collector.ofJdks(settings.words("JDKS", "")));
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of(), args, cli -> {
            Settings settings = Settings.of(System.getenv());
            if (settings.number("BENCH_PLAN", 0, 0, 1) == 1) {
                System.out.println("planned: " + PlannedTime.of(settings));
                return 0;
            }
            return new Bench(settings).run();
        });
    }

    static Calibration.Wish wish(Settings settings) {
        return new Calibration.Wish(settings.decimal("BENCH_WARMUP", 30, 1, 3600), settings.decimal("BENCH_CLOSED", 15, 1, 3600),
                settings.decimal("BENCH_LOAD", 0.5, 0.01, 2));
    }

    static double open(Settings settings) {
        return settings.decimal("BENCH_OPEN", 30, 0, 3600);
    }

    static int invocations(Settings settings) {
        return (int) settings.number("BENCH_INVOCATIONS", 5, 1, 1000);
    }

    private int run() throws Exception {
        int invocations = invocations(settings);
        double hours = settings.decimal("BENCH_HOURS", 24 * 365, 0, 24 * 365);
        List<Double> factors = new ArrayList<>();
        for (String word : settings.words("BENCH_FACTORS", FACTORS)) {
            factors.add(Cli.decimal("BENCH_FACTORS", word, 0.1, 100));
        }
        if (factors.size() != Set.copyOf(factors).size()) {
            throw new UsageException("BENCH_FACTORS has a factor twice: " + factors);
        }
        System.out.println("planned: " + PlannedTime.of(settings));
        Files.createDirectories(directory);
        Path file = Path.of(settings.text("BENCH_RESULTS", directory.resolve("results.jsonl").toString()));
        ResultsFile results = ResultsFile.read(file, warning -> System.err.println("warning: " + warning));

        List<Study> studies = new ArrayList<>();
        for (String service : settings.words("BENCH_SERVICES", SERVICES)) {
            studies.add(study(service, factors));
        }
        Map<Setup, Study> setups = new LinkedHashMap<>();
        studies.forEach(study -> study.setups().keySet().forEach(setup -> setups.put(setup, study)));
        studies.forEach(study -> study.left().forEach(reason -> System.out.println("left out: " + reason)));
        // JSON keeps this many digits exactly.
        Plan plan = new Plan(setups.keySet(), invocations, settings.number("LULL_DEMO_SEED", 1, 0, 1L << 50));
        List<Invocation.Key> remaining = plan.remaining(results.invocations());
        int total = plan.order().size();
        System.out.printf(Locale.ROOT, "%d invocations, %d to do; results: %s%n", total, remaining.size(), file);
        BenchReport report = new BenchReport(settings, studies, wish, directory);

        Instant end = Instant.now().plus(Duration.ofSeconds(Math.round(3600 * hours)));
        while (!remaining.isEmpty() && Instant.now().isBefore(end)) {
            Invocation.Key key = remaining.getFirst();
            Setup setup = key.setup();
            // Not those of other builds, or of more or less work.
            List<Invocation> alike = results.invocations().stream().filter(i -> setups.containsKey(i.setup())).toList();
            System.out.printf(Locale.ROOT, "%d of %d: %s, %s, %sx (%d MB), invocation %d; about %s left%n", total - remaining.size() + 1, total,
                    setup.service(), setup.collector(), Scale.label(setup.factor()), setup.heap(), key.number(),
                    text(Plan.timeLeft(remaining, alike, wish.warmup() + wish.closed() + open + 10)));
            Invocation invocation = invoke(setups.get(setup), key);
            if (invocation.failure() != null) {
                System.out.println("  no result: " + invocation.failure());
            }
            results.append(invocation);
            remaining = plan.remaining(results.invocations());
            // After each one, so that an interrupted benchmark has its page.
            report.write(results.invocations());
        }
        System.out.println();
        System.out.println(report.write(results.invocations()));
        System.out.println("page: " + directory.resolve("index.html") + "   numbers: bench.csv, bench.json beside it");
        if (!remaining.isEmpty()) {
            System.out.println(remaining.size() + " invocations are not done: run it again to go on");
        }
        return 0;
    }

    private Study study(String service, List<Double> factors) throws IOException, InterruptedException {
        String variable = "BENCH_OPTIONS_" + service.toUpperCase(Locale.ROOT);
        Workload workload = new Workload(settings, service, settings.text(variable, ""));
        Collector g1 = Collector.of(settings, "g1");
        workload.prepare(g1.java());
        for (Collector collector : collectors) {
            workload.prepare(collector.java());
        }
        int smallest = MinHeap.find(settings, workload, g1, System.out::println);
        Calibration work = Calibration.find(settings, workload, g1, smallest, wish, directory.resolve("work.json"), System.out::println);
        System.out.println(service + ": " + work.work(settings.threads()) + (open == 0 ? "" : "; open loop of " + work.open(open)));
        return Study.of(settings, workload, collectors, smallest, work, factors, open);
    }

    private Invocation invoke(Study study, Invocation.Key key) throws IOException, InterruptedException {
        Setup setup = key.setup();
        Collector collector = study.setups().get(setup);
        Path files = directory.resolve("runs").resolve(setup.service() + "-" + setup.collector() + "-" + setup.heap());
        String started = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        long start = System.nanoTime();
        Map<String, Double> metrics = new LinkedHashMap<>();
        String failure;
        String latencies = null;
        Timeline timeline = null;
        try {
            Trial trial = Trial.run(study.workload().withSeed(key.seed()), collector, setup.heap(), study.work().load(wish, setup.open().isEmpty() ? 0 : open),
                    Server.Allowance.ready(300), files, line -> { });
            failure = study.work().failure(trial);
            if (failure == null) {
                trial.metrics().forEach((metric, value) -> metrics.put(metric.id(), value));
                metrics.putAll(trial.fixedWork().metrics());
                metrics.putAll(trial.privacy().metrics());
                latencies = trial.latencies();
                // One is drawn, so one is kept.
                timeline = key.number() == 1 ? trial.timeline().thinned() : null;
            }
        } catch (Server.ServerFailedException e) {
            // A result too: this collector does not run the service in this heap.
            failure = e.getMessage();
        }
        return new Invocation(setup, key.number(), key.seed(), started, (System.nanoTime() - start) / 1e9, metrics, failure, latencies, timeline);
    }

    /** Returns a time for people: to the minute where there are hours. */
    static String text(Duration time) {
        long seconds = time.toSeconds();
        return seconds < 90 ? seconds + " s" : seconds < 5400 ? Math.round(seconds / 60.0) + " min" : String.format(Locale.ROOT, "%d h %d min",
                seconds / 3600, seconds % 3600 / 60);
    }
}
