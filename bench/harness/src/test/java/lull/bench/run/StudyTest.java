// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.result.Setup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyTest {
    @TempDir
    private Path build;

    private Study study(double megabytesPerRequest) throws Exception {
        Settings settings = Settings.of(Map.of("LULL_BUILD", build.toString(), "LULL_BASE_JDK", System.getProperty("java.home"), "LULL_DEMO_FLAGS", "-Xint"));
        Path lib = Files.createDirectories(build.resolve("bench/h2/lib"));
        Files.writeString(lib.resolve("h2-1.jar"), "");
        Workload workload = new Workload(settings, "h2", "items=10");
        return Study.of(settings, workload, Collector.of(settings, List.of("g1-base", "epsilon")), 50, new Calibration(100, 300, 7, megabytesPerRequest, 0),
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
        assertTrue(setups.getFirst().work().matches("4 threads; warm-up of 100 requests; closed loop of 300 requests; service [0-9a-f]{12}"),
                setups.getFirst().work());
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
