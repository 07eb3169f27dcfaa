// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import lull.bench.result.Setup;
import org.junit.jupiter.api.Test;

class StudyTest {
    private static final Settings SETTINGS = Settings.of(Map.of("LULL_BUILD", "/nowhere", "LULL_BASE_JDK", System.getProperty("java.home"),
            "LULL_DEMO_FLAGS", "-Xint"));

    private static Study study(double megabytesPerRequest) throws Exception {
        Workload workload = new Workload(SETTINGS, "h2", "items=10");
        return Study.of(SETTINGS, workload, Collector.of(SETTINGS, List.of("g1-base", "epsilon")), 50, new Calibration(100, 300, 7, megabytesPerRequest, 0),
                List.of(1.5, 3.0), 10);
    }

    @Test
    void epsilonHasAHeapOfItsOwn() throws Exception {
        Study study = study(0.25);
        List<Setup> setups = List.copyOf(study.setups().keySet());
        assertEquals(List.of(75, 150, 125 + 100 + 64), setups.stream().map(Setup::heap).toList());
        assertEquals(List.of(1.5, 3.0, 5.8), setups.stream().map(Setup::factor).toList());
        assertEquals(List.of("10.0 s at 7.0/s", "10.0 s at 7.0/s", ""), setups.stream().map(Setup::open).toList());
        assertEquals("-XX:+UseG1GC -Xint", setups.getFirst().flags());
        assertEquals("items=10", setups.getFirst().options());
        assertTrue(setups.getFirst().libjvm().matches("[0-9a-f]{64}"), setups.getFirst().libjvm());
        assertEquals(List.of(), study.left());
    }

    @Test
    void epsilonIsLeftOutWhereMemoryDoesNotAllow() throws Exception {
        // 400 requests of 250,000 MB, and a quarter more.
        Study study = study(250_000);
        assertEquals(2, study.setups().size());
        assertTrue(study.left().getFirst().contains("h2 on Epsilon") && study.left().getFirst().contains("125 000 164 MB"), study.left().toString());
    }
}
