// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lull.bench.result.LowerBoundOverhead.Cost;
import lull.bench.result.LowerBoundOverhead.Point;
import org.junit.jupiter.api.Test;

class LowerBoundOverheadTest {
    private static final Point SERIAL_2 = new Point("serial", 2);
    private static final Point SERIAL_4 = new Point("serial", 4);
    private static final Point G1_2 = new Point("g1", 2);
    private static final Point G1_4 = new Point("g1", 4);

    /** Distilled: serial 8 and 8.5, g1 10 and 9.5. */
    private static Map<Point, List<Cost>> points() {
        Map<Point, List<Cost>> points = new LinkedHashMap<>();
        points.put(SERIAL_2, List.of(new Cost(14, 7), new Cost(16, 7)));
        points.put(SERIAL_4, List.of(new Cost(10, 1.5)));
        points.put(G1_2, List.of(new Cost(12, 2)));
        points.put(G1_4, List.of(new Cost(11, 1.5)));
        return points;
    }

    @Test
    void theDenominatorIsTheLeastOfAllCollectorsAndHeaps() {
        LowerBoundOverhead lbo = new LowerBoundOverhead(points());
        // The mean of 7 and 9, though the total of this point is the largest of all.
        assertEquals(8, lbo.denominator());
        assertEquals(SERIAL_2, lbo.best());
        assertEquals(9.5, lbo.distilled(G1_4));
    }

    @Test
    void overheadIsTheWholeTotalOverTheDenominator() {
        LowerBoundOverhead lbo = new LowerBoundOverhead(points());
        assertEquals(15 / 8.0, lbo.of(SERIAL_2).value(), 1e-12);
        assertEquals(10 / 8.0, lbo.of(SERIAL_4).value(), 1e-12);
        assertEquals(12 / 8.0, lbo.of(G1_2).value(), 1e-12);
        assertEquals(11 / 8.0, lbo.of(G1_4).value(), 1e-12);
        // Mean 15, s = √2, s / √2 = 1, t = 12.706, all over 8.
        assertEquals((15 - 12.706) / 8, lbo.of(SERIAL_2).low(), 1e-3);
        assertFalse(lbo.of(G1_2).bounded());
    }

    @Test
    void anotherCollectorChangesTheOverheadOfAll() {
        Map<Point, List<Cost>> points = points();
        points.put(new Point("epsilon", 100), List.of(new Cost(5, 0)));
        LowerBoundOverhead lbo = new LowerBoundOverhead(points);
        assertEquals(5, lbo.denominator());
        assertEquals(12 / 5.0, lbo.of(G1_2).value(), 1e-12);
        assertEquals(1, lbo.of(new Point("epsilon", 100)).value());
    }

    @Test
    void aMissingPointIsMissing() {
        Map<Point, List<Cost>> points = points();
        points.put(SERIAL_2, List.of());
        LowerBoundOverhead lbo = new LowerBoundOverhead(points);
        assertTrue(Double.isNaN(lbo.of(SERIAL_2).value()));
        assertTrue(Double.isNaN(lbo.distilled(SERIAL_2)));
        assertEquals(8.5, lbo.denominator());
        LowerBoundOverhead none = new LowerBoundOverhead(Map.of());
        assertTrue(Double.isNaN(none.denominator()));
        assertNull(none.best());
    }

    @Test
    void geometricMeanOverServices() {
        LowerBoundOverhead one = new LowerBoundOverhead(points());
        // Overhead of g1 in 2: 12 / 8 in the first, 24 / 10 in the second; the root of 3.6.
        LowerBoundOverhead two = new LowerBoundOverhead(Map.of(G1_2, List.of(new Cost(24, 14))));
        assertEquals(Math.sqrt(3.6), LowerBoundOverhead.geometricMean(List.of(one, two), G1_2), 1e-12);
        assertTrue(Double.isNaN(LowerBoundOverhead.geometricMean(List.of(one, two), SERIAL_2)));
        assertTrue(Double.isNaN(LowerBoundOverhead.geometricMean(List.of(), G1_2)));
        Map<String, LowerBoundOverhead> services = Map.of("one", one, "two", two);
        assertEquals(Set.of("one"), LowerBoundOverhead.complete(services, List.of(G1_2, SERIAL_2)).keySet());
        assertEquals(Set.of("one", "two"), LowerBoundOverhead.complete(services, List.of(G1_2)).keySet());
    }

    @Test
    void refusesCostsThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new Cost(1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Cost(1, -0.1));
        assertThrows(IllegalArgumentException.class, () -> new Cost(Double.NaN, 0));
    }
}
