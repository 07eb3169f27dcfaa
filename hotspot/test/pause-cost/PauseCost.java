// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/**
 * Fills a heap with public objects of 2 KB of which nothing lives on, beside 13 MB that do: what collections take then is what they take for the
 * heap's size. Ends after so many seconds. With a second argument, beside so many GB of objects of 1 KB, too, that are old.
 */
public class PauseCost {
    private static final int SIZE = 1000;
    private static final int OF_A_GB = (1 << 30) / (SIZE + 24);    // with its header, and the reference to it

    private static volatile Object published;
    private static Object[][] old;

    private static void fill(int gigabytes) {
        old = new Object[gigabytes][];
        for (int i = 0; i < gigabytes; i++) {
            old[i] = new Object[OF_A_GB];
            for (int k = 0; k < OF_A_GB; k++) {
                old[i][k] = new byte[SIZE];
            }
        }
        System.gc();
    }

    public static void main(String[] args) {
        fill(args.length > 1 ? Integer.parseInt(args[1]) : 0);
        Object[] live = new Object[100_000];
        for (int i = 0; i < live.length; i++) {
            live[i] = new byte[100];
        }
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        for (int i = 0; System.nanoTime() < end; i++) {
            for (int k = 0; k < 1000; k++) {
                published = new byte[2000];
            }
            live[i % live.length] = new byte[100];
        }
        int alive = 0;
        for (Object object : live) {
            alive += ((byte[]) object).length;
        }
        if (alive != 100 * live.length) {
            throw new AssertionError(alive + " bytes are alive");
        }
    }
}
