// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import lull.bench.load.Latencies;
import lull.bench.result.Distribution.Point;
import org.junit.jupiter.api.Test;

class DistributionTest {
    /** Latencies of {@code from} to {@code to} milliseconds, one each. */
    private static Latencies latencies(int from, int to) {
        Latencies latencies = new Latencies();
        for (int i = from; i <= to; i++) {
            latencies.answered(0, i * 1_000_000L);
        }
        return latencies;
    }

    @Test
    void isTheSameAsTheLoadSaid() {
        Latencies latencies = latencies(1, 1000);
        Distribution distribution = Distribution.of(List.of(latencies.compressed()));
        assertEquals(1000, distribution.count());
        for (double p : new double[] {50, 90, 99, 99.9}) {
            assertEquals(latencies.percentileMillis(p), distribution.percentileMillis(p));
        }
    }

    @Test
    void severalCountTogether() {
        Distribution both = Distribution.of(List.of(latencies(1, 500).compressed(), latencies(501, 1000).compressed()));
        assertEquals(1000, both.count());
        assertEquals(900, both.percentileMillis(90), 1);
    }

    @Test
    void theCurveEndsWithTheSlowestRequest() {
        List<Point> curve = Distribution.of(List.of(latencies(1, 1000).compressed())).curve();
        assertEquals(new Point(3, curve.getLast().millis()), curve.getLast());
        assertEquals(1000, curve.getLast().millis(), 1);
        assertEquals(99.9, curve.getLast().percentile(), 1e-9);
        assertEquals(0, curve.getFirst().nines());
        for (int i = 1; i < curve.size(); i++) {
            assertTrue(curve.get(i).nines() > curve.get(i - 1).nines() && curve.get(i).millis() >= curve.get(i - 1).millis());
        }
        assertEquals(900, curve.stream().filter(p -> p.nines() == 1).findFirst().orElseThrow().millis(), 1);
        // One request has no nines.
        assertEquals(List.of(new Point(0, 7.003)), Distribution.of(List.of(latencies(7, 7).compressed())).curve());
    }

    @Test
    void noneAndNonsense() {
        assertEquals(List.of(), Distribution.of(List.of()).curve());
        assertEquals(0, Distribution.of(List.of()).percentileMillis(99));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Distribution.of(List.of("AAAA"))).getMessage().contains("AAAA"));
    }
}
