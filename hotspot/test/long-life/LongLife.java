// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/**
 * A long life, compressed: a table of objects of all sizes, of which a tenth is replaced at random while each cycle of
 * concurrent marking runs. Each object that is taken out is checked. Prints ten lines on what is free, and in which
 * pieces. Fails if the pieces get worse.
 *
 * <p>Arguments: cycles; MB alive; threads; seed. To be run with -XX:+ExplicitGCInvokesConcurrent.
 */
public final class LongLife {
    private static final int REPORTS = 10;
    private static final int REPLACED_OF = 10;    // one of so many, while a cycle runs
    private static final int FIGURES = 5;
    private static final int MEAN_BYTES = 730;    // of what replacement() makes, with its header
    private static final Pattern INFO = Pattern.compile("^(heap\\.used|heap\\.slack|blocks\\.free|blocks\\.holes|" +
        "blocks\\.longest_free_run): (?:\\d+ blocks, )?([0-9.]+) MB", Pattern.MULTILINE);

    private static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();
    private static final AtomicLong REPLACED = new AtomicLong();
    private static CyclicBarrier cycle;

    private LongLife() {}

    private static final class Random {
        private long state;

        Random(long seed) {
            state = seed * 0x9E3779B97F4A7C15L + 1;
        }

        int next(int bound) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) ((state >>> 33) % bound);
        }
    }

    /** Nine of ten are small, one of two hundred is longer than a block has room for. */
    private static long[] replacement(Random random, int place) {
        int kind = random.next(200);
        int words = kind == 0 ? 4096 + random.next(4096) : kind < 20 ? 64 + random.next(512) : 2 + random.next(30);
        long[] object = new long[words];
        object[0] = place;
        object[words - 1] = ~(long) place;
        return object;
    }

    private static void check(long[] object, int place) {
        if (object != null && (object[0] != place || object[object.length - 1] != ~(long) place)) {
            throw new AssertionError("place " + place + " has the object of place " + object[0]);
        }
    }

    private static void replace(AtomicReferenceArray<long[]> table, Random random, int number) {
        for (int i = 0; i < number; i++) {
            int place = random.next(table.length());
            check(table.getAndSet(place, replacement(random, place)), place);
        }
        REPLACED.addAndGet(number);
    }

    /** Fills its part of the table, then replaces so many objects while each cycle runs. */
    private static void live(AtomicReferenceArray<long[]> table, int number, long seed, int part, int parts) {
        try {
            Random random = new Random(seed);
            for (int place = part; place < table.length(); place += parts) {
                table.set(place, replacement(random, place));
            }
            while (true) {
                cycle.await();
                replace(table, random, number);
                cycle.await();
            }
        } catch (BrokenBarrierException e) {
            // Another thread has failed, or all is done.
        } catch (Throwable t) {
            FAILURE.compareAndSet(null, t);
            cycle.reset();
        }
    }

    private static long globalCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(bean -> bean.getName().equals("Lull Global"))
            .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    /** What Lull.info says, in MB, in the order of the pattern's names. */
    private static double[] info() throws Exception {
        Object text = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "lullInfo",
            new Object[] { new String[0] }, new String[] { String[].class.getName() });
        double[] values = new double[FIGURES];
        Matcher matcher = INFO.matcher((String) text);
        for (int i = 0; i < values.length; i++) {
            if (!matcher.find()) {
                throw new AssertionError("Lull.info lacks a figure, it says\n" + text);
            }
            values[i] = Double.parseDouble(matcher.group(2));
        }
        return values;
    }

    /** Means over so many cycles. */
    private static double[] cycles(long number) throws Exception {
        double[] sums = new double[FIGURES];
        for (long i = 0; i < number; i++) {
            cycle.await();
            System.gc();
            cycle.await();
            double[] values = info();
            for (int j = 0; j < sums.length; j++) {
                sums[j] += values[j] / number;
            }
        }
        return sums;
    }

    private static void start(AtomicReferenceArray<long[]> table, int threads, long seed) {
        cycle = new CyclicBarrier(threads + 1);
        int number = table.length() / REPLACED_OF / threads;
        for (int i = 0; i < threads; i++) {
            int part = i;
            Thread thread = new Thread(() -> live(table, number, seed * 1000 + part, part, threads), "replaces-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static double[][] report(long cycles) throws Exception {
        double[][] lines = new double[REPORTS][];
        System.out.printf("%9s %12s %9s %9s %9s %9s %9s %9s%n", "cycles", "replaced", "used", "slack", "free", "holes", "longest",
                          "global");
        long globalBefore = globalCollections();
        for (int i = 0; i < REPORTS; i++) {
            lines[i] = cycles(cycles / REPORTS);
            System.out.printf("%9d %12d %9.1f %9.2f %9.1f %9.1f %9.2f %9d%n", (i + 1) * (cycles / REPORTS), REPLACED.get(),
                              lines[i][0], lines[i][1], lines[i][2], lines[i][3], lines[i][4], globalCollections() - globalBefore);
        }
        return lines;
    }

    /** The last tenth against the worst one of the first half, for the pieces take some hundred cycles to settle. */
    private static void checkThatNothingGrew(double[][] lines) {
        double used = 0;
        double free = Double.MAX_VALUE;
        for (int i = 0; i < REPORTS / 2; i++) {
            used = Math.max(used, lines[i][0]);
            free = Math.min(free, lines[i][2]);
        }
        double[] last = lines[REPORTS - 1];
        if (last[0] > used * 1.1 || last[2] < free * 0.8) {
            throw new AssertionError("memory got worse: at most " + used + " MB used in the first half, then " + last[0] +
                                     "; at least " + free + " MB in free blocks, then " + last[2]);
        }
    }

    public static void main(String[] args) throws Exception {
        long cycles = Long.parseLong(args[0]);
        int megabytes = Integer.parseInt(args[1]);
        AtomicReferenceArray<long[]> table = new AtomicReferenceArray<>((int) ((long) megabytes * 1024 * 1024 / MEAN_BYTES));
        start(table, Integer.parseInt(args[2]), Long.parseLong(args[3]));
        double[][] lines;
        try {
            cycles(2L * REPLACED_OF);    // all is replaced about twice
            lines = report(cycles);
        } catch (BrokenBarrierException e) {
            throw new AssertionError("a thread has failed", FAILURE.get());
        }
        checkThatNothingGrew(lines);
    }
}
