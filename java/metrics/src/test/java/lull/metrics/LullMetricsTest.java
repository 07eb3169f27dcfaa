// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lull.LullJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LullMetricsTest {
    private static final int REQUESTS = 50;
    private static final int PUBLISHED = 100_000;

    @TempDir
    private Path directory;

    @Test
    void nothingIsBoundWithoutLull() {
        assertFalse(LullMetrics.isAvailable());
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (LullMetrics metrics = new LullMetrics()) {
            metrics.bindTo(registry);
            assertEquals(0, registry.getMeters().size());
        }
        assertThrows(IllegalArgumentException.class, () -> new LullMetrics(Tags.empty(), Duration.ofMillis(10)));
    }

    /** Who sees a counter at 0 before takes its first value for a rise. */
    @Test
    void metersWaitForTheirCounts() {
        List<String> done = new ArrayList<>();
        LullMetrics.Known counts = new LullMetrics.Known();
        counts.then(() -> done.add("one"));
        counts.then(() -> done.add("two"));
        assertEquals(List.of(), done);
        counts.now();
        counts.now();
        assertEquals(List.of("one", "two"), done);
        counts.then(() -> done.add("three"));
        assertEquals(List.of("one", "two", "three"), done);
    }

    @Test
    void aRegistryThatRefusesKeepsNoneOfTheOthers() {
        List<String> done = new ArrayList<>();
        LullMetrics.Known counts = new LullMetrics.Known();
        counts.then(() -> {
            done.add("refused");
            throw new IllegalArgumentException("a meter of that name");
        });
        counts.then(() -> done.add("next"));
        counts.now();
        counts.now();
        assertEquals(List.of("refused", "next"), done);
    }

    /** Binds, and ends well if nothing was bound. */
    static final class Binding {
        public static void main(String[] args) {
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            // As frameworks do that look at what they are given.
            boolean looked = LullMetrics.class.getDeclaredMethods().length > 0 && LullMetrics.class.getDeclaredFields().length > 0;
            try (LullMetrics metrics = new LullMetrics()) {
                metrics.bindTo(registry);
            }
            System.exit(looked && registry.getMeters().isEmpty() ? 0 : 1);
        }
    }

    @Test
    void nothingIsBoundWithoutTheFlightRecorder() throws Exception {
        Path output = directory.resolve("output.txt");
        Process program = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--limit-modules",
                "java.logging,java.management", "-cp", System.getProperty("java.class.path"), Binding.class.getName())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        int status = program.waitFor();
        assertEquals(0, status, Files.readString(output));
    }

    /** Lull, but a directory for temporary files that is none. */
    @Test
    void nothingIsBoundWithoutAPlaceForRecordings() throws Exception {
        String java = System.getenv("LULL_JAVA");
        assumeTrue(java != null && !java.isEmpty(), "LULL_JAVA names no Lull JVM");
        Path none = Files.writeString(directory.resolve("file"), "").resolve("directory");
        Path output = directory.resolve("output.txt");
        Process program = new ProcessBuilder(java, "-XX:+UseLullGC", "-Djava.io.tmpdir=" + none, "-cp", System.getProperty("java.class.path"),
                Binding.class.getName()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        int status = program.waitFor();
        String said = Files.readString(output);
        assertEquals(0, status, said);
        assertTrue(said.contains("No meters of Lull are bound") && said.contains("'" + none + "'"), said);
    }

    /** Works, and writes what Prometheus would get. */
    static final class Program {
        static volatile byte[] shared;

        public static void main(String[] args) throws Exception {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            new JvmMemoryMetrics().bindTo(registry);
            try (JvmGcMetrics gc = new JvmGcMetrics(); LullMetrics metrics = new LullMetrics(Tags.of("service", "test"),
                    Duration.ofSeconds(1))) {
                gc.bindTo(registry);
                metrics.bindTo(registry);
                if (value(registry.scrape(), "lull_allocated_bytes_total") == 0) {
                    throw new IllegalStateException("a counter at 0, which is to rise at once to all that was before");
                }
                long before = LullJvm.collected();
                Thread worker = new Thread(() -> {
                    for (int i = 0; i < REQUESTS; i++) {
                        LullJvm.megabyte();
                        shared = new byte[PUBLISHED];
                        LockSupport.parkNanos(1);
                    }
                });
                worker.start();
                worker.join();
                System.gc();
                // Of the pause Micrometer is told in a notification, after it.
                for (int i = 0; i < 300; i++) {
                    String scrape = registry.scrape();
                    if (value(scrape, "lull_local_freed_bytes_total") >= REQUESTS << 20 && value(scrape, "lull_allocated_bytes_total") >= REQUESTS << 20
                            && scrape.contains("jvm_gc_pause_seconds_sum")) {
                        break;
                    }
                    Thread.sleep(100);
                }
                Files.writeString(Path.of(args[0]), registry.scrape());
                LullJvm.report(before);
            }
        }
    }

    private static double value(String scrape, String name) {
        Matcher m = Pattern.compile("^" + name + "\\{[^}]*\\} (\\S+)$", Pattern.MULTILINE).matcher(scrape);
        return m.find() ? Double.parseDouble(m.group(1)) : Double.NaN;
    }

    @Test
    void countsAndNamesOfTheDashboard() throws Exception {
        Path file = directory.resolve("scrape.txt");
        try (LullJvm jvm = LullJvm.start(Program.class, file)) {
            assertTrue(jvm.localCollections() >= REQUESTS);
        }
        String scrape = Files.readString(file);
        assertTrue(value(scrape, "lull_local_freed_bytes_total") >= REQUESTS << 20, scrape);
        assertTrue(value(scrape, "lull_allocated_bytes_total") >= value(scrape, "lull_local_freed_bytes_total"), scrape);
        double published = value(scrape, "lull_published_bytes_total");
        assertTrue(published >= REQUESTS * PUBLISHED && published < REQUESTS << 20, scrape);
        assertTrue(value(scrape, "lull_local_collections_seconds_count") >= REQUESTS, scrape);
        assertTrue(value(scrape, "lull_local_collections_seconds_sum") >= value(scrape, "lull_local_longest_seconds"), scrape);
        assertTrue(value(scrape, "lull_local_longest_processor_time_seconds") > 0, scrape);
        assertTrue(value(scrape, "lull_local_processor_time_seconds_total") >= value(scrape, "lull_local_longest_processor_time_seconds"), scrape);
        assertTrue(value(scrape, "lull_local_before_wait_total") >= REQUESTS, scrape);
        assertTrue(scrape.contains("service=\"test\""), scrape);

        Set<String> known = scrape.lines().filter(l -> !l.startsWith("#")).map(l -> l.split("[{ ]", 2)[0]).collect(Collectors.toSet());
        Set<String> asked = dashboardNames();
        assertTrue(asked.size() > 10, asked.toString());
        assertTrue(known.containsAll(asked), () -> "the dashboard asks for " + asked.stream().filter(n -> !known.contains(n)).toList()
                + " of " + new TreeSet<>(known));
    }

    private static Set<String> dashboardNames() throws IOException {
        Set<String> names = new TreeSet<>();
        Matcher m = Pattern.compile("\\b((?:lull|jvm)_[a-z_]+)\\b").matcher(Files.readString(Path.of("grafana", "lull.json")));
        while (m.find()) {
            names.add(m.group(1));
        }
        return names;
    }
}
