// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lull.bench.report.Colours;
import lull.bench.report.TextTable;
import lull.report.page.Chart;
import lull.report.page.Chart.Point;
import lull.report.page.Markup;
import lull.report.page.Page;
import lull.report.page.Scale;

/** The page and the tables of a {@link GateBench} or a {@link CassandraBench}. */
final class GatePage {
    /** Shares smaller than this are not drawn. */
    private static final double LEAST_SHARE = 2e-4;

    private final About about;
    private final List<Outcome> outcomes;
    private final Predictions predictions;
    private final String settings;
    private final String machine;
    private final double hedgeMillis;

    /**
     * What is measured.
     *
     * @param title of the page
     * @param name of what is different from others with this title
     * @param how its first paragraph
     */
    record About(String title, String name, String how) {
        static final About CASSANDRA = new About("The gate: a Cassandra cluster in full collections", "Cassandra",
                "An open-loop client reads and writes rows of a cluster of three Cassandra nodes, each of which has all rows, by Cassandra's own driver, while full collections "
                + "(Parallel) stop the nodes one after the other. Latency counts from the intended start to the right answer, from whichever node.");

        /** The shop on three servers of a kind. */
        static About shop(String server) {
            return new About("The gate: three replicas in full collections", server,
                    "An open-loop client asks three replicas of a shop on " + server + " in turn, while full collections (Parallel) stop them one after the other. "
                    + "Latency counts from the intended start to the right answer, from whichever replica.");
        }
    }

    /** @param predictions may be empty */
    GatePage(About about, List<Outcome> outcomes, Predictions predictions, String settings, String machine, double hedgeMillis) {
        this.about = about;
        this.outcomes = outcomes;
        this.predictions = predictions;
        this.settings = settings;
        this.machine = machine;
        this.hedgeMillis = hedgeMillis;
    }

    static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** Latencies by setup. */
    TextTable table() {
        TextTable table = new TextTable();
        table.add(List.of("", "requests", "p50 ms", "p95", "p99", "p99.9", "max", "extra attempts", "busy answers", "wrong or none", "collections"));
        for (Outcome o : outcomes) {
            table.add(List.of(o.setup.name(), "" + o.requests, number("%.3f", o.latencies.percentileMillis(50)),
                    number("%.2f", o.latencies.percentileMillis(95)), number("%.2f", o.latencies.percentileMillis(99)),
                    number("%.1f", o.latencies.percentileMillis(99.9)), number("%.1f", o.latencies.maxMillis()),
                    number("%.2f %%", 100.0 * (o.attempts - o.requests) / Math.max(1, o.requests)), "" + o.busy,
                    "" + (o.latencies.errors() + o.latencies.unanswered()), "" + o.collections));
        }
        return table;
    }

    private double p(Setup setup, double percentile) {
        return outcomes.stream().filter(o -> o.setup == setup).findFirst().orElseThrow().latencies.percentileMillis(percentile);
    }

    /** What the agent costs and whether its counts are the client's. */
    List<String> findings() {
        List<String> findings = new ArrayList<>();
        double without = p(Setup.QUIET, 50);
        double with = p(Setup.QUIET_WITH_AGENT, 50);
        findings.add(String.format(Locale.ROOT, "Median without collections: %.3f ms without the agent, %.3f ms with it (%+.1f %%).", without, with,
                100 * (with / without - 1)));
        for (Outcome o : outcomes) {
            if (o.setup.agent() && o.setup.collections()) {
                findings.add(String.format(Locale.ROOT, "%s: the agents say that they answered %.0f busy, the clients got %d, with those of the warm-up; "
                        + "p99.9 is %.1f times that without collections.", o.setup.name(), o.agentAnswered, o.busyOfRun,
                        o.latencies.percentileMillis(99.9) / p(Setup.QUIET, 99.9)));
            }
            if (o.busyLatencies.count() > 0) {
                findings.add(String.format(Locale.ROOT, "%s: a busy answer came %.2f ms after its request (median; 99%%: %.2f ms).", o.setup.name(),
                        o.busyLatencies.percentileMillis(50), o.busyLatencies.percentileMillis(99)));
            }
        }
        return findings;
    }

    String text() {
        return "\n" + settings + "\n" + machine + "\n\n" + table() + "\n" + String.join("\n", findings()) + "\n" + (predictions.isEmpty() ? "" : "\n" + predictions.table());
    }

    /** The share of requests that were slower, by latency; both axes logarithmic. */
    Markup ccdf() {
        Chart chart = new Chart(330, "Share of requests that took longer, by latency, of each setup");
        double low = outcomes.stream().mapToDouble(o -> o.latencies.percentileMillis(5)).min().orElse(0.1);
        double high = outcomes.stream().mapToDouble(o -> o.latencies.percentileMillis(100 * (1 - LEAST_SHARE))).max().orElse(1000);
        Scale x = Scale.log(Math.max(low, 0.01), Math.max(high, 1), Chart.LEFT, Chart.RIGHT);
        chart.yAxis(Scale.log(LEAST_SHARE, 1, chart.bottom(), Chart.TOP), "share");
        chart.xAxis(x, x.marks(6), Scale::label, "latency, milliseconds");
        for (Outcome o : outcomes) {
            List<Point> points = new ArrayList<>();
            for (int i = 0; i <= 200; i++) {
                double share = Math.pow(LEAST_SHARE, i / 200.0);
                points.add(new Point(o.latencies.percentileMillis(100 * (1 - share)), share));
            }
            chart.line(o.setup.colour(), points);
        }
        return chart.end();
    }

    private void addTo(Page page) {
        page.paragraph(about.how());
        page.note(settings + ". Hedging sends a second request after " + number("%.2f", hedgeMillis) + " ms. " + machine + ".");
        List<Page.Key> keys = outcomes.stream().map(o -> new Page.Key(o.setup.colour(), "", o.setup.name())).toList();
        page.grid().picture("How many requests took longer", "", keys, ccdf()).end();
        page.table(table().rows());
        findings().forEach(page::paragraph);
        if (!predictions.isEmpty()) {
            page.heading("Predictions");
            page.note(Predictions.note());
            page.table(predictions.table().rows());
        }
    }

    String html() {
        return html(List.of(this));
    }

    /** One page of several. */
    static String html(List<GatePage> all) {
        Page page = new Page(all.getFirst().about.title(), Colours.ALL);
        for (GatePage each : all) {
            if (all.size() > 1) {
                page.heading(each.about.name());
            }
            each.addTo(page);
        }
        return page.toString();
    }
}
