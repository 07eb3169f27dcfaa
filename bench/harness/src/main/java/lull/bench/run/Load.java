// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The phases of a load.
 *
 * @param warmup seconds of closed loop that are not measured
 * @param warmupRequests end of the warm-up: a number or {@link #UNLIMITED}
 * @param closed seconds of closed loop that are
 * @param requests end of the closed loop: a number, {@code round} for every input once, or {@link #UNLIMITED}
 * @param open seconds of open loop
 * @param rate of the open loop: a number per second or {@code auto:FRACTION}
 * @param every seconds between lines of progress
 */
record Load(double warmup, String warmupRequests, double closed, String requests, double open, String rate, int every) {
    static final String UNLIMITED = "" + Long.MAX_VALUE;

    /** A load whose warm-up ends by time. */
    Load(double warmup, double closed, String requests, double open, String rate, int every) {
        this(warmup, UNLIMITED, closed, requests, open, rate, every);
    }

    /** Runs the load process against {@code server} and returns when both are done with it; {@code progress} gets its lines. */
    static int run(List<String> command, Load load, Server server, Consumer<String> progress) throws IOException, InterruptedException {
        List<String> full = new ArrayList<>(command);
        full.addAll(List.of("--warmup", "" + load.warmup, "--warmup-requests", load.warmupRequests, "--closed", "" + load.closed, "--requests", load.requests, "--open", "" + load.open,
                "--rate", load.rate, "--every", "" + load.every, "--until-eof", "true"));
        // Its input stays open for as long as we live: the load ends with it.
        Process process = Children.start(new ProcessBuilder(full).redirectErrorStream(true));
        Thread watch = Thread.ofPlatform().daemon().name("watch-server").start(() -> watch(server, process));
        try (BufferedReader reader = process.inputReader()) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                progress.accept(line);
            }
        } catch (IOException e) {
            // Its output breaks off when it is killed because the server has ended.
            if (server.isAlive()) {
                throw e;
            }
        }
        int code = process.waitFor();
        watch.interrupt();
        if (!server.isAlive()) {
            throw new Server.ServerFailedException(server.obituary());
        }
        return code;
    }

    /** Holds the server to its allowance, and ends the load when the server has ended: no answer will come. */
    private static void watch(Server server, Process load) {
        try {
            while (load.isAlive()) {
                server.enforceAllowance();
                if (!server.isAlive()) {
                    load.destroyForcibly();
                }
                load.waitFor(200, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            // The load has ended.
        }
    }
}
