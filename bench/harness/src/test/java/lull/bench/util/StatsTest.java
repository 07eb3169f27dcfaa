// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatsTest {
    @Test
    void quantiles() {
        List<Double> values = List.of(4.0, 1.0, Double.NaN, 3.0, 2.0);
        assertEquals(2.5, Stats.median(values));
        assertEquals(1, Stats.min(values));
        assertEquals(4, Stats.max(values));
        assertEquals(1.75, Stats.quantile(values, 0.25));
        assertEquals(7, Stats.median(List.of(7.0)));
        assertTrue(Double.isNaN(Stats.median(List.of())));
    }
}
