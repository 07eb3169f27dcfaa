// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.util;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class IntervalTest {
    @Test
    void quantilesAreThoseOfThePrintedTables() {
        assertEquals(12.706, Interval.quantile(1), 0.0005);
        assertEquals(4.303, Interval.quantile(2), 0.0005);
        assertEquals(3.182, Interval.quantile(3), 0.0005);
        assertEquals(2.776, Interval.quantile(4), 0.0005);
        assertEquals(2.228, Interval.quantile(10), 0.0005);
        assertEquals(2.093, Interval.quantile(19), 0.0005);
        assertEquals(1.984, Interval.quantile(100), 0.0005);
    }

    @Test
    void mean() {
        // s² = 10 / 4, so the half is 2.7764 · √(2.5 / 5).
        Interval interval = Interval.ofMean(List.of(1.0, 2.0, 3.0, Double.NaN, 4.0, 5.0));
        assertEquals(3, interval.value());
        assertEquals(3 - 1.9632, interval.low(), 1e-4);
        assertEquals(3 + 1.9632, interval.high(), 1e-4);
        assertEquals(5, interval.count());
    }

    @Test
    void ratio() {
        // Relative variances of the means: 4 / (3 · 400) and 1 / (3 · 100), both 1/300, so 4 degrees of freedom.
        // exp(2.7764 · √(2/300)) = exp(0.226696) = 1.254448
        Interval interval = Interval.ofRatio(List.of(18.0, 20.0, 22.0), List.of(9.0, 10.0, 11.0));
        assertEquals(2, interval.value(), 1e-12);
        assertEquals(2 / 1.254448, interval.low(), 1e-5);
        assertEquals(2 * 1.254448, interval.high(), 1e-5);
    }

    @Test
    void degreesOfARatioAreRoundedDown() {
        // Variances 4/1200 = 1/300 of three values and 0.5/(2 · 100) = 1/400 of two: (7/1200)² / ((1/300)²/2 + (1/400)²) = 49/17 = 2.88,
        // so t = 4.3027 with 2 degrees; exp(4.3027 · √(7/1200)) = exp(0.328622) = 1.389053.
        Interval interval = Interval.ofRatio(List.of(18.0, 20.0, 22.0), List.of(9.5, 10.5));
        assertEquals(2 * 1.389053, interval.high(), 1e-4);
        assertEquals(2, interval.count());
    }

    @Test
    void theInverseRatioHasTheInverseInterval() {
        List<Double> a = List.of(3.0, 4.0, 8.0);
        List<Double> b = List.of(10.0, 11.0);
        assertEquals(1 / Interval.ofRatio(b, a).high(), Interval.ofRatio(a, b).low(), 1e-12);
    }

    @Test
    void withoutSpread() {
        assertEquals(new Interval(2, 2, 2, 2), Interval.ofRatio(List.of(4.0, 4.0), List.of(2.0, 2.0)));
        // One sample has no spread: the degrees of freedom are those of the other, 1; s² = 2, relative variance of the mean 1/100.
        assertEquals(Math.exp(1.2706), Interval.ofRatio(List.of(9.0, 11.0), List.of(10.0, 10.0)).high(), 1e-3);
    }

    @Test
    void tooFewValues() {
        Interval one = Interval.ofMean(List.of(7.0));
        assertEquals(7, one.value());
        assertFalse(one.bounded());
        assertTrue(Double.isNaN(Interval.ofMean(List.of()).value()));
        Interval ratio = Interval.ofRatio(List.of(6.0, 6.0), List.of(3.0));
        assertEquals(2, ratio.value());
        assertFalse(ratio.bounded());
        assertTrue(Double.isNaN(Interval.ofRatio(List.of(1.0, 2.0), List.of(0.0, 0.0)).value()));
    }
}
