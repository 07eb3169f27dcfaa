// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CalibrationTest {
    @Test
    void roundsToTwoDigits() {
        Calibration work = Calibration.of(12_345, 6789, 451.2, 0.5, 0.25, 60);
        assertEquals(new Calibration(12_000, 6800, 230, 0.25, 60), work);
        assertEquals("4 threads; warm-up of 12000 requests; closed loop of 6800 requests", work.work(4));
        assertEquals("30.0 s at 230.0/s", work.open(30));
        assertEquals("", work.open(0));
        assertEquals(1, Calibration.of(0, 0, 1, 0.5, 1, 0).requests());
    }

    @Test
    void heapWithoutCollection() {
        // 1.25 · (0.5 MB · 3000 requests + 100 MB), and twice 20 MB, and 64 MB.
        assertEquals(1875 + 125 + 40 + 64, new Calibration(1000, 2000, 1, 0.5, 100).heapWithoutCollection(20));
    }
}
