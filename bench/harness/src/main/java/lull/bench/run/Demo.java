// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import lull.bench.load.Phase;
import lull.bench.report.TextTable;
import lull.bench.util.Cli;
import lull.bench.util.Json;
import lull.report.page.Scale;

/**
 * The demo: the same service, heap and load on Lull and on G1, one after the other; then one page, a table, CSV and JSON.
 * See {@code bench/demo.sh} for what the environment can change.
 */
public final class Demo {
    private static final String USAGE = "demo.sh (no arguments; settings are environment variables, see `demo.sh --help`)";

    private Demo() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of(), args, cli -> run(Settings.of(System.getenv())));
    }

    private static int run(Settings settings) throws Exception {
        List<Collector> collectors = Collector.of(settings, settings.words("COLLECTORS", "lull g1"));
        double seconds = settings.decimal("LULL_DEMO_SECONDS", 60, 8, 3600);
        double warmup = settings.decimal("LULL_DEMO_WARMUP", 60, 1, 3600);
        double share = settings.decimal("LULL_DEMO_LOAD", 0.5, 0.01, 2);
        double factor = settings.decimal("LULL_DEMO_FACTOR", 2, 0.1, 100);
        Workload workload = new Workload(settings, settings.text("SERVICE", "compile"));
        Path directory = settings.build().resolve("demo");
        Files.createDirectories(directory);
        for (Collector collector : collectors) {
            workload.prepare(collector.java());
        }

        Heap heap = heap(settings, workload, factor);
        String rate = settings.environment().apply("LULL_DEMO_RATE");
        String rateOrigin = "given by LULL_DEMO_RATE";
        if (rate != null) {
            Cli.decimal("LULL_DEMO_RATE", rate, 0.001, 1e6);
        }
        Map<String, Trial> trials = new LinkedHashMap<>();
        for (Collector collector : calibratingFirst(collectors)) {
            System.out.printf("%s: %d MB heap, %.0f s warm-up, %.0f s measured%n", collector.label(), heap.megabytes(), warmup, seconds);
            Load load = new Load(warmup, seconds / 4, Load.UNLIMITED, seconds * 3 / 4, rate == null ? "auto:" + share : rate, 5);
            Trial trial = Trial.run(workload, collector, heap.megabytes(), load, Server.Allowance.ready(300), directory.resolve(collector.name()),
                    line -> System.out.println("  " + collector.label() + "  " + line));
            trials.put(collector.name(), trial);
            if (rate == null) {
                rate = "" + trial.number("open", "rate");
                rateOrigin = Math.round(100 * share) + " % of the closed-loop throughput of " + collector.label();
            }
        }
        List<Trial> ordered = collectors.stream().map(c -> trials.get(c.name())).toList();
        return report(settings, workload, ordered, directory, heap.origin(), rateOrigin);
    }

    /** The heap of all collectors, and why it is that one, for the page. */
    record Heap(int megabytes, String origin) { }

    /** A search takes a dozen runs of the service: it is left out where somebody has searched before. */
    static Heap heap(Settings settings, Workload workload, double factor) throws IOException, InterruptedException {
        int given = (int) settings.number("LULL_DEMO_HEAP", 0, 8, 1 << 20);
        if (given > 0) {
            return new Heap(given, "given by LULL_DEMO_HEAP");
        }
        String of = Scale.label(factor) + " times the smallest heap in which G1 runs the service, ";
        OptionalInt known = settings.number("SEARCH", 0, 0, 1) == 1 ? OptionalInt.empty() : workload.knownSmallestHeap();
        if (known.isPresent()) {
            return new Heap((int) Math.round(factor * known.getAsInt()),
                    of + known.getAsInt() + " MB (as known from other machines: make demo SEARCH=1 searches on this one, which takes some minutes more)");
        }
        Collector g1 = Collector.of(settings, "g1");
        workload.prepare(g1.java());
        int smallest = MinHeap.find(settings, workload, g1, System.out::println);
        return new Heap((int) Math.round(factor * smallest), of + smallest + " MB (" + MinHeap.method(settings) + ")");
    }

    /** The first collector that runs sets the rate for all: G1 if it takes part. */
    private static List<Collector> calibratingFirst(List<Collector> collectors) {
        List<Collector> order = new ArrayList<>(collectors);
        order.sort((a, b) -> Boolean.compare(b.name().equals("g1"), a.name().equals("g1")));
        return order;
    }

    private static int report(Settings settings, Workload workload, List<Trial> trials, Path directory, String heapOrigin, String rateOrigin)
            throws IOException, InterruptedException {
        TextTable table = new TextTable();
        TextTable csv = new TextTable();
        List<String> heading = new ArrayList<>(trials.stream().map(t -> t.collector().label()).toList());
        heading.addFirst("");
        table.add(heading);
        csv.add(List.of("collector", "heap_mb", "metric", "unit", "value"));
        for (Metric metric : Metric.values()) {
            List<String> row = new ArrayList<>(List.of(metric.heading()));
            for (Trial trial : trials) {
                double value = trial.metrics().get(metric);
                row.add(metric.format(value));
                csv.add(List.of(trial.collector().name(), "" + trial.heap(), metric.id(), metric.unit(), Double.isNaN(value) ? "" : "" + value));
            }
            table.add(row);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("machine", Machine.here().toString());
        json.put("heap", heapOrigin);
        json.put("rate", rateOrigin);
        json.put("seed", settings.seed());
        List<Object> runs = new ArrayList<>();
        for (Trial trial : trials) {
            runs.add(trial.json());
        }
        json.put("runs", runs);
        Json.write(directory.resolve("demo.json"), json);
        Files.writeString(directory.resolve("demo.csv"), csv.csv());
        Files.writeString(directory.resolve("index.html"),
                new DemoPage(settings, workload, trials, heapOrigin, rateOrigin, table).write().toString());

        System.out.printf(Locale.ROOT, "%nheap %d MB, open loop at %.1f requests/s (%s), seed %d%n%n", trials.getFirst().heap(),
                trials.getFirst().number("open", "rate"), rateOrigin, settings.seed());
        System.out.println(table);
        DemoPage.caveats(trials).forEach(caveat -> System.out.println("note: " + caveat));
        System.out.println("page: " + directory.resolve("index.html") + "   numbers: demo.csv, demo.json beside it");
        long errors = trials.stream().mapToLong(Trial::errors).sum();
        if (errors > 0) {
            System.err.println("error: " + errors + " requests failed or had a wrong answer; samples are in " + directory.resolve("demo.json"));
        }
        long hanging = trials.stream().mapToLong(Trial::unansweredClosed).sum();
        if (hanging > 0) {
            System.err.println("error: " + hanging + " requests of closed loops had no answer " + Phase.DRAIN_SECONDS + " s after the end: the throughput is not to be trusted");
        }
        return errors == 0 && hanging == 0 ? 0 : 1;
    }
}
