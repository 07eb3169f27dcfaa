// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ScheduleTest {
    @Test
    void followsFromTheSeed() {
        Schedule a = new Schedule(7, 20);
        Schedule b = new Schedule(7, 20);
        Schedule other = new Schedule(8, 20);
        for (int i = 0; i < 1000; i++) {
            long time = a.next();
            assertEquals(time, b.next());
            assertNotEquals(time, other.next());
        }
    }

    @Test
    void neverFallsAndHasTheRate() {
        int n = 200_000;
        Schedule schedule = new Schedule(1, 50);
        long last = 0;
        for (int i = 0; i < n; i++) {
            long next = schedule.next();
            assertTrue(next >= last);
            last = next;
        }
        // Standard error of the mean gap is 1 / sqrt(n) = 0.22 %.
        assertEquals(50, n / (last / 1e9), 0.5);
    }

    /** Gaps of a Poisson process: their standard deviation is their mean, and a share of 1/e is longer than the mean. */
    @Test
    void gapsAreExponential() {
        int n = 100_000;
        double mean = 1e9 / 50;
        Schedule schedule = new Schedule(3, 50);
        long last = 0;
        double squares = 0;
        int longer = 0;
        for (int i = 0; i < n; i++) {
            long next = schedule.next();
            double gap = next - last;
            squares += (gap - mean) * (gap - mean);
            longer += gap > mean ? 1 : 0;
            last = next;
        }
        assertEquals(1, Math.sqrt(squares / n) / mean, 0.03);
        assertEquals(1 / Math.E, longer / (double) n, 0.01);
    }

    @Test
    void refusesRatesThatAreNone() {
        assertThrows(IllegalArgumentException.class, () -> new Schedule(1, 0));
        assertThrows(IllegalArgumentException.class, () -> new Schedule(1, Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new Schedule(1, Double.POSITIVE_INFINITY));
    }
}
