// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Page.Key;
import lull.report.page.Scale;

/** The pictures: colours tell coalescings, strokes tell searches. */
final class Pictures {
    /** One line of a picture. */
    record Line(String search, String coalescing) {
        Key key() {
            return new Key(coalescing, stroke(), coalescing + ", " + search);
        }

        String stroke() {
            return switch (search) {
                case "traverse" -> "dashed";
                case "bitmap" -> "dotted";
                default -> "line";
            };
        }
    }

    private static final double HEIGHT = 260;

    private final Study study;

    Pictures(Study study) {
        this.study = study;
    }

    static List<Key> keys(List<Line> lines) {
        return lines.stream().map(Line::key).toList();
    }

    /** Draws milliseconds of all of a program over the heap; both axes are logarithmic. Heaps in which a policy does not fit have no point. */
    Markup overHeap(String trace, List<Line> lines, ToDoubleFunction<Row> nanoseconds) {
        List<List<Point>> points = new ArrayList<>();
        for (Line line : lines) {
            points.add(study.over(trace, line.search, line.coalescing).stream().map(r -> new Point(study.factor(r), nanoseconds.applyAsDouble(r) / 1e6)).toList());
        }
        double low = points.stream().flatMap(List::stream).mapToDouble(Point::y).min().orElse(1);
        double high = points.stream().flatMap(List::stream).mapToDouble(Point::y).max().orElse(1);
        List<Double> factors = study.factors();
        Chart chart = new Chart(HEIGHT, "Milliseconds over the heap, " + trace);
        chart.yAxis(Scale.log(Math.max(low, 1e-3), Math.max(high, 2e-3), chart.bottom(), Chart.TOP), "ms");
        // The factors crowd near 1: an axis by logarithm of what is above the smallest heap.
        Scale place = Scale.log(factors.getFirst() - 0.99, factors.getLast() - 0.99, Chart.LEFT, Chart.RIGHT - 10);
        List<Double> marks = factors.stream().map(f -> f - 0.99).toList();
        chart.xAxis(place, marks, m -> Scale.label(Math.round((m + 0.99) * 100) / 100.0), "heap, multiples of the smallest");
        for (int i = 0; i < lines.size(); i++) {
            String classes = lines.get(i).coalescing + " " + lines.get(i).stroke();
            List<Point> moved = points.get(i).stream().map(p -> new Point(p.x() - 0.99, p.y())).toList();
            chart.line(classes, moved).dots(classes, 2.4, moved);
        }
        return chart.end();
    }

    /** Draws management time over the number of lists. */
    Markup overLists(String trace, List<Line> lines) {
        List<List<Point>> points = new ArrayList<>();
        for (Line line : lines) {
            points.add(study.lists().stream()
                    .filter(r -> r.is("trace", trace) && r.is("search", line.search) && r.is("coalescing", line.coalescing) && r.fits())
                    .map(r -> new Point(Math.log(r.number("lists")) / Math.log(2), r.number("management_ns") / 1e6)).toList());
        }
        double high = points.stream().flatMap(List::stream).mapToDouble(Point::y).max().orElse(1);
        Chart chart = new Chart(HEIGHT, "Management time over the number of lists, " + trace);
        chart.yAxis(Scale.linear(0, high * 1.05, chart.bottom(), Chart.TOP), "ms");
        chart.xAxis(Scale.linear(4.8, 9.2, Chart.LEFT, Chart.RIGHT), List.of(5.0, 6.0, 7.0, 8.0, 9.0), m -> String.valueOf(Math.round(Math.pow(2, m))), "lists");
        for (int i = 0; i < lines.size(); i++) {
            String classes = lines.get(i).coalescing + " " + lines.get(i).stroke();
            chart.line(classes, points.get(i)).dots(classes, 2.4, points.get(i));
        }
        return chart.end();
    }

    /** Draws traversals for each allocation along the program, by the traversing search. */
    Markup overTime(String trace) {
        Chart chart = new Chart(HEIGHT, "Traversals over time, " + trace);
        List<List<Point>> points = new ArrayList<>();
        for (String coalescing : Study.COALESCINGS) {
            points.add(study.overTime().get(coalescing).stream().filter(r -> r.is("trace", trace))
                    .map(r -> new Point(r.number("allocations") / 1000, r.number("traversals_per_allocation"))).toList());
        }
        double high = points.stream().flatMap(List::stream).mapToDouble(Point::y).max().orElse(1);
        double last = points.stream().flatMap(List::stream).mapToDouble(Point::x).max().orElse(1);
        chart.yAxis(Scale.linear(0, high * 1.05, chart.bottom(), Chart.TOP), "each");
        Scale x = Scale.linear(0, last, Chart.LEFT, Chart.RIGHT);
        chart.xAxis(x, x.marks(6), Scale::label, "thousand allocations");
        for (int i = 0; i < points.size(); i++) {
            chart.line(Study.COALESCINGS.get(i) + " thin", points.get(i));
        }
        return chart.end();
    }
}
