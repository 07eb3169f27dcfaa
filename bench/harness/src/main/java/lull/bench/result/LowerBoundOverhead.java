// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lull.bench.util.Interval;

/**
 * The lower-bound overhead of collectors on one service, by one cost, wall time or processor time.
 *
 * <p>What the same work would cost without any collection is not known, but it is no more than the <em>distilled</em> cost of any
 * collector in any heap: its total less the part that is collection for certain. The smallest distilled cost of all points is the
 * nearest we come to it, and a point's total divided by it is at most the point's true cost factor. So the result depends on which
 * points there are: it is to be worked out again whenever one is added, and needs collectors that are good in different ways.
 *
 * <p>Nothing is subtracted from a total. What a collector does in the mutators (barriers, their share of its work) is not subtracted
 * either when the denominator is found: that makes the bound looser, not wrong.
 *
 * <p>A point is of all its invocations: its total and its distilled cost are means of them. A point without invocations is missing:
 * it has no overhead, nothing stands in for it, and it gives no denominator.
 */
public final class LowerBoundOverhead {
    /**
     * A point: a collector in a heap.
     *
     * @param heap its size, in any unit that is the same for all points
     */
    public record Point(String collector, double heap) { }

    /**
     * What one invocation cost.
     *
     * @param total the whole cost of the work
     * @param explicit the part of it that is collection for certain
     */
    public record Cost(double total, double explicit) {
        public Cost {
            if (!(explicit >= 0 && explicit < total)) {
                throw new IllegalArgumentException("collection cost " + explicit + " of a total of " + total);
            }
        }
    }

    private final Map<Point, List<Cost>> costs = new LinkedHashMap<>();
    private final Point best;
    private final double denominator;

    /** Takes all points of a service; the same invocations' costs must not be given twice. */
    public LowerBoundOverhead(Map<Point, ? extends Collection<Cost>> points) {
        Point cheapest = null;
        double least = Double.NaN;
        for (Map.Entry<Point, ? extends Collection<Cost>> entry : points.entrySet()) {
            if (entry.getValue().isEmpty()) {
                continue;
            }
            costs.put(entry.getKey(), new ArrayList<>(entry.getValue()));
            double distilled = distilled(entry.getKey());
            if (cheapest == null || distilled < least) {
                cheapest = entry.getKey();
                least = distilled;
            }
        }
        best = cheapest;
        denominator = least;
    }

    /** Returns the mean distilled cost of {@code point}; NaN if it is missing. */
    public double distilled(Point point) {
        return costs.getOrDefault(point, List.of()).stream().mapToDouble(c -> c.total - c.explicit).average().orElse(Double.NaN);
    }

    /** Returns the smallest distilled cost; NaN without points. */
    public double denominator() {
        return denominator;
    }

    /** Returns the point that has the smallest distilled cost; null without points. */
    public Point best() {
        return best;
    }

    /**
     * Returns the overhead of {@code point}, its total divided by the denominator; NaN if it is missing. The interval is that of the mean
     * total: the denominator's own uncertainty is common to all points and is not in it.
     */
    public Interval of(Point point) {
        List<Double> totals = costs.getOrDefault(point, List.of()).stream().map(Cost::total).toList();
        return Interval.ofMean(totals).times(1 / denominator);
    }

    /**
     * Returns the geometric mean of the overheads of {@code collector} in {@code heap} over several services; NaN if the point is
     * missing in one of them. To compare collectors, leave out a service that misses one of them for all of them: see {@link #complete}.
     */
    public static double geometricMean(Collection<LowerBoundOverhead> services, Point point) {
        double logarithms = 0;
        for (LowerBoundOverhead service : services) {
            logarithms += Math.log(service.of(point).value());
        }
        return services.isEmpty() ? Double.NaN : Math.exp(logarithms / services.size());
    }

    /** Returns those of {@code services} that miss none of {@code points}, so that all points are averaged over the same services. */
    public static <K> Map<K, LowerBoundOverhead> complete(Map<K, LowerBoundOverhead> services, Collection<Point> points) {
        Map<K, LowerBoundOverhead> complete = new LinkedHashMap<>();
        services.forEach((name, service) -> {
            if (service.costs.keySet().containsAll(points)) {
                complete.put(name, service);
            }
        });
        return complete;
    }
}
