// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.Test;

class CollectorTest {
    private static final String HOME = System.getProperty("java.home");

    @Test
    void theOthersAreThoseOfTheBaseJdk() {
        Settings settings = Settings.of(Map.of("LULL_BUILD", "/nowhere", "LULL_BASE_JDK", HOME, "LULL_JAVA", "/bin/true", "LULL_JAVA_G1_BASE", "/bin/false"));
        assertEquals(Path.of("/bin/true"), Collector.of(settings, "lull").java());
        for (String name : List.of("zgc", "shenandoah", "epsilon")) {
            assertEquals(Path.of(HOME, "bin/java"), Collector.of(settings, name).java());
        }
        assertEquals(Path.of("/bin/false"), Collector.of(settings, "g1-base").java());
    }

    @Test
    void jdksAreNamedByVersion() throws Exception {
        Collector collector = Collector.ofJdks(List.of(HOME)).getFirst();
        assertEquals("g1-" + System.getProperty("java.runtime.version").split("[+-]")[0], collector.name());
        assertEquals(List.of("-XX:+UseG1GC"), collector.flags());
        String twice = assertThrows(UsageException.class, () -> Collector.ofJdks(List.of(HOME, HOME))).getMessage();
        assertTrue(twice.contains("two JDKs"), twice);
        String none = assertThrows(UsageException.class, () -> Collector.ofJdks(List.of("/nowhere"))).getMessage();
        assertTrue(none.contains("/nowhere"), none);
    }

    @Test
    void collectorsOfJdk27() {
        Settings settings = Settings.of(Map.of("LULL_BUILD", "/nowhere", "LULL_BASE_JDK", HOME, "LULL_JDK27", HOME, "LULL_JAVA_G1_27", "/bin/true"));
        assertEquals(Path.of("/bin/true"), Collector.of(settings, "g1-27").java());
        assertEquals(List.of("-XX:+UseG1GC"), Collector.of(settings, "g1-27").flags());
        Collector shenandoah = Collector.of(settings, "genshen-27");
        assertEquals(Path.of(HOME, "bin/java"), shenandoah.java());
        assertEquals(List.of("-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"), shenandoah.flags());
        for (String ours : List.of("lull-27", "lull-whole-27", "g1-base-27", "none-27")) {
            String message = assertThrows(UsageException.class, () -> Collector.of(settings, ours)).getMessage();
            assertTrue(message.contains("no collector '" + ours + "'"), message);
        }
        Settings without = Settings.of(Map.of("LULL_BUILD", "/nowhere", "LULL_BASE_JDK", HOME));
        String message = assertThrows(UsageException.class, () -> Collector.of(without, "serial-27")).getMessage();
        assertTrue(message.contains("/nowhere/jdk27/bin/java") && message.contains("bench/jdk27.sh"), message);
    }
}
