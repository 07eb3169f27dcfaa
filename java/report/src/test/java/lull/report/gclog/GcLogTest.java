// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report.gclog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Lines as JDK 25 wrote them, per collector. */
class GcLogTest {
    private static GcLog parse(String lines) {
        return GcLog.parse(lines.lines());
    }

    private static <T> T last(List<T> all) {
        return all.get(all.size() - 1);
    }

    @Test
    void g1() {
        GcLog log = parse("""
                [2.787s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
                [2.850s][info][gc,heap     ] GC(0) Eden regions: 14->0(13)
                [2.850s][info][gc,metaspace] GC(0) Metaspace: 8347K(8512K)->8347K(8512K) NonClass: 7352K(7424K)->7352K(7424K) Class: 995K(1088K)->995K(1088K)
                [2.850s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->3M(48M) 63.233ms
                [2.850s][info][gc,cpu      ] GC(0) User=0.03s Sys=0.00s Real=0.06s
                [3.100s][info][gc          ] GC(1) Concurrent Mark Cycle
                [3.200s][info][gc          ] GC(1) Pause Remark 20M->19M(48M) 2.500ms
                [3.300s][info][gc          ] GC(2) Pause Full (System.gc()) 30M->10M(48M) 12.000ms
                """);
        assertEquals(3, log.pauses().size());
        assertEquals(new GcLog.Pause(2.850, "Young (Normal) (G1 Evacuation Pause)", 63.233), log.pauses().get(0));
        assertEquals("Remark", log.pauses().get(1).what());
        assertFalse(log.pauses().get(1).full());
        assertTrue(log.pauses().get(2).full());
        assertEquals(new GcLog.HeapSize(2.850, 3, 48), log.heap().get(1));
        assertEquals(2.850 - 0.063233, log.heap().get(0).uptime(), 1e-9);
        assertEquals(15, log.heap().get(0).used());
        assertEquals(63.233, log.longestMillis());
        assertEquals(77.733, log.totalMillis(), 1e-9);
        assertEquals(1, log.between(3.15, 3.25).pauses().size());
    }

    @Test
    void pausedAndAllocated() {
        GcLog log = parse("""
                [2.000s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->3M(48M) 500.000ms
                [3.000s][info][gc          ] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 20M->4M(48M) 500.000ms
                [4.000s][info][gc          ] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 25M->5M(48M) 500.000ms
                """);
        // The second half of the first pause, all of the second, a fifth of the third.
        assertEquals(0.25 + 0.5 + 0.1, log.pausedSeconds(1.75, 3.6), 1e-9);
        assertEquals(0, log.pausedSeconds(2, 2.5), 1e-9);
        // From 3 to 20 and from 4 to 25; what was before the first collection is not known.
        assertEquals(17 + 21, log.allocatedMegabytes(0, 10), 1e-9);
        assertEquals(21, log.allocatedMegabytes(2.6, 10), 1e-9);
    }

    @Test
    void serialAndParallel() {
        GcLog log = parse("""
                [1.842s][info][gc,heap     ] GC(0) DefNew: 13184K(14784K)->1599K(14784K) Eden: 13184K(13184K)->0K(13184K) From: 0K(1600K)->1599K(1600K)
                [1.842s][info][gc          ] GC(0) Pause Young (Allocation Failure) 14M->3M(46M) 57.843ms
                [2.954s][info][gc,start    ] GC(4) Pause Full (System.gc())
                [2.970s][info][gc,phases   ] GC(4) Phase 1: Mark live objects 15.250ms
                [3.023s][info][gc          ] GC(4) Pause Full (System.gc()) 2048K->1G(2G) 69.001ms
                [3.500s][info][gc,heap     ] GC(5) PSYoungGen: 12288K(14336K)->2032K(14336K) Eden: 12288K(12288K)->0K(12288K) From: 0K(2048K)->2032K(2048K)
                """);
        assertEquals(2, log.pauses().size());
        assertEquals(new GcLog.HeapSize(3.023, 1024, 2048), last(log.heap()));
        assertEquals(2, log.heap().get(2).used());
    }

    @Test
    void zgc() {
        GcLog log = parse("""
                [1.390s][info][gc,phases   ] GC(0) Y: Pause Mark Start (Major) 0.015ms
                [1.420s][info][gc,phases   ] GC(0) Y: Young Generation 6M(12%)->6M(12%) 0.029s
                [1.421s][info][gc,phases   ] GC(0) O: Pause Mark End 0.024ms
                [1.429s][info][gc          ] GC(0) Major Collection (Warmup) 6M(12%)->5M(10%) 0.039s
                [2.429s][info][gc,phases   ] GC(1) y: Pause Mark Start 0.007ms
                [2.629s][info][gc          ] GC(1) Minor Collection (Allocation Rate) 52M(46%)->16M(14%) 0.100s
                """);
        assertEquals(3, log.pauses().size());
        assertEquals("Mark End", log.pauses().get(1).what());
        assertEquals(0.015, log.pauses().get(0).millis());
        assertEquals(4, log.heap().size());
        assertEquals(1.390, log.heap().get(0).uptime(), 1e-9);
        assertEquals(16, last(log.heap()).used());
        assertTrue(Double.isNaN(last(log.heap()).capacity()));
    }

    @Test
    void shenandoah() {
        GcLog log = parse("""
                [1.506s][info][gc,start    ] GC(0) Pause Init Mark (unload classes)
                [1.507s][info][gc          ] GC(0) Pause Init Mark (unload classes) 0.107ms
                [1.613s][info][gc          ] GC(0) Concurrent cleanup (unload classes) 13M->12M(48M) 0.020ms
                [1.651s][info][gc          ] GC(0) Pause Final Update Refs 0.069ms
                [1.651s][info][gc,stats    ] Pause Init Mark (G)               13639 us
                [1.700s][info][gc          ] GC(1) Pause Degenerated GC (Mark) 40M->10M(48M) 25.500ms
                """);
        assertEquals(3, log.pauses().size());
        assertEquals(25.5, log.longestMillis());
        assertEquals(4, log.heap().size());
        assertEquals(12, log.heap().get(1).used());
    }

    @Test
    void lull() {
        GcLog log = parse("""
                [0.501s][info][gc,start] GC(0) Pause Full (Allocation Failure)
                [0.513s][info][gc      ] GC(0) Pause Full (Allocation Failure) 60M->21M(64M) 11.870ms
                [0.600s][info][gc] GC(1) Pause Full (System.gc()) 22M->20M(64M) 9.001ms
                """);
        assertEquals(new GcLog.Pause(0.513, "Full (Allocation Failure)", 11.870), log.pauses().get(0));
        assertEquals(2, log.pauses().size());
        assertEquals(new GcLog.HeapSize(0.6, 20, 64), last(log.heap()));
    }

    @Test
    void otherLinesAndSafepoints() {
        GcLog log = parse("""
                [0.010s][info][gc,init] CardTable entry size: 512
                [0.012s][info][gc] Using G1
                [1.281s][info][safepoint   ] Safepoint "G1CollectForAllocation", Time since last: 1223977180 ns, Reaching safepoint: 13928 ns, At safepoint: 15433462 ns, Leaving safepoint: 3171 ns, Total: 15450561 ns, Threads: 0 runnable, 10 total
                [1.800s][info][safepoint   ] Safepoint "ICBufferFull", Time since last: 5 ns, Reaching safepoint: 9 ns, At safepoint: 6 ns, Total: 15 ns
                [1.9
                """);
        assertTrue(log.pauses().isEmpty());
        assertTrue(log.heap().isEmpty());
        assertEquals(0, log.longestMillis());
        assertEquals(new GcLog.Pause(1.281, "G1CollectForAllocation", 15.450561), log.safepoints().get(0));
        assertEquals(15.450561, log.longestSafepointMillis());
        assertEquals(1.5e-5, log.between(1.5, 2).longestSafepointMillis());
    }

    @Test
    void germanDecimals() {
        assertEquals(63.233, parse("[2,850s][info][gc] GC(0) Pause Young (Normal) 15M->3M(48M) 63,233ms").longestMillis());
    }
}
