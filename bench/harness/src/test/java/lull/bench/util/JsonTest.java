// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void whatIsWrittenIsRead() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("text", "a \"quote\", a \\ and \n\t\u0001 ü");
        map.put("whole", -12L);
        map.put("decimal", 0.125);
        map.put("round", 3.0);
        map.put("list", Arrays.asList(1L, null, 2.5));
        map.put("objects", List.of(Map.of("a", true), List.of()));
        map.put("none", null);
        assertEquals(map, Json.parseObject(Json.write(map)));
    }

    @Test
    void aLineIsOneLine() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("text", "one\n  two");
        map.put("inside", Map.of("list", List.of("a", List.of(1L, 2L))));
        assertEquals("{\"text\": \"one\\n  two\",\"inside\": {\"list\": [\"a\",[1, 2]]}}", Json.line(map));
        assertEquals(map, Json.parseObject(Json.line(map)));
    }

    @Test
    void reads() {
        assertEquals(Map.of("a", List.of(1L, 2e3, "xA/")), Json.parse(" {\"a\" : [1,2e3 ,\"x\\u0041\\/\"]} "));
    }

    @Test
    void errorsSayWhere() {
        for (String bad : List.of("", "{", "[1,]", "{\"a\" 1}", "tru", "1 2", "\"open", "{a:1}", "nul", "\"\\u12\"")) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Json.parse(bad), bad);
            assertTrue(e.getMessage().startsWith("JSON: expected") || e instanceof NumberFormatException, e.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> Json.parseObject("[]"));
        assertThrows(IllegalArgumentException.class, () -> Json.write(new Object()));
    }
}
