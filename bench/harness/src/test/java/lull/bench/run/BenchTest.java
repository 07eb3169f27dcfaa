// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BenchTest {
    @Test
    void timesForPeople() {
        assertEquals("89 s", Bench.text(Duration.ofSeconds(89)));
        assertEquals("2 min", Bench.text(Duration.ofSeconds(95)));
        assertEquals("89 min", Bench.text(Duration.ofMinutes(89)));
        assertEquals("2 h 5 min", Bench.text(Duration.ofMinutes(125)));
    }
}
