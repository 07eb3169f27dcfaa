// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import lull.bench.report.TextTable;

/**
 * The thesis' claims against the study's numbers. Orderings decide: its ratios are of a Pentium 4 and an interpreter. A verdict is "yes", "no", or
 * "in part", by a rule that is written beside it.
 */
final class Claims {
    private static final ToDoubleFunction<Row> ALLOCATION = r -> r.number("allocation_ns");
    private static final ToDoubleFunction<Row> MANAGEMENT = r -> r.number("management_ns");

    private static final List<String> LISTS = List.of("32", "64", "128", "256", "512");

    private final Study study;
    private final double near;     // a heap near the smallest
    private final double roomy;
    private final double typical;  // that of the tables of the thesis
    private final TextTable table = new TextTable();

    Claims(Study study) {
        this.study = study;
        List<Double> factors = study.factors();
        near = factors.stream().filter(f -> f >= 1.1).findFirst().orElse(factors.getFirst());
        roomy = factors.getLast();
        typical = factors.stream().min((a, b) -> Double.compare(Math.abs(a - 2), Math.abs(b - 2))).orElseThrow();
    }

    TextTable table() {
        table.add(List.of("claim", "thesis", "ours", "holds"));
        traversals();
        withoutTable();
        withTable();
        order();
        lists();
        updates();
        if (!study.inHotspot()) {
            sizes();
        }
        return table;
    }

    private void add(String claim, String thesis, String ours, String holds) {
        table.add(List.of(claim, thesis, ours, holds));
    }

    private static String verdict(boolean all, boolean some) {
        return all ? "yes" : some ? "in part" : "no";
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private static String range(double[] values, String format) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted.length == 0 ? "none fits" : format(format + " to " + format, sorted[0], sorted[sorted.length - 1]);
    }

    /** A range, and of how many programs: of those that fit. */
    private String counted(double[] values, String format) {
        return range(values, format) + format(" (%d of %d programs fit)", values.length, study.programs().size());
    }

    /** A geometric mean of ratios, and their range. */
    private static String ratio(double[] ratios) {
        return ratios.length == 0 ? "none fits" : format("%.2f (", Study.geometricMean(ratios)) + range(ratios, "%.2f") + ")";
    }

    private double[] each(String search, String coalescing, ToDoubleFunction<Row> value) {
        return study.programs().stream().map(p -> study.at(p, search, coalescing, typical)).filter(r -> r != null).mapToDouble(value).toArray();
    }

    private void traversals() {
        double[] never = each("traverse", "never", Row::traversals);
        double[] deferred = each("traverse", "deferred", Row::traversals);
        double[] immediate = each("traverse", "immediate", Row::traversals);
        double[] single = study.firstFit().stream().filter(r -> study.programs().contains(r.text("trace")) && r.fits() && study.factor(r) == typical)
                .mapToDouble(Row::traversals).toArray();
        boolean first = Study.geometricMean(immediate) > Study.geometricMean(deferred) && Study.geometricMean(immediate) > Study.geometricMean(never);
        boolean second = Study.geometricMean(single) > Study.geometricMean(immediate);
        add("C1 traversals per allocation, heap " + typical + "x", "never 15-40, deferred 17-40, immediate 50, one list hundreds",
                "never " + counted(never, "%.1f") + ", deferred " + counted(deferred, "%.1f") + ", immediate " + counted(immediate, "%.1f") + ", one list "
                        + counted(single, "%.0f"), verdict(first && second, first || second));
        double passed = study.heaps().stream().filter(r -> r.fits() && r.is("search", "next-hit")).mapToDouble(r -> r.number("lists_passed")).sum();
        double[] last = study.programs().stream().map(p -> study.at(p, "next-hit", "immediate", typical)).filter(r -> r != null)
                .mapToDouble(r -> r.number("runs_passed") / r.number("look_ups")).toArray();
        add("C2 with the table", "1 look-up, 0 traversals", format("1 look-up, %.0f lists passed; in the last list, which is searched, %s chunks passed", passed,
                range(last, "%.2f")), verdict(passed == 0, false));
    }

    private void withoutTable() {
        double[] deferredRoomy = study.ratios(roomy, "traverse", "immediate", "traverse", "deferred", ALLOCATION);
        double[] deferredNear = study.ratios(near, "traverse", "immediate", "traverse", "deferred", ALLOCATION);
        add("C3 no table: allocation, immediate / deferred", "2.5 in roomy heaps, less below 2x", format("%sx: ", roomy) + ratio(deferredRoomy)
                + format("; %sx: ", near) + ratio(deferredNear), verdict(Study.geometricMean(deferredRoomy) > 1.05 && Study.geometricMean(deferredNear) < Study.geometricMean(deferredRoomy),
                Study.geometricMean(deferredRoomy) > 1.05));
        double[] management = study.ratios(roomy, "traverse", "immediate", "traverse", "deferred", MANAGEMENT);
        double[] managementNear = study.ratios(near, "traverse", "immediate", "traverse", "deferred", MANAGEMENT);
        int only = 0;
        int fits = 0;
        double smallestFactor = study.factors().getFirst();
        for (String program : study.programs()) {
            if (study.at(program, "traverse", "immediate", smallestFactor) != null) {
                fits++;
                boolean others = study.at(program, "traverse", "never", smallestFactor) != null || study.at(program, "traverse", "deferred", smallestFactor) != null;
                only += others ? 0 : 1;
            }
        }
        boolean roomyHolds = Study.geometricMean(management) > 1.05;
        boolean nearHolds = only > 0 || Study.geometricMean(managementNear) < 0.95;
        add("C4 no table: management, immediate / deferred", "2 in roomy heaps; immediate the only usable one near the smallest", format("%sx: ", roomy)
                + ratio(management) + format("; %sx: ", near) + ratio(managementNear) + format("; at %sx only immediate fits in %d of %d programs", smallestFactor, only,
                fits), verdict(roomyHolds && nearHolds, roomyHolds || nearHolds));
    }

    private void withTable() {
        double[] never = study.ratios(typical, "traverse", "never", "next-hit", "never", ALLOCATION);
        double[] deferred = study.ratios(typical, "traverse", "deferred", "next-hit", "deferred", ALLOCATION);
        double[] immediate = study.ratios(typical, "traverse", "immediate", "next-hit", "immediate", ALLOCATION);
        double[] collection = study.ratios(typical, "traverse", "immediate", "next-hit", "immediate", Row::collectionNs);
        int largest = 0;
        for (String program : study.programs()) {
            double gain = gain(program, "immediate");
            largest += !(gain(program, "never") > gain) && !(gain(program, "deferred") > gain) ? 1 : 0;
        }
        int programs = study.programs().size();
        // The sweeps do the same; what is left is the noise of the clock.
        boolean unaffected = Math.abs(Study.geometricMean(collection) - 1) < 0.1;
        add("C5 gain of the table in allocation, " + typical + "x", "largest for immediate; collection unaffected", "never " + ratio(never) + ", deferred "
                + ratio(deferred) + ", immediate " + ratio(immediate) + format(", largest in %d of %d programs; collection ", largest, programs) + ratio(collection),
                verdict(largest == programs && unaffected, largest * 2 >= programs || unaffected));
    }

    /** Allocation without over with the table; NaN if the policy does not fit. */
    private double gain(String program, String coalescing) {
        Row without = study.at(program, "traverse", coalescing, typical);
        Row with = study.at(program, "next-hit", coalescing, typical);
        return without == null || with == null ? Double.NaN : ALLOCATION.applyAsDouble(without) / ALLOCATION.applyAsDouble(with);
    }

    private void order() {
        int points = 0;
        int best = 0;
        int withinTwo = 0;
        for (String program : study.programs()) {
            for (double factor : study.factors()) {
                Row immediate = study.at(program, "next-hit", "immediate", factor);
                if (immediate == null) {
                    continue;
                }
                double others = Double.POSITIVE_INFINITY;
                for (String coalescing : List.of("never", "deferred")) {
                    Row other = study.at(program, "next-hit", coalescing, factor);
                    others = other == null ? others : Math.min(others, MANAGEMENT.applyAsDouble(other));
                }
                points++;
                best += MANAGEMENT.applyAsDouble(immediate) < others ? 1 : 0;
                withinTwo += MANAGEMENT.applyAsDouble(immediate) < others * 1.02 ? 1 : 0;
            }
        }
        double[] lead = study.ratios(roomy, "next-hit", "immediate", "next-hit", "deferred", ALLOCATION);
        add("C6 with the table, immediate is best at every heap", "always; deferred's lead in allocation too small to see",
                format("best at %d of %d points, within 2 %% of the best at %d; allocation, immediate / deferred at %sx: ", best, points, withinTwo, roomy) + ratio(lead),
                verdict(best == points, best * 2 > points));
        if (!study.inHotspot()) {
            breakEven();
        }
        double[] same = study.ratios(typical, "traverse", "immediate", "next-hit", "immediate", MANAGEMENT);
        double[] overall = study.ratios(typical, "traverse", "deferred", "next-hit", "immediate", MANAGEMENT);
        add("C7 management, before / after, " + typical + "x", "2", "immediate without / with the table: " + ratio(same) + "; deferred without / immediate with: "
                + ratio(overall), verdict(Study.geometricMean(same) >= 1.9 && Study.geometricMean(overall) > 1.05, Study.geometricMean(same) > 1.05));
        double[] gainNear = study.ratios(near, "traverse", "immediate", "next-hit", "immediate", MANAGEMENT);
        double[] gainRoomy = study.ratios(roomy, "traverse", "immediate", "next-hit", "immediate", MANAGEMENT);
        add("C8 near the smallest heap the gain shrinks", "below 2x", format("immediate, management without / with: %sx ", near) + ratio(gainNear) + format(", %sx ", roomy)
                + ratio(gainRoomy), verdict(Study.geometricMean(gainNear) < Study.geometricMean(gainRoomy) * 0.98, false));
        List<String> parts = new ArrayList<>();
        for (double factor : List.of(near, typical, roomy)) {
            double[] ratios = study.ratios(factor, "bitmap", "immediate", "next-hit", "immediate", ALLOCATION);
            parts.add(format("%sx: ", factor) + ratio(ratios));
        }
        add("Bitmap / table, allocation, immediate", "not in the thesis", String.join("; ", parts), "-");
    }

    private void lists() {
        double[] table = overLists("next-hit");
        boolean better = table[0] > 1.02;
        boolean flat = Math.abs(table[3] - 1) < 0.05 && Math.abs(table[4] - 1) < 0.05;
        add("C9 lists: management over that with 128 (chunks to 1 KB), immediate, " + typical + "x", "better up to 1 KB (256 of 4 bytes), flat after", byLists(table),
                verdict(better && flat, better));
        add("the same with a bitmap, over the table's with 128", "not in the thesis", byLists(overLists("bitmap")), "-");
    }

    /** Geometric means over the programs, for each number of lists, of management over that of the table with 128 lists. */
    private double[] overLists(String search) {
        return LISTS.stream().mapToDouble(lists -> Study.geometricMean(study.programs().stream()
                .mapToDouble(p -> byLists(p, search, lists) / byLists(p, "next-hit", "128")).filter(r -> !Double.isNaN(r)).toArray())).toArray();
    }

    private static String byLists(double[] means) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < means.length; i++) {
            parts.add(LISTS.get(i) + ": " + (Double.isNaN(means[i]) ? "-" : format("%.2f", means[i])));
        }
        return String.join(", ", parts);
    }

    /**
     * Immediate coalescing collects less often, which saves marking; here marking is nearly free. So: how much would marking have to cost, for each live
     * object, to make immediate better than deferred?
     */
    private void breakEven() {
        int points = 0;
        int always = 0;
        int never = 0;
        List<Double> costs = new ArrayList<>();
        for (String program : study.programs()) {
            for (double factor : study.factors()) {
                Row immediate = study.at(program, "next-hit", "immediate", factor);
                Row deferred = study.at(program, "next-hit", "deferred", factor);
                if (immediate == null || deferred == null) {
                    continue;
                }
                points++;
                double lost = immediate.number("allocation_ns") + immediate.number("sweep_ns") - deferred.number("allocation_ns") - deferred.number("sweep_ns");
                double saved = deferred.number("marked_objects") - immediate.number("marked_objects");
                if (lost <= 0 && saved >= 0) {
                    always++;
                } else if (saved <= 0) {
                    never++;
                } else {
                    costs.add(lost / saved);
                }
            }
        }
        double[] sorted = costs.stream().mapToDouble(Double::doubleValue).filter(c -> c > 0).sorted().toArray();
        String middle = sorted.length == 0 ? "-" : format("%.0f", sorted[sorted.length / 2]);
        add("C6 what marking must cost for that, ns for each live object", "not given", format("of %d points: %d at any cost, %d at none, the others from %s, median %s", points,
                always, never, range(sorted, "%.0f"), middle), "-");
    }

    private double byLists(String program, String search, String lists) {
        return study.lists().stream().filter(r -> r.is("trace", program) && r.is("search", search) && r.is("coalescing", "immediate") && r.is("lists", lists) && r.fits())
                .mapToDouble(MANAGEMENT).findFirst().orElse(Double.NaN);
    }

    private void updates() {
        for (String coalescing : List.of("deferred", "immediate")) {
            double[] each = each("next-hit", coalescing, r -> r.number("look_ups") / r.updates());
            double allocations = Arrays.stream(each("next-hit", coalescing, r -> r.number("look_ups"))).sum();
            double updates = Arrays.stream(each("next-hit", coalescing, Row::updates)).sum();
            double[] entries = each("next-hit", coalescing, r -> r.number("entries_written") / r.updates());
            boolean deferred = coalescing.equals("deferred");
            add("C10 allocations for each update, " + coalescing + ", " + typical + "x", deferred ? "25 to 3530, 1029 by sums" : "not given; said to be fewer",
                    range(each, "%.1f") + format(", %.1f by sums; entries written by each: ", allocations / updates) + range(entries, "%.1f"),
                    deferred ? verdict(allocations / updates > 100, allocations / updates > 10) : "-");
        }
    }

    private void sizes() {
        double[] ninety = study.traces().stream().filter(r -> study.programs().contains(r.text("trace"))).mapToDouble(r -> r.number("sizes_of_90_percent") / r.number("sizes") * 100)
                .toArray();
        double[] ninetyNine = study.traces().stream().filter(r -> study.programs().contains(r.text("trace"))).mapToDouble(r -> r.number("sizes_of_99_percent") / r.number("sizes") * 100)
                .toArray();
        double mean90 = Arrays.stream(ninety).average().orElse(Double.NaN);
        double mean99 = Arrays.stream(ninetyNine).average().orElse(Double.NaN);
        add("C11 share of sizes that 90 % (99 %) of the objects have", "10 % (13 %), mean of programs", format("%.1f %% (%.1f %%), of each program ", mean90, mean99)
                + range(ninety, "%.1f") + " (" + range(ninetyNine, "%.1f") + ")", verdict(mean90 <= 15, mean90 <= 30));
    }
}
