// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Old records, several times what may be local, and requests that make much and keep nothing: half of them show what they have made to all
 * threads for a while. Each reads some records by chance. Every byte of what a request has made is compared before it ends, and every byte of the
 * records then and at the end.
 *
 * <p>{@code java Requests MEGABYTES REQUESTS THREADS}. Prints one line: {@code allocated= compared= wrong=}, of the requests alone.
 */
public class Requests {
    static final int RECORD = 1000;
    static final int PIECES = 100;
    static volatile Object[] shown;
    /** Public from the beginning: what is private is young. */
    static volatile byte[][] published;

    static byte[] contents(long key, int bytes) {
        byte[] contents = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            contents[i] = (byte) (key * 31 + (key >>> 16) + i);
        }
        return contents;
    }

    static long wrong(byte[] contents, long key, int bytes) {
        long wrong = Math.abs(contents.length - bytes);
        for (int i = 0; i < Math.min(contents.length, bytes); i++) {
            wrong += contents[i] == (byte) (key * 31 + (key >>> 16) + i) ? 0 : 1;
        }
        return wrong;
    }

    static long request(long number, int me, byte[][] records, SplittableRandom random) {
        List<byte[]> made = new ArrayList<>();
        if (number % 2 == 0) {
            shown[me] = made;
        }
        for (int i = 0; i < PIECES; i++) {
            made.add(contents(number + i, RECORD));
        }
        long wrong = 0;
        for (int i = 0; i < 5; i++) {
            int key = random.nextInt(records.length);
            wrong += wrong(records[key], key, RECORD);
        }
        for (int i = 0; i < PIECES; i++) {
            wrong += wrong(made.get(i), number + i, RECORD);
        }
        shown[me] = null;
        return wrong;
    }

    public static void main(String[] args) throws InterruptedException {
        byte[][] records = new byte[(int) (Long.parseLong(args[0]) * (1 << 20) / (RECORD + 20))][];
        int requests = Integer.parseInt(args[1]);
        int threads = Integer.parseInt(args[2]);
        published = records;
        for (int key = 0; key < records.length; key++) {
            records[key] = contents(key, RECORD);
        }
        System.gc();
        shown = new Object[threads];
        long[] wrong = new long[threads];
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int me = t;
            all[t] = new Thread(() -> {
                SplittableRandom random = new SplittableRandom(me);
                for (int n = 0; n < requests; n++) {
                    wrong[me] += request(n, me, records, random);
                }
            });
            all[t].start();
        }
        long bad = 0;
        for (int t = 0; t < threads; t++) {
            all[t].join();
            bad += wrong[t];
        }
        for (int key = 0; key < records.length; key++) {
            bad += wrong(records[key], key, RECORD);
        }
        long allocated = (long) threads * requests * PIECES * (RECORD + 16);
        System.out.println("allocated=" + allocated + " compared=" + (long) records.length * RECORD + " wrong=" + bad);
        System.exit(bad == 0 ? 0 : 1);
    }
}
