// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lull.report.gclog.GcLog;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Page.Key;
import lull.report.page.Palette;
import lull.report.page.Palette.Colour;
import lull.report.page.Scale;

/** The pictures of a page, all over the time of the recording. Each is null if the recording has nothing for it. */
final class Pictures {
    private static final double MB = 1 << 20;
    private static final double HEIGHT = 208;
    private static final double DOT = 2.2;
    static final Palette PALETTE = Palette.of(
            new Colour("lull", "#0b7a75", "#3fc9bf"),
            new Colour("global", "#0097c4", "#6fdcff"),
            new Colour("published", "#c2570c", "#ff9a52"),
            new Colour("other", "#6d4bc3", "#b49bff"),
            new Colour("fourth", "#4a6b1f", "#a8cc6d"));
    private static final List<String> COLOURS = List.of("lull", "published", "other", "fourth", "global");
    /** Points beyond this many are thinned: a picture has 410 pixels. */
    private static final int MOST = 800;

    private final Recording recording;
    private final double seconds;

    Pictures(Recording recording) {
        this.recording = recording;
        seconds = Math.max(recording.end, 1e-3);
    }

    /** A picture over the time of the recording, whose vertical axis goes from 0 to {@code most}. */
    private Chart linear(String description, double most, String unit) {
        Chart chart = new Chart(HEIGHT, description);
        return overTime(chart.yAxis(Scale.linear(0, most * 1.08, chart.bottom(), Chart.TOP), unit));
    }

    private Chart overTime(Chart chart) {
        Scale x = Scale.linear(0, seconds, Chart.LEFT, Chart.RIGHT);
        return chart.xAxis(x, x.marks(6), Scale::label, "seconds");
    }

    /** A picture and its keys. */
    record Drawn(Markup picture, List<Key> keys) { }

    /** The heap in use over time, with what was committed, and a dot for each collection of the whole heap. */
    Drawn heap(Figures figures) {
        List<Recording.HeapSize> sizes = recording.heap;
        if (sizes.size() < 2) {
            return null;
        }
        double most = sizes.stream().mapToDouble(s -> Double.isNaN(s.committed()) ? s.used()
                : Math.max(s.used(), s.committed())).max().orElse(1) / MB;
        Chart picture = linear("Heap in use over time", most, "MB");
        picture.line("committed", thin(sizes.stream().filter(s -> !Double.isNaN(s.committed())).map(s -> new Point(s.time(),
                s.committed() / MB)).toList()));
        List<Point> used = sizes.stream().map(s -> new Point(s.time(), s.used() / MB)).toList();
        picture.line("lull", extremes(used));
        picture.dots("published", DOT, recording.collections.values().stream()
                .filter(c -> figures.isWhole(c) && !Double.isNaN(c.usedAfter)).map(c -> new Point(c.start + c.pauseSeconds, c.usedAfter / MB)).toList());
        return new Drawn(picture.end(), List.of(new Key("lull", "line", "in use"), new Key("plain", "committed", "committed"),
                new Key("published", "dot", "after a collection of the whole heap")));
    }

    /** The heap's parts, one on top of the other, of collectors that have several. */
    Drawn pools() {
        Map<String, List<Recording.Size>> pools = new LinkedHashMap<>(recording.pools);
        pools.values().removeIf(sizes -> sizes.size() < 2 || sizes.stream().allMatch(s -> s.bytes() == 0));
        if (pools.size() < 2 || pools.size() > COLOURS.size()) {
            return null;
        }
        List<Double> times = pools.values().iterator().next().stream().map(Recording.Size::time).toList();
        List<List<Point>> layers = new ArrayList<>();
        layers.add(times.stream().map(t -> new Point(t, 0)).toList());
        for (List<Recording.Size> sizes : pools.values()) {
            List<Point> below = layers.get(layers.size() - 1);
            List<Point> layer = new ArrayList<>();
            for (int i = 0; i < Math.min(below.size(), sizes.size()); i++) {
                layer.add(new Point(below.get(i).x(), below.get(i).y() + sizes.get(i).bytes() / MB));
            }
            layers.add(layer);
        }
        return stacked("What the heap consists of, over time", layers, new ArrayList<>(pools.keySet()), "MB");
    }

    /** What becomes of what is allocated, per second. */
    Drawn allocation() {
        Counter allocated = recording.allocated;
        if (allocated.size() < 3) {
            return null;
        }
        List<Point> zero = new ArrayList<>();
        List<Point> published = new ArrayList<>();
        List<Point> freed = new ArrayList<>();
        List<Point> rest = new ArrayList<>();
        int step = Math.max(1, allocated.size() / MOST);
        for (int i = step; i < allocated.size(); i += step) {
            double from = allocated.time(i - step);
            double to = allocated.time(i);
            double per = MB * (to - from);
            double stored = recording.published.between(from, to) / per;
            double own = recording.locallyFreed.between(from, to) / per;
            double time = (from + to) / 2;
            zero.add(new Point(time, 0));
            published.add(new Point(time, stored));
            freed.add(new Point(time, stored + own));
            rest.add(new Point(time, Math.max(stored + own, allocated.between(from, to) / per)));
        }
        return stacked("What becomes of what is allocated", List.of(zero, published, freed, rest),
                List.of("published by a store", "freed by its own thread", "left to pauses"), "MB/s", List.of("published",
                "lull", "global"));
    }

    private Drawn stacked(String description, List<List<Point>> layers, List<String> names, String unit) {
        return stacked(description, layers, names, unit, COLOURS);
    }

    private Drawn stacked(String description, List<List<Point>> layers, List<String> names, String unit, List<String> colours) {
        double most = layers.get(layers.size() - 1).stream().mapToDouble(Point::y).max().orElse(1);
        Chart picture = linear(description, most, unit);
        List<Key> keys = new ArrayList<>();
        for (int i = 1; i < layers.size(); i++) {
            picture.layer(colours.get(i - 1), layers.get(i - 1).subList(0, layers.get(i).size()), layers.get(i));
            keys.add(new Key(colours.get(i - 1), "layer", names.get(i - 1)));
        }
        return new Drawn(picture.end(), keys);
    }

    /** What each global collection has found live, and how much of that only one thread knew; by the log. */
    Drawn composition(GcLog log) {
        if (log == null || log.found().size() < 2 || Double.isNaN(recording.jvmStart)) {
            return null;
        }
        ToDoubleFunction<GcLog.Found> time = f -> f.uptime() + recording.jvmStart;
        List<GcLog.Found> inside = log.found().stream().filter(f -> time.applyAsDouble(f) >= 0
                && time.applyAsDouble(f) <= seconds).toList();
        if (inside.size() < 2) {
            return null;
        }
        return stacked("Live data over time: public and private", List.of(inside.stream().map(f -> new Point(time.applyAsDouble(f),
                0)).toList(),
                inside.stream().map(f -> new Point(time.applyAsDouble(f), (f.live() - f.ofOneThread()) / MB)).toList(),
                inside.stream().map(f -> new Point(time.applyAsDouble(f), f.live() / MB)).toList()),
                List.of("public", "private to a thread"), "MB", List.of("published", "lull"));
    }

    /** Each pause as a line of its length. */
    Drawn pauses() {
        if (recording.pauses.isEmpty()) {
            return null;
        }
        double longest = 1000 * recording.pauses.stream().mapToDouble(Recording.Pause::seconds).max().orElse(0);
        Chart picture = new Chart(HEIGHT, "Pauses over time");
        overTime(picture.yAxis(Scale.log(0.1, Math.max(longest, 1), picture.bottom(), Chart.TOP), "ms"));
        List<Point> all = recording.pauses.stream().map(p -> new Point(p.start(), 1000 * p.seconds())).toList();
        return new Drawn(picture.stems("global", all).end(), List.of());
    }

    /** Processor time of local collections, per second. */
    Drawn localCollections() {
        Counter spent = recording.localProcessorTime;
        if (spent.size() < 3) {
            return null;
        }
        List<Point> points = new ArrayList<>();
        int step = Math.max(1, spent.size() / MOST);
        for (int i = step; i < spent.size(); i += step) {
            double from = spent.time(i - step);
            double to = spent.time(i);
            points.add(new Point((from + to) / 2, 1000 * spent.between(from, to) / (to - from)));
        }
        double most = points.stream().mapToDouble(Point::y).max().orElse(0);
        Chart picture = linear("Processor time of local collections over time", Math.max(most, 1), "ms/s");
        List<Point> zero = points.stream().map(p -> new Point(p.x(), 0)).toList();
        return new Drawn(picture.layer("lull", zero, points).end(), List.of());
    }

    /** What collections took from the program's threads, and what these lost waiting for I/O, by the heap budget. */
    Drawn budgetCosts() {
        List<Recording.BudgetDecision> all = recording.budget;
        if (all.size() < 2) {
            return null;
        }
        double most = all.stream().mapToDouble(d -> Math.max(d.collections(), d.stalls())).max().orElse(0);
        Chart picture = linear("Lost to collections and to I/O over time", Math.max(most, 0.1), "threads");
        picture.line("global", thin(all.stream().map(d -> new Point(d.time(), d.collections())).toList()));
        picture.line("published", thin(all.stream().map(d -> new Point(d.time(), d.stalls())).toList()));
        return new Drawn(picture.end(), List.of(new Key("global", "line", "collections"), new Key("published", "line", "waits for I/O")));
    }

    /** The heap's size over time, with what the memory limit leaves for it, and a dot for each step of the heap budget. */
    Drawn budgetSizes() {
        List<Recording.BudgetDecision> all = recording.budget;
        if (all.size() < 2) {
            return null;
        }
        double largest = all.stream().mapToDouble(Recording.BudgetDecision::heap).max().orElse(1);
        double room = all.stream().mapToDouble(Recording.BudgetDecision::available).max().orElse(0);
        // A limit far above would leave a flat line of the rest.
        boolean isNear = room < 3 * largest;
        double most = (isNear ? Math.max(room, largest) : largest) / MB;
        Chart picture = linear("Size of the heap by its budget over time", most, "MB");
        if (isNear) {
            picture.line("committed", thin(all.stream().map(d -> new Point(d.time(), d.available() / MB)).toList()));
        }
        picture.line("lull", thin(all.stream().map(d -> new Point(d.time(), d.heap() / MB)).toList()));
        picture.line("fourth", thin(all.stream().map(d -> new Point(d.time(), d.live() / MB)).toList()));
        picture.dots("published", DOT, all.stream().filter(Recording.BudgetDecision::isStep)
                .map(d -> new Point(d.time(), d.heap() / MB)).toList());
        List<Key> keys = new ArrayList<>(List.of(new Key("lull", "line", "heap"), new Key("fourth", "line", "live"),
                new Key("published", "dot", "a step is decided")));
        if (isNear) {
            keys.add(new Key("plain", "committed", "the memory limit leaves"));
        }
        return new Drawn(picture.end(), keys);
    }

    /** The highest and lowest points of each piece of time, for a saw has its teeth closer than pixels. */
    private static List<Point> extremes(List<Point> points) {
        if (points.size() <= MOST) {
            return points;
        }
        List<Point> some = new ArrayList<>();
        int pieces = MOST / 2;
        for (int piece = 0; piece < pieces; piece++) {
            List<Point> part = points.subList((int) ((long) points.size() * piece / pieces), (int) ((long) points.size() * (piece
                    + 1) / pieces));
            Comparator<Point> byValue = Comparator.comparingDouble(Point::y);
            Point low = part.stream().min(byValue).orElseThrow();
            Point high = part.stream().max(byValue).orElseThrow();
            some.add(low.x() < high.x() ? low : high);
            some.add(low.x() < high.x() ? high : low);
        }
        return some;
    }

    private static List<Point> thin(List<Point> points) {
        int step = Math.max(1, points.size() / MOST);
        List<Point> some = new ArrayList<>();
        for (int i = 0; i < points.size(); i += step) {
            some.add(points.get(i));
        }
        return some;
    }
}
