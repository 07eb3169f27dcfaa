// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A table in memory like SPECjvm98's db: adds, deletes, changes, finds and sorts address records, whose fields are strings.
 * {@code MemoryTable [seed [records [operations]]]}.
 *
 * <p>Checked: at the end, and after every sort, against a plain map of what each record must say.
 */
public final class MemoryTable {
    /** A record; its fields are strings of different lengths. */
    private static final class Row {
        final int key;
        final String[] fields;

        Row(int key, String[] fields) {
            this.key = key;
            this.fields = fields;
        }

        @Override public String toString() {
            return key + ":" + String.join("|", fields);
        }
    }

    private static final int FIELDS = 6;

    private final Random random;
    private final List<Row> rows = new ArrayList<>();
    private final Map<Integer, Integer> versions = new TreeMap<>();   // what must be there: the version of each key
    private int nextKey;

    private MemoryTable(int seed) {
        random = new Random(seed);
    }

    /** A field follows from its record's key and version. */
    private static String field(int key, int version, int number) {
        int mix = (key * 31 + version) * 31 + number;
        mix ^= mix >>> 15;
        mix *= 0x2c1b3c6d;
        mix ^= mix >>> 12;
        StringBuilder text = new StringBuilder();
        int length = 4 + Math.floorMod(mix, 8 + 6 * number);
        for (int i = 0; i < length; i++) {
            mix = mix * 1103515245 + 12345;
            text.append((char) ('a' + (mix >>> 16) % 26));
        }
        return text.toString();
    }

    private static String[] fields(int key, int version) {
        String[] fields = new String[FIELDS];
        for (int i = 0; i < FIELDS; i++) {
            fields[i] = field(key, version, i);
        }
        return fields;
    }

    private void add() {
        int key = nextKey++;
        rows.add(new Row(key, fields(key, 0)));
        versions.put(key, 0);
    }

    private void delete() {
        int at = random.nextInt(rows.size());
        versions.remove(rows.get(at).key);
        rows.set(at, rows.getLast());
        rows.removeLast();
    }

    private void change() {
        int at = random.nextInt(rows.size());
        int key = rows.get(at).key;
        int version = versions.merge(key, 1, Integer::sum);
        rows.set(at, new Row(key, fields(key, version)));
    }

    private int find() {
        String prefix = "" + (char) ('a' + random.nextInt(26));
        int number = random.nextInt(FIELDS);
        List<String> found = new ArrayList<>();
        for (Row row : rows) {
            if (row.fields[number].startsWith(prefix)) {
                found.add(row.toString());
            }
        }
        return found.size();
    }

    private void sort() {
        int number = random.nextInt(FIELDS);
        // As old programs do: a key made for each comparison.
        rows.sort(Comparator.comparing((Row row) -> row.fields[number] + "/" + row.key));
        for (int i = 1; i < rows.size(); i++) {
            String left = rows.get(i - 1).fields[number] + "/" + rows.get(i - 1).key;
            Outcome.check(left.compareTo(rows.get(i).fields[number] + "/" + rows.get(i).key) < 0, "row " + i + " is not in order");
        }
    }

    private void verify() {
        Outcome.check(rows.size() == versions.size(), rows.size() + " rows, and there must be " + versions.size());
        for (Row row : rows) {
            Integer version = versions.get(row.key);
            Outcome.check(version != null, "key " + row.key + " must have been deleted");
            for (int i = 0; i < FIELDS; i++) {
                Outcome.check(row.fields[i].equals(field(row.key, version, i)), "field " + i + " of key " + row.key);
            }
        }
    }

    public static void main(String[] args) {
        int seed = Outcome.argument(args, 0, 1, 0, Integer.MAX_VALUE);
        int records = Outcome.argument(args, 1, 4000, 10, 10_000_000);
        int operations = Outcome.argument(args, 2, 1_500, 1, Integer.MAX_VALUE);
        MemoryTable table = new MemoryTable(seed);
        while (table.rows.size() < records) {
            table.add();
        }
        long found = 0;
        for (int i = 0; i < operations; i++) {
            int kind = table.random.nextInt(1000);
            if (kind < 300) {
                table.add();
            } else if (kind < 600) {
                table.delete();
            } else if (kind < 980) {
                table.change();
            } else if (kind < 999) {
                found += table.find();
            } else {
                table.sort();
            }
        }
        table.verify();
        System.out.printf("db: %d rows, %d found%n", table.rows.size(), found);
    }
}
