// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread makes garbage that nobody else sees, below so many frames, and waits after each so many MB, if any. Prints the
 * processor time of the process from then on, the collector's threads included, and what each bean has counted meanwhile.
 */
public class DeepStack {
    private static final int OBJECT = 1000 - 16;
    private static final long OBJECTS_PER_MB = 1000;
    private static final long STACK = 3L << 30;

    private static int descend(int depth, Runnable atTheBottom) {
        if (depth == 0) {
            atTheBottom.run();
            return 0;
        }
        return descend(depth - 1, atTheBottom) + 1;
    }

    private static int garbage(long megabytes, int waitMegabytes) {
        byte[][] latest = new byte[8][];
        for (long i = 0; i < megabytes * OBJECTS_PER_MB; i++) {
            latest[(int) i & 7] = new byte[OBJECT];
            if (waitMegabytes > 0 && i % (waitMegabytes * OBJECTS_PER_MB) == 0) {
                LockSupport.parkNanos(1);
            }
        }
        return latest.length;
    }

    private static long processorMillis() {
        try {
            String[] stat = Files.readString(Path.of("/proc/self/stat")).replaceFirst(".*\\) ", "").split(" ");
            return 10 * (Long.parseLong(stat[11]) + Long.parseLong(stat[12]));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static long[] counts() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).toArray();
    }

    private static void measure(int depth, long megabytes, int waitMegabytes) {
        garbage(100, waitMegabytes);    // compiled
        long before = processorMillis();
        long[] first = counts();
        garbage(megabytes, waitMegabytes);
        long[] last = counts();
        StringBuilder line = new StringBuilder(String.format("%d frames, %d MB: %d ms of processor time", depth, megabytes, processorMillis() - before));
        int i = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            line.append(", ").append(bean.getName()).append(' ').append(last[i] - first[i]);
            i++;
        }
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        int depth = Integer.parseInt(args[0]);
        long megabytes = Long.parseLong(args[1]);
        int waitMegabytes = Integer.parseInt(args[2]);
        Thread thread = new Thread(null, () -> descend(depth, () -> measure(depth, megabytes, waitMegabytes)), "deep", STACK);
        thread.start();
        thread.join();
    }
}
