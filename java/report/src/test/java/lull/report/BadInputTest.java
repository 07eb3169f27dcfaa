// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What cannot be used is told in words, by an exit status, and leaves no page. */
class BadInputTest {
    @TempDir
    private Path directory;

    private String fails(int status, String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        Path page = directory.resolve("page.html");
        all.addAll(1, List.of("-o", page.toString()));
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int got = Main.run(all, new PrintStream(new ByteArrayOutputStream()), new PrintStream(err));
        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(status, got, said);
        assertFalse(Files.exists(page));
        assertTrue(said.startsWith("lull: "), said);
        return said;
    }

    private String fails(int status, byte[] content) throws IOException {
        Path file = directory.resolve("bad.jfr");
        Files.write(file, content);
        String said = fails(status, "doctor", "--recording", file.toString());
        assertTrue(said.contains(file.toString()), said);
        return said;
    }

    @Name("test.Mark")
    static final class Mark extends Event { }

    /** A recording without any event of the JVM's collector. */
    private byte[] recording() throws IOException {
        Path file = directory.resolve("marks.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(Mark.class);
            recording.start();
            new Mark().commit();
            recording.stop();
            recording.dump(file);
        }
        return Files.readAllBytes(file);
    }

    @Test
    void noFile() {
        assertTrue(fails(InputException.UNREADABLE, "doctor", "--recording", directory.resolve("none.jfr").toString()).contains("there "
                + "is no file"));
        assertTrue(fails(InputException.UNREADABLE, "doctor", "--recording", directory.toString()).contains("not a file"));
    }

    @Test
    void noRecording() throws IOException {
        assertTrue(fails(InputException.UNREADABLE, new byte[0]).contains("empty"));
        assertTrue(fails(InputException.UNREADABLE, "FL".getBytes(StandardCharsets.UTF_8)).contains("not a flight recording"));
        assertTrue(fails(InputException.UNREADABLE, "#!/bin/sh\n".repeat(100).getBytes(StandardCharsets.UTF_8)).contains("not a flight "
                + "recording"));
    }

    @Test
    void cutOff() throws IOException {
        byte[] whole = recording();
        assertTrue(fails(InputException.UNREADABLE, Arrays.copyOf(whole, whole.length - 1)).contains("cut off"));
        assertTrue(fails(InputException.UNREADABLE, Arrays.copyOf(whole, 80)).contains("cut off"));
        assertTrue(fails(InputException.UNREADABLE, Arrays.copyOf(whole, whole.length + 100)).contains("damaged or cut off"));
    }

    @Test
    void damaged() throws IOException {
        byte[] bytes = recording();
        // Everything behind the header: the chunk is as long as it says, but means nothing.
        Arrays.fill(bytes, 68, bytes.length, (byte) 0x55);
        assertTrue(fails(InputException.UNREADABLE, bytes).contains("damaged"));
    }

    @Test
    void noCollections() throws IOException {
        assertTrue(fails(InputException.TOO_LITTLE, recording()).contains("no event of a collector"));
    }

    @Test
    void badLog() throws IOException {
        Path log = directory.resolve("gc.log");
        Files.writeString(log, "nothing\n");
        Path recording = Recordings.stock("-XX:+UseSerialGC");
        assertTrue(fails(InputException.UNREADABLE, "doctor", "--recording", recording.toString(), "--gc-log",
                log.toString()).contains("no line as"));
        assertTrue(fails(InputException.UNREADABLE, "doctor", "--recording", recording.toString(), "--gc-log",
                directory.resolve("no.log").toString()).contains("no.log"));
        assertTrue(fails(InputException.UNREADABLE, "doctor", "--recording", recording.toString(), "--gc-log",
                directory.toString()).contains("cannot read the log " + directory));
    }

    /** One line without an end, in a file that takes no space. */
    @Test
    void aLogThatIsTooLarge() throws Exception {
        Path log = directory.resolve("gc.log");
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
            file.setLength(1 << 30);
        }
        Path page = directory.resolve("page.html");
        Process doctor = new ProcessBuilder(Recordings.JAVA, "-XX:+UseSerialGC", "-Xmx64m", "-cp", System.getProperty("java.class.path"),
                Main.class.getName(), "doctor", "-o", page.toString(), "--recording", Recordings.stock("-XX:+UseSerialGC").toString(),
                "--gc-log", log.toString()).redirectErrorStream(true).start();
        String said = new String(doctor.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(InputException.UNREADABLE, doctor.waitFor(), said);
        assertTrue(said.contains("too large for the doctor's memory"), said);
        assertFalse(Files.exists(page));
    }

    @Test
    void mistakesOfTheDoctorAreNamed() {
        InputException failure = InputException.unforeseen(new IllegalStateException("what"));
        assertEquals(InputException.UNREADABLE, failure.status);
        assertTrue(failure.getMessage().contains("java.lang.IllegalStateException: what at lull.report.BadInputTest."), failure.getMessage());
    }

    private static String says(int status, String... words) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        assertEquals(status, Main.run(List.of(words), new PrintStream(new ByteArrayOutputStream()), new PrintStream(err)));
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void filesThatCannotBeWritten() throws IOException {
        for (String[] what : new String[][] {{"--recording", Recordings.stock("-XX:+UseSerialGC").toString()}, {"--", Recordings.JAVA, "-version"}}) {
            for (String file : new String[] {directory.toString(), "/"}) {
                List<String> words = new ArrayList<>(List.of("doctor", "-o", file));
                words.addAll(List.of(what));
                assertTrue(says(InputException.USAGE, words.toArray(String[]::new)).contains(file + " is a directory"));
            }
        }
        assertTrue(fails(InputException.USAGE, "doctor", "--recording", directory.toString(), "--", Recordings.JAVA).contains("is a directory"));
        assertTrue(fails(InputException.USAGE, "doctor", "--", "/").contains("begins with '/'"));
    }

    @Test
    void whatIsReadIsNotWrittenOver() throws IOException {
        Path baseline = directory.resolve("page.jfr");
        Files.copy(Recordings.stock("-XX:+UseSerialGC"), baseline);
        byte[] before = Files.readAllBytes(baseline);
        Path link = Files.createSymbolicLink(directory.resolve("link.jfr"), baseline);
        // The default name of what is kept, by that and by another name.
        for (Path name : List.of(baseline, link)) {
            assertTrue(fails(InputException.USAGE, "doctor", "--baseline", name.toString(), "--", Recordings.JAVA, "-version")
                    .contains(name + " would be written over"));
        }
        String pid = Long.toString(ProcessHandle.current().pid());
        assertTrue(fails(InputException.USAGE, "doctor", "--baseline", baseline.toString(), "--pid", pid).contains("--recording"));
        String log = directory.resolve("none.log").toString();
        assertTrue(fails(InputException.USAGE, "doctor", "--gc-log", log, "--recording", log, "--", Recordings.JAVA).contains("written over"));
        assertTrue(says(InputException.USAGE, "doctor", "-o", baseline.toString(), "--recording", baseline.toString()).contains("written over"));
        // What the service's JVM writes until it is complete.
        Path part = Files.copy(baseline, directory.resolve("page.jfr.part"));
        for (String option : List.of("--baseline", "--gc-log")) {
            assertTrue(fails(InputException.USAGE, "doctor", option, part.toString(), "--", Recordings.JAVA, "-version")
                    .contains(part + " would be written over"));
        }
        assertTrue(says(InputException.USAGE, "doctor", "-o", part.toString(), "--recording", directory.resolve("page.jfr").toString(), "--",
                Recordings.JAVA, "-version").contains("written over"));
        assertArrayEquals(before, Files.readAllBytes(part));
        assertArrayEquals(before, Files.readAllBytes(baseline));
    }

    @Test
    void badArguments() {
        assertTrue(fails(InputException.USAGE, "doctor").contains("--recording FILE"));
        assertTrue(fails(InputException.USAGE, "doctor", "--").contains("no command"));
        assertTrue(fails(InputException.USAGE, "doctor", "--recording").contains("needs a value"));
        assertTrue(fails(InputException.USAGE, "doctor", "service.jar").contains("'service.jar'"));
        assertTrue(fails(InputException.USAGE, "doctor", "--seconds", "-1", "--", "java").contains("'-1'"));
        assertTrue(fails(InputException.USAGE, "doctor", "--seconds", "5", "--recording", "f.jfr").contains("for a service"));
        assertTrue(fails(InputException.USAGE, "doctor", "--pid", "0").contains("'0', not the id of a process"));
        assertTrue(fails(InputException.USAGE, "doctor", "--pid", "1", "--", "java").contains("not both"));
        assertTrue(fails(InputException.USAGE, "doctor", "--pid", "1", "--warmup", "5").contains("--warmup"));
        assertTrue(fails(InputException.USAGE, "doctor", "--serve", "80", "--recording", "f.jfr").contains("--serve needs --pid"));
        assertTrue(fails(InputException.USAGE, "doctor", "--pid", "1", "--serve", "65536").contains("'65536', not a port"));
        assertTrue(fails(InputException.USAGE, "nurse").contains("'nurse'"));
        assertTrue(fails(InputException.USAGE, "doctor", "--", "mvn", "spring-boot:run").contains("'mvn'"));
    }

    @Test
    void aServiceThatCannotBeRun() throws IOException {
        String page = directory.resolve("page.html").toString();
        String said = Recordings.doctor(InputException.SERVICE, List.of("doctor", "-o", page, "--", directory.resolve("java").toString()));
        assertTrue(said.contains("cannot run the service"), said);
        // It ends at once, before there is a recording. An older one stays.
        Path older = Files.writeString(directory.resolve("page.jfr"), "older");
        said = Recordings.doctor(InputException.SERVICE, List.of("doctor", "-o", page, "--", Recordings.JAVA, "-XX:+NoSuchFlag"));
        assertTrue(said.contains("left no recording"), said);
        assertEquals("older", Files.readString(older));
        assertFalse(Files.exists(directory.resolve("page.jfr.part")));
    }
}
