// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A circuit breaker on heap use, as search servers have one: three threads serve requests, and each asks MemoryMXBean at its
 * begin whether more than 95 % of the largest heap is in use. Two fifths of the heap are alive, all else is garbage: of the
 * requests ("private"), or of what they have shown to others ("public"). Prints how many requests would have been refused,
 * and the largest use that one of them has seen.
 */
public class Breaker {
    private static final int THREADS = 3;
    private static final int ALIVE_PERCENT = 40;
    private static final int OBJECT = 1000 - 16;
    private static final int OBJECTS_PER_REQUEST = 200;
    private static final double LIMIT = 0.95;
    private static final MemoryMXBean BEAN = ManagementFactory.getMemoryMXBean();

    static volatile Object shown;
    private static final AtomicLong REFUSED = new AtomicLong();
    private static final AtomicLong MOST = new AtomicLong();

    private static void ask() {
        MemoryUsage usage = BEAN.getHeapMemoryUsage();
        MOST.accumulateAndGet(usage.getUsed(), Math::max);
        if (usage.getUsed() > LIMIT * usage.getMax()) {
            REFUSED.incrementAndGet();
        }
    }

    private static int request(boolean show) {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < OBJECTS_PER_REQUEST; i++) {
            all.add(new byte[OBJECT]);
        }
        if (show) {
            shown = all;
        }
        return all.size();
    }

    private static void serve(boolean show, int requests) {
        for (int i = 0; i < requests; i++) {
            ask();
            request(show);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        boolean show = args[0].equals("public");
        int requests = Integer.parseInt(args[1]) / THREADS;
        long max = Runtime.getRuntime().maxMemory();
        List<byte[]> alive = new ArrayList<>();
        for (long sum = 0; sum < max / 100 * ALIVE_PERCENT; sum += 10_000) {
            alive.add(new byte[10_000 - 16]);
        }
        shown = alive;
        System.gc();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> serve(show, requests));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        StringBuilder collections = new StringBuilder();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections.append(", ").append(bean.getName()).append(' ').append(bean.getCollectionCount());
        }
        System.out.printf("%s: used at most %.1f %%, %d of %d requests refused; %d objects alive%s%n", args[0], 100.0 * MOST.get() / max,
            REFUSED.get(), requests * THREADS, alive.size(), collections);
    }
}
