// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import lull.bench.service.Options;
import lull.bench.util.Json;

/**
 * How many entries the cache has room for: {@code entries.json} in the data directory. They are filled and replaced a batch at a time.
 *
 * @param count a multiple of {@link #BATCH}
 */
record Entries(int count) {
    /** Entries of a batch, whose keys follow each other. */
    static final int BATCH = 100;
    private static final String FILE = "entries.json";

    static Entries of(Map<String, String> values) {
        int wanted = new Options(values, Set.of("entries")).number("entries", 200_000, BATCH, 100_000_000);
        return new Entries(wanted / BATCH * BATCH);
    }

    int batches() {
        return count / BATCH;
    }

    /** Writes the file in one step. */
    void write(Path data) throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("entries", count);
        Json.write(data.resolve(FILE), map);
    }

    static Entries read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service cache --data " + data + ")");
        }
        if (Json.readObject(file).get("entries") instanceof Long count && count >= BATCH && count % BATCH == 0) {
            return new Entries(Math.toIntExact(count));
        }
        throw new IOException(file + " has no number of entries that is a multiple of " + BATCH + ": delete it and prepare again");
    }
}
