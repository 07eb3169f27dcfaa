// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import lull.bench.service.Options;
import lull.bench.util.Json;

/**
 * How much there is, and what it holds: {@code cassandra.json} in the data directory. Every owner has the same number of rows.
 *
 * @param rows of each owner
 * @param field bytes of each field of a row, and of an event
 */
record Size(int rows, int field) {
    /** Connections at once that do not share what they write. */
    static final int OWNERS = 64;
    /** Fields of a row. */
    static final int FIELDS = 5;
    private static final String FILE = "cassandra.json";

    static Size of(Map<String, String> values) {
        Options options = new Options(values, Set.of("rows", "field"));
        return new Size(options.number("rows", 300, 10, 1_000_000), options.number("field", 200, 1, 10_000));
    }

    /** Writes the file. Returns false if it was there already. */
    boolean write(Path data) throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("rows", (long) rows);
        map.put("field", (long) field);
        Path file = data.resolve(FILE);
        if (Files.exists(file) && Json.readObject(file).equals(map)) {
            return false;
        }
        Json.write(file, map);
        return true;
    }

    static Size read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service cassandra --data " + data + ")");
        }
        Map<String, Object> map = Json.readObject(file);
        if (!(map.get("rows") instanceof Long rows) || !(map.get("field") instanceof Long field)) {
            throw new IOException(file + " has no numbers 'rows' and 'field': delete it and prepare again");
        }
        return new Size(rows.intValue(), field.intValue());
    }

    /** Returns the key of row {@code row} of {@code owner}. */
    long id(int owner, int row) {
        return (long) owner * rows + row;
    }

    /** Returns what field {@code number} of a row holds in a version: letters that follow from these. */
    byte[] field(long id, int version, int number) {
        return text((id * FIELDS + number) * 1_000_003 + version);
    }

    /** Returns what an event holds. */
    byte[] event(int owner, long number) {
        return text(-1 - (number * OWNERS + owner));
    }

    private byte[] text(long seed) {
        byte[] text = new byte[field];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < field;) {
            // Five bits for a letter; some letters are more frequent, as in any language.
            for (long bits = random.nextLong(), n = 0; n < 12 && i < field; bits >>>= 5, n++) {
                text[i++] = (byte) ('a' + (bits & 31) % 26);
            }
        }
        return text;
    }
}
