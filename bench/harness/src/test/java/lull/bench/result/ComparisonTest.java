// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import lull.bench.util.Interval;
import org.junit.jupiter.api.Test;

class ComparisonTest {
    private static Invocation invocation(String libjvm, int heap, int number, String started, double throughput, String failure) {
        Setup setup = new Setup("h2", "", "lull", "25", libjvm, "-XX:+UseLullGC", heap, heap / 50.0, "work", "open", "machine");
        return new Invocation(setup, number, number, started, 1, Map.of("throughput", throughput), failure);
    }

    private static final List<Invocation> A = List.of(invocation("old", 100, 1, "2026-01-01", 20, null), invocation("old", 100, 2, "2026-01-01", 20, null));

    @Test
    void aboveOneIsSlower() {
        Comparison comparison = new Comparison(A, List.of(invocation("new", 100, 1, "2026-01-02", 10, null), invocation("new", 100, 2, "2026-01-02", 10, null)));
        assertEquals(1, comparison.pairs().size());
        assertEquals(new Interval(2, 2, 2, 2), comparison.pairs().getFirst().slowdown("throughput", true));
        assertEquals(new Interval(0.5, 0.5, 0.5, 2), comparison.pairs().getFirst().slowdown("throughput", false));
        assertTrue(Double.isNaN(comparison.pairs().getFirst().slowdown("p50", false).value()));
    }

    @Test
    void onlyTheNewestBuildCounts() {
        Comparison comparison = new Comparison(A, List.of(invocation("new", 100, 1, "2026-01-03", 40, null), invocation("older", 100, 2, "2026-01-02", 10, null)));
        assertEquals(0.5, comparison.pairs().getFirst().slowdown("throughput", true).value());
        assertTrue(comparison.variants().stream().anyMatch(v -> v.contains("left out") && v.contains("older")), comparison.variants().toString());
    }

    @Test
    void otherHeapsAreNotCompared() {
        Comparison comparison = new Comparison(A, List.of(invocation("new", 102, 1, "2026-01-03", 40, null)));
        assertEquals(List.of(), comparison.pairs());
        assertEquals(2, comparison.unpaired().size());
    }

    @Test
    void aFailureInOneIsTold() {
        Comparison comparison = new Comparison(A, List.of(invocation("new", 100, 1, "2026-01-03", 40, "crashed")));
        assertEquals("crashed", comparison.pairs().getFirst().b().missing());
        assertTrue(Double.isNaN(comparison.pairs().getFirst().slowdown("throughput", true).value()));
        List<Invocation> failed = List.of(invocation("old", 100, 1, "2026-01-01", 20, "no heap"));
        assertEquals(List.of(), new Comparison(failed, failed).pairs());
    }
}
