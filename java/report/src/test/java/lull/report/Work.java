// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.util.concurrent.locks.LockSupport;

/**
 * A program for recordings: threads that answer requests. Each request allocates a few hundred small arrays, publishes every N-th of them,
 * and is followed by
 * a wait. Arguments: seconds, and N, or 0 to publish none. Each thread answers at least {@link #LEAST} requests, however slow the machine.
 */
final class Work {
    static final int THREADS = 2;
    static final int LEAST = 300;
    static final int PIECES = 1000;
    static final int PIECE = 240;   // 256 B with its header
    /** What is published stays for a while: 2 MB. */
    static final Object[] SHARED = new Object[8192];

    private Work() {}

    public static void main(String[] args) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        int every = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            int own = t;
            threads[t] = new Thread(() -> {
                for (int request = own; request < LEAST * THREADS || System.nanoTime() < end; request += THREADS) {
                    answer(request, every);
                    LockSupport.parkNanos(100_000);
                }
            }, "worker " + t);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void answer(int request, int every) {
        byte[][] pieces = new byte[PIECES][];
        for (int i = 0; i < PIECES; i++) {
            pieces[i] = new byte[PIECE];
            if (every > 0 && i % every == 0) {
                publish(request * 31 + i, pieces[i]);
            }
        }
    }

    private static void publish(int where, byte[] piece) {
        SHARED[where & SHARED.length - 1] = piece;
    }
}
