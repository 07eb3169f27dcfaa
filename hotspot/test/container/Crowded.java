// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * A service that has much memory outside of its heap and little alive inside: a cache of so many MB, each of whose entries
 * is old when another one takes its place, and garbage of requests. Prints what it has at each tenth of its work.
 */
public class Crowded {
    private static final int ENTRY = 4096;
    private static final int THREADS = 4;

    static volatile Object[] cache;

    private static int request() {
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            all.add(new byte[100]);
        }
        return all.size();
    }

    /** Fills its part of the cache again and again. */
    private static void serve(int thread, long entries) {
        int next = thread;
        for (long i = 0; i < entries; i++) {
            cache[next] = new byte[ENTRY];
            next += THREADS;
            next = next < cache.length ? next : thread;
            if (request() != 40) {
                throw new AssertionError();
            }
            if (i % 64 == 0) {
                Thread.yield();
            }
        }
    }

    private static void tell(int part) {
        long collections = ManagementFactory.getGarbageCollectorMXBeans().stream().filter(b -> !b.getName().equals("Lull Local"))
            .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
        var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        System.out.printf("part %d: heap %d of %d MB, in use %d MB, collections %d%n", part, heap.getCommitted() >> 20, heap.getMax() >> 20,
            heap.getUsed() >> 20, collections);
    }

    public static void main(String[] arguments) throws Exception {
        int alive = Integer.parseInt(arguments[0]);
        int outside = Integer.parseInt(arguments[1]);
        long work = Long.parseLong(arguments[2]);
        cache = new Object[(alive << 20) / ENTRY];
        MemorySegment segment = Arena.global().allocate((long) outside << 20);
        segment.fill((byte) 1);
        for (int part = 1; part <= 10; part++) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int number = t;
                Thread thread = new Thread(() -> serve(number, (work << 20) / ENTRY / THREADS / 10));
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            tell(part);
        }
        System.out.println("lives " + segment.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
    }
}
