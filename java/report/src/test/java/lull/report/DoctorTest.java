// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Services that are run, ended and recorded, by a doctor in a process of its own. */
class DoctorTest {
    private static final String FOREVER = "100000";

    @TempDir
    private Path directory;

    private Process doctor(String java, List<String> options, String flag) throws IOException {
        List<String> command = new ArrayList<>(List.of(Recordings.JAVA, "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                Main.class.getName(), "doctor", "-o",
                directory.resolve("page.html").toString()));
        command.addAll(options);
        command.addAll(List.of("--", java, "-Xmx48m", flag, "-cp", System.getProperty("java.class.path"), Work.class.getName(), FOREVER,
                "4"));
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("said.txt").toFile()).start();
    }

    private String said(Process doctor, int status) throws IOException, InterruptedException {
        assertTrue(doctor.waitFor(120, TimeUnit.SECONDS), () -> "still running; it may have left a service behind");
        String said = Files.readString(directory.resolve("said.txt"));
        assertEquals(status, doctor.exitValue(), said);
        return said;
    }

    @Test
    void endsTheServiceAfterSomeSeconds() throws Exception {
        String said = said(doctor(Recordings.JAVA, List.of("--warmup", "2", "--seconds", "3"), "-XX:+UseG1GC"), 0);
        assertTrue(said.startsWith("Recording the service for 3 s, after 2 s of warm-up\n"), said);
        assertFalse(said.contains("jfr,startup"), said);
        assertTrue(said.contains("The page: " + directory.resolve("page.html")), said);
        Recording recording = RecordingReader.read(directory.resolve("page.jfr"));
        assertEquals("G1", recording.collector());
        assertTrue(recording.jvmStart < -1, "recorded from the beginning, " + -recording.jvmStart + " s after the JVM");
    }

    @Test
    void writesThePageWhenInterrupted() throws Exception {
        Process doctor = doctor(Recordings.JAVA, List.of(), "-XX:+UseSerialGC");
        for (int i = 0; i < 1200 && !Files.exists(directory.resolve("page.jfr.part")); i++) {
            Thread.sleep(100);
        }
        ProcessHandle service = doctor.children().findFirst().orElseThrow();
        // Some looks at its load, then a signal for the doctor alone, as `kill` sends it.
        Thread.sleep(4000);
        doctor.destroy();
        String said = said(doctor, 0);
        assertEquals(1, said.split("The page: ", -1).length - 1, said);
        assertFalse(service.isAlive());
        assertTrue(Files.readString(directory.resolve("page.html")).endsWith("</html>\n"));
    }

    /** The log is read when the service has ended: what it is then must not end the doctor as if all was well. */
    @Test
    void saysThatThePageCannotBeMade() throws Exception {
        String said = said(doctor(Recordings.JAVA, List.of("--seconds", "3", "--gc-log", directory.toString()), "-XX:+UseSerialGC"),
                InputException.UNREADABLE);
        assertTrue(said.contains("cannot read the log " + directory), said);
        assertTrue(Files.exists(directory.resolve("page.jfr")));
    }

    @Test
    void saysThatTheServiceEndedBeforeItWasRecorded() throws Exception {
        String said = Recordings.doctor(InputException.SERVICE, List.of("doctor", "-o", directory.resolve("page.html").toString(),
                "--warmup", "60", "--",
                Recordings.JAVA, "-version"));
        assertTrue(said.contains("did it end within the 60 s of --warmup?"), said);
    }

    @Test
    void optionsOfTheServiceComeLast() throws InputException {
        assertEquals(List.of("/jdk/bin/java", "-Xlog:jfr+startup=error", "-XX:StartFlightRecording=x", "-Xmx1g", "-jar", "s.jar"),
                Doctor.command(List.of("/jdk/bin/java", "-Xmx1g", "-jar", "s.jar"), "-XX:StartFlightRecording=x"));
        assertEquals(List.of("java", "-Xlog:jfr+startup=error", "-XX:StartFlightRecording=x", "-XX:+UnlockExperimentalVMOptions",
                "-XX:LullPublicationSampling=64k", "-XX:+UseLullGC", "-jar", "s.jar"),
                Doctor.command(List.of("java", "-XX:+UseLullGC", "-jar", "s.jar"), "-XX:StartFlightRecording=x"));
    }
}
