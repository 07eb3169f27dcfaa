// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process: one broker for all tests. */
class KafkaServiceTest {
    @TempDir
    private static Path data;
    private static TestedService tested;

    @BeforeAll
    static void start() throws Exception {
        tested = TestedService.start("kafka", data, Map.of("record", "100"), 2);
    }

    @AfterAll
    static void stop() throws Exception {
        tested.close();
    }

    /** Returns a connection to partition {@code partition}. */
    private static Service.Connection connect(KafkaCaller caller, int partition) {
        return new KafkaConnection(caller, tested.port(), partition);
    }

    private static void spoil(int partition, long offset, byte[] value) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Map.of("bootstrap.servers", "127.0.0.1:" + tested.port()),
                new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(KafkaCaller.TOPIC, partition, KafkaCaller.key(partition, offset), value)).get();
        }
    }

    private static long numberThat(KafkaCaller caller, boolean writes) {
        return TestedService.number(number -> caller.writes(number) == writes);
    }

    @Test
    void clientsAtOnceGetRightAnswers() throws Exception {
        Service.Caller caller = tested.caller(1);
        TestedService.answersAreRight(caller, tested.port(), 3, 10L * caller.variety(), 0);
        // Another connection reads what those have written.
        KafkaCaller other = (KafkaCaller) tested.caller(2);
        try (Service.Connection connection = connect(other, 0)) {
            connection.request(numberThat(other, false));
        }
    }

    @Test
    void aRecordOfAnotherIsFoundWhenWriting() throws Exception {
        KafkaCaller caller = (KafkaCaller) tested.caller(1);
        long number = numberThat(caller, true);
        try (Service.Connection connection = connect(caller, 60)) {
            connection.request(number);
            spoil(60, KafkaCaller.RECORDS, caller.value(60, KafkaCaller.RECORDS));
            WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(number));
            assertTrue(e.getMessage().contains("offset is 21, expected 20"), e.getMessage());
            // Begins again behind it.
            connection.request(number);
        }
    }

    @Test
    void aWrongValueOrKeyIsFoundWhenReading() throws Exception {
        KafkaCaller caller = (KafkaCaller) tested.caller(1);
        for (int i = 0; i < KafkaCaller.RECORDS; i++) {
            byte[] value = caller.value(61, i);
            if (i == 7) {
                value[99]++;
            }
            spoil(61, i, value);
            spoil(62, i == 8 ? 0 : i, caller.value(62, i));
        }
        long number = numberThat(caller, false);
        try (Service.Connection value = connect(caller, 61); Service.Connection key = connect(caller, 62)) {
            WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> value.request(number));
            assertTrue(e.getMessage().contains("record 7 has 100 bytes and differs at 99"), e.getMessage());
            e = assertThrows(WrongAnswerException.class, () -> key.request(number));
            assertTrue(e.getMessage().contains("key of record 8"), e.getMessage());
        }
    }

    @Test
    void preparesOnceAndExplainsErrors(@TempDir Path other) throws Exception {
        Service service = tested.service();
        assertTrue(assertThrows(IOException.class, () -> service.start(other, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("record", "0"))).getMessage().contains("record"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("size", "1"))).getMessage().contains("'size'"));
        service.prepare(other, Map.of());
        Path file = other.resolve("kafka.json");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        service.prepare(other, Map.of());
        assertEquals(FileTime.fromMillis(1_000_000), Files.getLastModifiedTime(file));
        Files.writeString(file, "{}");
        assertTrue(assertThrows(IOException.class, () -> service.caller(other, 1)).getMessage().contains("prepare again"));
    }

    @Test
    void takenPortIsAnError() {
        assertTrue(assertThrows(IOException.class, () -> tested.service().start(data, tested.port(), 1)).getMessage().contains("" + tested.port()));
    }
}
