// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The processes that we have started: all of them end with us, also when we are interrupted. */
final class Children {
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "end-children"));
    }

    private Children() { }

    /** Starts a process. */
    static Process start(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        return process;
    }

    /**
     * Runs a process to its end, with output and errors in {@code log}, for at most {@code seconds}.
     *
     * @return its exit code
     * @throws IOException if it does not end in time; it is killed then
     */
    static int run(ProcessBuilder builder, Path log, int seconds) throws IOException, InterruptedException {
        Process process = start(builder.redirectErrorStream(true).redirectOutput(log.toFile()));
        process.getOutputStream().close();
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("no end after " + seconds + " s of: " + String.join(" ", builder.command()) + " (output: " + log + ")");
        }
        return process.exitValue();
    }
}
