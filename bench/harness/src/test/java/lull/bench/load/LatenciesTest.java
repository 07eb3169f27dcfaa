// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Base64;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    @Test
    void percentilesOfKnownValues() {
        Latencies latencies = new Latencies();
        for (int i = 1; i <= 10_000; i++) {
            latencies.answered(i / 1000, i * 100_000L);
        }
        assertEquals(500, latencies.percentileMillis(50), 0.5);
        assertEquals(900, latencies.percentileMillis(90), 0.9);
        assertEquals(990, latencies.percentileMillis(99), 1);
        assertEquals(999, latencies.percentileMillis(99.9), 1);
        assertEquals(1000, latencies.maxMillis(), 1);
        assertEquals(10_000, latencies.count());
        assertEquals(11, latencies.series().size());
        assertEquals(0L, ((Number) latencies.series().getFirst().get("second")).longValue());
        assertEquals(999L, latencies.series().getFirst().get("count"));
    }

    @Test
    void compressedFormIsHdrHistograms() throws Exception {
        Latencies latencies = new Latencies();
        latencies.answered(0, 5_000_000);
        latencies.unanswered(0, 7_000_000);
        Histogram read = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(latencies.compressed())), 1);
        assertEquals(2, read.getTotalCount());
        assertEquals(7000, read.getMaxValue(), 8);
    }

    @Test
    void errorsAreNoLatencies() {
        Latencies latencies = new Latencies();
        for (int i = 0; i < 100; i++) {
            latencies.failed("broken " + i % 20);
        }
        latencies.unanswered(3, 1_000_000);
        assertEquals(100, latencies.errors());
        assertEquals(10, latencies.errorSamples().size());
        assertEquals(1, latencies.count());
        assertEquals(1, latencies.unanswered());
    }

    @Test
    void emptyAndExtreme() {
        Latencies latencies = new Latencies();
        assertEquals(0, latencies.percentileMillis(99));
        assertEquals(61, latencies.curve().size());
        latencies.answered(0, -5);
        latencies.answered(0, Long.MAX_VALUE);
        assertTrue(latencies.maxMillis() >= 3_600_000);
    }

    @Test
    void longRunsStaySmall() {
        Latencies latencies = new Latencies();
        for (int second = 0; second < 20_000; second++) {
            latencies.answered(second, 1_000_000);
        }
        latencies.answered(5, 1_000_000);
        assertEquals(20_001, latencies.count());
        assertEquals(20_000, latencies.series().size());
    }
}
