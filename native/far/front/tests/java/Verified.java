// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Keeps records whose contents it can say, replaces some of them over and over, and compares every byte of every record at the end.
 *
 * <p>{@code java Verified RECORDS OPERATIONS THREADS}
 */
public class Verified {
    record Versioned(int version, byte[] bytes) {}

    static byte[] contents(long key, int version) {
        byte[] bytes = new byte[64 + (int) (key * 31 + version & 0xFF)];
        new Random(key * 1_000_003 + version).nextBytes(bytes);
        return bytes;
    }

    static long check(long key, Versioned record) {
        byte[] want = contents(key, record.version);
        long wrong = Math.abs(want.length - record.bytes.length);
        for (int i = 0; i < Math.min(want.length, record.bytes.length); i++) {
            if (want[i] != record.bytes[i]) {
                wrong++;
            }
        }
        return wrong;
    }

    public static void main(String[] args) throws InterruptedException {
        int records = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        int threads = Integer.parseInt(args[2]);
        long[] wrong = new long[threads];
        long[] compared = new long[threads];
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int me = t;
            all[t] = new Thread(() -> {
                Map<Long, Versioned> map = new HashMap<>();
                for (long key = me; key < records; key += threads) {
                    map.put(key, new Versioned(0, contents(key, 0)));
                }
                Random random = new Random(me);
                for (int n = 0; n < operations; n++) {
                    long key = (long) random.nextInt(records / threads) * threads + me;
                    Versioned record = map.get(key);
                    if (n % 3 == 0) {
                        map.put(key, new Versioned(record.version + 1, contents(key, record.version + 1)));
                    } else {
                        wrong[me] += check(key, record);
                    }
                }
                for (Map.Entry<Long, Versioned> entry : map.entrySet()) {
                    wrong[me] += check(entry.getKey(), entry.getValue());
                    compared[me] += entry.getValue().bytes.length;
                }
            });
            all[t].start();
        }
        long total = 0;
        long bad = 0;
        for (int t = 0; t < threads; t++) {
            all[t].join();
            total += compared[t];
            bad += wrong[t];
        }
        System.out.println("compared=" + total + " wrong=" + bad);
        System.exit(bad == 0 ? 0 : 1);
    }
}
