// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import lull.bench.service.Options;
import lull.bench.util.Json;

/**
 * How large the database is: {@code scale.json} in the data directory. Every warehouse has {@link #DISTRICTS} districts.
 *
 * @param customers of a district, and its orders that are kept once delivered
 * @param items that are sold; each warehouse has a stock of every one
 */
record Scale(int warehouses, int customers, int items) {
    static final int DISTRICTS = 10;
    private static final String FILE = "scale.json";

    static Scale of(Map<String, String> values) {
        Options options = new Options(values, Set.of("warehouses", "customers", "items"));
        return new Scale(options.number("warehouses", 2, 1, 1000), options.number("customers", 200, 10, 3000), options.number("items", 2000, 100, 100_000));
    }

    /** Writes the file. Returns false if it was there already. */
    boolean write(Path data) throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("warehouses", warehouses);
        map.put("customers", customers);
        map.put("items", items);
        if (Files.exists(data.resolve(FILE)) && Files.readString(data.resolve(FILE)).equals(Json.write(map) + "\n")) {
            return false;
        }
        Json.write(data.resolve(FILE), map);
        return true;
    }

    static Scale read(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service h2 --data " + data + ")");
        }
        Map<String, Object> map = Json.readObject(file);
        try {
            return new Scale(number(map, "warehouses"), number(map, "customers"), number(map, "items"));
        } catch (ClassCastException | NullPointerException e) {
            throw new IOException(file + " lacks warehouses, customers or items: delete it and prepare again", e);
        }
    }

    private static int number(Map<String, Object> map, String name) {
        return Math.toIntExact((Long) map.get(name));
    }

    /** Returns the price of item {@code item} in cents: the same for server and load. */
    static long price(long item) {
        return 100 + item * 7919 % 9900;
    }

    static String itemName(long item) {
        return "item " + Long.toString(item * 48271 % 2147483647, 36);
    }

    /** Returns the last name of a customer: several of a district share one. */
    String lastName(long customer) {
        return "name" + customer % Math.max(1, customers / 3);
    }
}
