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

class SettingsTest {
    private static final String HOME = System.getProperty("java.home");

    private static Settings of(String... more) {
        java.util.HashMap<String, String> environment = new java.util.HashMap<>(Map.of("LULL_BUILD", "/nowhere/build", "LULL_BASE_JDK", HOME));
        for (int i = 0; i < more.length; i += 2) {
            environment.put(more[i], more[i + 1]);
        }
        return Settings.of(environment);
    }

    @Test
    void defaultsAndValues() {
        Settings settings = of("LULL_DEMO_FLAGS", "-XX:+A  -XX:B=1", "LULL_DEMO_SEED", "7", "EMPTY", " ");
        assertEquals(List.of("-XX:+A", "-XX:B=1"), settings.flags());
        assertEquals(7, settings.seed());
        assertEquals(4, settings.threads());
        assertEquals(Path.of("/nowhere/build/openjdk"), settings.openjdk());
        assertEquals("x", settings.text("EMPTY", "x"));
        assertEquals(3, settings.number("MISSING", 3, 0, 9));
        assertEquals(List.of("a", "b"), settings.words("MISSING", "a b"));
    }

    @Test
    void errorsNameTheVariable() {
        String message = assertThrows(UsageException.class, () -> of("LULL_DEMO_SEED", "many")).getMessage();
        assertTrue(message.contains("LULL_DEMO_SEED") && message.contains("many"), message);
        assertThrows(UsageException.class, () -> Settings.of(Map.of()));
    }

    @Test
    void collectors() {
        List<Collector> collectors = Collector.of(of(), List.of("g1", "zgc"));
        assertEquals(Path.of(HOME, "bin/java"), collectors.getFirst().java());
        assertEquals(List.of("-XX:+UseZGC"), collectors.getLast().flags());
        assertThrows(UsageException.class, () -> Collector.of(of(), List.of("g2")));
        assertThrows(UsageException.class, () -> Collector.of(of(), List.of()));
        assertThrows(UsageException.class, () -> Collector.of(of(), List.of("g1", "g1")));
        String message = assertThrows(UsageException.class, () -> Collector.of(of(), List.of("lull"))).getMessage();
        assertTrue(message.contains("/nowhere/build/jdk/bin/java") && message.contains("make jdk"), message);
        assertEquals(Path.of("/bin/sh"), Collector.of(of("LULL_JAVA_LULL", "/bin/sh"), "lull").java());
        assertEquals(Path.of("/bin/sh"), Collector.of(of("LULL_JAVA", "/bin/sh"), "serial").java());
    }
}
