// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import lull.bench.report.TextTable;
import lull.bench.result.Cell;
import lull.bench.result.FixedWork;
import lull.bench.result.Invocation;
import lull.bench.result.LowerBoundOverhead;
import lull.bench.result.LowerBoundOverhead.Point;
import lull.bench.result.Privacy;
import lull.bench.util.Interval;
import lull.bench.util.Json;
import lull.report.page.Scale;

/** What a benchmark has found: text, and {@code index.html}, {@code bench.csv} and {@code bench.json} in its directory. */
final class BenchReport {
    /** What the table shows, with its headings, which tell the loop. */
    private static final Map<Metric, String> SHOWN = shown();

    private final Settings settings;
    private final List<Study> studies;
    private final Calibration.Wish wish;
    private final Path directory;

    /** What was found for one service. */
    record Findings(Study study, List<Cell> cells, LowerBoundOverhead wall, LowerBoundOverhead cpu) {
        static Findings of(Study study, Collection<Invocation> invocations) {
            List<Cell> cells = Cell.of(study.setups().keySet(), invocations);
            return new Findings(study, cells, Cell.overhead(cells, FixedWork::wallCost), Cell.overhead(cells, FixedWork::cpuCost));
        }
    }

    private static Map<Metric, String> shown() {
        Map<Metric, String> shown = new LinkedHashMap<>();
        shown.put(Metric.THROUGHPUT, "closed req/s");
        shown.put(Metric.CLOSED_CPU, "closed CPU ms/req");
        shown.put(Metric.CLOSED_GC_CPU, "of that gc");
        shown.put(Metric.CLOSED_JIT_CPU, "compilers");
        shown.put(Metric.P50, "open p50 ms");
        shown.put(Metric.P99, "open p99 ms");
        shown.put(Metric.P999, "open p99.9 ms");
        shown.put(Metric.UNANSWERED, "unanswered");
        shown.put(Metric.LONGEST_PAUSE_OPEN, "open pause ms");
        shown.put(Metric.RSS, "RSS MB");
        shown.put(Metric.OTHERS, "others %");
        return shown;
    }

    BenchReport(Settings settings, List<Study> studies, Calibration.Wish wish, Path directory) {
        this.settings = settings;
        this.studies = studies;
        this.wish = wish;
        this.directory = directory;
    }

    /** Writes all files; returns the text. */
    String write(Collection<Invocation> invocations) throws IOException {
        List<Findings> findings = studies.stream().map(study -> Findings.of(study, invocations)).toList();
        TextTable csv = new TextTable();
        csv.add(List.of("service", "collector", "heap_mb", "factor", "metric", "mean", "low", "high", "invocations", "missing"));
        List<Object> json = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (Findings found : findings) {
            for (Cell cell : found.cells) {
                addCsv(csv, found, cell);
            }
            json.add(json(found));
            text.append(found.study.workload().service()).append('\n').append(table(found)).append(denominators(found)).append("\n\n");
            if (hasPrivacy(found)) {
                text.append("private objects, per answer of the closed loop\n").append(privacy(found)).append('\n');
            }
            missing(found).forEach(reason -> text.append("missing: ").append(reason).append('\n'));
            caveats(found).forEach(caveat -> text.append("note: ").append(caveat).append('\n'));
        }
        if (findings.size() > 1) {
            text.append("\ngeometric means over services\n").append(means(findings));
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", Machine.here().toString());
        all.put("seed", settings.seed());
        all.put("services", json);
        Json.write(directory.resolve("bench.json"), all);
        Files.writeString(directory.resolve("bench.csv"), csv.csv());
        Files.writeString(directory.resolve("index.html"), new BenchPage(settings, findings, wish).write().toString());
        return text.toString();
    }

    private static Map<String, Interval> numbers(Findings found, Cell cell) {
        Map<String, Interval> numbers = new LinkedHashMap<>();
        numbers.put("lbo_wall", found.wall.of(cell.point()));
        numbers.put("lbo_cpu", found.cpu.of(cell.point()));
        if (cell.missing() == null) {
            cell.invocations().getFirst().metrics().keySet().forEach(name -> numbers.put(name, cell.mean(name)));
        }
        return numbers;
    }

    private static void addCsv(TextTable csv, Findings found, Cell cell) {
        String missing = cell.missing() == null ? "" : cell.missing();
        numbers(found, cell).forEach((name, value) -> csv.add(List.of(cell.setup().service(), cell.setup().collector(), "" + cell.setup().heap(),
                "" + cell.setup().factor(), name, number(value.value()), number(value.low()), number(value.high()), "" + value.count(), missing)));
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "" : "" + value;
    }

    private static Map<String, Object> json(Findings found) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("service", found.study.workload().service());
        map.put("options", found.study.workload().options());
        map.put("smallestHeapMegabytes", found.study.smallest());
        map.put("work", found.cells.isEmpty() ? "" : found.cells.getFirst().setup().work());
        map.put("denominatorWallSeconds", found.wall.denominator());
        map.put("denominatorCpuSeconds", found.cpu.denominator());
        map.put("missing", missing(found));
        map.put("caveats", caveats(found));
        List<Object> cells = new ArrayList<>();
        for (Cell cell : found.cells) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("collector", cell.setup().collector());
            entry.put("jdk", cell.setup().jdk());
            entry.put("libjvm", cell.setup().libjvm());
            entry.put("flags", cell.setup().flags());
            entry.put("heapMegabytes", cell.setup().heap());
            entry.put("factor", cell.setup().factor());
            entry.put("open", cell.setup().open());
            entry.put("missing", cell.missing());
            Map<String, Object> numbers = new LinkedHashMap<>();
            numbers(found, cell).forEach((name, value) -> numbers.put(name, List.of(value.value(), value.low(), value.high(), value.count())));
            entry.put("meanLowHighCount", numbers);
            entry.put("latencyPercentileMs", cell.latencies().curve().stream().map(p -> List.of(p.percentile(), p.millis())).toList());
            cells.add(entry);
        }
        map.put("cells", cells);
        return map;
    }

    /** Returns the table of a service: means, with half of the interval. */
    static TextTable table(Findings found) {
        TextTable table = new TextTable();
        List<String> heading = new ArrayList<>(List.of("heap", "collector", "n", "LBO wall", "LBO CPU"));
        heading.addAll(SHOWN.values());
        table.add(heading);
        for (Cell cell : found.cells) {
            List<String> row = new ArrayList<>(List.of(Scale.label(cell.setup().factor()) + "x (" + cell.setup().heap() + " MB)", cell.setup().collector(),
                    cell.missing() == null ? "" + cell.invocations().size() : "missing", ratio(found.wall.of(cell.point())), ratio(found.cpu.of(cell.point()))));
            for (Metric metric : SHOWN.keySet()) {
                Interval mean = cell.mean(metric.id());
                row.add(metric.format(mean.value()) + (mean.bounded() ? " ±" + metric.format(mean.high() - mean.value()) : ""));
            }
            table.add(row);
        }
        return table;
    }

    /** Does any collector tell private objects from public ones? */
    static boolean hasPrivacy(Findings found) {
        return found.cells.stream().anyMatch(cell -> !cell.values(Privacy.ALLOCATED).isEmpty());
    }

    /** Returns the table of what became of private objects, of those cells whose collector tells: means, with half of the interval. */
    static TextTable privacy(Findings found) {
        TextTable table = new TextTable();
        table.add(List.of("heap", "collector", "n", "allocated KB", "published KB", "published %", "local collections", "survived KB", "survived %"));
        for (Cell cell : found.cells) {
            if (cell.values(Privacy.ALLOCATED).isEmpty()) {
                continue;
            }
            double allocated = cell.mean(Privacy.ALLOCATED).value();
            table.add(List.of(Scale.label(cell.setup().factor()) + "x (" + cell.setup().heap() + " MB)", cell.setup().collector(),
                    "" + cell.invocations().size(), amount(cell, Privacy.ALLOCATED), amount(cell, Privacy.PUBLISHED), percent(cell, Privacy.PUBLISHED, allocated),
                    amount(cell, Privacy.COLLECTIONS), amount(cell, Privacy.SURVIVED), percent(cell, Privacy.SURVIVED, allocated)));
        }
        return table;
    }

    private static String amount(Cell cell, String metric) {
        Interval mean = cell.mean(metric);
        return String.format(Locale.ROOT, "%.2f", mean.value()) + (mean.bounded() ? String.format(Locale.ROOT, " ±%.2f", mean.high() - mean.value()) : "");
    }

    private static String percent(Cell cell, String metric, double allocated) {
        return String.format(Locale.ROOT, "%.1f", 100 * cell.mean(metric).value() / allocated);
    }

    private static String ratio(Interval value) {
        return Double.isNaN(value.value()) ? "-" : String.format(Locale.ROOT, "%.3f", value.value())
                + (value.bounded() ? String.format(Locale.ROOT, " ±%.3f", value.high() - value.value()) : "");
    }

    /** Tells the denominators, without which the overheads say little. */
    static String denominators(Findings found) {
        if (found.wall.best() == null) {
            return "no point yet";
        }
        return String.format(Locale.ROOT, "denominators: %.2f s of wall time (%s at %sx), %.2f s of processor time (%s at %sx)", found.wall.denominator(),
                found.wall.best().collector(), Scale.label(found.wall.best().heap()), found.cpu.denominator(), found.cpu.best().collector(),
                Scale.label(found.cpu.best().heap()));
    }

    /** Returns what a reader must know of the open loop before believing its latencies. */
    static List<String> caveats(Findings found) {
        List<String> caveats = new ArrayList<>();
        for (Cell cell : found.cells) {
            if (cell.missing() != null || cell.setup().open().isEmpty()) {
                continue;
            }
            String name = cell.setup().collector() + " at " + Scale.label(cell.setup().factor()) + "x";
            double unanswered = cell.values(Metric.UNANSWERED.id()).stream().mapToDouble(Double::doubleValue).sum();
            double throughput = cell.mean(Metric.THROUGHPUT.id()).value();
            if (unanswered > 0) {
                caveats.add(DemoPage.couldNotKeepUp(name, unanswered));
            } else if (found.study.work().rate() > throughput) {
                caveats.add(DemoPage.rateIsAbove(name, throughput));
            }
        }
        return caveats;
    }

    /** Returns what is missing, and why. */
    static List<String> missing(Findings found) {
        List<String> missing = new ArrayList<>(found.study.left());
        for (Cell cell : found.cells) {
            if (cell.missing() != null) {
                missing.add(cell.setup().service() + " on " + cell.setup().collector() + " at " + Scale.label(cell.setup().factor()) + "x: " + cell.missing());
            }
        }
        return missing;
    }

    /** Returns geometric means of the overheads: at each heap, over the services that miss no collector there. */
    static TextTable means(List<Findings> findings) {
        Map<String, LowerBoundOverhead> wall = new LinkedHashMap<>();
        Map<String, LowerBoundOverhead> cpu = new LinkedHashMap<>();
        Set<Double> factors = new LinkedHashSet<>();
        Set<String> collectors = new LinkedHashSet<>();
        for (Findings found : findings) {
            wall.put(found.study.workload().service(), found.wall);
            cpu.put(found.study.workload().service(), found.cpu);
            for (Cell cell : found.cells) {
                // Epsilon's heaps are of no common multiple.
                if (!cell.setup().collector().equals("epsilon")) {
                    factors.add(cell.setup().factor());
                    collectors.add(cell.setup().collector());
                }
            }
        }
        TextTable table = new TextTable();
        table.add(List.of("heap", "collector", "LBO wall", "LBO CPU", "services"));
        for (double factor : factors) {
            List<Point> points = collectors.stream().map(c -> new Point(c, factor)).toList();
            Map<String, LowerBoundOverhead> whole = LowerBoundOverhead.complete(wall, points);
            List<LowerBoundOverhead> wholeCpu = whole.keySet().stream().map(cpu::get).toList();
            for (Point point : points) {
                table.add(List.of(Scale.label(factor) + "x", point.collector(), mean(whole.values(), point), mean(wholeCpu, point),
                        whole.isEmpty() ? "none is complete" : String.join(" ", whole.keySet())));
            }
        }
        return table;
    }

    private static String mean(Collection<LowerBoundOverhead> services, Point point) {
        double mean = LowerBoundOverhead.geometricMean(services, point);
        return Double.isNaN(mean) ? "-" : String.format(Locale.ROOT, "%.3f", mean);
    }
}
