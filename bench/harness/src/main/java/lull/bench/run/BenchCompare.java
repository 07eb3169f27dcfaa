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
import lull.bench.report.TextTable;
import lull.bench.result.Comparison;
import lull.bench.result.Comparison.Pair;
import lull.bench.result.Invocation;
import lull.bench.result.ResultsFile;
import lull.bench.util.Cli;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Interval;
import lull.report.page.Scale;

/** Compares two results files and fails if something became slower beyond noise. See {@code bench/bench-compare.sh}. */
public final class BenchCompare {
    private static final String USAGE = "A=FILE B=FILE bench-compare.sh (see `bench-compare.sh --help`)";
    private static final String WORK_CPU = "work_cpu_s";
    /** What is compared: the names of metrics, and how they are headed. Throughput is the only one of which more is better. */
    private static final Map<String, String> COMPARED = compared();

    private BenchCompare() { }

    private static Map<String, String> compared() {
        Map<String, String> compared = new LinkedHashMap<>();
        compared.put(Metric.THROUGHPUT.id(), "time per request");
        compared.put(WORK_CPU, "CPU time");
        for (Metric metric : List.of(Metric.P50, Metric.P99, Metric.P999, Metric.LONGEST_PAUSE)) {
            compared.put(metric.id(), metric.id());
        }
        return compared;
    }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of(), args, cli -> run(System.getenv()));
    }

    private static int run(Map<String, String> environment) throws IOException {
        String slower = environment.getOrDefault("BENCH_SLOWER", "");
        double limit = slower.isBlank() ? 1.02 : Cli.decimal("BENCH_SLOWER", slower, 1, 100);
        List<String> only = List.of(environment.getOrDefault("COLLECTORS", "").trim().split("\\s+"));
        Comparison comparison = new Comparison(read(environment, "A", only), read(environment, "B", only));
        comparison.variants().forEach(System.out::println);
        System.out.println();
        if (comparison.pairs().isEmpty()) {
            comparison.unpaired().forEach(System.out::println);
            throw new IOException("A and B have no cell in common: they must have the same services, collectors, heaps, work and machine");
        }
        List<String> verdicts = new ArrayList<>();
        System.out.println(table(comparison, limit, verdicts));
        System.out.println("B / A; throughput as time per request, so that above 1 is worse everywhere. '!': the whole 95 % interval is above " + limit
                + "; '+': it is below " + Scale.label(1 / limit));
        comparison.unpaired().forEach(System.out::println);
        verdicts.forEach(System.out::println);
        System.out.println(conclusion(comparison, verdicts));
        return verdicts.isEmpty() ? 0 : 1;
    }

    /** Says what the table comes to. Runs that cannot tell noise from a difference do not say that there is none. */
    static String conclusion(Comparison comparison, List<String> verdicts) {
        if (!verdicts.isEmpty()) {
            return verdicts.size() + " became slower beyond noise";
        }
        List<Pair> run = comparison.pairs().stream().filter(pair -> pair.a().missing() == null && pair.b().missing() == null).toList();
        List<Pair> bounded = run.stream().filter(BenchCompare::isBounded).toList();
        if (bounded.isEmpty()) {
            return run.stream().allMatch(pair -> pair.a().invocations().size() == 1 && pair.b().invocations().size() == 1) ? "one run each: no intervals, no verdict"
                    : "too few runs: no intervals, no verdict";
        }
        return "nothing became slower beyond noise" + (bounded.size() < run.size() ? "; " + (run.size() - bounded.size()) + " have too few runs for a verdict" : "");
    }

    private static boolean isBounded(Pair pair) {
        return COMPARED.keySet().stream().anyMatch(metric -> pair.slowdown(metric, metric.equals(Metric.THROUGHPUT.id())).bounded());
    }

    private static List<Invocation> read(Map<String, String> environment, String name, List<String> only) throws IOException {
        String file = environment.getOrDefault(name, "");
        if (!Files.exists(Path.of(file)) || file.isEmpty()) {
            throw new UsageException(name + " is '" + file + "', which is no file");
        }
        List<Invocation> all = ResultsFile.read(Path.of(file), warning -> System.err.println("warning: " + warning)).invocations();
        return all.stream().filter(i -> only.getFirst().isEmpty() || only.contains(i.setup().collector())).toList();
    }

    /** Returns the ratios; adds a line to {@code verdicts} for each that became slower beyond noise. */
    static TextTable table(Comparison comparison, double limit, List<String> verdicts) {
        TextTable table = new TextTable();
        List<String> heading = new ArrayList<>(List.of("service", "collector", "heap", "n"));
        heading.addAll(COMPARED.values());
        table.add(heading);
        for (Pair pair : comparison.pairs()) {
            String service = pair.a().setup().service();
            String collector = pair.a().setup().collector();
            String heap = pair.a().setup().heap() + " MB";
            List<String> row = new ArrayList<>(List.of(service, collector, heap, pair.a().invocations().size() + ", " + pair.b().invocations().size()));
            if (pair.b().missing() != null) {
                verdicts.add("slower: " + service + " on " + collector + " in " + heap + " runs in A and not in B: " + pair.b().missing());
            }
            COMPARED.forEach((metric, title) -> {
                Interval ratio = pair.slowdown(metric, metric.equals(Metric.THROUGHPUT.id()));
                boolean worse = ratio.bounded() && ratio.low() > limit;
                boolean better = ratio.bounded() && ratio.high() < 1 / limit;
                if (worse) {
                    verdicts.add("slower: " + service + " on " + collector + " in " + heap + ": " + title + " " + text(ratio));
                }
                row.add(text(ratio) + (worse ? " !" : better ? " +" : "  "));
            });
            table.add(row);
        }
        return table;
    }

    private static String text(Interval ratio) {
        if (Double.isNaN(ratio.value())) {
            return "-";
        }
        return String.format(Locale.ROOT, "%.3f", ratio.value())
                + (ratio.bounded() ? String.format(Locale.ROOT, " [%.3f-%.3f]", ratio.low(), ratio.high()) : "");
    }
}
