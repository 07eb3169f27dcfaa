// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.concurrent.ThreadLocalRandom;

/**
 * A load that goes: for args[0] seconds four threads serve requests, some 250 MB are alive, and much of what is alive is
 * replaced all the time; then nine tenths of it is dropped, and for args[1] seconds there are ten requests a second; then
 * nothing for args[2] seconds. Says "PHASE N" when one begins.
 */
public class AfterLoad {
    private static final int ENTRIES = 250_000;
    private static final byte[][] cache = new byte[ENTRIES][];

    private static int request() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[][] own = new byte[100][];
        int sum = 0;
        for (int i = 0; i < own.length; i++) {
            own[i] = new byte[500 + random.nextInt(1000)];
            sum += own[i].length;
        }
        for (int i = 0; i < 5; i++) {
            int at = random.nextInt(ENTRIES);
            if (cache[at] != null) {
                cache[at] = new byte[1000];
            }
        }
        return sum;
    }

    private static void serve(long until, long pauseMillis) {
        long sum = 0;
        while (System.nanoTime() < until) {
            sum += request();
            try {
                Thread.sleep(pauseMillis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        if (sum == 0) {
            throw new IllegalStateException("no request was served");
        }
    }

    private static long inSeconds(String seconds) {
        return System.nanoTime() + Integer.parseInt(seconds) * 1_000_000_000L;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("PHASE load");
        for (int i = 0; i < ENTRIES; i++) {
            cache[i] = new byte[1000];
        }
        long end = inSeconds(args[0]);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> serve(end, 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("PHASE little");
        for (int i = 0; i < ENTRIES; i++) {
            if (i % 10 != 0) {
                cache[i] = null;
            }
        }
        serve(inSeconds(args[1]), 100);
        System.out.println("PHASE nothing");
        Thread.sleep(1000L * Integer.parseInt(args[2]));
    }
}
