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
import java.util.Set;
import lull.bench.load.Phase;
import lull.bench.report.TextTable;
import lull.bench.util.Cli;
import lull.bench.util.Json;
import lull.bench.util.Stats;
import lull.report.page.Scale;

/**
 * The comparison: each collector at some multiples of the smallest heap of G1, repeated, interleaved, with medians and spread, and
 * the smallest heap of each collector. The open-loop rate of a heap is the same for all collectors. See {@code bench/compare.sh}.
 */
public final class Compare {
    private static final String USAGE = "compare.sh (no arguments; settings are environment variables, see `compare.sh --help`)";
    private static final List<Metric> SHOWN = List.of(Metric.THROUGHPUT, Metric.P50, Metric.P99, Metric.P999, Metric.LONGEST_PAUSE_OPEN, Metric.RSS,
            Metric.GC_CPU, Metric.OTHERS, Metric.ERRORS);

    /** All runs of one collector in one heap: a failed run has the reason and no numbers. */
    private record Cell(double factor, int heap, Collector collector, List<Map<Metric, Double>> runs, List<String> failures) { }

    private final Settings settings;
    private final Workload workload;
    private final List<Collector> collectors;
    private final Path directory;
    private final Map<Double, String> rates = new LinkedHashMap<>();
    private final List<Object> runs = new ArrayList<>();

    private Compare(Settings settings) {
        this.settings = settings;
        this.workload = new Workload(settings, settings.text("SERVICE", "compile"));
        this.collectors = Collector.of(settings, settings.words("COLLECTORS", "lull g1 parallel serial"));
        this.directory = settings.build().resolve("compare");
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of(), args, cli -> new Compare(Settings.of(System.getenv())).run());
    }

    private int run() throws Exception {
        int repeats = (int) settings.number("COMPARE_REPEATS", 3, 1, 100);
        double warmup = settings.decimal("COMPARE_WARMUP", 30, 1, 3600);
        double closed = settings.decimal("COMPARE_CLOSED", 15, 1, 3600);
        double open = settings.decimal("COMPARE_OPEN", 45, 1, 3600);
        double share = settings.decimal("COMPARE_LOAD", 0.5, 0.01, 2);
        List<Double> factors = new ArrayList<>();
        for (String word : settings.words("COMPARE_FACTORS", "1.5 2 3")) {
            factors.add(Cli.decimal("COMPARE_FACTORS", word, 0.1, 100));
        }
        boolean smallestOfAll = settings.number("COMPARE_MINHEAP", 1, 0, 1) == 1;
        Files.createDirectories(directory);
        Collector g1 = Collector.of(settings, "g1");
        workload.prepare(g1.java());
        for (Collector collector : collectors) {
            workload.prepare(collector.java());
        }

        Map<String, Integer> smallest = new LinkedHashMap<>();
        smallest.put("g1", MinHeap.find(settings, workload, g1, System.out::println));
        for (Collector collector : smallestOfAll ? collectors : List.<Collector>of()) {
            smallest.put(collector.name(), MinHeap.findOrWarn(settings, workload, collector).orElse(-1));
        }

        List<Cell> cells = new ArrayList<>();
        for (double factor : factors) {
            int heap = (int) Math.round(factor * smallest.get("g1"));
            for (Collector collector : collectors) {
                cells.add(new Cell(factor, heap, collector, new ArrayList<>(), new ArrayList<>()));
            }
        }
        int total = repeats * cells.size();
        int done = 0;
        // Repeats are the outer loop, so that a disturbance of some minutes does not fall on one cell alone.
        for (int repeat = 1; repeat <= repeats; repeat++) {
            for (Cell cell : calibratingFirst(cells)) {
                String rate = settings.text("COMPARE_RATE", rates.getOrDefault(cell.factor, "auto:" + share));
                System.out.printf(Locale.ROOT, "run %d of %d: %s, %sx (%d MB), repeat %d%n", ++done, total, cell.collector.label(),
                        Scale.label(cell.factor), cell.heap, repeat);
                runCell(cell, repeat, new Load(warmup, closed, Load.UNLIMITED, open, rate, 10));
                // After every run, so that an interrupted comparison is not lost.
                report(cells, smallest, repeats);
            }
        }
        System.out.println();
        System.out.println(report(cells, smallest, repeats));
        System.out.println("files: " + directory.resolve("compare.txt") + ", compare.csv, compare.json");
        boolean errors = cells.stream().anyMatch(c -> !c.failures.isEmpty() || c.runs.stream().anyMatch(m -> m.get(Metric.ERRORS) > 0));
        return errors ? 1 : 0;
    }

    /** The first run of a heap sets its rate: G1's, if it takes part. */
    private static List<Cell> calibratingFirst(List<Cell> cells) {
        List<Cell> order = new ArrayList<>(cells);
        order.sort((a, b) -> a.factor != b.factor ? Double.compare(a.factor, b.factor)
                : Boolean.compare(b.collector.name().equals("g1"), a.collector.name().equals("g1")));
        return order;
    }

    private void runCell(Cell cell, int repeat, Load load) throws IOException, InterruptedException {
        try {
            Path files = directory.resolve(cell.collector.name() + "-" + cell.heap + "-" + repeat);
            Trial trial = Trial.run(workload, cell.collector, cell.heap, load, Server.Allowance.ready(300), files, line -> System.out.println("  " + line));
            rates.putIfAbsent(cell.factor, "" + trial.number("open", "rate"));
            runs.add(trial.json());
            if (trial.unansweredClosed() > 0) {
                cell.failures.add(trial.unansweredClosed() + " requests of closed loops had no answer " + Phase.DRAIN_SECONDS + " s after the end");
                System.out.println("  " + cell.failures.getLast());
            } else {
                cell.runs.add(trial.metrics());
            }
        } catch (Server.ServerFailedException e) {
            // A result too: this collector does not run the service in this heap.
            System.out.println("  " + e.getMessage());
            cell.failures.add(e.getMessage());
        }
    }

    /** Writes all files; returns the text. */
    private String report(List<Cell> cells, Map<String, Integer> smallest, int repeats) throws IOException {
        TextTable table = new TextTable();
        TextTable csv = new TextTable();
        List<String> heading = new ArrayList<>(List.of("heap", "collector", "runs"));
        SHOWN.forEach(metric -> heading.add(shortName(metric)));
        table.add(heading);
        csv.add(List.of("factor", "heap_mb", "collector", "metric", "unit", "median", "min", "max", "runs", "failed"));
        for (Cell cell : cells) {
            List<String> row = new ArrayList<>(List.of(Scale.label(cell.factor) + "x (" + cell.heap + " MB)", cell.collector.label(),
                    cell.runs.size() + (cell.failures.isEmpty() ? "" : " (" + cell.failures.size() + " failed)")));
            for (Metric metric : SHOWN) {
                List<Double> values = cell.runs.stream().map(m -> m.get(metric)).toList();
                row.add(values.isEmpty() ? "-" : values.size() == 1 ? metric.format(values.getFirst())
                        : metric.format(Stats.median(values)) + " [" + metric.format(Stats.min(values)) + "-" + metric.format(Stats.max(values)) + "]");
            }
            for (Metric metric : Metric.values()) {
                List<Double> values = cell.runs.stream().map(m -> m.get(metric)).toList();
                if (!values.isEmpty()) {
                    csv.add(List.of("" + cell.factor, "" + cell.heap, cell.collector.name(), metric.id(), metric.unit(), "" + Stats.median(values),
                            "" + Stats.min(values), "" + Stats.max(values), "" + values.size(), "" + cell.failures.size()));
                }
            }
            table.add(row);
        }
        StringBuilder text = new StringBuilder("medians [smallest-largest] of up to " + repeats + " runs; " + Machine.here() + "\n\n" + table
                + "\nsmallest heaps (MB):");
        smallest.forEach((name, heap) -> text.append(' ').append(name).append(' ').append(heap < 0 ? "does not run" : "" + heap));
        text.append("\nopen-loop rates (/s):");
        rates.forEach((factor, rate) -> text.append(' ').append(Scale.label(factor)).append("x: ").append(rate));
        text.append('\n');

        Map<String, Object> json = new LinkedHashMap<>();
        json.put("machine", Machine.here().toString());
        json.put("minHeapMethod", MinHeap.method(settings));
        json.put("smallestHeaps", smallest);
        json.put("seed", settings.seed());
        json.put("runs", runs);
        Json.write(directory.resolve("compare.json"), json);
        Files.writeString(directory.resolve("compare.csv"), csv.csv());
        Files.writeString(directory.resolve("compare.txt"), text);
        return text.toString();
    }

    private static String shortName(Metric metric) {
        return switch (metric) {
            case THROUGHPUT -> "req/s";
            case LONGEST_PAUSE_OPEN -> "pause ms";
            case RSS -> "RSS MB";
            case GC_CPU -> "gc CPU ms/req";
            case OTHERS -> "others %";
            case ERRORS -> "errors";
            default -> metric.id() + " " + metric.unit();
        };
    }
}
