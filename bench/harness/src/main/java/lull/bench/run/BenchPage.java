// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import lull.bench.report.Colours;
import lull.bench.result.Cell;
import lull.bench.result.Privacy;
import lull.bench.run.BenchReport.Findings;
import lull.report.page.Markup;
import lull.report.page.Page;
import lull.report.page.Page.Key;
import lull.report.page.Scale;

/** The page of a benchmark: pictures and numbers of each service, what is missing, and how it was measured. */
final class BenchPage {
    private final Settings settings;
    private final List<Findings> findings;
    private final Calibration.Wish wish;

    BenchPage(Settings settings, List<Findings> findings, Calibration.Wish wish) {
        this.settings = settings;
        this.findings = findings;
        this.wish = wish;
    }

    Page write() throws IOException {
        Page page = new Page("Lull bench: " + String.join(", ", findings.stream().map(f -> f.study().workload().service()).toList()), Colours.ALL);
        page.paragraph("Each collector does the same work in the same heaps, several times, in random order. Vertical lines are 95 % confidence intervals of "
                + "the means; points of the same heap are drawn beside each other. A point that is not there is missing: nothing stands in for it, and the reason is told below the table.");
        if (findings.size() > 1) {
            page.heading("All services").note("Geometric means of the lower-bound overheads. At each heap, only services that miss no collector there count.");
            page.table(BenchReport.means(findings).rows());
        }
        for (Findings found : findings) {
            service(page, found);
        }
        return how(page);
    }

    private static void service(Page page, Findings found) {
        page.heading("Service " + found.study().workload().service());
        BenchPictures pictures = new BenchPictures(found.cells());
        if (!pictures.factors().isEmpty()) {
            List<Key> keys = pictures.keys();
            page.grid();
            page.picture("Lower-bound overhead, wall time", "Cost of the work over the least cost without collection that any point shows. Lower is better.", keys,
                    pictures.overHeap("Lower-bound overhead by wall time over the heap", "", false, 1, c -> found.wall().of(c.point())));
            page.picture("Lower-bound overhead, processor time", "The same by processor time of all the server's threads. Lower is better.", keys,
                    pictures.overHeap("Lower-bound overhead by processor time over the heap", "", false, 1, c -> found.cpu().of(c.point())));
            page.picture("Throughput", "Closed loop, answers per second. Higher is better.", keys,
                    pictures.overHeap("Throughput over the heap", "/s", false, 0, c -> c.mean(Metric.THROUGHPUT.id())));
            page.picture("Longest pause", "Mean over the invocations of the longest pause of each, closed and open loop. Lower is better.", keys,
                    pictures.overHeap("Longest pause over the heap", "ms", true, 0, c -> c.mean(Metric.LONGEST_PAUSE.id())));
            if (BenchReport.hasPrivacy(found)) {
                page.picture("Published per request", "Kilobytes that an answer of the closed loop made public, of those that it allocated.", pictures.keysOf(Privacy.PUBLISHED),
                        pictures.overHeap("Kilobytes published per request over the heap", "KB", false, 0, c -> c.mean(Privacy.PUBLISHED)));
            }
            for (double factor : pictures.factors()) {
                page.picture("Latency at " + Scale.label(factor) + "x", "Open loop, from the intended start; all invocations together. A dot is the slowest request. "
                        + "Lower is better.", keys, pictures.percentiles(factor));
            }
            page.end();
        }
        overTime(page, pictures);
        page.table(BenchReport.table(found).rows());
        page.note("Columns that begin with \"closed\" are of the closed loop alone, processor time per answer with that of the collector and of the compilers in it; those that "
                + "begin with \"open\", and the requests without an answer, are of the open loop.");
        page.note(BenchReport.denominators(found) + ".");
        if (BenchReport.hasPrivacy(found)) {
            page.note("Per answer of the closed loop, on collectors that tell private objects from public ones:");
            page.table(BenchReport.privacy(found).rows());
        }
        BenchReport.missing(found).forEach(reason -> page.note("Missing: " + reason));
        BenchReport.caveats(found).forEach(page::note);
    }

    private static void overTime(Page page, BenchPictures pictures) {
        List<Cell> cells = pictures.overTime();
        if (cells.isEmpty()) {
            return;
        }
        TimePictures times = new TimePictures(cells.stream().map(Cell::timeline).toList());
        String heap = " at " + Scale.label(pictures.typicalFactor()) + "x";
        page.grid();
        for (Cell cell : cells) {
            String name = cell.setup().collector();
            page.picture("Pauses of " + name + heap, "First invocation; a line per pause, on a logarithmic scale; a dot marks a full collection.", List.of(),
                    times.pauses(BenchPictures.colour(name), name, cell.timeline()));
            Markup local = times.localCollections(BenchPictures.colour(name), name, cell.timeline());
            if (local != null) {
                page.picture("Local collections of " + name + heap, "First invocation. " + TimePictures.LOCAL_COLLECTIONS, List.of(), local);
            }
            page.picture("Memory of " + name + heap, "", TimePictures.memoryKeys(BenchPictures.colour(name)),
                    times.memory(BenchPictures.colour(name), name, cell.timeline()));
        }
        page.end();
    }

    private Page how(Page page) throws IOException {
        page.heading("How it was measured");
        page.paragraph("Machine: " + Machine.here() + ".");
        page.paragraph(String.format(Locale.ROOT, "Work: numbers of requests that took G1 about %.0f s of warm-up and %.0f s of closed loop, the same for all; then an "
                + "open loop at %.0f %% of G1's throughput. Throughput and costs are those of the closed loop. The load runs beside the server on the same "
                + "machine. Seed %d.", wish.warmup(), wish.closed(), 100 * wish.share(), settings.seed()));
        page.paragraph("Lower-bound overhead: the total cost of the closed loop, divided by the smallest distilled cost of all collectors and heaps of the service. Distilled "
                + "is the cost less what is collection for certain: of wall time the pauses, of processor time that of the collector's threads, with which pauses are "
                + "done as well, and that of local collections. What else a collector does in the service's own threads is not taken off. The true overhead is at least what is shown. Its interval is "
                + "that of the total.");
        page.paragraph("Intervals: Student's t over the invocations. Heaps are multiples of the smallest heap in which G1 runs the service ("
                + MinHeap.method(settings) + ").");
        Set<String> lines = new LinkedHashSet<>();
        for (Findings found : findings) {
            lines.add(found.study().workload().service() + " " + found.study().workload().options() + ": smallest heap " + found.study().smallest() + " MB; "
                    + found.study().work().work(settings.threads()) + "; open loop at " + found.study().work().rate() + "/s");
        }
        for (Findings found : findings) {
            for (Cell cell : found.cells()) {
                lines.add(cell.setup().collector() + ": " + cell.setup().variant().text());
            }
        }
        return page.terminal(String.join("\n", lines));
    }
}
