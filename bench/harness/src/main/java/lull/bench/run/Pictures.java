// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Scale;

/** The pictures of a comparison of runs. A run is drawn in the colour of its collector; time starts when warm-up has ended. */
final class Pictures {
    private static final double HEIGHT = 270;

    private final List<Trial> trials;

    Pictures(List<Trial> trials) {
        this.trials = trials;
    }

    /** Answers per second in the closed loop. */
    Markup throughput() {
        return Chart.bars("Throughput in answers per second", trials.stream().map(t -> new Chart.Bar(t.collector().label(),
                List.of(new Chart.Part(t.collector().name(), t.number("closed", "throughput"))))).toList(), "/s");
    }

    /** Processor time per answer by kind of thread. */
    Markup processorTime() {
        return Chart.bars("Processor milliseconds per answer", trials.stream().map(t -> {
            Map<Metric, Double> m = t.metrics();
            String name = t.collector().name();
            return new Chart.Bar(t.collector().label(), List.of(new Chart.Part(name + " first", m.get(Metric.MUTATOR_CPU)),
                    new Chart.Part(name + " second", m.get(Metric.GC_CPU)), new Chart.Part(name + " third", m.get(Metric.JIT_CPU))));
        }).toList(), "ms");
    }

    /** Latency by percentile, both axes logarithmic: the horizontal one in 1 / (1 - p). */
    Markup percentiles() {
        Chart chart = new Chart(HEIGHT, "Latency by percentile");
        chart.yAxis(latencyScale(chart, "p50", t -> Math.max(t.number("open", "p999"), t.number("open", "p50"))), "ms");
        List<Double> marks = List.of(50.0, 90.0, 99.0, 99.9);
        chart.xAxis(Scale.linear(0, 3, Chart.LEFT, Chart.RIGHT - 14), marks.stream().map(Pictures::nines).toList(),
                at -> "p" + Scale.label(Math.rint((100 - 100 * Math.pow(10, -at)) * 10) / 10), "share of requests that were faster, in %");
        for (Trial trial : trials) {
            List<Point> points = new ArrayList<>();
            for (Object entry : (List<?>) trial.phase("open").get("curve")) {
                double percentile = ((Number) ((List<?>) entry).get(0)).doubleValue();
                points.add(new Point(nines(percentile), ((Number) ((List<?>) entry).get(1)).doubleValue()));
            }
            chart.line(trial.collector().name(), points);
            chart.dots(trial.collector().name(), 3.2, List.of(new Point(nines(50), trial.number("open", "p50")),
                    new Point(nines(90), trial.number("open", "p90")), new Point(nines(99), trial.number("open", "p99")),
                    new Point(nines(99.9), trial.number("open", "p999"))));
        }
        return chart.end();
    }

    private static double nines(double percentile) {
        return -Math.log10(1 - percentile / 100);
    }

    /** The slowest and the median request of each second of the open loop. */
    Markup latencyOverTime() {
        Chart chart = new Chart(HEIGHT, "Latency over time");
        chart.yAxis(latencyScale(chart, "p50", t -> t.number("open", "max")), "ms");
        double end = trials.stream().mapToDouble(t -> series(t, "max").stream().mapToDouble(Point::x).max().orElse(0)).max().orElse(1);
        Scale x = Scale.linear(0, end, Chart.LEFT, Chart.RIGHT);
        chart.xAxis(x, x.marks(6), Scale::label, "intended start, seconds of the open loop");
        for (Trial trial : trials) {
            chart.line(trial.collector().name() + " thin", series(trial, "p50"));
            chart.line(trial.collector().name(), series(trial, "max"));
        }
        return chart.end();
    }

    private static List<Point> series(Trial trial, String field) {
        List<Point> points = new ArrayList<>();
        for (Object entry : (List<?>) trial.phase("open").get("series")) {
            Map<?, ?> row = (Map<?, ?>) entry;
            points.add(new Point(((Number) row.get("second")).doubleValue(), ((Number) row.get(field)).doubleValue()));
        }
        return points;
    }

    private Scale latencyScale(Chart chart, String least, ToDoubleFunction<Trial> most) {
        double low = Double.MAX_VALUE;
        double high = 0.01;
        for (Trial trial : trials) {
            low = Math.min(low, trial.number("open", least) / 3);
            high = Math.max(high, most.applyAsDouble(trial));
        }
        return Scale.log(Math.max(low, 0.001), high, chart.bottom(), Chart.TOP);
    }
}
