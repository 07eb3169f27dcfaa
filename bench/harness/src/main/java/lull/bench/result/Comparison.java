// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.util.Interval;

/**
 * Two sets of results, A and B, side by side: the cells that both have, with their ratios. Of each collector on each service the newest
 * variant (build and flags) of a set counts, so that builds are never mixed.
 */
public final class Comparison {
    private static final Setup.Variant NONE = new Setup.Variant("", "", "");

    /** The same cell in both; one of them may be missing, but not both. */
    public record Pair(Cell a, Cell b) {
        /**
         * Returns how much slower B is by {@code metric}: above 1 is worse, also where more is better.
         *
         * @param moreIsBetter as of throughput
         */
        public Interval slowdown(String metric, boolean moreIsBetter) {
            return moreIsBetter ? Interval.ofRatio(a.values(metric), b.values(metric)) : Interval.ofRatio(b.values(metric), a.values(metric));
        }
    }

    private final List<Pair> pairs = new ArrayList<>();
    private final List<String> variants = new ArrayList<>();
    private final List<String> unpaired = new ArrayList<>();

    public Comparison(Collection<Invocation> a, Collection<Invocation> b) {
        Map<Setup, Cell> cellsA = newest("A", a);
        Map<Setup, Cell> cellsB = newest("B", b);
        Set<Setup> all = new LinkedHashSet<>(cellsA.keySet());
        all.addAll(cellsB.keySet());
        for (Setup setup : all) {
            Cell cellA = cellsA.get(setup);
            Cell cellB = cellsB.get(setup);
            if (cellA == null || cellB == null) {
                unpaired.add((cellA == null ? "only in B: " : "only in A: ") + setup.service() + " on " + setup.collector() + " in " + setup.heap() + " MB ("
                        + setup.work() + ", " + setup.machine() + ")");
            } else if (cellA.missing() == null || cellB.missing() == null) {
                pairs.add(new Pair(cellA, cellB));
            }
        }
    }

    /** Returns the cells of the newest variants, by their setups without variants. */
    private Map<Setup, Cell> newest(String name, Collection<Invocation> invocations) {
        Map<String, Invocation> last = new LinkedHashMap<>();
        for (Invocation invocation : invocations) {
            last.merge(series(invocation), invocation, (x, y) -> y.started().compareTo(x.started()) >= 0 ? y : x);
        }
        Set<Setup> setups = new LinkedHashSet<>();
        Set<String> older = new LinkedHashSet<>();
        for (Invocation invocation : invocations) {
            if (invocation.setup().variant().equals(last.get(series(invocation)).setup().variant())) {
                setups.add(invocation.setup());
            } else {
                older.add(name + " also has, and is left out: " + invocation.setup().collector() + " " + invocation.setup().variant().text());
            }
        }
        Set<String> used = new LinkedHashSet<>();
        setups.forEach(setup -> used.add(name + ": " + setup.collector() + " " + setup.variant().text()));
        variants.addAll(used);
        variants.addAll(older);
        Map<Setup, Cell> cells = new LinkedHashMap<>();
        Cell.of(setups, invocations).forEach(cell -> cells.put(cell.setup().with(NONE), cell));
        return cells;
    }

    private static String series(Invocation invocation) {
        return invocation.setup().service() + " " + invocation.setup().collector();
    }

    /** Returns the cells that can be compared. */
    public List<Pair> pairs() {
        return List.copyOf(pairs);
    }

    /** Tells which builds and flags are compared, and which are not. */
    public List<String> variants() {
        return List.copyOf(variants);
    }

    /** Tells the cells that only one of them has. */
    public List<String> unpaired() {
        return List.copyOf(unpaired);
    }
}
