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

/**
 * Has threads do a phase's work as fast as it goes, and keeps of each second what was done, and what heap and page cache were. Latencies are those of a closed
 * loop, each from its sending.
 */
public final class PhaseRunner {
    private final Path memoryGroup;     // null: of none
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Map<String, Object>> series = new ArrayList<>();
    private final List<Map<String, Object>> phases = new ArrayList<>();
    private final long start = System.nanoTime();

    /** What a thread does again and again. */
    public interface Step {
        /** Does it once; {@code random} is the thread's own. */
        void run(Random random) throws Exception;
    }

    /**
     * Prepares a run.
     *
     * @param memoryGroup the directory of the control group whose page cache is told, or null
     */
    public PhaseRunner(Path memoryGroup) {
        this.memoryGroup = memoryGroup;
    }

    /** Returns the phases and the seconds so far, for JSON. */
    public Map<String, Object> result() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("phases", phases);
        result.put("series", series);
        return result;
    }

    /** Runs a phase by {@code threads} threads. @throws IllegalStateException if a step failed */
    public void measure(Phase phase, int threads, Step step) throws InterruptedException {
        Latencies whole = new Latencies();
        Latencies lastHalf = new Latencies();
        LongAdder done = new LongAdder();
        long begin = System.nanoTime();
        long half = begin + phase.seconds() * 500_000_000L;
        long end = begin + phase.seconds() * 1_000_000_000L;
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            // Of each phase its own: what an earlier one has asked for is in the page cache.
            Random random = new Random(1000L * phases.size() + i);
            workers.add(Thread.ofPlatform().name(phase.kind() + "-" + i).start(() -> work(step, random, begin, half, end, done, whole, lastHalf)));
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
            throw new IllegalStateException("the phase " + phase.kind() + " failed: " + failure.get(), failure.get());
        }
        add(phase, whole, lastHalf);
    }

    /** A phase that could not be run, or not to its end: nothing was done in it. */
    public void nothing(Phase phase) {
        series.add(row(phase, 0));
        add(phase, new Latencies(), new Latencies());
    }

    private void add(Phase phase, Latencies whole, Latencies lastHalf) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("phase", phase.kind());
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
        row.put("uptime", ManagementFactory.getRuntimeMXBean().getUptime() / 1e3);
        row.put("phase", phase.kind());
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
