// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
    @Test
    void tables() {
        TextTable table = new TextTable();
        table.add(List.of("name", "n"));
        table.add(List.of("a,b", "10"));
        assertEquals("name   n\n--------\na,b   10\n", table.toString());
        assertEquals("name,n\n\"a,b\",10\n", table.csv());
        assertThrows(IllegalArgumentException.class, () -> table.add(List.of("one")));
    }
}
