// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.Test;

class CliTest {
    private static Cli parse(String... args) {
        return Cli.parse(Set.of("port", "rate"), args);
    }

    @Test
    void reads() {
        Cli cli = parse("--port", "80", "--rate", "2.5");
        assertEquals(80, cli.number("port", 0, 1, 100));
        assertEquals(2.5, cli.decimal("rate", 0, 0, 10));
        assertEquals("x", parse().text("port", "x"));
    }

    @Test
    void errorsNameTheArgumentAndItsValue() {
        assertTrue(assertThrows(UsageException.class, () -> parse("--prot", "1")).getMessage().contains("--prot"));
        assertTrue(assertThrows(UsageException.class, () -> parse("port")).getMessage().contains("'port'"));
        assertTrue(assertThrows(UsageException.class, () -> parse("--port")).getMessage().contains("--port"));
        String message = assertThrows(UsageException.class, () -> parse("--port", "70000").number("port", 0, 0, 65535)).getMessage();
        assertTrue(message.contains("--port") && message.contains("70000") && message.contains("65535"), message);
        assertThrows(UsageException.class, () -> parse("--rate", "NaN").decimal("rate", 0, 0, 1));
        assertThrows(UsageException.class, () -> parse().text("port"));
    }
}
