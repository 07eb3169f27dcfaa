// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import lull.bench.service.Options;
import lull.bench.service.Service;
import lull.bench.util.Json;

/**
 * A Kafka broker that is its own controller. Every connection of the load has a partition to itself and both writes and reads it. What a
 * record holds follows from its partition and offset, so every record that comes back can be checked, whoever wrote it. Option of
 * {@link #prepare}: {@code record}, the bytes of a record's value.
 */
public final class KafkaService implements Service {
    private static final String FILE = "kafka.json";

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public String describe() {
        return "Kafka broker with its own controller; a request writes " + KafkaCaller.RECORDS + " records or reads as many";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        int record = new Options(options, Set.of("record")).number("record", 512, 1, 10_000);
        Map<String, Object> map = Map.of("record", (long) record);
        Path file = data.resolve(FILE);
        if (!Files.exists(file) || !Json.readObject(file).equals(map)) {
            Json.write(file, map);
            System.out.println("prepared records of " + record + " bytes in " + data);
        }
    }

    private static int record(Path data) throws IOException {
        Path file = data.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IOException(file + " is missing: prepare the service first (PrepareMain --service kafka --data " + data + ")");
        }
        if (!(Json.readObject(file).get("record") instanceof Long record)) {
            throw new IOException(file + " has no number 'record': delete it and prepare again");
        }
        return record.intValue();
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        record(data);
        return new KafkaServer(port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new KafkaCaller(record(data), seed);
    }
}
