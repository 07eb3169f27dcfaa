// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

class TablesTest {
    private static final Tables TABLES = new Tables(400);

    @Test
    void areAlwaysTheSame() {
        Map<String, Tables.Table> once = TABLES.generate();
        Map<String, Tables.Table> again = TABLES.generate();
        once.forEach((name, table) -> assertEquals(table, again.get(name), name));
        assertEquals(Queries.all(3), Queries.all(3));
    }

    @Test
    void haveTheirSizes() {
        Map<String, Tables.Table> tables = TABLES.generate();
        assertEquals(List.of(5, 25, 5, 40, 50, 400), List.of("region", "nation", "supplier", "customer", "part", "orders").stream()
                .map(name -> tables.get(name).rows().size()).toList());
        int lines = tables.get("lineitem").rows().size();
        assertTrue(lines > 3 * 400 && lines < 5 * 400, "" + lines);
        tables.forEach((name, table) -> table.rows().forEach(row -> assertEquals(table.columns().size(), row.size(), name)));
    }

    @Test
    void referToWhatThereIs() {
        Map<String, Tables.Table> tables = TABLES.generate();
        Set<Long> buyers = new HashSet<>();
        for (Row order : tables.get("orders").rows()) {
            assertTrue(order.getLong(1) < TABLES.customers());
            buyers.add(order.getLong(1));
        }
        // Some have no orders: one question is about these.
        assertTrue(buyers.size() > TABLES.customers() / 2 && buyers.size() < TABLES.customers() * 3 / 4, "" + buyers.size());
        for (Row line : tables.get("lineitem").rows()) {
            assertTrue(line.getLong(0) < 400 && line.getLong(1) < TABLES.parts() && line.getLong(2) < TABLES.suppliers());
        }
    }
}
