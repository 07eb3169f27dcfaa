// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A service's memory: records of about 1 KB, two threads that read them by chance and replace one of three. Goes on for so many seconds
 * after all were made; then every byte of every record is compared.
 *
 * <p>{@code java Records MEGABYTES SECONDS}. Prints one line: {@code records= operations= seconds= compared= wrong=}.
 */
public class Records {
    static final int THREADS = 2;

    record Versioned(int version, byte[] bytes) {}

    /** Contents that are cheap to make: what is measured is memory, not the generator. */
    static byte[] contents(long key, int version) {
        byte[] bytes = new byte[768 + (int) ((key * 31 + version) & 0x1FF)];
        long word = key * 0x9E3779B97F4A7C15L + version;
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (word >>> (i & 31));
        }
        return bytes;
    }

    static long wrong(long key, Versioned record) {
        byte[] want = contents(key, record.version);
        return java.util.Arrays.equals(want, record.bytes) ? 0 : 1;
    }

    public static void main(String[] args) throws InterruptedException {
        // Of 1024 bytes on average, with the map's entry, the key and the headers 1150 or so.
        int records = (int) (Long.parseLong(args[0]) * (1 << 20) / 1150);
        long nanos = Long.parseLong(args[1]) * 1_000_000_000L;
        AtomicLong operations = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        AtomicLong compared = new AtomicLong();
        AtomicLong longest = new AtomicLong();
        CountDownLatch filled = new CountDownLatch(THREADS);
        Thread[] all = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int me = t;
            all[t] = new Thread(() -> {
                Map<Long, Versioned> map = new HashMap<>(records / THREADS * 2);
                for (long key = me; key < records; key += THREADS) {
                    map.put(key, new Versioned(0, contents(key, 0)));
                }
                filled.countDown();
                try {
                    filled.await();
                } catch (InterruptedException e) {
                    return;
                }
                SplittableRandom random = new SplittableRandom(me);
                long start = System.nanoTime();
                long now = start;
                long done = 0;
                while (now - start < nanos) {
                    long key = (long) random.nextInt(records / THREADS) * THREADS + me;
                    Versioned record = map.get(key);
                    if (done % 3 == 0) {
                        map.put(key, new Versioned(record.version + 1, contents(key, record.version + 1)));
                    } else {
                        wrong.addAndGet(wrong(key, record));
                    }
                    done++;
                    long then = System.nanoTime();
                    longest.accumulateAndGet(then - now, Math::max);
                    now = then;
                }
                operations.addAndGet(done);
                for (Map.Entry<Long, Versioned> entry : map.entrySet()) {
                    wrong.addAndGet(wrong(entry.getKey(), entry.getValue()));
                    compared.addAndGet(entry.getValue().bytes.length);
                }
            });
            all[t].start();
        }
        filled.await();
        System.out.println("filled");
        for (Thread thread : all) {
            thread.join();
        }
        System.out.printf("records=%d operations=%d seconds=%s longest_ms=%d compared=%d wrong=%d%n", records, operations.get(), args[1],
            longest.get() / 1_000_000, compared.get(), wrong.get());
        System.exit(wrong.get() == 0 ? 0 : 1);
    }
}
