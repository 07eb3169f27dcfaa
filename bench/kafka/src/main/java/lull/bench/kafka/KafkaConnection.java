// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import lull.bench.load.FixedCaller;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One connection: a producer and a consumer of one partition. After a failure it begins again where the partition ends. */
final class KafkaConnection implements Service.Connection {
    /** How far back it reads: less than the broker keeps. */
    private static final int BACK = 200;

    private final KafkaCaller caller;
    private final int port;
    private final TopicPartition partition;
    private KafkaProducer<byte[], byte[]> producer;
    private KafkaConsumer<byte[], byte[]> consumer;
    private long first;
    private long next;

    KafkaConnection(KafkaCaller caller, int port, int partition) {
        this.caller = caller;
        this.port = port;
        this.partition = new TopicPartition(KafkaCaller.TOPIC, partition);
    }

    @Override
    public void request(long number) throws IOException, WrongAnswerException {
        boolean done = false;
        try {
            if (producer == null) {
                open();
            }
            if (caller.writes(number) || next - first < KafkaCaller.RECORDS) {
                write();
            } else {
                read(new SplittableRandom(number));
            }
            done = true;
        } catch (KafkaException | ExecutionException e) {
            throw new IOException(partition + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private void open() {
        Map<String, Object> properties = new HashMap<>();
        properties.put("bootstrap.servers", "127.0.0.1:" + port);
        properties.put("request.timeout.ms", FixedCaller.TIMEOUT_MILLIS);
        properties.put("connections.max.idle.ms", FixedCaller.TIMEOUT_MILLIS);
        Map<String, Object> writing = new HashMap<>(properties);
        // Little memory: the load has a small heap.
        writing.put("buffer.memory", 1 << 20);
        writing.put("linger.ms", 0);
        writing.put("acks", "all");
        writing.put("max.block.ms", FixedCaller.TIMEOUT_MILLIS);
        writing.put("delivery.timeout.ms", 2 * FixedCaller.TIMEOUT_MILLIS);
        producer = new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer());
        Map<String, Object> reading = new HashMap<>(properties);
        reading.put("default.api.timeout.ms", FixedCaller.TIMEOUT_MILLIS);
        reading.put("auto.offset.reset", "none");
        reading.put("enable.auto.commit", false);
        reading.put("max.poll.records", KafkaCaller.RECORDS);
        reading.put("max.partition.fetch.bytes", 1 << 15);
        consumer = new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(List.of(partition));
        next = consumer.endOffsets(List.of(partition)).get(partition);
        first = Math.max(consumer.beginningOffsets(List.of(partition)).get(partition), next - BACK);
    }

    private void write() throws WrongAnswerException, ExecutionException, InterruptedException {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int i = 0; i < KafkaCaller.RECORDS; i++) {
            sent.add(producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), KafkaCaller.key(partition.partition(), next + i),
                    caller.value(partition.partition(), next + i))));
        }
        for (Future<RecordMetadata> each : sent) {
            long offset = each.get().offset();
            if (offset != next) {
                throw new WrongAnswerException("writing to " + partition + ": offset is " + offset + ", expected " + next);
            }
            next++;
        }
        first = Math.max(first, next - BACK);
    }

    private void read(SplittableRandom random) throws IOException, WrongAnswerException {
        long at = first + random.nextLong(next - first - KafkaCaller.RECORDS + 1);
        long end = at + KafkaCaller.RECORDS;
        consumer.seek(partition, at);
        long giveUp = System.nanoTime() + FixedCaller.TIMEOUT_MILLIS * 1_000_000L;
        while (at < end) {
            if (System.nanoTime() > giveUp) {
                throw new IOException(partition + ": no record " + at + " within " + FixedCaller.TIMEOUT_MILLIS + " ms");
            }
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(10))) {
                if (at < end) {
                    check(record, at++);
                }
            }
        }
    }

    private void check(ConsumerRecord<byte[], byte[]> record, long at) throws WrongAnswerException {
        if (record.offset() != at) {
            throw new WrongAnswerException("reading " + partition + ": offset is " + record.offset() + ", expected " + at);
        }
        if (!Arrays.equals(record.key(), KafkaCaller.key(partition.partition(), at))) {
            throw new WrongAnswerException("reading " + partition + ": the key of record " + at + " is " + Arrays.toString(record.key())
                    + ", expected partition and offset");
        }
        byte[] expected = caller.value(partition.partition(), at);
        if (!Arrays.equals(record.value(), expected)) {
            throw new WrongAnswerException("reading " + partition + ": the value of record " + at + " has " + record.value().length
                    + " bytes and differs at " + Arrays.mismatch(record.value(), expected) + " from the expected " + expected.length + " bytes");
        }
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
        if (consumer != null) {
            consumer.close(CloseOptions.timeout(Duration.ZERO));
            consumer = null;
        }
    }
}
