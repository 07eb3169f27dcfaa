// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A table of entries, each of six objects with its place in the table; each entry replaced by a new one about once, in random order, so that
 * neighbours in the table are strangers in memory. Then collections that are asked for.
 *
 * <p>{@code MarkCost ENTRIES COLLECTIONS}
 */
public class MarkCost {

    private static final class Entry {
        private final long key;
        private final byte[] body = new byte[40];
        private final String name;

        Entry(long key) {
            this.key = key;
            name = "entry" + key;
        }
    }

    private static final ConcurrentHashMap<Long, Entry> TABLE = new ConcurrentHashMap<>();

    public static void main(String[] args) {
        long entries = Long.parseLong(args[0]);
        int collections = Integer.parseInt(args[1]);
        Random random = new Random(42);
        for (long key = 0; key < entries; key++) {
            TABLE.put(key, new Entry(key));
        }
        for (long i = 0; i < entries; i++) {
            long key = random.nextLong(entries);
            TABLE.put(key, new Entry(key));
        }
        for (int i = 0; i < collections; i++) {
            System.gc();
        }
        long bytes = 0;
        for (Entry entry : TABLE.values()) {
            bytes += entry.body.length + entry.name.length() + Long.signum(entry.key);
        }
        if (bytes < 40 * entries) {
            throw new AssertionError("the table has lost something: " + bytes + " bytes");
        }
    }
}
