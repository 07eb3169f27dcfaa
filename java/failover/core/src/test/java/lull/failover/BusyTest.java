// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BusyTest {
    private static Optional<Busy> of(int status, Map<String, String> fields) {
        return Busy.of(status, name -> Optional.ofNullable(fields.get(name.toLowerCase(Locale.ROOT))));
    }

    @Test
    void theGateProvesThatNothingWasProcessed() {
        Busy busy = of(503, Map.of("busy-until", "137", "retry-after", "1")).orElseThrow();
        assertEquals(new Busy(Duration.ofMillis(137), true), busy);
        assertEquals(new Busy(Duration.ZERO, true), of(503, Map.of("busy-until", " 0 ")).orElseThrow());
    }

    @Test
    void othersOnlyHint() {
        assertEquals(new Busy(Duration.ofSeconds(2), false), of(503, Map.of("retry-after", "2")).orElseThrow());
        assertEquals(new Busy(Duration.ofSeconds(2), false, true), of(503, Map.of("retry-after", "2")).orElseThrow());
        // Who has sent too many hears of it, and no other.
        assertEquals(new Busy(Duration.ofSeconds(2), false, false), of(429, Map.of("retry-after", "2", "busy-until", "3")).orElseThrow());
    }

    @Test
    void whatIsNotUnderstoodIsNoHint() {
        assertEquals(Optional.empty(), of(503, Map.of()));
        assertEquals(Optional.empty(), of(200, Map.of("busy-until", "5")));
        assertEquals(Optional.empty(), of(500, Map.of("retry-after", "5")));
        for (String text : new String[] {"", "-1", "soon", "1.5", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT"}) {
            assertEquals(Optional.empty(), of(503, Map.of("busy-until", text, "retry-after", text)), text);
            assertEquals(Optional.empty(), Busy.ofBusyUntil(text), text);
        }
        assertEquals(Optional.empty(), Busy.ofBusyUntil(null));
        assertThrows(IllegalArgumentException.class, () -> new Busy(Duration.ofMillis(-1), true));
    }
}
