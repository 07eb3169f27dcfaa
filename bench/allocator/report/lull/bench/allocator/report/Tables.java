// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lull.bench.report.TextTable;

/** The numbers behind the claims, one line for each program. */
final class Tables {
    private final Study study;

    Tables(Study study) {
        this.study = study;
    }

    List<TextTable> all() {
        return study.inHotspot() ? List.of(smallest(), updates()) : List.of(traces(), smallest(), updates());
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    private TextTable traces() {
        TextTable table = new TextTable();
        table.add(List.of("trace", "allocations", "MB", "mean bytes", "peak live KB", "sizes", "of 90 %", "of 99 %", "below 1 KB"));
        for (Row r : study.traces()) {
            table.add(List.of(r.text("trace"), r.text("allocations"), format("%.1f", r.number("bytes") / 1048576), r.text("mean_bytes"),
                    format("%.0f", r.number("peak_live_bytes") / 1024), r.text("sizes"), r.text("sizes_of_90_percent"), r.text("sizes_of_99_percent"),
                    format("%.1f %%", 100 * r.number("share_below_1_kb"))));
        }
        return table;
    }

    private TextTable smallest() {
        TextTable table = new TextTable();
        table.add(List.of("smallest heap, KB", "never", "deferred", "immediate", "peak live"));
        for (String trace : study.inHotspot() ? study.programs() : study.allTraces()) {
            List<String> row = new ArrayList<>(List.of(trace));
            for (String coalescing : Study.COALESCINGS) {
                row.add(smallest(trace, coalescing));
            }
            Row described = study.traces().stream().filter(r -> r.is("trace", trace)).findFirst().orElseThrow();
            row.add(format("%.0f", described.number("peak_live_bytes") / 1024));
            table.add(row);
        }
        return table;
    }

    private String smallest(String trace, String coalescing) {
        return study.smallest().stream().filter(r -> r.is("trace", trace) && r.is("search", "next-hit") && r.is("coalescing", coalescing)).findFirst()
                .map(r -> r.number("smallest_heap_bytes") == 0 ? "none" : format("%.0f", r.number("smallest_heap_bytes") / 1024)).orElse("-");
    }

    /** A quotient, or "-" where there is nothing to divide by. */
    private static String each(double value, double by, String format) {
        return by == 0 ? "-" : format(format, value / by);
    }

    private TextTable updates() {
        TextTable table = new TextTable();
        table.add(List.of("Next Hit Table", "heap", "coalescing", "collections", "allocations per update", "became non-empty", "became empty", "entries per update",
                "entries per allocation", "splits per allocation", "traversals saved each"));
        for (String trace : study.inHotspot() ? study.programs() : study.allTraces()) {
            for (double factor : study.factors()) {
                for (String coalescing : Study.COALESCINGS) {
                    Row r = study.at(trace, "next-hit", coalescing, factor);
                    Row traverse = study.at(trace, "traverse", coalescing, factor);
                    if (r != null && traverse != null && (factor <= 1.1 || factor == 2 || factor == study.factors().getLast())) {
                        table.add(List.of(trace, format("%.2fx", factor), coalescing, r.text("collections"), each(r.number("look_ups"), r.updates(), "%.1f"),
                                r.text("became_non_empty"), r.text("became_empty"), each(r.number("entries_written"), r.updates(), "%.1f"),
                                format("%.2f", r.number("entries_written") / r.number("look_ups")), format("%.2f", r.number("splits") / r.number("look_ups")),
                                format("%.1f", traverse.number("lists_passed") / traverse.number("look_ups"))));
                    }
                }
            }
        }
        return table;
    }
}
