// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import lull.bench.service.Service;
import lull.bench.util.Cli;

/**
 * One replica: the shop on a server with long-lived data beside it, which is what makes full collections long, and such a collection at
 * each multiple of a period. Runs until the end of its standard input; then it prints how often each collector ran.
 */
public final class ReplicaMain {
    private static final String USAGE = "ReplicaMain --server NAME --data DIR --port N --live MB --every MS [--at MS] [--churn MB/s]";
    /** Bytes of one entry, about. */
    private static final int ENTRY = 64;

    private static volatile Object live;

    private ReplicaMain() { }

    public static void main(String[] args) {
        Cli.main(USAGE, Set.of("server", "data", "port", "live", "every", "at", "churn"), args, ReplicaMain::run);
    }

    private static int run(Cli cli) throws Exception {
        int megabytes = (int) cli.number("live", 0, 1, 100_000);
        long[][][] entries = new long[megabytes][][];
        for (int i = 0; i < megabytes; i++) {
            entries[i] = block(i);
        }
        live = entries;
        Service.Running running = ShopServer.named(cli.text("server")).start(Path.of(cli.text("data")), (int) cli.number("port", 0, 1, 65535), 4);
        // What starting and filling left is not the period's to clear away.
        System.gc();
        long every = cli.number("every", 0, 0, 3_600_000);
        if (every > 0) {
            long at = cli.number("at", 0, 0, every);
            daemon("collections", () -> collect(every, at));
        }
        long churn = cli.number("churn", 0, 0, 10_000);
        if (churn > 0) {
            daemon("churn", () -> churn(entries, churn));
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

    /** Replaces random entries, of a part of them that changes with time: young collections find more alive or less. */
    private static void churn(long[][][] entries, long megabytesPerSecond) {
        SplittableRandom random = new SplittableRandom(1);
        long begin = System.nanoTime();
        long done = 0;
        while (true) {
            double seconds = (System.nanoTime() - begin) / 1e9;
            // Between a twentieth and all, in 7 seconds and back.
            double part = 0.05 + 0.95 * Math.abs(seconds / 7 % 2 - 1);
            for (int i = 0; i < (1 << 20) / ENTRY; i++) {
                long[][] block = entries[random.nextInt(entries.length)];
                block[random.nextInt((int) (block.length * part))] = new long[] {i, done, 0, 0, 0};
            }
            done++;
            long ahead = (long) (done * 1e9 / megabytesPerSecond) - (System.nanoTime() - begin);
            if (ahead > 0) {
                LockSupport.parkNanos(ahead);
            }
        }
    }
}
