// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import lull.bench.result.Timeline;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Page.Key;
import lull.report.page.Scale;

/** Pictures of what servers did over time: one of each server, all on the same scales. Time starts when warm-up has ended. */
final class TimePictures {
    private static final double HEIGHT = 190;
    /** Shorter pauses than this, in milliseconds, are drawn like it. */
    private static final double SHORTEST = 0.1;

    /** What {@link #localCollections} shows. */
    static final String LOCAL_COLLECTIONS = "Processor time that threads spent on collecting their own objects. Nothing stops for it.";

    private final double seconds;
    private final double longest;
    private final double megabytes;

    TimePictures(Collection<Timeline> all) {
        seconds = all.stream().mapToDouble(Timeline::seconds).max().orElse(1);
        longest = all.stream().flatMap(t -> t.pauses().stream()).mapToDouble(Timeline.Pause::millis).max().orElse(1);
        megabytes = Math.max(all.stream().flatMap(t -> t.resident().stream()).mapToDouble(Timeline.Resident::megabytes).max().orElse(1),
                all.stream().flatMap(t -> t.heap().stream()).mapToDouble(TimePictures::size).max().orElse(1));
    }

    private static double size(Timeline.Heap heap) {
        return Double.isNaN(heap.capacity()) ? heap.used() : Math.max(heap.used(), heap.capacity());
    }

    /** Draws each pause as a line of its length on a logarithmic scale, with a dot on a full collection. */
    Markup pauses(String colour, String name, Timeline timeline) {
        Chart chart = new Chart(HEIGHT, "Pauses over time of " + name);
        chart.yAxis(Scale.log(SHORTEST, Math.max(longest, 1), chart.bottom(), Chart.TOP), "ms");
        timeAxis(chart, timeline);
        List<Point> all = new ArrayList<>();
        List<Point> full = new ArrayList<>();
        for (Timeline.Pause pause : timeline.pauses()) {
            all.add(new Point(pause.end(), pause.millis()));
            if (pause.full()) {
                full.add(all.getLast());
            }
        }
        return chart.stems(colour, all).dots(colour, 2.2, full).end();
    }

    /** Draws the processor time of local collections. Null if there were none. */
    Markup localCollections(String colour, String name, Timeline timeline) {
        if (timeline.local().isEmpty()) {
            return null;
        }
        Chart chart = new Chart(HEIGHT, "Local collections over time of " + name);
        double most = timeline.local().stream().mapToDouble(Timeline.Local::millis).max().orElse(1);
        chart.yAxis(Scale.linear(0, Math.max(most * 1.08, 1), chart.bottom(), Chart.TOP), "ms/s");
        timeAxis(chart, timeline);
        List<Point> points = timeline.local().stream().map(l -> new Point(l.second(), l.millis())).toList();
        return chart.area(colour, points).line(colour + " thin", points).end();
    }

    /** Draws heap used and committed, and the resident set. */
    Markup memory(String colour, String name, Timeline timeline) {
        Chart chart = new Chart(HEIGHT, "Heap and resident set over time of " + name);
        chart.yAxis(Scale.linear(0, megabytes * 1.08, chart.bottom(), Chart.TOP), "MB");
        timeAxis(chart, timeline);
        List<Point> used = new ArrayList<>();
        List<Point> committed = new ArrayList<>();
        for (Timeline.Heap heap : timeline.heap()) {
            used.add(new Point(heap.second(), heap.used()));
            if (!Double.isNaN(heap.capacity())) {
                committed.add(new Point(heap.second(), heap.capacity()));
            }
        }
        List<Point> resident = timeline.resident().stream().map(r -> new Point(r.second(), r.megabytes())).toList();
        return chart.area(colour, used).line(colour + " thin", used).line("committed", committed).line(colour + " strong", resident).end();
    }

    /** Returns the keys of {@link #memory}. */
    static List<Key> memoryKeys(String colour) {
        return List.of(new Key(colour, "line", "resident set"), new Key(colour, "area", "heap used"), new Key("plain", "committed", "heap committed"));
    }

    private void timeAxis(Chart chart, Timeline timeline) {
        Scale x = Scale.linear(0, seconds, Chart.LEFT, Chart.RIGHT);
        chart.xAxis(x, x.marks(6), Scale::label, "seconds since the end of warm-up");
        if (!Double.isNaN(timeline.open())) {
            chart.rule(timeline.open(), "open loop");
        }
    }
}
