// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Recordings that {@link Work} leaves under the doctor, made once for all tests that ask for them. */
final class Recordings {
    private static final Map<String, Path> MADE = new HashMap<>();

    static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private Recordings() {}

    /** Of the JVM that runs the tests. */
    static synchronized Path stock(String flag) throws IOException {
        return make(JAVA, flag, 4, List.of());
    }

    /** Of the JVM that LULL_JAVA names; the test is skipped if there is none. Every N-th piece is published. */
    static synchronized Path lull(int every, String... flags) throws IOException {
        return make(lullJava(), "-XX:+UseLullGC", every, List.of(flags));
    }

    static String lullJava() {
        String java = System.getenv("LULL_JAVA");
        assumeTrue(java != null && !java.isEmpty(), "LULL_JAVA names no Lull JVM");
        return java;
    }

    /** Runs the program in a process of its own, whose output it returns: the services that it starts write to its terminal. */
    static String doctor(int status, List<String> words) throws IOException {
        List<String> command = new ArrayList<>(List.of(JAVA, "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(words);
        Process doctor = new ProcessBuilder(command).redirectErrorStream(true).start();
        doctor.getOutputStream().close();
        String said = new String(doctor.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            assertEquals(status, doctor.waitFor(), said);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return said;
    }

    private static Path make(String java, String flag, int every, List<String> flags) throws IOException {
        String key = java + flag + every + flags;
        if (!MADE.containsKey(key)) {
            Path directory = Files.createTempDirectory("lull-report");
            Path recording = directory.resolve("work.jfr");
            List<String> words = new ArrayList<>(List.of("doctor", "-o", directory.resolve("work.html").toString(), "--recording",
                    recording.toString(), "--gc-log",
                    directory.resolve("work.log").toString(), "--", java, "-Xmx48m", flag, "-Xlog:gc*:file="
                            + directory.resolve("work.log") + ":uptime,level,tags"));
            words.addAll(flags);
            words.addAll(List.of("-cp", System.getProperty("java.class.path"), Work.class.getName(), "5", String.valueOf(every)));
            doctor(0, words);
            assertTrue(Files.exists(directory.resolve("work.html")));
            Files.walk(directory).forEach(file -> file.toFile().deleteOnExit());
            directory.toFile().deleteOnExit();
            MADE.put(key, recording);
        }
        return MADE.get(key);
    }
}
