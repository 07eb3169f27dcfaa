// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import lull.bench.load.HttpConnection;
import lull.bench.util.Directories;
import lull.bench.util.Json;

/**
 * A node of a Cassandra cluster: the daemon as it is, in a process of its own, with a loopback address of its own. All nodes have the same ports.
 */
final class CassandraNode implements AutoCloseable {
    /** A pause of a node is no reason to give up a request. */
    private static final String PATIENCE = "60s";
    /**
     * Cassandra's own limit of a read, also the time after which it looks anew at how long reads take: a node that coordinates a read asks a
     * second one when the first takes longer than 99 of 100 do. All setups have that.
     */
    private static final String READ_PATIENCE = "5s";
    private static final int READY_SECONDS = 300;

    private final Process process;
    private final Path directory;
    private final Plan plan;
    private final int metrics;
    private JMXConnector connector;

    /**
     * How to start it.
     *
     * @param java the java program
     * @param flags of the VM: collector, heap, what Cassandra needs
     * @param classPath of Cassandra
     * @param agent liblull_gate.so; null without
     * @param agentOptions behind its ports
     * @param number from 0; the address is 127.0.0.(1 + number), and node 0 is the seed
     * @param of how many nodes
     * @param port of the native protocol
     * @param nodePort for other nodes
     * @param memtableMegabytes what rows may take in the heap before they go to the disk
     */
    record Plan(Path java, List<String> flags, String classPath, Path agent, String agentOptions, int number, int of, int port, int nodePort,
            long memtableMegabytes) {
        String address() {
            return "127.0.0." + (1 + number);
        }
    }

    private CassandraNode(Process process, Path directory, Plan plan, int metrics) {
        this.process = process;
        this.directory = directory;
        this.plan = plan;
        this.metrics = metrics;
    }

    /** Starts the node and waits until it takes clients. {@code directory} is made anew; it has all the node's files. */
    static CassandraNode start(Plan plan, Path directory, int metrics) throws IOException, InterruptedException {
        if (Files.exists(directory)) {
            Directories.delete(directory);
        }
        Files.createDirectories(directory);
        Json.write(directory.resolve("cassandra.yaml"), yaml(plan, directory));   // JSON is YAML
        Files.writeString(directory.resolve("logback.xml"), """
                <configuration>
                  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d %-5level %logger{20} - %msg%n%ex{8}</pattern></encoder></appender>
                  <root level="WARN"><appender-ref ref="out"/></root>
                </configuration>
                """);
        List<String> command = new ArrayList<>(List.of(plan.java.toString()));
        command.addAll(plan.flags);
        if (plan.agent != null) {
            command.add("-agentpath:" + plan.agent + "=cql-port=" + plan.port + ",metrics=" + metrics + "," + plan.agentOptions);
        }
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("cassandra.config", directory.resolve("cassandra.yaml").toUri().toString());
        properties.put("cassandra.storagedir", directory.toString());
        properties.put("cassandra.logdir", directory.toString());
        properties.put("logback.configurationFile", directory.resolve("logback.xml").toString());
        properties.put("cassandra-foreground", "yes");
        properties.put("cassandra.ring_delay_ms", "2000");
        properties.put("cassandra.superuser_setup_delay_ms", "-1");
        properties.put("cassandra.available_processors", "2");
        properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of("-cp", plan.classPath, "org.apache.cassandra.service.CassandraDaemon"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        CassandraNode node = new CassandraNode(process, directory, plan, metrics);
        boolean ready = false;
        try {
            node.await();
            ready = true;
        } finally {
            if (!ready) {
                process.destroyForcibly();
            }
        }
        return node;
    }

    private void await() throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(plan.address(), plan.port), 1000);
                return;
            } catch (IOException e) {
                if (process.waitFor(100, TimeUnit.MILLISECONDS)) {
                    throw new IOException("node " + plan.number + " ended with code " + process.exitValue() + ": its output is in " + directory.resolve("log"), e);
                }
                if (System.nanoTime() > end) {
                    throw new IOException("node " + plan.number + " was not ready after " + READY_SECONDS + " s: its output is in " + directory.resolve("log"), e);
                }
            }
        }
    }

    private static Map<String, Object> yaml(Plan plan, Path directory) {
        Map<String, Object> yaml = new LinkedHashMap<>();
        yaml.put("cluster_name", "gate");
        yaml.put("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner");
        yaml.put("endpoint_snitch", "SimpleSnitch");
        // Equal parts of the ring. There is nothing to take over from the nodes that were there before.
        yaml.put("num_tokens", 1);
        yaml.put("initial_token", "" + (Long.MIN_VALUE + 1 + Long.MAX_VALUE / plan.of * 2 * plan.number));
        yaml.put("auto_bootstrap", false);
        yaml.put("seed_provider", List.of(Map.of("class_name", "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters", List.of(Map.of("seeds", "127.0.0.1:" + plan.nodePort)))));
        yaml.put("listen_address", plan.address());
        yaml.put("storage_port", plan.nodePort);
        yaml.put("rpc_address", plan.address());
        yaml.put("native_transport_port", plan.port);
        yaml.put("start_native_transport", true);
        yaml.put("read_request_timeout", READ_PATIENCE);
        for (String timeout : List.of("range_request_timeout", "write_request_timeout", "request_timeout",
                "truncate_request_timeout", "native_transport_timeout", "slow_query_log_timeout")) {
            yaml.put(timeout, PATIENCE);
        }
        for (String kind : List.of("commitlog", "saved_caches", "hints", "cdc_raw")) {
            yaml.put(kind + "_directory", directory.resolve(kind).toString());
        }
        yaml.put("data_file_directories", List.of(directory.resolve("data").toString()));
        yaml.put("commitlog_sync", "periodic");
        yaml.put("commitlog_sync_period", "10000ms");
        yaml.put("commitlog_total_space", "4096MiB");
        yaml.put("auto_snapshot", false);
        // The rows stay in the heap: they are what makes collections long.
        yaml.put("memtable_heap_space", plan.memtableMegabytes + "MiB");
        yaml.put("memtable_offheap_space", "64MiB");
        yaml.put("memtable_allocation_type", "heap_buffers");
        yaml.put("memtable_cleanup_threshold", 0.9);
        yaml.put("concurrent_compactors", 1);
        return yaml;
    }

    InetSocketAddress address() {
        return new InetSocketAddress(plan.address(), plan.port);
    }

    private MemoryMXBean memory() throws IOException {
        if (connector == null) {
            try {
                VirtualMachine vm = VirtualMachine.attach("" + process.pid());
                try {
                    connector = JMXConnectorFactory.connect(new JMXServiceURL(vm.startLocalManagementAgent()));
                } finally {
                    vm.detach();
                }
            } catch (AttachNotSupportedException e) {
                throw new IOException(e);
            }
        }
        return ManagementFactory.getPlatformMXBean(connector.getMBeanServerConnection(), MemoryMXBean.class);
    }

    /** A full collection; returns after it. */
    void collect() throws IOException {
        memory().gc();
    }

    /** How often its collectors ran, and for how many milliseconds. */
    long[] collections() throws IOException {
        memory();
        long[] sum = new long[2];
        for (GarbageCollectorMXBean bean : ManagementFactory.getPlatformMXBeans(connector.getMBeanServerConnection(), GarbageCollectorMXBean.class)) {
            sum[0] += bean.getCollectionCount();
            sum[1] += bean.getCollectionTime();
        }
        return sum;
    }

    /** The agent's counts by name; empty without the agent. */
    Map<String, Double> metrics() throws IOException {
        Map<String, Double> values = new TreeMap<>();
        if (plan.agent != null) {
            try (HttpConnection http = new HttpConnection(metrics, 60_000)) {
                Replica.readMetrics(http, values);
            }
        }
        return values;
    }

    /** Ends the process; its files are deleted, but for the log. */
    @Override
    public void close() throws IOException {
        if (connector != null) {
            connector.close();
        }
        process.destroy();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        for (String kind : List.of("commitlog", "saved_caches", "hints", "cdc_raw", "data")) {
            if (Files.exists(directory.resolve(kind))) {
                Directories.delete(directory.resolve(kind));
            }
        }
    }
}
