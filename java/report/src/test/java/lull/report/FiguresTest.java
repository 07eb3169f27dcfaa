// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Figures, gains and advice of made-up recordings, against numbers worked out by hand. */
class FiguresTest {
    private static final double MB = 1 << 20;

    /**
     * 100 s on 4 processors, half of which the JVM uses: 200 s of processor time. Every 10 s, from 5 s on, a global collection: 100 ms of
     * pause, 200 ms of processor time,
     * 300 MB before and 100 MB after.
     */
    private static Recording tenCollections(String collector) {
        Recording recording = new Recording(Path.of("made-up.jfr"));
        recording.end = 100;
        recording.hardwareThreads = 4;
        recording.oldCollector = collector;
        recording.maxHeap = (long) (400 * MB);
        for (int second = 0; second <= 100; second++) {
            recording.loads.add(new Recording.Load(second, 0.5));
        }
        for (int i = 0; i < 10; i++) {
            Recording.Collection collection = new Recording.Collection();
            collection.name = collector;
            collection.start = 5 + 10 * i;
            collection.pauseSeconds = 0.1;
            collection.processorSeconds = 0.2;
            collection.usedBefore = 300 * MB;
            collection.usedAfter = 100 * MB;
            recording.collections.put(i, collection);
            recording.pauses.add(new Recording.Pause(i, collection.start, collection.pauseSeconds));
        }
        return recording;
    }

    /** The same of Lull: 100 MB/s allocated, 10 of them published, 80 freed locally at 0.2 ms each. */
    private static Recording lull() {
        Recording recording = tenCollections("LullGlobal");
        for (int second = 0; second <= 100; second++) {
            recording.allocated.add(second, 100 * MB * second);
            recording.published.add(second, 10 * MB * second);
            recording.slowCalls.add(second, 1000.0 * second);
            recording.localCollections.add(second, 200.0 * second);
            recording.beforeWait.add(second, 200.0 * second);
            recording.requests.add(second, 0);
            recording.locallyFreed.add(second, 80 * MB * second);
            recording.locallySurvived.add(second, MB * second);
            recording.localTime.add(second, 0.016 * second);
            recording.localProcessorTime.add(second, 0.016 * second);
        }
        Recording.ThreadPublication thread = new Recording.ThreadPublication();
        thread.add(0, false);
        thread.add(1000, false);
        recording.threads.put(1L, thread);
        return recording;
    }

    @Test
    void pausesAndShare() {
        Figures figures = new Figures(tenCollections("SerialOld"));
        assertEquals(1.0, figures.pausedSeconds(), 1e-9);
        assertEquals(0.01, figures.pausedShare(), 1e-9);
        assertEquals(0.1, figures.longestPause(), 1e-9);
        assertEquals(200, figures.processorSeconds(), 1e-9);
        // 10 x 0.2 s of 200 s; the ticks may be off by 10 ms x sqrt(20) = 44.7 ms.
        Estimate share = figures.collectorShare();
        assertEquals(0.01, share.value(), 1e-9);
        assertEquals((2 - 0.0447) / 200, share.low(), 1e-5);
        assertEquals((2 + 0.0447) / 200, share.high(), 1e-5);
        // 200 MB in each of the 9 times between collections.
        assertEquals(9 * 200 * MB, figures.allocated(0, 100), 1);
        assertEquals(100 * MB, figures.live(), 1e-9);
    }

    @Test
    void concurrentPhasesMayCostAllTheirThreads() {
        Recording recording = tenCollections("G1Old");
        recording.concurrentThreads = 2;
        recording.concurrentPhases.add(new Recording.Span(10, 3));
        recording.concurrentPhases.add(new Recording.Span(98, 4));   // half of it behind the last look
        Figures figures = new Figures(recording);
        assertEquals(10, figures.mostConcurrentSeconds(), 1e-9);
        assertEquals((2 + 0.0447 + 10) / 200, Gain.bound(figures), 1e-5);
        assertEquals((2 - 0.0447) / 200, figures.collectorShare().low(), 1e-5);
    }

    @Test
    void collectorsThatSayNothing() {
        Recording recording = tenCollections("ZOld");
        recording.collections.values().forEach(c -> c.processorSeconds = Double.NaN);
        Figures figures = new Figures(recording);
        assertTrue(Double.isNaN(figures.collectorShare().value()) && Double.isNaN(Gain.bound(figures)));
        assertTrue(new ReportPage(recording, null, null).write().toString().contains("does not say what the collector costs"));
        recording = tenCollections("SerialOld");
        recording.loads.clear();
        assertTrue(Double.isNaN(new Figures(recording).collectorShare().value()));
        assertTrue(new ReportPage(recording, null, null).write().toString().contains("too few"));
    }

    /** 10 collections of 2 s each, of whose time it is not known what was allocated. */
    private static Recording concurrent() {
        Recording recording = tenCollections("Z");
        recording.collections.values().forEach(c -> {
            c.end = c.start + 2;
            c.usedAfter = 150 * MB;
        });
        return recording;
    }

    @Test
    void concurrentCollectionsDoNotSayWhatWasAllocated() {
        Recording recording = concurrent();
        Figures figures = new Figures(recording);
        assertTrue(Double.isNaN(figures.allocated(0, 100)) && Double.isNaN(figures.allocationRate()));
        assertTrue(Double.isNaN(Gain.measured(new Figures(lull()), figures).value()));
        String page = new ReportPage(lull(), recording, null).write().toString();
        assertTrue(page.contains("the two cannot be compared") && !page.contains(" processor time than Z"), page);
        page = new ReportPage(recording, null, null).write().toString();
        assertTrue(page.contains("How much the service allocates, this recording does not say"), page);
        // In a twentieth of the time at most they do not matter: the heap has grown from 150 to 300 MB nine times.
        recording.collections.values().forEach(c -> c.end = c.start + 0.4);
        assertEquals(9 * 150 * MB, new Figures(recording).allocated(0, 100), 1);
    }

    /** Two threads, 30 MB/s and 20 MB/s; a third one 1 MB/s from 50 s on. */
    private static void addThreads(Recording recording) {
        for (int second = 0; second <= 100; second++) {
            recording.threadAllocation.add(second, 1, 30 * MB * second);
            recording.threadAllocation.add(second, 2, 1000 * MB + 20 * MB * second);
            if (second >= 50) {
                recording.threadAllocation.add(second, 3, MB * (second - 49));
            }
            recording.threadsStarted.add(second, second >= 50 ? 3 : 2);
        }
    }

    @Test
    void threadsSayWhatTheyHaveAllocated() {
        Recording recording = concurrent();
        addThreads(recording);
        Figures figures = new Figures(recording);
        assertEquals(5051 * MB, figures.allocated(0, 100), 1);
        assertEquals(50.51 * MB, figures.allocationRate(), 1);
        // 2 processors for 50.51 MB/s
        assertEquals(2000 / 50.51, figures.perMegabyte(false).value(), 1e-9);
        // Of 251 looks that found something more than a tenth were at threads that others have come for since.
        recording.threadsStarted.add(101, 28);
        assertTrue(Double.isNaN(new Figures(recording).allocated(0, 100)));
        // Of two sources the one that has missed less.
        recording = tenCollections("SerialOld");
        addThreads(recording);
        assertEquals(5051 * MB, new Figures(recording).allocated(0, 100), 1);
        recording.collections.values().forEach(c -> c.usedBefore = 1100 * MB);
        assertEquals(9000 * MB, new Figures(recording).allocated(0, 100), 1);
    }

    /** G1 marks from 20 s to 40 s, while its young collections go on at 25 s and 35 s. */
    @Test
    void collectionsWithinAConcurrentOne() {
        Recording recording = tenCollections("G1Old");
        Recording.Collection marking = new Recording.Collection();
        marking.start = 20;
        marking.pauseSeconds = 0.01;
        marking.usedBefore = 250 * MB;
        marking.usedAfter = 200 * MB;
        marking.end = 40;
        recording.collections.put(10, marking);
        assertEquals(9 * 200 * MB, new Figures(recording).allocated(0, 100), 1);
    }

    @Test
    void tooFewCollectionsSayNotWhatWasAllocated() {
        Recording recording = tenCollections("G1Old");
        recording.collections.keySet().removeIf(id -> id > 0);
        assertTrue(Double.isNaN(new Figures(recording).allocated(0, 100)));
        assertTrue(Double.isNaN(Gain.measured(new Figures(lull()), new Figures(recording)).value()));
    }

    @Test
    void recordingsWithoutACollection() {
        Recording recording = tenCollections("G1Old");
        recording.collections.clear();
        recording.pauses.clear();
        String page = new ReportPage(recording, null, null).write().toString();
        assertTrue(page.contains("there was no collection in it") && !page.contains("records no processor time"), page);
    }

    @Test
    void localCollectionsAboveAThreshold() {
        Recording recording = lull();   // 20 000 local collections
        recording.requests.add(101, 0);
        recording.localTriggers.put("at the end of the budget", 900L);
        recording.localTriggers.put("before a wait", 100L);
        recording.survival.add(0.9);
        Figures figures = new Figures(recording);
        assertFalse(Advice.of(figures).flags().stream().anyMatch(f -> f.flag().equals("lull.Requests")), Advice.of(figures).flags().toString());
        String page = new ReportPage(recording, null, null).write().toString();
        assertTrue(page.contains("only 1\u00a0000 of 20\u00a0000 local collections one by one") && !page.contains("still alive, of what it allocated"), page);
        recording.localTriggers.put("at the end of the budget", 10_001L);
        assertTrue(Advice.of(figures).flags().stream().anyMatch(f -> f.why().contains("at least 50\u00a0%")), Advice.of(figures).flags().toString());
        recording.localTriggers.put("before a wait", 9999L);
        assertTrue(new ReportPage(recording, null, null).write().toString().contains("still alive, of what it allocated"));
        assertFalse(Advice.of(figures).flags().stream().anyMatch(f -> f.why().contains("at least")));
    }

    @Test
    void localCollectionsAgainstGlobalOnes() {
        Figures figures = new Figures(lull());
        assertEquals(0.1, figures.publishedShare(), 1e-9);
        assertEquals(8, figures.freedPerPublished(), 1e-9);
        // 200 ms for 200 MB: 1 ms/MB. 80 MB/s would cost 0.08 processors, and cost 0.016; 2 processors are used.
        assertEquals(1, Gain.pausePrice(figures).value(), 1e-9);
        Estimate saved = Gain.local(figures);
        assertEquals(0.064 / 2.064, saved.value(), 1e-9);
        assertEquals(saved.value(), saved.low(), 1e-9);   // all collections alike
        // 10 x 0.2 s and 100 x 0.016 s, of 200 s
        assertEquals((2 + 1.6) / 200, figures.collectorShare().value(), 1e-9);
        assertEquals(Advice.Mode.PRIVATE, Advice.of(figures).mode());
    }

    @Test
    void linesThatNobodyHadUsedDoNotCount() {
        Recording recording = lull();
        recording.locallyFreed.add(101, 20_000 * MB);
        // 10 000 MB were allocated, 1000 of them published.
        assertEquals(9000 * MB, new Figures(recording).locallyFreed(), 1);
        assertEquals(9, new Figures(recording).freedPerPublished(), 1e-9);
    }

    @Test
    void youngCollectionsWouldTakeTheirPart() {
        Recording recording = lull();
        for (int i = 10; i < 20; i++) {
            Recording.Collection young = new Recording.Collection();
            young.name = "LullYoung";
            young.start = 10 * (i - 10);
            young.pauseSeconds = 0.025;
            young.processorSeconds = 0.05;
            young.usedBefore = 300 * MB;
            young.usedAfter = 100 * MB;
            recording.collections.put(i, young);
        }
        Figures figures = new Figures(recording);
        // 10 x 200 ms and 10 x 50 ms for 20 x 200 MB
        assertEquals(0.625, Gain.pausePrice(figures).value(), 1e-9);
        assertEquals(0.034 / 2.034, Gain.local(figures).value(), 1e-9);
        // After a young collection there is garbage in what is old.
        recording.collections.values().forEach(c -> c.usedAfter = c.name.equals("LullYoung") ? 150 * MB : c.usedAfter);
        assertEquals(100 * MB, figures.live(), 1e-9);
    }

    @Test
    void tooFewCollectionsPredictNothing() {
        Recording recording = lull();
        recording.collections.keySet().removeIf(id -> id >= Gain.FEWEST - 1);
        assertTrue(Double.isNaN(Gain.local(new Figures(recording)).value()));
        assertTrue(new ReportPage(recording, null, null).write().toString().contains("cannot be told"));
    }

    @Test
    void comparison() {
        Figures lull = new Figures(lull());
        // 2 processors for 100 MB/s.
        assertEquals(20, lull.perMegabyte(false).value(), 1e-9);
        assertEquals(0.36, lull.perMegabyte(true).value(), 1e-9);
        Recording other = lull();
        other.loads.replaceAll(load -> new Recording.Load(load.time(), 1.0));
        Estimate saved = Gain.measured(lull, new Figures(other));
        assertEquals(0.5, saved.value(), 1e-9);
        assertEquals(0.5, saved.low(), 1e-6);
        assertTrue(new ReportPage(lull(), other, null).write().toString().contains("takes 50\u00a0% (50\u00a0% to 50\u00a0%) less processor time"));
        String page = new ReportPage(other, lull(), null).write().toString();
        assertTrue(page.contains("takes 100\u00a0% (100\u00a0% to 100\u00a0%) more processor time"));
        assertTrue(page.contains("By these two runs Lull is cheaper than Lull"));
        // What a terminal says first.
        assertEquals("By these two runs Lull is cheaper than Lull", new ReportPage(other, lull(), null).verdict());
        assertEquals(Advice.of(lull).heading(), new ReportPage(lull(), other, null).verdict());
    }

    @Test
    void advice() {
        Recording recording = lull();
        recording.threads.values().forEach(t -> t.allocatedInPublicMode = 0.9 * t.allocated);
        assertTrue(Advice.of(new Figures(recording)).reasons().toString().contains("before the recording began"));
        recording.modeChanges.put("to public mode: much is published", 5L);
        assertEquals(Advice.Mode.PUBLIC, Advice.of(new Figures(recording)).mode());
        assertTrue(Advice.of(new Figures(recording)).reasons().toString().contains("by themselves (much is published)"));
        recording.modeChanges.put("to public mode: a new object was published", 50L);
        assertEquals(Advice.Mode.UNKNOWN, Advice.of(new Figures(recording)).mode());

        recording = lull();
        recording.published.add(101, recording.published.at(100) + 5000 * MB);
        recording.allocated.add(101, recording.allocated.at(100));
        Advice advice = Advice.of(new Figures(recording));
        assertEquals(Advice.Mode.PUBLIC, advice.mode());
        assertTrue(advice.reasons().toString().contains("60\u00a0%"), advice.toString());

        // 10 000 MB allocated, 3000 of them published, 5900 freed: 30 %, and less than two bytes freed for each.
        recording = lull();
        recording.published.add(101, 3000 * MB);
        recording.allocated.add(101, recording.allocated.at(100));
        recording.locallyFreed.add(100, 5900 * MB);
        advice = Advice.of(new Figures(recording));
        assertEquals(Advice.Mode.PUBLIC, advice.mode());
        assertTrue(advice.reasons().toString().contains("1.97 bytes"), advice.toString());
    }

    @Test
    void adviceOfRoom() {
        Recording recording = lull();
        recording.pauses.replaceAll(p -> new Recording.Pause(p.collection(), p.start(), 0.5));   // 5 % of the time
        // 300 MB are free after collections; twice that makes 700.
        assertTrue(Advice.of(new Figures(recording)).flags().stream().anyMatch(f -> f.flag().equals("-Xmx700m")));
        assertFalse(Advice.of(new Figures(lull())).flags().stream().anyMatch(f -> f.flag().startsWith("-Xmx")));
    }

    @Test
    void intervals() {
        // Costs 1, 2, 3 for one unit each: mean 2, standard error 1/sqrt(3), t of 2 degrees 4.303.
        Estimate estimate = Estimate.ratio(new double[] { 1, 2, 3 }, new double[] { 1, 1, 1 });
        assertEquals(2, estimate.value(), 1e-9);
        assertEquals(2 - 4.303 / Math.sqrt(3), estimate.low(), 1e-9);
        assertEquals(2 + 4.303 / Math.sqrt(3), estimate.high(), 1e-9);
        // A ratio, not a mean of ratios; nothing deviates.
        estimate = Estimate.ratio(new double[] { 2, 20, 4 }, new double[] { 1, 10, 2 });
        assertEquals(2, estimate.value(), 1e-9);
        assertEquals(2, estimate.high(), 1e-9);
        assertFalse(Estimate.ratio(new double[] { 1, 2 }, new double[] { 1, 1 }).isKnown());
    }

    @Test
    void heapBudget() {
        Recording recording = lull();
        assertFalse(new ReportPage(recording, null, null).write().toString().contains("Heap or page cache"));
        recording.budget.add(new Recording.BudgetDecision(10, "hold", "both costs are small", 0.1, 0, 200 * MB, 50 * MB, 300 * MB));
        String page = new ReportPage(recording, null, null).write().toString();
        assertTrue(page.contains("Heap or page cache") && page.contains("In 0 steps"), page);
        recording.budget.add(new Recording.BudgetDecision(20, "shrink", "a try against the larger cost", 0.1, 3, 200 * MB, 50 * MB, 300 * MB));
        recording.budget.add(new Recording.BudgetDecision(30, "shrink", "the last step helped", 0.4, 1.5, 120 * MB, 50 * MB, 300 * MB));
        page = new ReportPage(recording, null, null).write().toString();
        // (0.1 + 0.1 + 0.4) / 3 and (0 + 3 + 1.5) / 3
        assertTrue(page.contains("On average 0.200 processors were lost to collections and 1.50 threads waited for I/O. In 2 steps the heap went from "
                + Text.bytes(200 * MB) + " to " + Text.bytes(120 * MB)), page);
        assertTrue(page.contains("shrink: the last step helped") && page.contains("Lost to collections and to I/O over time") && page.contains("Size of the heap by its budget"), page);
    }

    @Test
    void counters() {
        Counter counter = new Counter();
        assertEquals(0, counter.at(5));
        counter.add(1, 10);
        counter.add(3, 30);
        counter.add(3, 40);
        assertEquals(25, counter.at(2));
        assertEquals(10, counter.at(0));
        assertEquals(40, counter.at(9));
        assertEquals(30, counter.total());
        Shares shares = new Shares();
        assertTrue(Double.isNaN(shares.percentile(50)));
        for (int i = 1; i <= 10; i++) {
            shares.add(i / 10.0);
        }
        assertEquals(0.5, shares.percentile(50));
        assertEquals(0.9, shares.percentile(90));
        assertEquals(1.0, shares.percentile(100));
    }
}
