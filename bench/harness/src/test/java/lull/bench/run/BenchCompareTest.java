// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import lull.bench.result.Comparison;
import lull.bench.result.Invocation;
import lull.bench.result.Setup;
import org.junit.jupiter.api.Test;

class BenchCompareTest {
    private static List<Invocation> invocations(String libjvm, String failure, double... p99) {
        Setup setup = new Setup("h2", "", "lull", "25", libjvm, "", 100, 2, "work", "open", "machine");
        return IntStream.range(0, p99.length)
                .mapToObj(i -> new Invocation(setup, i + 1, i + 1, "2026-01-01", 1, Map.of("p99", p99[i]), failure)).toList();
    }

    private static List<String> verdicts(List<Invocation> a, List<Invocation> b) {
        List<String> verdicts = new ArrayList<>();
        BenchCompare.table(new Comparison(a, b), 1.02, verdicts);
        return verdicts;
    }

    @Test
    void onlyAnIntervalWhollyAboveTheLimitIsSlower() {
        List<Invocation> a = invocations("old", null, 100, 101, 99);
        assertEquals(1, verdicts(a, invocations("new", null, 110, 111, 109)).size());
        // 10 % slower on average, but 80 to 140.
        assertEquals(List.of(), verdicts(a, invocations("new", null, 110, 80, 140)));
        // Surely slower, but by less than the limit.
        assertEquals(List.of(), verdicts(invocations("old", null, 100, 100.1, 99.9), invocations("new", null, 101, 101.1, 100.9)));
        // One invocation has no interval.
        assertEquals(List.of(), verdicts(a, invocations("new", null, 200)));
        assertEquals(List.of(), verdicts(invocations("old", null, 110, 111, 109), a));
    }

    @Test
    void oneRunEachIsNoVerdict() {
        assertEquals("one run each: no intervals, no verdict", conclusion(invocations("old", null, 100), invocations("new", null, 200)));
        assertEquals("too few runs: no intervals, no verdict", conclusion(invocations("old", null, 100, 101), invocations("new", null, 200)));
        assertEquals("nothing became slower beyond noise", conclusion(invocations("old", null, 100, 101), invocations("new", null, 101, 100)));
        assertEquals("1 became slower beyond noise", conclusion(invocations("old", null, 100), invocations("new", "OutOfMemoryError", 100)));
    }

    private static String conclusion(List<Invocation> a, List<Invocation> b) {
        return BenchCompare.conclusion(new Comparison(a, b), verdicts(a, b));
    }

    @Test
    void whatNoLongerRunsIsSlower() {
        List<String> verdicts = verdicts(invocations("old", null, 100, 101), invocations("new", "OutOfMemoryError", 100, 101));
        assertEquals(1, verdicts.size());
        assertTrue(verdicts.getFirst().contains("OutOfMemoryError"), verdicts.toString());
        assertEquals(List.of(), verdicts(invocations("old", "OutOfMemoryError", 100, 101), invocations("new", null, 100, 101)));
    }
}
