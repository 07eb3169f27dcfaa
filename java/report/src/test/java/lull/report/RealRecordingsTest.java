// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmc.common.item.Aggregators;
import org.openjdk.jmc.common.item.Attribute;
import org.openjdk.jmc.common.item.IAttribute;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Recordings of real JVMs. The reader of JDK Mission Control is the second opinion on what is in them. */
class RealRecordingsTest {
    private static String page(Path file) throws Exception {
        Recording recording = RecordingReader.read(file);
        String page = new ReportPage(recording, null, Main.log(file.resolveSibling("work.log"))).write().toString();
        String xml = page.replaceFirst("<!DOCTYPE html>\n", "");
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
        Matcher links = Pattern.compile("href=\"#([^\"]*)\"").matcher(page);
        int count = 0;
        for (; links.find(); count++) {
            assertTrue(page.contains("id=\"" + links.group(1) + "\""), "no target of the link " + links.group(1));
        }
        assertEquals(recording.budget.isEmpty() ? 7 : 8, count, "sections");
        assertFalse(page.contains("NaN"), "a figure that is none");
        assertFalse(page.matches("(?s).*(http:|https:)//(?!www.w3.org/2000/svg).*"), "the page needs another one");
        return page;
    }

    @Test
    void g1() throws Exception {
        Path file = Recordings.stock("-XX:+UseG1GC");
        Recording recording = RecordingReader.read(file);
        assertEquals("G1", recording.collector());
        assertEquals(48L << 20, recording.maxHeap);
        Figures figures = new Figures(recording);
        assertEquals(Advice.Mode.UNKNOWN, Advice.of(figures).mode());
        Estimate share = figures.collectorShare();
        assertTrue(share.low() >= 0 && share.low() <= share.value() && share.value() <= share.high() && share.high() < 1, share.toString());
        assertEquals(share.high(), Gain.bound(figures));
        assertTrue(figures.publishedShare() != figures.publishedShare(), "nobody has counted what was published");
        String page = page(file);
        assertTrue(page.contains("There is no lower bound"), page);
        assertTrue(page.contains("What the heap consists of"), "no picture of the pools");
        assertTrue(!recording.pauses.isEmpty(), "no pauses");
        samePauses(recording);
        // Each request allocates 1000 pieces of 256 B; what is allocated before the first and after the last collection is not seen.
        double least = Work.THREADS * Work.LEAST * Work.PIECES * 256.0 - 2 * recording.maxHeap;
        assertTrue(figures.allocated(0, figures.seconds) > least, Text.bytes(figures.allocated(0, figures.seconds)) + " of "
                + Text.bytes(least));
    }

    @Test
    void serial() throws Exception {
        Path file = Recordings.stock("-XX:+UseSerialGC");
        Recording recording = RecordingReader.read(file);
        assertEquals("Serial", recording.collector());
        page(file);
        assertTrue(!recording.pauses.isEmpty(), "no pauses");
        samePauses(recording);
        assertEquals(0, recording.concurrentPhases.size());
    }

    /** They free while the service allocates, so the heap does not say how much that is; the threads do. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseZGC", "-XX:+UseShenandoahGC"})
    void concurrentCollectors(String flag) throws Exception {
        Path file = Recordings.stock(flag);
        Recording recording = RecordingReader.read(file);
        assertEquals(flag.equals("-XX:+UseZGC") ? "ZGC" : "Shenandoah", recording.collector());
        Figures figures = new Figures(recording);
        assertTrue(recording.collections.values().stream().anyMatch(Recording.Collection::isConcurrent), "no concurrent collection");
        page(file);
        samePauses(recording);
        double least = Work.THREADS * Work.LEAST * Work.PIECES * 256.0;
        assertTrue(figures.allocated(0, figures.seconds) > 0.8 * least, Text.bytes(figures.allocated(0, figures.seconds)) + " of "
                + Text.bytes(least));
        assertTrue(figures.perMegabyte(false).value() > 0, figures.perMegabyte(false).toString());
    }

    /** What a JDK 25 and a JDK 27 write of collectors with two generations. */
    @ParameterizedTest
    @CsvSource({"ZGC Major, ZGC", "Shenandoah Old, Shenandoah", "Shenandoah, Shenandoah", "SerialOld, Serial", "G1Old, G1"})
    void namesOfCollectors(String recorded, String said) {
        Recording recording = new Recording(Path.of("none.jfr"));
        recording.oldCollector = recorded;
        assertEquals(said, recording.collector());
    }

    @Test
    void lull() throws Exception {
        // Every 16th piece becomes public, which is 6 % of the bytes, and the frames around add some.
        Path file = Recordings.lull(16);
        Recording recording = RecordingReader.read(file);
        Figures figures = new Figures(recording);
        Advice advice = Advice.of(figures);
        assertEquals(Advice.Mode.PRIVATE, advice.mode(), advice.toString());
        double published = figures.publishedShare();
        assertTrue(published > 0.03 && published < 0.3, published + " published");
        assertTrue(figures.freedPerPublished() > Advice.LEAST_FREED_PER_PUBLISHED);
        assertTrue(recording.survival.count() > 100, recording.survival.count() + " local collections at the end of a request");
        assertEquals(0, recording.survival.percentile(50), 0.05);
        Place first = recording.places.values().stream().max((a, b) -> Long.compare(a.weight, b.weight)).orElseThrow();
        // In compiled code the frame may be that of the caller that it is inlined into.
        assertEquals(Work.class.getName(), first.application().type());
        assertEquals("byte[]", first.mainClass());
        String page = page(file);
        assertTrue(page.contains("Where allocation goes"), "no picture of allocation");
        assertTrue(page.contains("Lull suits these requests"), page);
        samePauses(recording);
        sameCounts(recording);
    }

    @Test
    void lullThatPublishesAll() throws Exception {
        Path file = Recordings.lull(1);
        Recording recording = RecordingReader.read(file);
        Advice advice = Advice.of(new Figures(recording));
        assertEquals(Advice.Mode.PUBLIC, advice.mode(), advice + " " + recording.modeChanges);
        assertTrue(advice.flags().stream().anyMatch(f -> f.flag().equals("-XX:-LullTracking")), advice.toString());
        assertTrue(page(file).contains("Tracking does not pay: run with"));
    }

    @Test
    void lullWithoutTracking() throws Exception {
        Path file = Recordings.lull(16, "-XX:-LullTracking");
        Recording recording = RecordingReader.read(file);
        assertTrue(recording.isLull() && !recording.isTracking());
        assertEquals(Advice.Mode.UNKNOWN, Advice.of(new Figures(recording)).mode());
        page(file);
    }

    @Test
    void lullWithABudget() throws Exception {
        Path file = Recordings.lull(1, "-XX:+UseHeapBudget", "-Xms16m");
        Recording recording = RecordingReader.read(file);
        assertTrue(!recording.budget.isEmpty(), "no decisions");
        for (Recording.BudgetDecision decision : recording.budget) {
            assertTrue(decision.collections() >= 0 && decision.stalls() >= 0, decision.toString());
            assertTrue(decision.live() > 0 && decision.live() <= decision.heap() && decision.heap() <= recording.maxHeap, decision.toString());
            assertTrue(!decision.action().isEmpty() && !decision.reason().isEmpty(), decision.toString());
        }
        assertTrue(page(file).contains("Heap or page cache"));
    }

    @Test
    void lullAgainstSerial() throws Exception {
        Recording lull = RecordingReader.read(Recordings.lull(16));
        Recording serial = RecordingReader.read(Recordings.stock("-XX:+UseSerialGC"));
        Estimate saved = Gain.measured(new Figures(lull), new Figures(serial));
        assertTrue(saved.value() < 1 && !saved.isKnown(), "five seconds have no interval: " + saved);
        assertTrue(new ReportPage(lull, serial, null).write().toString().contains(" processor time than Serial"));
    }

    /** Figures once more, by the other reader: number and sum of the pauses. Lull needs none where little was done in the time. */
    private static void samePauses(Recording recording) throws Exception {
        IItemCollection pauses = JfrLoaderToolkit.loadEvents(recording.file.toFile()).apply(ItemFilters.type("jdk.GCPhasePause"));
        assertEquals(pauses.hasItems() ? pauses.getAggregate(Aggregators.count()).longValue() : 0, recording.pauses.size());
        double sum = 0;
        for (IItemIterable items : pauses) {
            IMemberAccessor<IQuantity, IItem> duration = items.getType().getAccessor(JfrAttributes.DURATION.getKey());
            for (IItem item : items) {
                sum += duration.getMember(item).doubleValueIn(UnitLookup.SECOND);
            }
        }
        assertEquals(sum, new Figures(recording).pausedSeconds(), 1e-6 + sum * 1e-3);
    }

    /** And what was published, allocated and freed, from first to last; with the names and units that Mission Control shows. */
    private static void sameCounts(Recording recording) throws Exception {
        IItemCollection all = JfrLoaderToolkit.loadEvents(recording.file.toFile());
        assertEquals(grown(all, "jdk.LullPublicationStatistics", "published"), recording.published.total());
        assertEquals(grown(all, "jdk.LullPublicationStatistics", "allocated"), recording.allocated.total());
        assertEquals(grown(all, "jdk.LullLocalCollectionStatistics", "freed"), recording.locallyFreed.total());
        for (IItemIterable items : all.apply(ItemFilters.type("jdk.LullPublicationSample"))) {
            assertEquals("Lull Publication Sample", items.getType().getName());
            assertTrue(items.getType().hasAttribute(JfrAttributes.EVENT_STACKTRACE));
        }
        for (IItemIterable items : all.apply(ItemFilters.type("jdk.LullLocalCollection"))) {
            assertEquals("Lull Local Collection", items.getType().getName());
            assertTrue(items.getType().hasAttribute(JfrAttributes.EVENT_THREAD));
        }
    }

    private static double grown(IItemCollection all, String type, String field) {
        IAttribute<IQuantity> attribute = Attribute.attr(field, field, UnitLookup.MEMORY);
        IItemCollection items = all.apply(ItemFilters.type(type));
        double least = items.getAggregate(Aggregators.min(attribute)).doubleValueIn(UnitLookup.BYTE);
        return items.getAggregate(Aggregators.max(attribute)).doubleValueIn(UnitLookup.BYTE) - least;
    }
}
