// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import lull.bench.load.Latencies;
import lull.bench.util.Directories;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** Runs phases one after the other, each as fast as it goes, and tells of each second what was done, and what heap and page cache were. */
final class StorageService {
    private static final int SEARCH_THREADS = 4;
    private static final int INGEST_THREADS = 2;
    /** Kilobytes that a request of the mixed phase allocates, and one in how many of them stays. */
    private static final int MIXED_GARBAGE_KB = 400;
    private static final int MIXED_KEPT = 20;

    private final StoredIndex index;
    private final Path scratch;
    private final Path memoryGroup;     // null: of none
    private final int liveMegabytes;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Map<String, Object>> series = new ArrayList<>();
    private final List<Map<String, Object>> phases = new ArrayList<>();
    private final long start = System.nanoTime();

    /**
     * Prepares a run.
     *
     * @param memoryGroup the directory of the control group whose page cache is told, or null
     * @param liveMegabytes long-lived data while documents are added; two thirds as much in the mixed phase
     */
    StorageService(StoredIndex index, Path scratch, Path memoryGroup, int liveMegabytes) {
        this.index = index;
        this.scratch = scratch;
        this.memoryGroup = memoryGroup;
        this.liveMegabytes = liveMegabytes;
    }

    /** What a thread does again and again. */
    private interface Step {
        void run(Random random) throws IOException;
    }

    /** Returns the phases and the seconds, for JSON. */
    Map<String, Object> run(List<Phase> all) throws IOException, InterruptedException {
        for (int i = 0; i < all.size(); i++) {
            run(all.get(i), i);
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("phases", phases);
        result.put("series", series);
        return result;
    }

    private void run(Phase phase, int number) throws IOException, InterruptedException {
        switch (phase.kind()) {
            case INGEST -> ingest(phase, number);
            case SEARCH -> measure(phase, SEARCH_THREADS, index::search);
            case MIXED -> {
                LiveSet live = new LiveSet(liveMegabytes * 2 / 3);
                measure(phase, SEARCH_THREADS, random -> {
                    index.search(random);
                    live.churn(MIXED_GARBAGE_KB, MIXED_KEPT);
                });
            }
        }
    }

    private void ingest(Phase phase, int number) throws IOException, InterruptedException {
        Path path = scratch.resolve("ingest-" + number);
        Directories.delete(path);
        LiveSet live = new LiveSet(liveMegabytes);
        try (Directory directory = new MMapDirectory(path); IndexWriter writer = new IndexWriter(directory, StoredIndex.config(Math.max(16, liveMegabytes * 2 / 5)))) {
            measure(phase, INGEST_THREADS, random -> {
                live.churn(2, 1);
                writer.addDocument(Documents.document(random.nextInt()));
            });
            writer.rollback();
        }
        Directories.delete(path);
    }

    private void measure(Phase phase, int threads, Step step) throws InterruptedException {
        Latencies whole = new Latencies();
        Latencies lastHalf = new Latencies();
        LongAdder done = new LongAdder();
        long begin = System.nanoTime();
        long half = begin + phase.seconds() * 500_000_000L;
        long end = begin + phase.seconds() * 1_000_000_000L;
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Random random = new Random(i);
            workers.add(Thread.ofPlatform().name(phase.kind().word() + "-" + i).start(() -> work(step, random, begin, half, end, done, whole, lastHalf)));
        }
        long before = 0;
        for (int second = 1; second <= phase.seconds() && failure.get() == null; second++) {
            long wait = begin + second * 1_000_000_000L - System.nanoTime();
            Thread.sleep(Math.max(0, wait / 1_000_000));
            long now = done.sum();
            series.add(row(phase, now - before));
            before = now;
        }
        for (Thread worker : workers) {
            worker.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("the phase " + phase.kind().word() + " failed: " + failure.get(), failure.get());
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("phase", phase.kind().word());
        row.put("seconds", phase.seconds());
        row.put("per_second", whole.count() / (double) phase.seconds());
        row.put("per_second_last_half", lastHalf.count() / (phase.seconds() / 2.0));
        row.put("p50_ms", lastHalf.percentileMillis(50));
        row.put("p99_ms", lastHalf.percentileMillis(99));
        phases.add(row);
    }

    private void work(Step step, Random random, long begin, long half, long end, LongAdder done, Latencies whole, Latencies lastHalf) {
        try {
            for (long now = System.nanoTime(); now < end && failure.get() == null; ) {
                step.run(random);
                long after = System.nanoTime();
                if (after < end) {
                    done.increment();
                    whole.answered((int) ((after - begin) / 1_000_000_000L), after - now);
                    if (after >= half) {
                        lastHalf.answered((int) ((after - half) / 1_000_000_000L), after - now);
                    }
                }
                now = after;
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    private Map<String, Object> row(Phase phase, long done) {
        long collections = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += bean.getCollectionTime();
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("second", (System.nanoTime() - start) / 1e9);
        row.put("phase", phase.kind().word());
        row.put("done", done);
        row.put("heap_mb", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted() / 1e6);
        row.put("cache_mb", cacheMegabytes());
        row.put("collections_ms", collections);
        return row;
    }

    /** Returns the page cache of the group, of either version of control groups; -1 where there is none. */
    private double cacheMegabytes() {
        if (memoryGroup == null) {
            return -1;
        }
        try {
            for (String line : Files.readAllLines(memoryGroup.resolve("memory.stat"))) {
                if (line.startsWith("cache ") || line.startsWith("file ")) {
                    return Long.parseLong(line.substring(line.indexOf(' ') + 1)) / 1e6;
                }
            }
        } catch (IOException e) {
            // The picture has a gap there.
        }
        return -1;
    }
}
