// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lull.report.gclog.GcLog;
import lull.report.page.Page;

/** The page: what to do, and the figures and pictures that say why, in plain words. */
final class ReportPage {
    private static final int PLACES = 10;
    /** A share of the bytes above which it is said at once. */
    private static final double MUCH_IN_PUBLIC_MODE = 0.1;
    private static final String NO_BASELINE = "What G1 costs this service is not in a recording of Lull: record a run on G1 "
            + "with the same load and heap, and give it as `--baseline`.";

    private final Recording recording;
    private final Figures figures;
    private final Figures baseline;
    private final GcLog log;
    private final Pictures pictures;
    private final Page page;

    /** {@code baseline} and {@code log} may be null. */
    ReportPage(Recording recording, Recording baseline, GcLog log) {
        this.recording = recording;
        this.figures = new Figures(recording);
        this.baseline = baseline == null ? null : new Figures(baseline);
        this.log = log;
        this.pictures = new Pictures(recording);
        this.page = new Page("Lull report: " + Text.shortName(recording.javaArguments) + " on " + recording.collector(),
                Pictures.PALETTE);
    }

    Page write() {
        inShort();
        requests();
        heap();
        publishers();
        collections();
        budget();
        gain();
        how();
        return page;
    }

    private void inShort() {
        page.section("In short");
        Advice advice = Advice.of(figures);
        Estimate saved = baseline == null ? Estimate.bare(Double.NaN) : Gain.measured(figures, baseline);
        page.card("verdict", verdict());
        if (saved.high() < 0) {
            page.paragraph("It takes less processor time for the same allocation: see the last but one section. If pauses matter more, compare those. The run on "
                    + recording.collector() + " by itself says: " + advice.heading() + ".");
        }
        advice.reasons().forEach(page::paragraph);
        if (advice.mode() == Advice.Mode.PRIVATE && advice.flags().isEmpty()) {
            page.paragraph("No flag needs to be set.");
        } else if (!advice.flags().isEmpty()) {
            page.paragraph("Flags to try, one after the other:");
            page.list(advice.flags().stream().map(f -> "`" + f.flag() + "`: " + f.why()).toList());
        }
        page.end();
        page.list(facts());
        caveats().forEach(page::note);
    }

    /** The page's first words. */
    String verdict() {
        boolean isDearer = baseline != null && Gain.measured(figures, baseline).high() < 0;
        return isDearer ? "By these two runs " + baseline.recording.collector() + " is cheaper than " + recording.collector()
                : Advice.of(figures).heading();
    }

    /** What matters most, a sentence or two each, for a terminal: pauses, the collector's share, what can be or was gained. */
    List<String> summary() {
        List<String> lines = new ArrayList<>(facts());
        lines.add(bound());
        if (baseline != null && !Double.isNaN(Gain.measured(figures, baseline).value())) {
            lines.add(comparison());
        } else if (baseline == null && recording.isLull()) {
            lines.add(NO_BASELINE);
        }
        return lines.stream().map(line -> line.replace("`", "").replace('\u00a0', ' ')).toList();
    }

    private List<String> facts() {
        List<String> facts = new ArrayList<>();
        facts.add(recording.pauses.isEmpty() ? "No pause for a collection in " + Text.time(figures.seconds) + "."
                : "All threads stood still " + (recording.pauses.size() == 1 ? "once, " : Text.number(recording.pauses.size()) + " times, ")
                + Text.time(figures.pausedSeconds()) + " in all, which is "
                + Text.percent(figures.pausedShare()) + " of the time; the longest time was " + Text.time(figures.longestPause()) + ".");
        Estimate share = figures.collectorShare();
        facts.add(Double.isNaN(share.value()) ? "What share of the processor time the collector took, this recording does not say"
                + (!figures.isLoadKnown() ? ": it has too few `jdk.CPULoad` events."
                : recording.collections.isEmpty() ? ": there was no collection in it."
                : ": " + recording.collector() + " records no processor time of its own.")
                : "The collector took " + Text.percent(share.value()) + " of the JVM's processor time (by the recording not less than "
                + Text.percent(share.low()) + " and not more than " + Text.percent(share.high()) + ").");
        if (recording.isTracking() && recording.allocated.size() > 1) {
            facts.add("Of " + Text.bytes(recording.allocated.total()) + " that were allocated, " + Text.bytes(recording.published.total())
                    + " became public and "
                    + Text.bytes(figures.locallyFreed()) + " were freed by the thread that had allocated them."
                    + (figures.publicModeShare() >= MUCH_IN_PUBLIC_MODE ? " Threads in public mode have allocated "
                    + Text.percent(figures.publicModeShare()) + ", where all is public from the start." : ""));
        }
        return facts;
    }

    private List<String> caveats() {
        List<String> caveats = new ArrayList<>();
        if (figures.seconds < Figures.SHORTEST) {
            caveats.add("The recording is only " + Text.time(figures.seconds) + " long. Intervals need " + Text.time(Figures.SHORTEST)
                    + ", a judgement minutes under load.");
        }
        // Seconds by the clock: where threads wait for a processor that is more than what compilers have of it.
        double compiling = recording.compilation.size() > 1
                ? recording.compilation.total() / (recording.compilation.to() - recording.compilation.from()) : 0;
        if (figures.isLoadKnown() && compiling > 0.2 * figures.processorSeconds() / figures.loadSeconds()) {
            caveats.add("The service was still warming up: compilers were at work for " + Text.percent(Math.min(1, compiling))
                    + " of the time. Record later (`--warmup`).");
        }
        if (recording.jvmArguments.contains("LullPublicationSampling")) {
            caveats.add("Publications were sampled (`-XX:LullPublicationSampling`), which costs a little; leave it out in production.");
        }
        return caveats;
    }

    private void requests() {
        page.section("What a request allocates and publishes");
        if (!recording.isTracking() || recording.allocated.size() < 2) {
            double rate = figures.allocationRate();
            page.paragraph((Double.isNaN(rate) ? "How much the service allocates, this recording does not say. "
                    : "The service allocates " + Text.bytes(rate) + " per second. ") + "Whether that is of one thread "
                    + "only, a recording of "
                    + recording.collector() + " does not say" + (recording.isLull() ? " without tracking." : ": only Lull counts it."));
            return;
        }
        double requests = recording.requests.total();
        double seconds = recording.allocated.to() - recording.allocated.from();
        page.paragraph("An object is private as long as only the thread that has allocated it can reach it. A store into an object that "
                + "others know publishes it. "
                + "What stays private and is dead at the end of the request costs next to nothing; what is published waits for a pause.");
        List<List<String>> rows = new ArrayList<>();
        boolean each = requests > 0;
        rows.add(each ? List.of("", "per request", "per second", "of the allocated bytes") : List.of("", "per second", "of the allocated "
                + "bytes"));
        row(rows, "allocated", recording.allocated.total(), requests, seconds);
        if (figures.publicModeShare() > 0) {
            row(rows, "public from the start, in public mode", figures.publicModeShare() * recording.allocated.total(), requests, seconds);
        }
        row(rows, "published by a store", recording.published.total(), requests, seconds);
        row(rows, "freed by its own thread", figures.locallyFreed(), requests, seconds);
        row(rows, "found alive by local collections", recording.locallySurvived.total(), requests, seconds);
        page.table(rows);
        page.note(each ? Text.number(requests) + " requests, " + Text.number(requests / seconds)
                + " per second, that lull.Requests has said to have ended."
                : "The program does not say where its requests end (lull.Requests), so there are no figures per request. Threads have "
                + "waited with something to collect "
                + Text.number(recording.beforeWait.total() / seconds) + " times per second: each time a request, or a part of it, had "
                + "ended.");
        if (!figures.areLocalCollectionsRecorded()) {
            page.note(notRecorded() + " So nothing is said of what is alive at the end of a request.");
        } else if (recording.survival.count() > 0) {
            List<List<String>> percentiles = new ArrayList<>();
            percentiles.add(List.of("at the end of a request, or a part of it", "half of them at most", "nine of ten at most"));
            percentiles.add(List.of("still alive, of what it allocated", Text.percent(recording.survival.percentile(50)),
                    Text.percent(recording.survival.percentile(90))));
            if (recording.publication.count() > 0) {
                percentiles.add(List.of("published, of what it allocated", Text.percent(recording.publication.percentile(50)),
                        Text.percent(recording.publication.percentile(90))));
            }
            page.table(percentiles);
            page.note("Of " + Text.number(recording.survival.count()) + " local collections before a wait or at the end of a request "
                    + "that the recording has one by one.");
        }
        page.paragraph("Threads that allocated " + Text.percent(figures.publicModeShare()) + " of the bytes were in public mode: they do "
                + "not track, and have no local collections. "
                + "The barriers called the VM " + Text.number(recording.slowCalls.total() / seconds)
                + " times per second. What the barriers cost is in the service's own time; no event says it.");
    }

    private String notRecorded() {
        return "The recording has only " + Text.number(figures.recordedLocally()) + " of " + Text.number(figures.locally())
                + " local collections one by one, those above its threshold (1 ms with `settings=default`), which are unlike the rest. "
                + "With `settings=profile`, or by `lull doctor`, it has all.";
    }

    private void row(List<List<String>> rows, String name, double bytes, double requests, double seconds) {
        String share = Text.percent(bytes / recording.allocated.total());
        rows.add(requests > 0 ? List.of(name, Text.bytes(bytes / requests), Text.bytes(bytes / seconds), share)
                : List.of(name, Text.bytes(bytes / seconds), share));
    }

    private void heap() {
        page.section("The heap over time");
        page.paragraph(recording.isTracking()
                ? "The heap fills with what is published and what is not yet collected; local collections give memory back all the time, "
                + "pauses in steps."
                : "The heap fills until a collection gives memory back.");
        page.grid();
        picture("In use", "The lower the dots, the less lives on; what is between them and the committed size is the room for "
                + "garbage.", pictures.heap(figures));
        picture("By part", "The pools that the collector divides its heap into.", pictures.pools());
        picture("Where allocation goes", "Per second. The more is freed by its own thread, the fewer pauses are needed.", pictures.allocation());
        picture("Live data", "What global collections have found live, by the log.", pictures.composition(log));
        page.end();
        if (log == null && recording.isLull()) {
            page.note("How much of the live data is private only a log says: `--gc-log FILE`, of `-Xlog:gc*:file=FILE:uptime,level,tags`.");
        }
    }

    private void picture(String heading, String note, Pictures.Drawn drawn) {
        if (drawn != null) {
            page.picture(heading, note, drawn.keys(), drawn.picture());
        }
    }

    private void publishers() {
        page.section("Who publishes");
        List<Place> places = recording.places.values().stream().sorted(Comparator.comparingLong((Place p) -> p.weight).reversed()).toList();
        double all = places.stream().mapToLong(p -> p.weight).sum();
        if (places.isEmpty()) {
            page.paragraph(!recording.isLull() ? "Only Lull knows." : "No samples: they need a JVM with "
                    + "`-XX:+UnlockExperimentalVMOptions -XX:LullPublicationSampling=64k`, as `lull doctor -- java ...` runs it; "
                    + "or nothing was published while the recording went on.");
            return;
        }
        page.paragraph("The places in the program that publish most, by samples that stand for " + Text.bytes(all)
                + ". Each stack begins with the store, and ends some frames "
                + "behind the first code that is not the JDK's. The advice is guessed from the methods' names: look at the code.");
        for (Place place : places.subList(0, Math.min(PLACES, places.size()))) {
            page.card("", Text.percent(place.weight / all) + ": " + place.application());
            double objects = (double) place.objects / place.samples;
            page.note(Text.bytes(place.weight) + " in " + Text.number(place.samples) + (place.samples == 1 ? " sample; " : " samples; ")
                    + Text.number(objects) + (objects == 1 ? " object" : " objects") + " at a time, mostly led to by a `" + place.mainClass()
                    + "`");
            page.paragraph(StoreAdvice.of(place));
            page.terminal(place.frames.isEmpty() ? "(no stack)" : String.join("\n",
                    place.frames.stream().map(Place.Frame::toString).toList()));
            page.end();
        }
        double rest = places.stream().skip(PLACES).mapToLong(p -> p.weight).sum();
        if (rest > 0) {
            page.note((places.size() - PLACES) + " more places publish " + Text.percent(rest / all) + ".");
        }
    }

    private void collections() {
        page.section("Time in collections");
        page.paragraph("In a pause all threads stand still. A local collection holds up its own thread only, mostly where it waits "
                + "anyway.");
        page.grid();
        picture("Pauses", "One line for each, its length on a logarithmic scale.", pictures.pauses());
        picture("Local collections", "Processor time of the threads that collect for themselves.", pictures.localCollections());
        page.end();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("", "number", "time in all", "longest", "share of the time", "processor time"));
        rows.add(List.of("pauses", Text.number(recording.pauses.size()), Text.time(figures.pausedSeconds()),
                Text.time(figures.longestPause()), Text.percent(figures.pausedShare()),
                figures.isCollectorTimeKnown() ? Text.time(figures.pauseProcessorSeconds()) : "–"));
        if (recording.localCollections.size() > 1) {
            rows.add(List.of("local collections", Text.number(recording.localCollections.total()), Text.time(recording.localTime.total()),
                    Text.time(recording.longestLocal),
                    "–", Text.time(recording.localProcessorTime.total())));
        }
        if (!recording.concurrentPhases.isEmpty()) {
            rows.add(List.of("beside the service", Text.number(recording.concurrentPhases.size()),
                    Text.time(recording.concurrentPhases.stream().mapToDouble(Recording.Span::seconds).sum()),
                    Text.time(recording.concurrentPhases.stream().mapToDouble(Recording.Span::seconds).max().orElse(0)), "–",
                    "at most " + Text.time(figures.mostConcurrentSeconds())));
        }
        page.table(rows);
        page.note("Processor time is of the " + Text.time(figures.loadSeconds()) + " in which that of the whole JVM is known, but for "
                + "local collections. "
                + "The longest local collection is since the JVM started; its time, and that of all, "
                + "goes on while a thread waits for a processor. Processor time of pauses has that of all threads that ran in "
                + "them, such as compilers.");
        if (!figures.areLocalCollectionsRecorded()) {
            page.note(notRecorded());
        }
        table("local collection", recording.localTriggers);
        table("change of mode", recording.modeChanges);
    }

    private void budget() {
        List<Recording.BudgetDecision> decisions = recording.budget;
        if (decisions.isEmpty()) {
            return;
        }
        page.section("Heap or page cache");
        page.paragraph("Memory that the heap does not take is page cache, which saves reads. The heap budget (`-XX:+UseHeapBudget`) compares what "
                + "collections take from the program's threads with what these lose waiting for I/O, and moves memory to where more is lost.");
        page.grid();
        picture("What is lost", "Threads that could have worked at a time. Both low: there is nothing to win by either.", pictures.budgetCosts());
        picture("The heap's size", "It grows against collections, and shrinks against waits for I/O.", pictures.budgetSizes());
        page.end();
        double collections = decisions.stream().mapToDouble(Recording.BudgetDecision::collections).average().orElse(0);
        double stalls = decisions.stream().mapToDouble(Recording.BudgetDecision::stalls).average().orElse(0);
        long steps = decisions.stream().filter(Recording.BudgetDecision::isStep).count();
        page.paragraph("On average " + Text.number(collections) + " processors were lost to collections and " + Text.number(stalls)
                + " threads waited for I/O. In " + Text.number(steps) + (steps == 1 ? " step" : " steps") + " the heap went from "
                + Text.bytes(decisions.get(0).heap()) + " to " + Text.bytes(decisions.get(decisions.size() - 1).heap()) + ".");
        Map<String, Long> counts = new TreeMap<>();
        decisions.forEach(d -> counts.merge(d.action() + ": " + d.reason(), 1L, Long::sum));
        table("decision", counts);
    }

    private void table(String name, Map<String, Long> counts) {
        if (!counts.isEmpty()) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of(name, "number"));
            counts.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                    .forEach(e -> rows.add(List.of(e.getKey(), Text.number(e.getValue()))));
            page.table(rows);
        }
    }

    private void gain() {
        page.section("What can be gained");
        page.paragraph(bound());
        boolean isKnown = !Double.isNaN(Gain.bound(figures));
        if (isKnown && !recording.isLull()) {
            page.paragraph("Lull would win all of it only if its own collections and barriers cost nothing; how much they cost, and whether it is "
                    + "more than is won, this recording cannot say. There is no lower bound. Of the time in which all threads stand still, at most "
                    + Text.percent(figures.pausedShare()) + " of the whole can be won.");
        } else if (isKnown) {
            if (baseline == null) {
                page.paragraph(NO_BASELINE);
            }
            local();
        }
        if (baseline != null) {
            compare();
        }
        page.note("Shares of processor time have two bounds, not an interval of chance: the clock of a pause ticks every 10 ms (at 95 "
                + "%), and events do not say how many threads work beside the "
                + "service. Intervals elsewhere are of 95 %, by Student's t over " + Figures.SLICES
                + " pieces of the time, or over collections.");
    }

    private String bound() {
        double bound = Gain.bound(figures);
        if (Double.isNaN(bound)) {
            return "This recording does not say what the collector costs, so nothing can be said of what could be gained.";
        }
        return recording.isLull()
                ? "The collector's share of the processor time here, " + Text.percent(figures.collectorShare().value())
                + ", is all that could still be won from this run."
                : "At most " + Text.percent(bound) + " of the processor time can be gained: that is the collector's share, and the rest is the service's "
                + "own. Per processor that is at most " + Text.percent(1 / (1 - Math.min(0.99, bound)) - 1) + " more requests.";
    }

    private void local() {
        if (!recording.isTracking()) {
            return;
        }
        Estimate saved = Gain.local(figures);
        if (Double.isNaN(saved.value())) {
            page.paragraph("What local collections save against leaving all to pauses cannot be told: that needs " + Gain.FEWEST
                    + " young or global collections in the recording, by whose price for a byte they are judged.");
            return;
        }
        page.paragraph("Local collections save " + Text.percent(saved) + " of the processor time that it would take without them, less "
                + "what barriers and publication "
                + "cost. Without them the collections in pauses would have to free "
                + Text.bytes(figures.locallyFreed()) + " more, and they have paid "
                + Text.number(Gain.pausePrice(figures).value()) + " ms for each megabyte; the local ones took "
                + Text.time(recording.localProcessorTime.total()) + ".");
    }

    private void compare() {
        Recording other = baseline.recording;
        Estimate own = figures.perMegabyte(false);
        Estimate theirs = baseline.perMegabyte(false);
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("", recording.collector(), other.collector()));
        rows.add(List.of("processor time per MB allocated, ms", estimate(own), estimate(theirs)));
        rows.add(List.of("of it the collector's", estimate(figures.perMegabyte(true)), estimate(baseline.perMegabyte(true))));
        rows.add(List.of("allocated per second", Text.bytes(figures.allocationRate()), Text.bytes(baseline.allocationRate())));
        rows.add(List.of("time in pauses", Text.percent(figures.pausedShare()), Text.percent(baseline.pausedShare())));
        rows.add(List.of("longest pause", Text.time(figures.longestPause()), Text.time(baseline.longestPause())));
        rows.add(List.of("heap", Text.bytes(recording.maxHeap), Text.bytes(other.maxHeap)));
        page.table(rows);
        Estimate saved = Gain.measured(figures, baseline);
        if (Double.isNaN(saved.value())) {
            page.paragraph("One of the recordings does not say what was allocated or how much processor time was used, so the two cannot "
                    + "be compared. Of ZGC and Shenandoah, and where threads come and go all the time, only a recording by `lull doctor` says "
                    + "what was allocated, and that only if threads live for some seconds.");
            return;
        }
        page.paragraph(comparison() + " This compares two runs, and is worth as much as their loads are alike; the two collectors also count "
                + "allocation differently by some per cent. The bound for any collector by " + other.collector() + "'s own run is "
                + Text.percent(Gain.bound(baseline)) + ".");
        if (recording.maxHeap != other.maxHeap) {
            page.paragraph("The heaps differ in size: give both the same -Xmx before you believe this.");
        }
    }

    private String comparison() {
        Estimate saved = Gain.measured(figures, baseline);
        boolean less = saved.value() >= 0;
        Estimate amount = less ? saved : new Estimate(-saved.value(), -saved.high(), -saved.low());
        return "For the same allocation " + recording.collector() + " takes " + Text.percent(amount) + (less ? " less" : " more")
                + " processor time than " + baseline.recording.collector()
                + (saved.isKnown() && saved.low() <= 0 && saved.high() >= 0 ? "; the interval has 0 in it, so this shows no difference."
                : ".");
    }

    private static String estimate(Estimate e) {
        return e.isKnown() ? Text.number(e.value()) + " (" + Text.number(e.low()) + " to " + Text.number(e.high()) + ")"
                : Text.number(e.value());
    }

    private void how() {
        page.section("How it was recorded");
        page.list(List.of("JVM: " + recording.version, "Collector: " + recording.collector() + ", heap of at most "
                + Text.bytes(recording.maxHeap) + ", "
                + recording.hardwareThreads + " hardware threads", "Recording: `" + recording.file + "`, " + Text.time(figures.seconds)
                + (Double.isNaN(recording.jvmStart) ? "" : ", begun " + Text.time(-recording.jvmStart) + " after the JVM")
                + (baseline == null ? "" : "; compared with `" + baseline.recording.file + "`, " + Text.time(baseline.seconds))));
        page.note("JVM arguments and program (values of properties that look like secrets are left out):");
        page.terminal((Text.withoutSecrets(recording.jvmArguments) + "\n" + Text.withoutSecrets(recording.javaArguments)).strip());
    }
}
