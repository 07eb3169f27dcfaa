// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import lull.bench.report.Colours;
import lull.bench.report.TextTable;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Page;
import lull.report.page.Scale;

/** The table and the page of several runs of the same phases. */
final class BudgetPage {
    /** Of the table's numbers. A closed loop sends when it has had its answer: what would have been sent meanwhile is in no latency. */
    private static final String ABOUT = "p99: closed loop, from sending; heap: committed at the end of the phase, in MiB, as -Xmx is.";

    private final List<Run> runs;
    private final String settings;

    BudgetPage(List<Run> runs, String settings) {
        this.runs = runs;
        this.settings = settings;
    }

    /** What is measured in 10^6 bytes, in the unit of {@code -Xmx}. */
    private static double mebibytes(double megabytes) {
        return megabytes * 1e6 / (1 << 20);
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** Returns what the best fixed heap does in a second of the last half of this phase; 0 if there is none. */
    private double bestStatic(int phase) {
        return runs.stream().filter(Run::isStatic).mapToDouble(run -> run.phases().get(phase).lastHalf()).max().orElse(0);
    }

    TextTable table() {
        TextTable table = new TextTable();
        List<String> heading = new ArrayList<>(List.of(""));
        List<Run.PhaseResult> first = runs.getFirst().phases();
        for (Run.PhaseResult phase : first) {
            heading.addAll(List.of(phase.phase() + "/s", "of best static", "p99 ms, closed loop", "heap MiB", "settled s"));
        }
        table.add(heading);
        for (Run run : runs) {
            List<String> row = new ArrayList<>(List.of(run.name()));
            for (int i = 0; i < first.size(); i++) {
                Run.PhaseResult phase = run.phases().get(i);
                double best = bestStatic(i);
                row.add(number("%.0f", phase.lastHalf()));
                row.add(best == 0 ? "" : number("%.2f", phase.lastHalf() / best));
                row.add(number("%.1f", phase.p99Millis()));
                row.add(number("%.0f", mebibytes(run.seconds(i).getLast().heapMegabytes())));
                row.add(number("%.0f", run.reactionSeconds(i)));
            }
            table.add(row);
        }
        return table;
    }

    /** Returns what all phases together are to those of the run with that name: the geometric mean of whole phases, with all their transitions. */
    double wholeRun(Run run, Run against) {
        double sum = 0;
        for (int i = 0; i < run.phases().size(); i++) {
            sum += Math.log(run.phases().get(i).perSecond() / against.phases().get(i).perSecond());
        }
        return Math.exp(sum / run.phases().size());
    }

    List<String> findings() {
        List<String> findings = new ArrayList<>();
        for (Run against : runs) {
            if (against.phases().stream().anyMatch(phase -> phase.perSecond() == 0)) {
                findings.add(against.name() + " did not come to its end: its heap is too small for a phase.");
                continue;
            }
            List<String> others = new ArrayList<>();
            for (Run run : runs) {
                if (run != against) {
                    others.add(run.name() + number(" %.2f", wholeRun(run, against)));
                }
            }
            if (!others.isEmpty()) {
                findings.add("The whole run, against " + against.name() + ": " + String.join(", ", others) + ".");
            }
        }
        return findings;
    }

    String text() {
        return settings + "\n\n" + table() + ABOUT + "\n\n" + String.join("\n", findings()) + "\n";
    }

    private static List<Point> points(Run run, ToDoubleFunction<Run.Second> value) {
        return run.seconds().stream().filter(second -> value.applyAsDouble(second) >= 0)
                .map(second -> new Point(second.at(), mebibytes(value.applyAsDouble(second)))).toList();
    }

    private static Chart chart(Run run, String description, double high, String unit) {
        Chart chart = new Chart(230, description);
        double end = run.seconds().getLast().at();
        Scale x = Scale.linear(0, end, Chart.LEFT, Chart.RIGHT);
        chart.yAxis(Scale.linear(0, high, chart.bottom(), Chart.TOP), unit);
        chart.xAxis(x, x.marks(6), Scale::label, "seconds");
        for (int i = 0; i < run.phases().size(); i++) {
            chart.rule(run.seconds(i).getFirst().at(), run.phases().get(i).phase());
        }
        return chart;
    }

    private Markup memory(Run run) {
        double high = runs.stream().flatMap(r -> r.seconds().stream()).mapToDouble(s -> Math.max(s.heapMegabytes(), s.cacheMegabytes())).max().orElse(1);
        return chart(run, "Heap and page cache over time with " + run.name(), mebibytes(high), "MiB")
                .area("g1", points(run, Run.Second::cacheMegabytes)).line("lull", points(run, Run.Second::heapMegabytes)).end();
    }

    /** Of each phase its own scale: a second's work beside the most that any run did in a second of that phase. */
    private Markup work(Run run) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < run.phases().size(); i++) {
            int phase = i;
            double most = runs.stream().flatMap(r -> r.seconds(phase).stream()).mapToDouble(Run.Second::done).max().orElse(1);
            run.seconds(i).forEach(second -> points.add(new Point(second.at(), 100 * second.done() / Math.max(1, most))));
        }
        return chart(run, "Work done in each second with " + run.name(), 100, "%").line("lull", points).end();
    }

    String html() {
        Page page = new Page("Heap or page cache: a service whose index is larger than its memory", Colours.ALL);
        page.paragraph("The same phases with heaps of fixed sizes, with what collectors do by themselves, and with the heap budget. Numbers are of the last half of each phase; "
                + "what is settled is the heap, in seconds from the beginning of the phase.");
        page.note(settings);
        page.table(table().rows());
        page.note(ABOUT);
        findings().forEach(page::paragraph);
        for (Run run : runs) {
            page.heading(run.name());
            page.grid();
            page.picture("Memory", "", List.of(new Page.Key("lull", "", "heap, committed"), new Page.Key("g1", "area", "page cache")), memory(run));
            page.picture("Work", "Of the most that any run did in a second of that phase.", List.of(new Page.Key("lull", "", "done")), work(run));
            page.end();
        }
        return page.toString();
    }
}
