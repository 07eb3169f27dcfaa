// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import lull.bench.report.Colours;
import lull.bench.report.TextTable;
import lull.bench.service.Service;
import lull.report.page.Markup;
import lull.report.page.Page;
import lull.report.page.Page.Key;

/** The page of the demo: what was run, the numbers, the pictures, what to be careful about, and the exact commands. */
final class DemoPage {
    private final Settings settings;
    private final Workload workload;
    private final List<Trial> trials;
    private final String heapOrigin;
    private final String rateOrigin;
    private final TextTable table;

    DemoPage(Settings settings, Workload workload, List<Trial> trials, String heapOrigin, String rateOrigin, TextTable table) {
        this.settings = settings;
        this.workload = workload;
        this.trials = trials;
        this.heapOrigin = heapOrigin;
        this.rateOrigin = rateOrigin;
        this.table = table;
    }

    Page write() throws IOException, InterruptedException {
        String names = String.join(", ", trials.stream().map(t -> t.collector().label()).toList());
        Page page = new Page("Lull demo: the " + workload.service() + " service on " + names, Colours.ALL);
        Trial first = trials.getFirst();
        page.paragraph(String.format(Locale.ROOT, "The same service, the same heap of %d MB and the same load over HTTP, one collector after the other: "
                + "a closed loop of %d clients for throughput, then an open loop of %.1f requests per second at random (Poisson) times for latency. "
                + "Latency counts from the time a request was meant to start, so a stall of the server counts for every request that it held up. "
                + "Every answer is checked.", first.heap(), settings.threads(), first.number("open", "rate")));
        page.table(table.rows());
        for (String caveat : caveats(trials)) {
            page.note(caveat);
        }

        Pictures pictures = new Pictures(trials);
        List<Key> lines = trials.stream().map(t -> new Key(t.collector().name(), "line", t.collector().label())).toList();
        page.heading("Requests").grid();
        page.picture("Latency by percentile", "Open loop. Lower is better.", lines, pictures.percentiles());
        List<Key> series = new ArrayList<>();
        for (Trial trial : trials) {
            series.add(new Key(trial.collector().name(), "line", trial.collector().label() + " slowest"));
            series.add(new Key(trial.collector().name(), "thin", "median"));
        }
        page.picture("Latency over time", "Open loop, requests by the second of their intended start.", series, pictures.latencyOverTime());
        page.picture("Throughput", "Closed loop. Higher is better.", List.of(), pictures.throughput());
        page.picture("Processor time per answer", "Whole measured time. Lower is better.", List.of(new Key("plain", "first", "mutators"),
                new Key("plain", "second", "collector"), new Key("plain", "third", "compilers")), pictures.processorTime());
        page.end();

        TimePictures times = new TimePictures(trials.stream().map(Trial::timeline).toList());
        page.heading("Pauses").grid();
        for (Trial trial : trials) {
            page.picture(trial.collector().label(), "One line per pause, its length on a logarithmic scale; a dot on top marks a full collection.", List.of(),
                    times.pauses(trial.collector().name(), trial.collector().label(), trial.timeline()));
            Markup local = times.localCollections(trial.collector().name(), trial.collector().label(), trial.timeline());
            if (local != null) {
                page.picture(trial.collector().label() + ": local collections", TimePictures.LOCAL_COLLECTIONS, List.of(), local);
            }
        }
        page.end();
        page.heading("Memory").grid();
        for (Trial trial : trials) {
            String colour = trial.collector().name();
            page.picture(trial.collector().label(), "", TimePictures.memoryKeys(colour), times.memory(colour, trial.collector().label(), trial.timeline()));
        }
        page.end();
        return how(page);
    }

    private Page how(Page page) throws IOException, InterruptedException {
        Trial first = trials.getFirst();
        page.heading("How it was run");
        page.paragraph("Service: " + description() + ".");
        page.paragraph("Machine: " + Machine.here() + ".");
        page.paragraph("Heap: " + first.heap() + " MB, " + heapOrigin + ".");
        page.paragraph(String.format(Locale.ROOT, "Load: %.1f requests per second in the open loop, %s; seed %d; %.0f s warm-up, %.0f s closed loop, %.0f s open loop. "
                + "The server works on %d requests at once; the load runs beside it on the same machine.", first.number("open", "rate"), rateOrigin,
                settings.seed(), first.number("warm-up", "seconds"), first.number("closed", "seconds"), first.number("open", "seconds"), settings.threads()));
        Set<String> versions = new LinkedHashSet<>();
        for (Trial trial : trials) {
            versions.add(trials.stream().filter(t -> t.collector().java().equals(trial.collector().java())).map(t -> t.collector().label())
                    .collect(Collectors.joining(", ")) + ": " + trial.collector().java() + "\n" + Jdk.of(trial.collector().java()).text());
        }
        page.terminal(String.join("\n", versions) + "\nload: " + settings.baseJava() + "\n" + Jdk.of(settings.baseJava()).text());
        for (Trial trial : trials) {
            page.note("Server on " + trial.collector().label() + ":");
            page.terminal(command(trial.serverCommand()));
        }
        page.note("Load (port and file differ between runs):");
        page.terminal(command(first.loadCommand()) + String.format(Locale.ROOT, " --warmup %.0f --closed %.0f --open %.0f --rate %s",
                first.number("warm-up", "seconds"), first.number("closed", "seconds"), Math.floor(first.number("open", "seconds")), first.number("open", "rate")));
        return page;
    }

    /** A command as one would type it: arguments that a shell would change are quoted. */
    private static String command(List<String> arguments) {
        return arguments.stream().map(a -> a.matches("[A-Za-z0-9_./:=,+%@-]+") ? a : "'" + a.replace("'", "'\\''") + "'").collect(Collectors.joining(" "));
    }

    private String description() {
        for (Service service : ServiceLoader.load(Service.class)) {
            if (service.name().equals(workload.service())) {
                return service.describe();
            }
        }
        return workload.service();
    }

    /** Returns what a reader must know before believing the numbers, as far as it can be told from the runs. */
    static List<String> caveats(List<Trial> trials) {
        List<String> caveats = new ArrayList<>();
        double fewest = trials.stream().mapToDouble(t -> t.number("open", "requests")).min().orElse(0);
        if (fewest < 10_000) {
            caveats.add(String.format(Locale.ROOT, "p99.9 rests on the slowest %d of %.0f requests: repeat (bench/compare.sh) before you trust it.",
                    Math.max(1, Math.round(fewest / 1000)), fewest));
        }
        double others = trials.stream().mapToDouble(t -> t.metrics().get(Metric.OTHERS)).max().orElse(0);
        if (others >= 10) {
            caveats.add(String.format(Locale.ROOT, "Other processes had up to %.0f %% of the machine's processors during a run: latencies and throughput are disturbed; "
                    + "processor time per request is less so.", others));
        }
        double warming = trials.stream().mapToDouble(t -> t.metrics().get(Metric.JIT_CPU) / t.metrics().get(Metric.MUTATOR_CPU)).max().orElse(0);
        if (warming > 0.5) {
            caveats.add(String.format(Locale.ROOT, "The service was still warming up: compilers used up to %.0f %% as much processor time as the service's own threads. "
                    + "Raise LULL_DEMO_WARMUP.", 100 * warming));
        }
        for (Trial trial : trials) {
            double unanswered = trial.number("open", "unanswered");
            double throughput = trial.number("closed", "throughput");
            if (unanswered > 0) {
                caveats.add(couldNotKeepUp(trial.collector().label(), unanswered));
            } else if (trial.number("open", "rate") > throughput) {
                caveats.add(rateIsAbove(trial.collector().label(), throughput));
            }
            if (trial.errors() > 0) {
                caveats.add(trial.collector().label() + ": " + trial.errors() + " errors.");
            }
        }
        return caveats;
    }

    static String couldNotKeepUp(String name, double unanswered) {
        return String.format(Locale.ROOT, "%s could not keep up: %.0f requests had no answer when the load gave up; they count with the time waited so far.", name, unanswered);
    }

    static String rateIsAbove(String name, double throughput) {
        return String.format(Locale.ROOT, "The rate is above the closed-loop throughput of %s (%.1f/s): its latencies are those of a queue that grows.", name, throughput);
    }
}
