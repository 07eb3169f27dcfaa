// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lull.report.gclog.GcLog;
import org.junit.jupiter.api.Test;

class TrialTest {
    private static final Map<String, Object> CLOSED = Map.of("name", "closed", "startMillis", 1000, "endMillis", 2000, "throughput", 10, "answers", 10, "loadCpuSeconds", 0);
    private static final Map<String, Object> OPEN = Map.ofEntries(Map.entry("name", "open"), Map.entry("startMillis", 2000), Map.entry("endMillis", 3000),
            Map.entry("p50", 1), Map.entry("p90", 1), Map.entry("p99", 1), Map.entry("p999", 1), Map.entry("max", 1), Map.entry("requests", 10),
            Map.entry("unanswered", 0), Map.entry("answers", 10), Map.entry("loadCpuSeconds", 0));

    /** Of a server that started at 0, with one pause in the closed loop and two shorter ones in the open loop. */
    private static Map<Metric, Double> metrics(Map<?, ?>... phases) {
        GcLog log = GcLog.parse(Stream.of("[1.500s][info][gc] GC(0) Pause Young (Normal) 15M->3M(48M) 70.000ms",
                "[2.400s][info][gc] GC(1) Pause Young (Normal) 15M->3M(48M) 20.000ms", "[2.800s][info][gc] GC(2) Pause Young (Normal) 15M->3M(48M) 4.000ms"));
        return new Trial(null, 64, List.of(), List.of(), Map.of("phases", List.of(phases), "errors", 0), List.of(), log, 0, new Server.End(0, false)).metrics();
    }

    @Test
    void pausesInOneCellOfATableAreOfTheSameTime() {
        Map<Metric, Double> both = metrics(CLOSED, OPEN);
        assertEquals(2, both.get(Metric.PAUSES));
        assertEquals(24, both.get(Metric.PAUSE_TOTAL));
        assertEquals(20, both.get(Metric.LONGEST_PAUSE_OPEN));
        assertEquals(70, both.get(Metric.LONGEST_PAUSE));
        assertEquals(Double.NaN, metrics(CLOSED).get(Metric.LONGEST_PAUSE_OPEN));
        assertEquals(70, metrics(CLOSED).get(Metric.LONGEST_PAUSE));
    }
}
