// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import lull.bench.result.LowerBoundOverhead.Cost;
import lull.bench.result.LowerBoundOverhead.Point;
import lull.bench.util.Interval;

/** All invocations of one setup so far. If one of them failed the cell is missing: the mean of the others would flatter the setup. */
public record Cell(Setup setup, List<Invocation> invocations) {
    /** Returns a cell for each of {@code setups}, in that order, with its invocations among {@code all}. */
    public static List<Cell> of(Collection<Setup> setups, Collection<Invocation> all) {
        Map<Setup, List<Invocation>> found = new LinkedHashMap<>();
        setups.forEach(setup -> found.put(setup, new ArrayList<>()));
        for (Invocation invocation : all) {
            if (found.containsKey(invocation.setup())) {
                found.get(invocation.setup()).add(invocation);
            }
        }
        return found.entrySet().stream().map(e -> new Cell(e.getKey(), List.copyOf(e.getValue()))).toList();
    }

    /** Returns why the cell is missing: the first failure, or that there is no invocation yet; null if it is not. */
    public String missing() {
        if (invocations.isEmpty()) {
            return "not run yet";
        }
        return invocations.stream().map(Invocation::failure).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** Returns the values of {@code metric}; none if the cell is missing or does not have it. */
    public List<Double> values(String metric) {
        if (missing() != null) {
            return List.of();
        }
        return invocations.stream().map(i -> i.metric(metric)).filter(v -> !Double.isNaN(v)).toList();
    }

    /** Returns the mean of {@code metric}; NaN if the cell is missing or does not have it. */
    public Interval mean(String metric) {
        return Interval.ofMean(values(metric));
    }

    /** Returns the latencies of all invocations together; none if the cell is missing or has no open loop. */
    public Distribution latencies() {
        return Distribution.of(missing() != null ? List.of() : invocations.stream().map(Invocation::latencies).filter(Objects::nonNull).toList());
    }

    /** Returns the first timeline that was kept; null if the cell is missing or has none. */
    public Timeline timeline() {
        return missing() != null ? null : invocations.stream().map(Invocation::timeline).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** Returns the point at which the cell stands in {@link #overhead}. */
    public Point point() {
        return new Point(setup.collector(), setup.factor());
    }

    /** Returns the lower-bound overhead over {@code cells}, which are those of one service with one amount of work. */
    public static LowerBoundOverhead overhead(Collection<Cell> cells, Function<FixedWork, Cost> cost) {
        Map<Point, List<Cost>> points = new LinkedHashMap<>();
        for (Cell cell : cells) {
            if (cell.missing() == null) {
                points.put(cell.point(), cell.invocations.stream().map(FixedWork::of).map(cost).toList());
            }
        }
        return new LowerBoundOverhead(points);
    }
}
