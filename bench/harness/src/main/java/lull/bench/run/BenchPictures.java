// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import lull.bench.result.Cell;
import lull.bench.util.Interval;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Chart.Range;
import lull.report.page.Markup;
import lull.report.page.Page.Key;
import lull.report.page.Scale;

/** The pictures of one service of a benchmark: a line per collector, its gaps where points are missing, intervals as vertical lines. */
final class BenchPictures {
    private static final double HEIGHT = 270;
    /** How far the points of two collectors in the same heap are apart. */
    private static final double APART = 5;
    /** Collectors that have a colour of their own in the style sheet. */
    private static final Set<String> COLOURED = Set.of("lull", "lull-whole", "lull-global", "lull-tracking", "lull-barrier", "g1", "parallel", "serial", "zgc", "shenandoah", "epsilon", "g1-base");
    /** The marks of the axis of percentiles: how many nines, and how that is called. */
    private static final Map<Double, String> NINES = new TreeMap<>(Map.of(-Math.log10(0.5), "p50", 1.0, "p90", 2.0, "p99", 3.0, "p99.9", 4.0, "p99.99",
            5.0, "p99.999"));
    /** The heap of the pictures over time: the one nearest to this multiple of the smallest. */
    private static final double TYPICAL = 2;

    private final List<Cell> cells;
    private final List<String> collectors;
    private final List<Double> factors;

    /** Takes the cells of a service; Epsilon's heap is far off the others, so it is in the tables only. */
    BenchPictures(List<Cell> all) {
        cells = all.stream().filter(c -> !c.setup().collector().equals("epsilon")).toList();
        collectors = cells.stream().map(c -> c.setup().collector()).distinct().toList();
        factors = cells.stream().map(c -> c.setup().factor()).distinct().sorted().toList();
    }

    /** Returns the colour class of a collector. */
    static String colour(String collector) {
        return COLOURED.contains(collector) ? collector : "other";
    }

    List<Double> factors() {
        return factors;
    }

    List<Key> keys() {
        return collectors.stream().map(c -> new Key(colour(c), "line", c)).toList();
    }

    /** Returns the keys of those collectors that have the metric. */
    List<Key> keysOf(String metric) {
        return collectors.stream().filter(name -> cells.stream().anyMatch(c -> c.setup().collector().equals(name) && !c.values(metric).isEmpty()))
                .map(c -> new Key(colour(c), "line", c)).toList();
    }

    /**
     * Draws a value over the heap.
     *
     * @param from the least value of the axis, if that is linear
     */
    Markup overHeap(String description, String unit, boolean log, double from, Function<Cell, Interval> value) {
        Chart chart = new Chart(HEIGHT, description);
        chart.yAxis(axis(chart, cells.stream().map(value).toList(), log, from), unit);
        double margin = Math.max(0.1, 0.06 * (factors.getLast() - factors.getFirst()));
        // Beside each other, as intervals would cover each other.
        double apart = APART * (factors.getLast() - factors.getFirst() + 2 * margin) / (Chart.RIGHT - Chart.LEFT);
        chart.xAxis(Scale.linear(factors.getFirst() - margin, factors.getLast() + margin, Chart.LEFT, Chart.RIGHT), factors, at -> Scale.label(at) + "x",
                "heap, as a multiple of the smallest of G1");
        for (String collector : collectors) {
            double shift = apart * (collectors.indexOf(collector) - (collectors.size() - 1) / 2.0);
            List<Entry> entries = cells.stream().filter(c -> c.setup().collector().equals(collector))
                    .map(c -> new Entry(c.setup().factor() + shift, value.apply(c))).toList();
            draw(chart, colour(collector), entries);
        }
        return chart.end();
    }

    /**
     * Draws latency by percentile, both axes logarithmic, in the heap of {@code factor}: all requests of all invocations together. A curve ends with
     * its slowest request.
     */
    Markup percentiles(double factor) {
        Map<String, List<Point>> curves = new LinkedHashMap<>();
        double low = Double.MAX_VALUE;
        double high = 0.1;
        double nines = 3;
        for (Cell cell : cells) {
            if (cell.setup().factor() == factor && cell.latencies().count() > 0) {
                List<Point> curve = cell.latencies().curve().stream().map(p -> new Point(p.nines(), Math.max(p.millis(), 0.001))).toList();
                curves.put(cell.setup().collector(), curve);
                low = Math.min(low, curve.getFirst().y());
                high = Math.max(high, curve.getLast().y());
                nines = Math.max(nines, curve.getLast().x());
            }
        }
        Chart chart = new Chart(HEIGHT, "Latency by percentile in the heap of " + Scale.label(factor) + " times the smallest");
        chart.yAxis(Scale.log(Math.max(Math.min(low, high / 10), 0.001), high, chart.bottom(), Chart.TOP), "ms");
        double last = nines;
        chart.xAxis(Scale.linear(0, last, Chart.LEFT, Chart.RIGHT - 14), NINES.keySet().stream().filter(at -> at <= last).toList(), NINES::get,
                "share of requests that were faster, in %");
        curves.forEach((collector, curve) -> chart.line(colour(collector), curve).dots(colour(collector), 2.8, List.of(curve.getLast())));
        return chart.end();
    }

    /** Returns the multiple of the smallest heap whose cells are drawn over time. */
    double typicalFactor() {
        return factors.stream().min(Comparator.comparingDouble(f -> Math.abs(f - TYPICAL))).orElse(TYPICAL);
    }

    /** Returns those cells in the typical heap of which a timeline was kept. */
    List<Cell> overTime() {
        return cells.stream().filter(c -> c.setup().factor() == typicalFactor() && c.timeline() != null).toList();
    }

    private record Entry(double x, Interval value) { }

    private static Scale axis(Chart chart, List<Interval> values, boolean log, double from) {
        double low = Double.MAX_VALUE;
        double high = 0;
        for (Interval value : values) {
            if (!Double.isNaN(value.value())) {
                low = Math.min(low, value.value());
                // A very wide interval is cut off: it would squeeze all lines into one.
                high = Math.max(high, value.bounded() ? Math.min(value.high(), 2 * value.value()) : value.value());
            }
        }
        return log ? Scale.log(Math.max(Math.min(low, high), 0.01), Math.max(high, 0.1), chart.bottom(), Chart.TOP)
                : Scale.linear(from, Math.max(high, from) * 1.02, chart.bottom(), Chart.TOP);
    }

    /** A missing entry parts the line. */
    private static void draw(Chart chart, String colour, List<Entry> entries) {
        List<Point> points = new ArrayList<>();
        List<Point> all = new ArrayList<>();
        List<Range> ranges = new ArrayList<>();
        for (Entry entry : entries) {
            if (Double.isNaN(entry.value.value())) {
                chart.line(colour, points);
                points = new ArrayList<>();
            } else {
                points.add(new Point(entry.x, entry.value.value()));
                all.add(points.getLast());
                if (entry.value.bounded()) {
                    ranges.add(new Range(entry.x, entry.value.low(), entry.value.high()));
                }
            }
        }
        chart.line(colour, points).ranges(colour, ranges).dots(colour, 2.8, all);
    }
}
