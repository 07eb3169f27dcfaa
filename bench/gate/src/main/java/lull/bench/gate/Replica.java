// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import lull.bench.load.HttpConnection;
import lull.bench.service.Ports;

/** A process of {@link ReplicaMain}. Its output is kept in a file. */
final class Replica implements AutoCloseable {
    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "end-replicas"));
    }

    /** Long, for a machine that others use; a replica ends with a collection or two. */
    private static final int STOP_SECONDS = 300;

    private final Process process;
    private final Path log;
    private final int port;
    private final int metrics;

    /**
     * How to start it.
     *
     * @param java the java program
     * @param flags of the VM: collector and heap
     * @param agent liblull_gate.so; null without
     * @param portOption of the agent, for the service's port: what the agent does there
     * @param agentOptions behind its ports
     * @param arguments of ReplicaMain, but for the port
     */
    record Plan(Path java, List<String> flags, Path agent, String portOption, String agentOptions, List<String> arguments) { }

    private Replica(Process process, Path log, int port, int metrics) {
        this.process = process;
        this.log = log;
        this.port = port;
        this.metrics = metrics;
    }

    /** Starts the process; {@link #await} waits until it is ready. */
    static Replica start(Plan plan, Path log) throws IOException {
        int port = Ports.free("the replica", 0);
        int metrics = plan.agent == null ? 0 : Ports.free("the metrics", 0);
        List<String> command = new ArrayList<>(List.of(plan.java.toString()));
        command.addAll(plan.flags);
        if (plan.agent != null) {
            command.add("-agentpath:" + plan.agent + "=" + plan.portOption + "=" + port + ",metrics=" + metrics + "," + plan.agentOptions);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ReplicaMain.class.getName(), "--port", "" + port));
        command.addAll(plan.arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        return new Replica(process, log, port, metrics);
    }

    void await(int seconds) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!lines().contains("ready")) {
            if (process.waitFor(50, TimeUnit.MILLISECONDS)) {
                throw new IOException("a replica ended with code " + process.exitValue() + ": its output is in " + log);
            }
            if (System.nanoTime() > end) {
                throw new IOException("a replica was not ready after " + seconds + " s: its output is in " + log);
            }
        }
    }

    int port() {
        return port;
    }

    List<String> lines() throws IOException {
        return Files.readAllLines(log);
    }

    /** The agent's counts by name; empty without the agent. */
    Map<String, Double> metrics() throws IOException {
        Map<String, Double> values = new TreeMap<>();
        if (metrics != 0) {
            try (HttpConnection http = new HttpConnection(metrics, 60_000)) {
                readMetrics(http, values);
            }
        }
        return values;
    }

    /** Puts an agent's counts into {@code values}. */
    static void readMetrics(HttpConnection http, Map<String, Double> values) throws IOException {
        for (String line : new String(http.get("/metrics").body(), StandardCharsets.UTF_8).split("\n")) {
            int space = line.lastIndexOf(' ');
            if (!line.startsWith("#") && space > 0) {
                values.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
            }
        }
    }

    /** Stops the process by the end of its input. @throws IOException if it does not end well */
    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException("a replica did not stop within " + STOP_SECONDS + " s and is killed: its output is in " + log);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            return;
        }
        if (process.exitValue() != 0) {
            throw new IOException("a replica ended with code " + process.exitValue() + ": its output is in " + log);
        }
    }
}
