// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A JVM that runs already, and a flight recording of it, by the JDK's own {@code jcmd}: whatever that reaches, this does. Files pass
 * through the JVM's {@code /tmp}, as those of the attach mechanism do, so that the JVM may be in a container or of another user. There others can
 * write, too, so no link there is followed: it would lead to any file of the doctor's.
 */
final class RunningJvm implements AutoCloseable {
    /** Bytes that jcmd may say: some lines, mostly. */
    private static final int MOST_SAID = 1 << 20;

    private final long pid;
    private final ProcessHandle process;
    private final Path jcmd;
    /** The recording's name, and the begin of the names of files. */
    private final String name;
    /** Whether a recording may be under way. */
    private boolean recording;
    /** What the JVM writes for the doctor, or null. */
    private String dumped;

    RunningJvm(long pid) throws InputException {
        this(pid, Path.of(System.getProperty("java.home"), "bin", "jcmd"));
    }

    RunningJvm(long pid, Path jcmd) throws InputException {
        this.pid = pid;
        this.process = ProcessHandle.of(pid).orElseThrow(() -> new InputException(InputException.SERVICE, "there is no process " + pid));
        this.jcmd = jcmd;
        this.name = "lull-doctor-" + pid + "-" + Long.toHexString(new SecureRandom().nextLong());
        if (!Files.isExecutable(jcmd)) {
            throw new InputException(InputException.SERVICE, "there is no " + jcmd + ", which reaches other JVMs: set JAVA_HOME to a JDK");
        }
        checkJvm();
    }

    /** Older JDKs ask any process for its attention by a signal, which ends those that are no JVMs. */
    private void checkJvm() throws InputException {
        Path maps = Path.of("/proc", Long.toString(pid), "maps");
        if (!Files.exists(maps)) {
            return;   // another system, on which jcmd itself looks
        }
        try (Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
            if (lines.noneMatch(line -> line.contains("/libjvm.so"))) {
                throw new InputException(InputException.SERVICE, "process " + pid + " is no JVM: it has no libjvm.so in its memory");
            }
        } catch (IOException | UncheckedIOException e) {
            throw new InputException(InputException.SERVICE, "process " + pid + " cannot be looked at: be its user, or root ("
                    + e.getMessage() + ")");
        }
    }

    /** Starts a recording. @param options further ones of JFR.start */
    void start(String... options) throws InputException, IOException {
        Path settings = outside(name + ".jfc");
        Files.write(settings, Doctor.SETTINGS, StandardOpenOption.CREATE_NEW);
        try {
            Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));   // for the JVM's user
            List<String> command = new ArrayList<>(List.of("JFR.start", "name=" + name, "settings=" + inside(name + ".jfc")));
            command.addAll(List.of(options));
            recording = true;   // also if jcmd is ended by Ctrl-C before it says so
            String said = command(command);
            if (!said.contains("Started recording")) {
                throw new InputException(InputException.SERVICE, "process " + pid + " does not record itself: " + said);
            }
        } finally {
            Files.deleteIfExists(settings);
        }
    }

    /** The option of {@link #start} by which a JVM that ends leaves its recording for {@link #takeLast}. */
    String[] leaveRecordingAtExit() {
        return new String[] {"dumponexit=true", "filename=" + inside(name + ".jfr")};
    }

    /** Writes what was recorded so far. */
    void dump(Path to) throws InputException, IOException {
        take(List.of("JFR.dump", "name=" + name), to);
    }

    /** Writes all that was recorded, and ends the recording. */
    void stop(Path to) throws InputException, IOException {
        take(List.of("JFR.stop", "name=" + name), to);
        recording = false;
        Files.deleteIfExists(outside(name + ".jfr"));   // for the JVM's end, empty
    }

    /** Ends the recording, if it may not have ended yet, and keeps nothing of it. Where something has failed before, that is what is told. */
    @Override
    public void close() throws InputException, IOException {
        try {
            if (recording && process.isAlive()) {
                command(List.of("JFR.stop", "name=" + name));
            }
        } catch (InputException e) {
            if (process.isAlive()) {
                throw e;
            }
        } finally {
            recording = false;
            Files.deleteIfExists(outside(name + ".jfr"));
            deleteDumped();
        }
    }

    /** What was written for the doctor and not taken. The JVM does one thing after the other, so it is not written any more. */
    private void deleteDumped() throws IOException {
        if (dumped != null) {
            Files.deleteIfExists(outside(dumped));
            dumped = null;
        }
    }

    private void take(List<String> command, Path to) throws InputException, IOException {
        String file = name + "-" + Long.toHexString(System.nanoTime()) + ".jfr";
        deleteDumped();
        dumped = file;
        List<String> words = new ArrayList<>(command);
        words.add("filename=" + inside(file));
        String said = command(words);
        Path from = outside(file);
        if (!isFile(from)) {
            throw new InputException(InputException.SERVICE, "process " + pid + " has not written its recording: " + said);
        }
        move(from, to);
        dumped = null;
    }

    /** Takes what a JVM that has ended has left. */
    void takeLast(Path to) throws InputException, IOException {
        Path from = Path.of(inside(name + ".jfr"));   // its root is gone
        if (!isFile(from) || Files.size(from) == 0) {
            Files.deleteIfExists(from);
            throw new InputException(InputException.SERVICE, "process " + pid + " has ended and left no recording at " + from
                    + ": it was killed, or its /tmp was not ours; record it by --seconds");
        }
        move(from, to);
    }

    private static boolean isFile(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    static void move(Path from, Path to) throws IOException {
        try (InputStream in = Files.newInputStream(from, LinkOption.NOFOLLOW_LINKS)) {
            Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);   // as the doctor's user, on its file system
        }
        Files.delete(from);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** A file's name for the JVM. */
    private static String inside(String file) {
        return "/tmp/" + file;
    }

    /** The same file for the doctor. */
    private Path outside(String file) {
        Path root = Path.of("/proc", Long.toString(pid), "root", "tmp");
        return Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS) ? root.resolve(file) : Path.of(inside(file));
    }

    /** What a process says, which is ended if it says more than so many bytes: the JVM that it passes on may be none. */
    static String firstOf(Process run, int most) throws InputException, IOException {
        byte[] said = run.getInputStream().readNBytes(most + 1);
        if (said.length > most) {
            run.destroyForcibly();
            throw new InputException(InputException.SERVICE, "jcmd has said more than " + most + " bytes: the process may be no JVM");
        }
        return new String(said, StandardCharsets.UTF_8);
    }

    /** Runs jcmd, and returns what it says. */
    private String command(List<String> words) throws InputException, IOException {
        List<String> command = new ArrayList<>(List.of(jcmd.toString(), Long.toString(pid)));
        command.addAll(words);
        Process run = new ProcessBuilder(command).redirectErrorStream(true).start();
        run.getOutputStream().close();
        String said = firstOf(run, MOST_SAID).strip();
        try {
            if (run.waitFor() != 0) {
                throw new InputException(InputException.SERVICE, "`jcmd " + pid + " " + words.get(0) + "` has failed: " + said);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);   // nobody does
        }
        return said;
    }
}
