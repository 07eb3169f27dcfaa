// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.EnumMap;
import java.util.Map;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;
import lull.bench.testing.TestedService;
import lull.bench.util.Cli.UsageException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as a whole, in this process: one node for all tests. Each test has owners of its own. */
class CassandraServiceTest {
    @TempDir
    private static Path data;
    private static TestedService tested;

    @BeforeAll
    static void start() throws Exception {
        tested = TestedService.start("cassandra", data, Map.of("rows", "10", "field", "20"), 2);
    }

    @AfterAll
    static void stop() throws Exception {
        tested.close();
        assertThrows(IOException.class, () -> query("select * from bench.record"));
    }

    private static CassandraCaller caller() throws IOException {
        return (CassandraCaller) tested.caller(1);
    }

    private static long number(CassandraCaller caller, CassandraCaller.Kind kind) {
        return TestedService.number(number -> caller.kind(number) == kind);
    }

    private static void query(String cql) throws IOException {
        try (CqlSocket socket = new CqlSocket(tested.port(), 60_000)) {
            socket.query(cql);
        }
    }

    @Test
    void clientsAtOnceGetRightAnswers() throws Exception {
        CassandraCaller caller = caller();
        TestedService.answersAreRight(caller, tested.port(), 4, 20L * caller.variety(), 0);
        // Other connections of these owners find what has been written.
        TestedService.answersAreRight(caller(), tested.port(), 4, caller.variety(), 5);
    }

    @Test
    void eventsAreTrimmed() throws Exception {
        CassandraCaller caller = caller();
        try (Service.Connection connection = new CassandraConnection(caller, tested.port(), 20)) {
            connection.request(number(caller, CassandraCaller.Kind.TRIM));
            connection.request(number(caller, CassandraCaller.Kind.LATEST));
            for (int i = 0; i < CassandraConnection.KEPT + 30; i++) {
                connection.request(number(caller, CassandraCaller.Kind.APPEND));
            }
            connection.request(number(caller, CassandraCaller.Kind.TRIM));
            connection.request(number(caller, CassandraCaller.Kind.LATEST));
            query("delete from bench.event where owner = 20 and seq = 100");
            WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(number(caller, CassandraCaller.Kind.TRIM)));
            assertTrue(e.getMessage().contains("count is 199, expected 200"), e.getMessage());
        }
    }

    /** For each kind that reads, a change behind the connection's back that it must find. */
    @Test
    void wrongAnswersAreFound() throws Exception {
        Map<CassandraCaller.Kind, String> spoil = new EnumMap<>(Map.of(
                CassandraCaller.Kind.READ, "update bench.record set f3 = 'x' where id = %d",
                CassandraCaller.Kind.READ_MANY, "delete from bench.record where id = %d",
                // An update trusts the version it knows, so the one that finds this is the first of a new connection.
                CassandraCaller.Kind.UPDATE, "update bench.record set version = 9 where id = %d"));
        int owner = 30;
        for (Map.Entry<CassandraCaller.Kind, String> each : spoil.entrySet()) {
            CassandraCaller caller = caller();
            for (int row = 0; row < caller.size().rows(); row++) {
                query(String.format(each.getValue(), caller.size().id(owner, row)));
            }
            long number = number(caller, each.getKey());
            try (Service.Connection connection = new CassandraConnection(caller, tested.port(), owner)) {
                WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.request(number), each.getKey().toString());
                assertTrue(e.getMessage().contains("expected"), e.getMessage());
            }
            owner++;
        }
    }

    @Test
    void anOldVersionIsFound() throws Exception {
        CassandraCaller caller = caller();
        Size size = caller.size();
        long id = size.id(40, 3);
        try (CassandraConnection connection = new CassandraConnection(caller, tested.port(), 40)) {
            connection.open();
            connection.update(3);
            connection.read(3);
            StringBuilder cql = new StringBuilder("update bench.record set version = 0");
            for (int i = 0; i < Size.FIELDS; i++) {
                cql.append(", f").append(i).append(" = '").append(new String(size.field(id, 0, i), StandardCharsets.US_ASCII)).append('\'');
            }
            query(cql + " where id = " + id);
            WrongAnswerException e = assertThrows(WrongAnswerException.class, () -> connection.read(3));
            assertTrue(e.getMessage().contains("version is 0, expected 1"), e.getMessage());
        }
    }

    @Test
    void wrongEventsAreFound() throws Exception {
        CassandraCaller caller = caller();
        long latest = number(caller, CassandraCaller.Kind.LATEST);
        try (Service.Connection connection = new CassandraConnection(caller, tested.port(), 50)) {
            connection.request(number(caller, CassandraCaller.Kind.APPEND));
            connection.request(latest);
            query("insert into bench.event (owner, seq, body) values (50, 0, 'x')");
            assertTrue(assertThrows(WrongAnswerException.class, () -> connection.request(latest)).getMessage().contains("body of event 0"));
            query("insert into bench.event (owner, seq, body) values (50, 7, 'x')");
            // Begins again behind that one, and misses those between.
            assertTrue(assertThrows(WrongAnswerException.class, () -> connection.request(latest)).getMessage().contains("2 rows, expected 8"));
        }
    }

    @Test
    void errorsAreTold() throws Exception {
        IOException e = assertThrows(IOException.class, () -> query("select * from bench.nothing"));
        assertTrue(e.getMessage().contains("error 0x2200") && e.getMessage().contains("nothing"), e.getMessage());
        try (ServerSocket taken = new ServerSocket(0)) {
            IOException port = assertThrows(IOException.class, () -> tested.service().start(data, taken.getLocalPort(), 1));
            assertTrue(port.getMessage().contains("" + taken.getLocalPort()), port.getMessage());
        }
        assertTrue(assertThrows(IOException.class, () -> tested.service().start(data, 0, 1)).getMessage().contains("another process"));
    }

    @Test
    void preparesOnceAndExplainsErrors(@TempDir Path other) throws Exception {
        Service service = tested.service();
        assertTrue(assertThrows(IOException.class, () -> service.start(other, 0, 1)).getMessage().contains("prepare the service first"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("rows", "9"))).getMessage().contains("rows"));
        assertTrue(assertThrows(UsageException.class, () -> service.prepare(other, Map.of("size", "1"))).getMessage().contains("'size'"));
        service.prepare(other, Map.of());
        Path file = other.resolve("cassandra.json");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        service.prepare(other, Map.of());
        assertEquals(FileTime.fromMillis(1_000_000), Files.getLastModifiedTime(file));
        service.prepare(other, Map.of("rows", "11"));
        assertFalse(Files.getLastModifiedTime(file).equals(FileTime.fromMillis(1_000_000)));
        Files.writeString(file, "{}");
        assertTrue(assertThrows(IOException.class, () -> service.caller(other, 1)).getMessage().contains("prepare again"));
    }
}
