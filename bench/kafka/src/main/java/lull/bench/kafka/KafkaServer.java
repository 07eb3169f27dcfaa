// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import lull.bench.service.Ports;
import lull.bench.service.Service;
import lull.bench.util.Directories;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/** A broker and controller in this process, bound to 127.0.0.1, with one topic. Its logs are in a temporary directory. */
final class KafkaServer implements Service.Running {
    private static final int START_SECONDS = 600;

    private final int port;
    private final Path directory;
    private final KafkaRaftServer server;

    KafkaServer(int port, int threads) throws IOException {
        this.port = Ports.free("Kafka", port);
        directory = Files.createTempDirectory("lull-kafka");
        KafkaRaftServer starting = null;
        try {
            Map<String, Object> properties = properties(this.port, Ports.free("Kafka", 0), threads, directory);
            format(directory);
            starting = new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM);
            starting.startup();
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + this.port))) {
                admin.createTopics(List.of(new NewTopic(KafkaCaller.TOPIC, KafkaCaller.PARTITIONS, (short) 1))).all().get(START_SECONDS, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            if (starting != null) {
                starting.shutdown();
            }
            Directories.delete(directory);
            throw new IOException("Kafka did not start on port " + this.port + ": " + e.getMessage(), e);
        }
        server = starting;
    }

    private static Map<String, Object> properties(int port, int controllerPort, int threads, Path directory) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("node.id", "1");
        properties.put("process.roles", "broker,controller");
        properties.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        properties.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("log.dirs", directory.toString());
        properties.put("num.io.threads", "" + threads);
        properties.put("num.network.threads", "" + Math.max(1, threads / 2));
        properties.put("background.threads", "1");
        // Small enough for a long load: the load reads the newest records only.
        properties.put("log.segment.bytes", "4194304");
        properties.put("log.retention.bytes", "4194304");
        properties.put("log.retention.check.interval.ms", "10000");
        properties.put("log.segment.delete.delay.ms", "1000");
        // By default a buffer of 128 MB for topics that are compacted: there is none.
        properties.put("log.cleaner.dedupe.buffer.size", "4194304");
        // A pause of the collector under test is no reason to leave the cluster, which would end it.
        properties.put("broker.session.timeout.ms", "600000");
        properties.put("connections.max.idle.ms", "600000");
        return properties;
    }

    private static void format(Path directory) throws Exception {
        new Formatter().setNodeId(1).setClusterId(Uuid.randomUuid().toString()).addDirectory(directory.toString())
                .setMetadataLogDirectory(directory.toString()).setControllerListenerName("CONTROLLER")
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream())).run();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        server.shutdown();
        server.awaitShutdown();
        Directories.delete(directory);
    }
}
