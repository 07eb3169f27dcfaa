// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import lull.bench.proc.CpuSplit;
import org.junit.jupiter.api.Test;

class MinHeapTest {
    /** One run that took long, for others had the processor's caches, must not permit more than three times of the usual. */
    @Test
    void theMedianIsByWhatCounts() {
        CpuSplit.Seconds usual = new CpuSplit.Seconds(1, 30, 18);
        CpuSplit.Seconds less = new CpuSplit.Seconds(1, 40, 17);
        CpuSplit.Seconds more = new CpuSplit.Seconds(9, 5, 26);
        assertEquals(usual, MinHeap.median(List.of(more, less, usual)));
        assertEquals(usual, MinHeap.median(List.of(usual)));
    }
}
