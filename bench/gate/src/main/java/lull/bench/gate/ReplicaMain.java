// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import lull.bench.service.Service;
import lull.bench.util.Cli;

/**
 * One replica: the shop on a server with long-lived data beside it, which is what makes full collections long, and such a collection at
 * each multiple of a period. Runs until the end of its standard input; then it prints how often each collector ran.
 */
public final class ReplicaMain {
    private static final String USAGE = "ReplicaMain --server NAME --data DIR --port N --live MB --every MS [--at MS] [--churn MB/s [--load varying|key-value]]";
    /** Bytes of one entry, about. */
    private static final int ENTRY = 64;
    private static final int MIN_VALUE = 100;
    private static final int MAX_VALUE = 1000;
    /** Bytes of a key, its place in the table, and the value's header, about. */
    private static final int KEY_BYTES = 72;

    private static volatile Object live;

    private ReplicaMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("server", "data", "port", "live", "every", "at", "churn", "load"), args, ReplicaMain::run);
    }

    private static int run(Cli cli) throws Exception {
        int megabytes = (int) cli.number("live", 0, 1, 100_000);
        LongConsumer churn = switch (cli.text("load", "varying")) {
            case "varying" -> varying(megabytes);
            case "key-value" -> keyValue(megabytes);
            default -> throw new Cli.UsageException("--load: \"" + cli.text("load") + "\" is neither varying nor key-value");
        };
        Service.Running running = ShopServer.named(cli.text("server")).start(Path.of(cli.text("data")), (int) cli.number("port", 0, 1, 65535), 4);
        // What starting and filling left is not the period's to clear away.
        System.gc();
        long every = cli.number("every", 0, 0, 3_600_000);
        if (every > 0) {
            long at = cli.number("at", 0, 0, every);
            daemon("collections", () -> collect(every, at));
        }
        long megabytesPerSecond = cli.number("churn", 0, 0, 10_000);
        if (megabytesPerSecond > 0) {
            daemon("churn", () -> paced(churn, megabytesPerSecond));
        }
        System.out.println("ready");
        System.out.flush();
        while (System.in.read() >= 0) {
            // until the bench ends us, or ends
        }
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            System.out.println("collector " + bean.getCollectionCount() + " " + bean.getName());
        }
        running.close();
        return 0;
    }

    private static void daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** By the clock of the machine, so that replicas can take turns without knowing of each other. */
    private static void collect(long every, long at) {
        while (true) {
            long now = System.currentTimeMillis();
            LockSupport.parkNanos(1_000_000 * (every - Math.floorMod(now - at, every)));
            System.gc();
        }
    }

    private static long[][] block(int seed) {
        long[][] block = new long[(1 << 20) / ENTRY][];
        for (int i = 0; i < block.length; i++) {
            block[i] = new long[] {seed, i, 0, 0, 0};
        }
        return block;
    }

    /** Calls {@code churn}, which allocates a megabyte, so often per second, with the nanoseconds since the beginning. */
    private static void paced(LongConsumer churn, long perSecond) {
        long begin = System.nanoTime();
        for (long done = 1;; done++) {
            churn.accept(System.nanoTime() - begin);
            long ahead = (long) (done * 1e9 / perSecond) - (System.nanoTime() - begin);
            if (ahead > 0) {
                LockSupport.parkNanos(ahead);
            }
        }
    }

    /** Replaces random entries, of a part of them that changes with time: young collections find more alive or less. */
    private static LongConsumer varying(int megabytes) {
        long[][][] entries = new long[megabytes][][];
        for (int i = 0; i < megabytes; i++) {
            entries[i] = block(i);
        }
        live = entries;
        SplittableRandom random = new SplittableRandom(1);
        return nanos -> {
            // Between a twentieth and all, in 7 seconds and back.
            double part = 0.05 + 0.95 * Math.abs(nanos / 1e9 / 7 % 2 - 1);
            for (int i = 0; i < (1 << 20) / ENTRY; i++) {
                long[][] block = entries[random.nextInt(entries.length)];
                block[random.nextInt((int) (block.length * part))] = new long[] {i, nanos, 0, 0, 0};
            }
        };
    }

    /**
     * A store in which keys at random are removed and put with new values of 0.1 to 1 KB: what the paper's authors show predictions of
     * (MITMEM, figure 7d).
     */
    private static LongConsumer keyValue(int megabytes) {
        int keys = megabytes * ((1 << 20) / (KEY_BYTES + (MIN_VALUE + MAX_VALUE) / 2));
        Map<Long, byte[]> store = new ConcurrentHashMap<>(2 * keys);
        SplittableRandom random = new SplittableRandom(1);
        for (long key = 0; key < keys; key++) {
            store.put(key, value(random));
        }
        live = store;
        return nanos -> {
            for (int bytes = 0; bytes < 1 << 20;) {
                Long key = random.nextLong(keys);
                store.remove(key);
                byte[] value = value(random);
                store.put(key, value);
                bytes += KEY_BYTES + value.length;
            }
        };
    }

    private static byte[] value(SplittableRandom random) {
        return new byte[random.nextInt(MIN_VALUE, MAX_VALUE + 1)];
    }
}
