// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkloadTest {
    @TempDir
    private Path build;

    private List<String> server(String... entry) throws Exception {
        Path lib = Files.createDirectories(build.resolve("bench/thing/lib"));
        try (ZipOutputStream jar = new ZipOutputStream(Files.newOutputStream(lib.resolve("thing-1.jar")))) {
            jar.putNextEntry(new ZipEntry(entry[0]));
            jar.write(entry[1].getBytes(StandardCharsets.UTF_8));
        }
        return command();
    }

    private Settings settings() {
        return settings("LULL_DEMO_FLAGS", "-Xint");
    }

    private Settings settings(String name, String value) {
        return Settings.of(Map.of("LULL_BUILD", build.toString(), "LULL_BASE_JDK", System.getProperty("java.home"), name, value));
    }

    private List<String> command() throws Exception {
        Settings settings = settings();
        return new Workload(settings, "thing", "").server(Collector.of(settings, "g1-base"), 70, build);
    }

    @Test
    void aServiceHasTheFlagsThatItNeeds() throws Exception {
        List<String> command = server("META-INF/lull/jvm-flags", "# why\n--add-opens=a/b=ALL-UNNAMED\n\n  -Dc=d \n");
        assertEquals(List.of("-XX:+UseG1GC", "-Xms70m", "-Xmx70m", "-Xint", "--add-opens=a/b=ALL-UNNAMED", "-Dc=d"), command.subList(1, 7));
    }

    private Workload known(String text, Settings settings, String options) throws Exception {
        server("META-INF/lull/smallest-heap", text);
        return new Workload(settings, "thing", options);
    }

    @Test
    void aSmallestHeapIsKnownOfTheServiceAsItWasMeasured() throws Exception {
        Settings usual = settings("LULL_DEMO_SEED", "1");
        assertEquals(OptionalInt.of(40), known("# where from\n40\n", usual, "").knownSmallestHeap());
        assertEquals(OptionalInt.empty(), known("40\n", usual, "index=heap").knownSmallestHeap());
        assertEquals(OptionalInt.empty(), known("40\n", settings("LULL_DEMO_FLAGS", "-Xint"), "").knownSmallestHeap());
        assertEquals(OptionalInt.empty(), known("40\n", settings("LULL_DEMO_THREADS", "8"), "").knownSmallestHeap());
        assertEquals(OptionalInt.empty(), known("# none\n", usual, "").knownSmallestHeap());
        Workload wrong = known("40 MB\n", usual, "");
        assertTrue(assertThrows(IOException.class, wrong::knownSmallestHeap).getMessage().contains("40 MB"));
    }

    @Test
    void theDemoTakesTheKnownHeapAndSaysSo() throws Exception {
        Demo.Heap known = Demo.heap(settings("SEARCH", "0"), known("40\n", settings("SEARCH", "0"), ""), 2);
        assertEquals(80, known.megabytes());
        assertTrue(known.origin().contains("40 MB") && known.origin().contains("SEARCH=1"), known.origin());
        Settings given = settings("LULL_DEMO_HEAP", "70");
        assertEquals(new Demo.Heap(70, "given by LULL_DEMO_HEAP"), Demo.heap(given, known("40\n", given, ""), 2));
        // It searches: and there is no service to run.
        Settings search = settings("SEARCH", "1");
        Workload nothing = known("40\n", search, "");
        assertThrows(Exception.class, () -> Demo.heap(search, nothing, 2));
    }

    @Test
    void itsOwnClassesComeFirst() throws Exception {
        List<String> command = server("other", "");
        Path lib = build.resolve("bench/thing/lib");
        assertEquals(lib + "/thing-1.jar:" + lib + "/*", command.get(command.indexOf("-cp") + 1));
        assertEquals("-XX:+ExitOnOutOfMemoryError", command.get(5));
    }

    @Test
    void anotherServiceOrLibraryIsAnotherIdentity() throws Exception {
        Workload workload = new Workload(settings(), "thing", "");
        assertTrue(assertThrows(IOException.class, workload::identity).getMessage().contains("build it"));
        server("a", "1");
        Path lib = build.resolve("bench/thing/lib");
        Files.writeString(lib.resolve("some-1.2.jar"), "");
        Files.writeString(lib.resolve("harness-1.jar"), "");
        String first = workload.identity();
        assertEquals(first, workload.identity());
        Files.move(lib.resolve("some-1.2.jar"), lib.resolve("some-1.3.jar"));
        String second = workload.identity();
        Files.writeString(lib.resolve("thing-1.jar"), "2");
        assertEquals(3, Set.of(first, second, workload.identity()).size());
    }

    /** They run in the server, and they measure it. */
    @Test
    void anotherStateOfTheProjectsOwnModulesIsAnotherIdentityAndAnotherKey() throws Exception {
        server("a", "1");
        Workload workload = new Workload(settings(), "thing", "");
        Collector g1 = Collector.of(settings(), "g1-base");
        Calibration.Wish wish = new Calibration.Wish(10, 8, 0.5);
        Set<String> identities = new HashSet<>();
        Set<String> keys = new HashSet<>();
        for (String module : List.of("harness-1", "spring-1", "lull-report-0.1")) {
            for (String contents : List.of("1", "2")) {
                Files.writeString(build.resolve("bench/thing/lib/" + module + ".jar"), contents);
                identities.add(workload.identity());
                keys.add(MinHeap.key(settings(), workload, g1));
                keys.add(Calibration.key(settings(), workload, g1, 100, wish));
            }
        }
        assertEquals(6, identities.size());
        assertEquals(12, keys.size());
        assertTrue(keys.add(Calibration.key(settings(), workload, g1, 200, wish)));
        assertFalse(keys.add(Calibration.key(settings(), workload, g1, 100, wish)));
        assertTrue(Calibration.key(settings(), workload, g1, 100, wish).contains(Jdk.of(g1.java()).runtime()));
    }

    /** A server that was killed leaves them: the next one begins without. */
    @Test
    void temporaryFilesAreBelowTheRun() throws Exception {
        Path left = Files.createDirectories(build.resolve("tmp/lull-thing"));
        assertTrue(server("a", "1").contains("-Djava.io.tmpdir=" + build.resolve("tmp")));
        assertTrue(Files.notExists(left) && Files.isDirectory(build.resolve("tmp")));
    }

    @Test
    void aMissingModuleIsTold() {
        String message = assertThrows(IOException.class, this::command).getMessage();
        assertTrue(message.contains("thing-1.jar") && message.contains("build it"), message);
    }
}
