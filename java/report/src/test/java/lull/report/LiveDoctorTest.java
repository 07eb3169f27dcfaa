// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JVMs that run already, recorded by a doctor in a process of its own. They go on, and nothing is left in them or in /tmp. */
class LiveDoctorTest {
    private static final int PATIENCE_SECONDS = 120;

    @TempDir
    private Path directory;
    private Process service;
    private Process doctor;

    @AfterEach
    void end() throws InterruptedException {
        for (Process process : new Process[] {doctor, service}) {
            if (process != null) {
                process.destroy();
                assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "still running: " + process.pid());
            }
        }
    }

    private void serve(String java, String flag, String seconds) throws IOException {
        start(List.of(java, "-Xmx48m", flag, "-cp", System.getProperty("java.class.path"), Work.class.getName(), seconds, "16"));
    }

    private void start(List<String> command) throws IOException {
        service = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("service.txt").toFile()).start();
    }

    private void examine(String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(Recordings.JAVA, "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                Main.class.getName(), "doctor", "-o", directory.resolve("page.html").toString(), "--pid", Long.toString(service.pid())));
        command.addAll(List.of(options));
        doctor = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("said.txt").toFile()).start();
    }

    private String said() throws IOException {
        return Files.readString(directory.resolve("said.txt"));
    }

    /** Waits for words of the doctor that tell that it records. */
    private Matcher waitFor(String words) throws Exception {
        for (int i = 0; i < 10 * PATIENCE_SECONDS; i++) {
            Matcher matcher = Pattern.compile(words).matcher(said());
            if (matcher.find()) {
                return matcher;
            }
            assertTrue(doctor.isAlive(), said());
            Thread.sleep(100);
        }
        throw new AssertionError("the doctor has not said '" + words + "' but: " + said());
    }

    private void ends(int status) throws Exception {
        assertTrue(doctor.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "still running");
        assertEquals(status, doctor.exitValue(), said());
    }

    private String jcmd(String command) throws Exception {
        Process jcmd = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(service.pid()),
                command).redirectErrorStream(true).start();
        String said = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, jcmd.waitFor(), said);
        return said;
    }

    private void nothingIsLeft() throws Exception {
        // The JVM's own /tmp, which is gone with it if it is not ours.
        Path tmp = Path.of(service.isAlive() ? "/proc/" + service.pid() + "/root/tmp" : "/tmp");
        try (Stream<Path> files = Files.list(tmp)) {
            assertEquals(List.of(), files.filter(file -> file.getFileName().toString().startsWith("lull-doctor-" + service.pid() + "-"))
                    .toList());
        }
        if (service.isAlive()) {
            assertTrue(jcmd("JFR.check").contains("No available recordings"), "a recording goes on: " + jcmd("JFR.check"));
        }
    }

    @Test
    void recordsForSomeSeconds() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        // Or it would not be under way yet.
        Thread.sleep(2000);
        examine("--seconds", "4");
        ends(0);
        assertTrue(service.isAlive());
        nothingIsLeft();
        Recording recording = RecordingReader.read(directory.resolve("page.jfr"));
        assertEquals("Serial", recording.collector());
        assertTrue(recording.jvmStart < -1, "recorded from the beginning, " + -recording.jvmStart + " s after the JVM");
        assertTrue(Files.readString(directory.resolve("page.html")).endsWith("</html>\n"));
    }

    @Test
    void recordsLull() throws Exception {
        serve(Recordings.lullJava(), "-XX:+UseLullGC", "100000");
        Thread.sleep(2000);
        examine("--seconds", "6");
        ends(0);
        assertTrue(service.isAlive());
        nothingIsLeft();
        Recording recording = RecordingReader.read(directory.resolve("page.jfr"));
        assertEquals("Lull", recording.collector());
        assertTrue(recording.allocated.size() > 1 && recording.allocated.total() > 0, "nobody has counted what was allocated");
        assertTrue(recording.published.total() < recording.allocated.total());
    }

    /** As in a container: the JVM's /tmp is not the doctor's. */
    @Test
    void recordsAJvmWithAnotherTmp() throws Exception {
        Process probe = new ProcessBuilder("unshare", "-m", "true").start();
        assumeTrue(probe.waitFor() == 0, "a mount namespace of its own is not permitted: needs root");
        assumeTrue(!(Recordings.JAVA + ":" + System.getProperty("java.class.path")).matches("(.*:)?/tmp/.*"),
                "the JDK or the classes are in /tmp, which the JVM would not see");
        start(List.of("unshare", "-m", "bash", "-c", "mount --make-rprivate / && mount -t tmpfs none /tmp && exec \"$@\"", "-",
                Recordings.JAVA, "-Xmx48m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), Work.class.getName(),
                "100000", "16"));
        Thread.sleep(2000);
        examine("--seconds", "3");
        ends(0);
        assertTrue(service.isAlive());
        nothingIsLeft();
        assertEquals("Serial", RecordingReader.read(directory.resolve("page.jfr")).collector());
    }

    @Test
    void writesThePageWhenInterrupted() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        examine();
        waitFor("Recording process");
        Thread.sleep(3000);
        doctor.destroy();
        ends(0);
        assertTrue(service.isAlive());
        nothingIsLeft();
        assertEquals(1, said().split("The page: ", -1).length - 1, said());
        assertTrue(Files.readString(directory.resolve("page.html")).endsWith("</html>\n"));
    }

    @Test
    void writesThePageOfAJvmThatEnds() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        examine();
        waitFor("Recording process");
        Thread.sleep(3000);
        service.destroy();
        ends(0);
        assertFalse(service.isAlive());
        nothingIsLeft();
        assertTrue(Files.readString(directory.resolve("page.html")).endsWith("</html>\n"));
    }

    @Test
    void endsThoughThePageCannotBeMade() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        Thread.sleep(2000);
        examine("--seconds", "3", "--gc-log", directory.toString());
        ends(InputException.UNREADABLE);
        assertTrue(said().contains("cannot read the log " + directory), said());
        assertTrue(service.isAlive());
        nothingIsLeft();
    }

    /** Of Ctrl-C the jcmd that is under way ends, too, when the JVM has begun to record, or has written its recording. */
    @Test
    void nothingIsLeftOfAJcmdThatIsEnded() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        Thread.sleep(2000);
        Path kept = directory.resolve("kept.jfr");
        for (String command : List.of("JFR.start", "JFR.stop", "JFR.dump")) {
            InputException failure = assertThrows(InputException.class, () -> {
                try (RunningJvm jvm = new RunningJvm(service.pid(), endedJcmd(command))) {
                    jvm.start();
                    if (command.equals("JFR.dump")) {
                        jvm.dump(kept);
                    }
                    jvm.stop(kept);
                }
            });
            // And not that there is nothing to stop.
            assertTrue(failure.getMessage().contains(command + "` has failed"), failure.getMessage());
            nothingIsLeft();
        }
        assertFalse(Files.exists(kept));
    }

    /** A jcmd that one command of does all that it should, but is told by a signal to end. */
    private Path endedJcmd(String command) throws IOException {
        Path script = directory.resolve("jcmd-" + command);
        Files.writeString(script, "#!/bin/sh\n'" + Path.of(System.getProperty("java.home"), "bin", "jcmd") + "' \"$@\" || exit\n"
                + "if [ \"$2\" = " + command + " ] && mkdir '" + script + ".done' 2>/dev/null; then kill -TERM $$; sleep 10; fi\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return script;
    }

    @Test
    void saysThatTheRecordingCannotBeKept() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        Path kept = Files.createDirectory(directory.resolve("kept")).resolve("kept.jfr");
        examine("--recording", kept.toString());
        waitFor("Recording process");
        Files.delete(kept.getParent());
        Thread.sleep(1000);
        doctor.destroy();
        ends(InputException.SERVICE);
        assertTrue(said().contains("NoSuchFileException: " + kept), said());
        assertTrue(service.isAlive());
        nothingIsLeft();
    }

    /** Who is asked by jcmd may be no JVM. */
    @Test
    void anAnswerWithoutAnEndIsGivenUp() throws Exception {
        Process endless = new ProcessBuilder("yes").start();
        InputException e = assertThrows(InputException.class, () -> RunningJvm.firstOf(endless, 1000));
        assertTrue(e.getMessage().contains("more than 1000 bytes"), e.getMessage());
        assertTrue(endless.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "it goes on");
        Process brief = new ProcessBuilder("echo", "well").start();
        assertEquals("well\n", RunningJvm.firstOf(brief, 1000));
    }

    /** What lies in the JVM's /tmp may be of somebody else. */
    @Test
    void noLinkIsFollowed() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "secret");
        Path link = Files.createSymbolicLink(directory.resolve("link"), secret);
        Path to = directory.resolve("to");
        assertThrows(IOException.class, () -> RunningJvm.move(link, to));
        assertFalse(Files.exists(to));
        assertTrue(Files.exists(secret));
        RunningJvm.move(secret, to);
        assertEquals("secret", Files.readString(to));
    }

    private record Answer(int status, String body) { }

    private static Answer ask(String method, String address) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.setRequestMethod(method);
        connection.setReadTimeout(1000 * PATIENCE_SECONDS);
        int status = connection.getResponseCode();
        try (var in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return new Answer(status, in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void servesThePage() throws Exception {
        serve(Recordings.JAVA, "-XX:+UseSerialGC", "100000");
        examine("--serve", "0");
        String address = waitFor("http://localhost:\\d+/").group();
        Thread.sleep(2000);
        // Who begins a request and says no more keeps nobody waiting.
        Answer first;
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), URI.create(address).getPort())) {
            silent.getOutputStream().write("GET / HTT".getBytes(StandardCharsets.US_ASCII));
            Thread.sleep(500);
            first = ask("GET", address);
        }
        assertEquals(200, first.status, first.body);
        assertTrue(first.body.endsWith("</html>\n"), first.body);
        Answer second = ask("GET", address);
        assertEquals(200, second.status, second.body);
        assertNotEquals(first.body, second.body, "it is made anew");
        assertEquals(new Answer(200, ""), ask("HEAD", address));
        assertEquals(405, ask("POST", address).status);
        assertEquals(404, ask("GET", address + "page").status);
        assertTrue(askAs("example.org", "", address).startsWith("HTTP/1.1 403 "), askAs("example.org", "", address));
        for (String site : List.of("cross-site", "same-site")) {
            String refused = askAs("localhost", "Sec-Fetch-Site: " + site + "\r\n", address);
            assertTrue(refused.startsWith("HTTP/1.1 403 "), refused);
        }
        assertTrue(askAs("localhost", "Sec-Fetch-Site: none\r\n", address).startsWith("HTTP/1.1 200 "));
        assertFalse(Files.exists(directory.resolve("page.html")));
        doctor.destroy();
        ends(0);
        assertTrue(service.isAlive());
        nothingIsLeft();
    }

    /** As a browser does for a page whose name leads to this machine, or for what another page has in it. */
    private static String askAs(String host, String fields, String address) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), URI.create(address).getPort())) {
            socket.getOutputStream().write(("GET / HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "Connection: close\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void leavesOtherProcessesAlone() throws Exception {
        service = new ProcessBuilder("sleep", "1000").start();
        examine("--seconds", "1");
        ends(InputException.SERVICE);
        assertTrue(said().contains("process " + service.pid() + " is no JVM"), said());
        assertTrue(service.isAlive(), "a JVM's signal has ended it");
        service.destroy();
        service.waitFor();
        examine("--seconds", "1");
        ends(InputException.SERVICE);
        assertTrue(said().contains("there is no process " + service.pid()), said());
    }
}
