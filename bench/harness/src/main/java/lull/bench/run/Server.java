// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import lull.bench.proc.CpuSplit;
import lull.bench.service.ReadyFile;

/** A running server process. Its output is in {@code server.log} of its directory. */
final class Server implements AutoCloseable {
    private static final int STOP_SECONDS = 20;

    private final Process process;
    private final Path directory;
    private final Allowance allowance;
    private final ReadyFile ready;
    private volatile String killed;
    private volatile End end;

    /** A server that ended, or did not become ready: the message has its exit code and the end of its output. */
    static final class ServerFailedException extends IOException {
        ServerFailedException(String message) {
            super(message);
        }
    }

    /**
     * How a server ended.
     *
     * @param code its exit code, -1 if nobody waited for it
     * @param killed did it take longer than it may, so that it was killed?
     */
    record End(int code, boolean killed) {
        /** Returns what is wrong with it; null if it is an ordinary stop. An ordinary stop is by the end of its input, and gives 0. */
        String failure() {
            return killed ? "the server did not stop within " + STOP_SECONDS + " s and was killed" : code != 0 ? "the server stopped with exit code " + code : null;
        }
    }

    /**
     * What a server may use. Processor time tells a server that only collects from one on a busy machine; wall-clock time does not.
     *
     * @param readySeconds wall-clock seconds until it is ready
     * @param cpuSeconds processor seconds in its life, or {@code Double.POSITIVE_INFINITY}
     */
    record Allowance(int readySeconds, double cpuSeconds) {
        /** Without a limit on processor time. */
        static Allowance ready(int seconds) {
            return new Allowance(seconds, Double.POSITIVE_INFINITY);
        }
    }

    private Server(Process process, Path directory, Allowance allowance, ReadyFile ready) {
        this.process = process;
        this.directory = directory;
        this.allowance = allowance;
        this.ready = ready;
    }

    /** Starts {@code command} and waits until it is ready. */
    static Server start(List<String> command, Path directory, Allowance allowance) throws IOException, InterruptedException {
        Path readyFile = directory.resolve("ready.json");
        Files.deleteIfExists(readyFile);
        Files.deleteIfExists(directory.resolve("gc.log"));
        Process process = Children.start(new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(directory.resolve("server.log").toFile()));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(allowance.readySeconds);
        while (!Files.exists(readyFile)) {
            if (process.waitFor(20, TimeUnit.MILLISECONDS)) {
                throw new ServerFailedException("the server ended with code " + process.exitValue() + " before it was ready: " + tail(directory));
            }
            if (CpuSplit.totalSeconds(process.pid()) > allowance.cpuSeconds) {
                process.destroyForcibly().waitFor();
                throw new ServerFailedException(overspent(allowance) + " before it was ready");
            }
            if (System.nanoTime() > end) {
                process.destroyForcibly().waitFor();
                throw new ServerFailedException("the server was not ready after " + allowance.readySeconds + " s: " + tail(directory));
            }
        }
        return new Server(process, directory, allowance, ReadyFile.read(readyFile));
    }

    private static String overspent(Allowance allowance) {
        return String.format(Locale.ROOT, "the server used more than the %.0f s of processor time that it was allowed", allowance.cpuSeconds);
    }

    /** Kills the server if it has used more processor time than it may. */
    void enforceAllowance() {
        if (process.isAlive() && CpuSplit.totalSeconds(process.pid()) > allowance.cpuSeconds) {
            killed = overspent(allowance);
            process.destroyForcibly();
        }
    }

    ReadyFile ready() {
        return ready;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns how the server ended and its last output. */
    String obituary() {
        return killed != null ? killed : "the server ended with code " + process.exitValue() + ": " + tail(directory);
    }

    /** The end of the server's output, or what matters most in it. */
    private static String tail(Path directory) {
        try {
            List<String> lines = Files.readAllLines(directory.resolve("server.log"));
            for (String line : lines) {
                if (line.contains("OutOfMemoryError")) {
                    return line.trim() + " (" + directory.resolve("server.log") + ")";
                }
            }
            return String.join(" / ", lines.subList(Math.max(0, lines.size() - 5), lines.size())) + " (" + directory.resolve("server.log") + ")";
        } catch (IOException e) {
            return "no output (" + e + ")";
        }
    }

    /** Returns how it ended, after it was closed. */
    End end() {
        return end;
    }

    /** Stops the server: by the end of its input, and by force if that takes too long. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has ended already.
        }
        try {
            boolean stopped = process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
            if (!stopped) {
                System.err.println("warning: the server did not stop within " + STOP_SECONDS + " s and is killed: " + tail(directory));
                process.destroyForcibly().waitFor();
            }
            end = new End(process.exitValue(), !stopped);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            end = new End(-1, true);
            Thread.currentThread().interrupt();
        }
    }
}
