// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings with events of this test's own under the names of the JVM's. */
class RecordingReaderTest {
    @TempDir
    private Path directory;

    @Name("jdk.Wait")
    static final class Wait extends Event { }

    @Name("jdk.LullLocalCollection")
    @StackTrace(false)
    @Threshold("0 ms")
    static final class Local extends Event {
        String trigger;
        long allocated;
        long survived;
        long published;
    }

    /** As another JVM may write it: without most of its fields. */
    @Name("jdk.LullLocalCollectionStatistics")
    @StackTrace(false)
    static final class FewFields extends Event {
        long collections;
    }

    @Name("jdk.LullPublicationSample")
    @StackTrace(false)
    static final class NoClass extends Event {
        long weight;
    }

    private interface Events {
        void send() throws Exception;
    }

    private Recording record(Events events) throws Exception {
        Path file = directory.resolve("events.jfr");
        try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
            recording.enable("jdk.GCConfiguration");
            List.of(Wait.class, Local.class, FewFields.class, NoClass.class).forEach(recording::enable);
            recording.start();
            events.send();
            recording.stop();
            recording.dump(file);
        }
        return RecordingReader.read(file);
    }

    /** A thread that waited long before it, and was told in it, makes a recording no longer. */
    @Test
    void waitsThatBeganBefore() throws Exception {
        try (jdk.jfr.Recording other = new jdk.jfr.Recording()) {
            other.enable(Wait.class);
            other.start();
            Wait wait = new Wait();
            wait.begin();
            Thread.sleep(5000);
            long begin = System.nanoTime();
            Recording recording = record(() -> {
                wait.end();
                wait.commit();
                Thread.sleep(100);
                new Wait().commit();
            });
            double most = (System.nanoTime() - begin) / 1e9;
            double seconds = new Figures(recording).seconds;
            assertTrue(seconds >= 0.1 && seconds <= most, seconds + " s of at most " + most);
            assertTrue(wait.isEnabled());
        }
    }

    private static void local(String trigger, long allocated, long survived) {
        Local local = new Local();
        local.begin();
        local.trigger = trigger;
        local.allocated = allocated;
        local.survived = survived;
        local.commit();
    }

    /** A thread that only gives back its map before a wait has allocated next to nothing, of which all may survive. */
    @Test
    void collectionsOfNextToNothingAreNoRequests() throws Exception {
        Recording recording = record(() -> {
            local("before a wait", (64 << 10) - 1, 60 << 10);
            local("before a wait", 64 << 10, 32 << 10);
            local("at the end of the budget", 64 << 10, 64 << 10);
        });
        assertEquals(2L, recording.localTriggers.get("before a wait"));
        assertEquals(1, recording.survival.count());
        assertEquals(0.5, recording.survival.percentile(50), 1e-3);
    }

    @Test
    void fieldsThatAreNotThere() throws Exception {
        Recording recording = record(() -> {
            for (int i = 0; i < 2; i++) {
                FewFields few = new FewFields();
                few.collections = 7 + i;
                few.commit();
                NoClass sample = new NoClass();
                sample.weight = 10;
                sample.commit();
                Thread.sleep(2);
            }
        });
        assertEquals(1, recording.localCollections.total());
        assertEquals(0, recording.locallyFreed.total());
        assertEquals(20, recording.places.values().iterator().next().weight);
        assertEquals("?", recording.places.values().iterator().next().mainClass());
        assertTrue(new ReportPage(recording, null, null).write().toString().endsWith("</html>\n"));
        Files.delete(recording.file);
    }
}
