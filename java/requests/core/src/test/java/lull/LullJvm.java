// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program on the JVM that LULL_JAVA names, for tests. A server prints "port N", answers until its standard input ends, and prints
 * {@link #report} last.
 */
public final class LullJvm implements AutoCloseable {
    private static final long SECONDS = 120;

    private final Process process;
    private final Path output;

    private LullJvm(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** Starts a program of this class path; skips the test if there is no Lull JVM. */
    public static LullJvm start(Class<?> program, Object... arguments) throws IOException {
        String java = System.getenv("LULL_JAVA");
        assumeTrue(java != null && !java.isEmpty(), "LULL_JAVA names no Lull JVM");
        Path output = Files.createTempFile("lull-requests", ".log");
        List<String> command = new ArrayList<>(List.of(java, "-XX:+UseLullGC", "-XX:+UnlockExperimentalVMOptions",
                // So large that only waits and ends of requests are left as reasons to collect.
                "-XX:LullLocalBudget=1g", "-Xmx512m", "-cp", System.getProperty("java.class.path"), program.getName()));
        Stream.of(arguments).map(String::valueOf).forEach(command::add);
        return new LullJvm(new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start(), output);
    }

    /** The port that the server has printed. */
    public int port() throws IOException, InterruptedException {
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS); System.nanoTime() < end && process.isAlive(); Thread.sleep(20)) {
            for (String line : Files.readAllLines(output)) {
                if (line.matches("port \\d+")) {
                    return Integer.parseInt(line.substring(5));
                }
            }
        }
        throw new IOException("no server: " + Files.readString(output));
    }

    /** Ends the program's input, waits for its end, and returns the local collections that it reports. */
    public long localCollections() throws IOException, InterruptedException {
        process.getOutputStream().close();
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), () -> "still running: " + text());
        String text = text();
        assertEquals(0, process.exitValue(), text);
        return Long.parseLong(text.lines().filter(l -> l.startsWith("local collections ")).findFirst().orElseThrow().substring(18));
    }

    private String text() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(output);
    }

    // What follows runs in the program.

    /** Local collections of this JVM so far. */
    public static long collected() {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (bean.getName().equals("Lull Local")) {
                return bean.getCollectionCount();
            }
        }
        throw new IllegalStateException("no bean Lull Local among " + ManagementFactory.getGarbageCollectorMXBeans().stream().map(b -> b.getName()).toList());
    }

    /** About 1 MB of garbage that nobody else has seen. Returns something that needs it. */
    public static int megabyte() {
        byte[][] pieces = new byte[1024][];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new byte[1008];
            pieces[i][i % 1008] = 1;
        }
        int sum = 0;
        for (byte[] piece : pieces) {
            for (byte b : piece) {
                sum += b;
            }
        }
        return sum;
    }

    /** Says where a server listens and waits for its input to end. */
    public static void serve(int port) throws IOException {
        System.out.println("port " + port);
        while (System.in.read() >= 0) {
            // only its end matters
        }
    }

    /** The last line of a program: the local collections since there were so many. */
    public static void report(long before) {
        System.out.println("local collections " + (collected() - before));
    }
}
