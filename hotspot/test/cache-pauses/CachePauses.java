// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/**
 * A cache in the heap: threads fill it with entries of some seven small objects, then serve from it, then serve while a
 * tenth of the requests replaces an entry. Prints a line for each phase: its name, when it began and ended, in seconds
 * since the VM's start, and its requests.
 *
 * <p>{@code CachePauses ENTRIES SECONDS THREADS}
 */
public class CachePauses {

    private record Part(String name, byte[] body) {}

    private static final class Entry {
        private final long key;
        private final Part first;
        private final Part second;

        Entry(long key) {
            this.key = key;
            first = new Part("first" + key, new byte[24]);
            second = new Part("second" + key, new byte[40]);
        }

        long check() {
            return first.name.length() + second.name.length() + first.body.length + second.body.length;
        }
    }

    private static final ConcurrentHashMap<Long, Entry> CACHE = new ConcurrentHashMap<>();
    private static final LongAdder REQUESTS = new LongAdder();
    private static volatile long end;

    private static double uptime() {
        return java.lang.management.ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0;
    }

    private static void phase(String name, int threads, java.util.function.IntConsumer work) throws InterruptedException {
        double start = uptime();
        REQUESTS.reset();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            all[i] = new Thread(() -> work.accept(number));
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.out.printf("%s %.3f %.3f %d%n", name, start, uptime(), REQUESTS.sum());
    }

    // A request makes some garbage of its own.
    private static void serve(long entries, int replacePercent) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) {
                long key = random.nextLong(entries);
                if (random.nextInt(100) < replacePercent) {
                    CACHE.put(key, new Entry(key));
                }
                Entry entry = CACHE.get(key);
                String answer = "answer " + entry.key + " " + entry.check();
                if (answer.length() < 9 || entry.key != key) {
                    throw new AssertionError(answer);
                }
            }
            REQUESTS.add(100);
        }
    }

    public static void main(String[] args) throws Exception {
        long entries = Long.parseLong(args[0]);
        long seconds = Long.parseLong(args[1]);
        int threads = Integer.parseInt(args[2]);
        phase("fill", threads, number -> {
            for (long key = number; key < entries; key += threads) {
                CACHE.put(key, new Entry(key));
                REQUESTS.increment();
            }
        });
        end = System.nanoTime() + seconds * 1_000_000_000L;
        phase("serve", threads, number -> serve(entries, 0));
        end = System.nanoTime() + seconds * 1_000_000_000L;
        phase("replace", threads, number -> serve(entries, 10));
    }
}
