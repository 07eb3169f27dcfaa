// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.Test;

class OptionsTest {
    @Test
    void readsAndDefaults() {
        Options options = new Options(Map.of("size", "7", "openjdk", "/x"), Set.of("size", "rows"));
        assertEquals(7, options.number("size", 1, 1, 9));
        assertEquals(5, options.number("rows", 5, 1, 9));
        assertEquals("x", options.text("rows", "x"));
    }

    @Test
    void namesWhatIsWrong() {
        UsageException unknown = assertThrows(UsageException.class, () -> new Options(Map.of("sizes", "7"), Set.of("size")));
        assertTrue(unknown.getMessage().contains("'sizes'") && unknown.getMessage().contains("[size]"), unknown.getMessage());
        Options options = new Options(Map.of("size", "10"), Set.of("size"));
        UsageException large = assertThrows(UsageException.class, () -> options.number("size", 1, 1, 9));
        assertTrue(large.getMessage().contains("size") && large.getMessage().contains("from 1 to 9"), large.getMessage());
    }

    @Test
    void parses() {
        assertEquals(Map.of("a", "1", "b", "x=y"), Options.parse(" a=1  b=x=y "));
        assertEquals(Map.of(), Options.parse(""));
        for (String bad : new String[] {"a", "=1", "a=1 b"}) {
            assertTrue(assertThrows(UsageException.class, () -> Options.parse(bad)).getMessage().contains("NAME=VALUE"), bad);
        }
    }
}
