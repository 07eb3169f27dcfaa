// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmHeapPressureMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.core.instrument.Meter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import lull.LullJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Micrometer's own binders, which have never heard of Lull, say of it. */
class ToolsTest {
    private static final int THREADS = 8;
    private static final int REQUESTS = 20;
    private static final int ALIVE = 20 << 20;
    private static final int GARBAGE = 40 << 20;
    private static final long HEAP = 512L << 20;

    @TempDir
    private Path directory;

    /** Threads that collect by themselves, then two global collections; after each one what the meters say. */
    static final class Program {
        static volatile Object shared;
        static byte[] alive;

        public static void main(String[] args) throws Exception {
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            new JvmMemoryMetrics().bindTo(registry);
            try (JvmGcMetrics gc = new JvmGcMetrics(); JvmHeapPressureMetrics pressure = new JvmHeapPressureMetrics()) {
                gc.bindTo(registry);
                pressure.bindTo(registry);
                final long before = LullJvm.collected();
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    Thread thread = new Thread(() -> {
                        for (int request = 0; request < REQUESTS; request++) {
                            LullJvm.megabyte();
                            LockSupport.parkNanos(1);
                        }
                    });
                    thread.start();
                    threads.add(thread);
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                collect(registry, 1);
                List<String> said = new ArrayList<>(look("first", registry));
                alive = new byte[ALIVE];
                for (int i = 0; i < GARBAGE / 1024; i++) {
                    shared = new byte[1024];
                }
                collect(registry, 2);
                said.addAll(look("second", registry));
                Files.write(Path.of(args[0]), said);
                LullJvm.report(before);
            }
        }

        /** Micrometer is told of a pause in a notification, after it. */
        private static void collect(SimpleMeterRegistry registry, int count) throws InterruptedException {
            System.gc();
            for (int i = 0; i < 300 && registry.find("jvm.gc.pause").tag("cause", "System.gc()").timers().stream().mapToLong(t -> t.count()).sum()
                    < count; i++) {
                Thread.sleep(100);
            }
        }

        private static List<String> look(String when, SimpleMeterRegistry registry) {
            List<String> lines = new ArrayList<>();
            for (Meter meter : registry.getMeters()) {
                StringBuilder name = new StringBuilder(when + " " + meter.getId().getName());
                meter.getId().getTags().forEach(tag -> name.append(' ').append(tag.getValue()));
                lines.add(name + "=" + meter.measure().iterator().next().getValue());
            }
            long millis = ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
            lines.add(when + " beans=" + millis);
            return lines;
        }
    }

    @Test
    void micrometerKnowsWhatIsNewAndWhatIsLeft() throws Exception {
        Path file = directory.resolve("meters.txt");
        try (LullJvm jvm = LullJvm.start(Program.class, file)) {
            assertTrue(jvm.localCollections() >= THREADS * REQUESTS);
        }
        Map<String, Double> said = new TreeMap<>();
        for (String line : Files.readAllLines(file)) {
            int equals = line.lastIndexOf('=');
            said.put(line.substring(0, equals), Double.parseDouble(line.substring(equals + 1)));
        }
        // The first collection tells it what is alive, and later ones what is new.
        assertTrue(said.get("first jvm.gc.live.data.size") > 0, said.toString());
        assertTrue(said.get("first jvm.gc.live.data.size") < ALIVE, said.toString());
        double live = said.get("second jvm.gc.live.data.size");
        assertTrue(live >= ALIVE && live < ALIVE + GARBAGE, said.toString());
        assertEquals(HEAP, said.get("second jvm.gc.max.data.size"), said.toString());
        double allocated = said.get("second jvm.gc.memory.allocated") - said.get("first jvm.gc.memory.allocated");
        assertTrue(allocated >= ALIVE + GARBAGE && allocated < 2 * (ALIVE + GARBAGE), said.toString());
        // Eight threads collect beside each other; that is no pause.
        double overhead = said.get("second jvm.gc.overhead");
        assertTrue(overhead >= 0 && overhead < 1, said.toString());
        assertEquals(live / HEAP, said.get("second jvm.memory.usage.after.gc heap long-lived"), 0.001, said.toString());
        assertTrue(said.containsKey("second jvm.gc.pause end of major GC System.gc() Lull Global"), said.toString());
        assertTrue(said.get("second jvm.memory.used heap Lull Eden Space") < GARBAGE, said.toString());
        assertTrue(said.get("second jvm.memory.used heap Lull tenured Old Gen") >= ALIVE, said.toString());
    }
}
